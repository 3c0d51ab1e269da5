"""Reads evaluation reports of pydantic-evals, as its `EvaluationReportAdapter` dumps them.

Checked against pydantic-evals 2.62. A case whose task failed stands under `failures` and in no
average; a case whose evaluator failed lacks that evaluator's results, and so does one whose
evaluator returned nothing. All of them are trials here. A boolean is an assertion, which passes or
fails; a number is a score; a text is a label.

An evaluator's name is that of its class, and the names of its results are its metrics. Which
metrics an evaluator that failed would have given is known from the cases where it did not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt
from fullcount.errors import DamagedInputError, quoted
from fullcount.model import Run, Trial
from fullcount.plugin import Confidence, ReaderSpec, RunStream
from fullcount.readers._fields import (
    as_dict,
    as_list,
    as_number,
    as_word,
    error_type,
    measured,
    present,
    raw_text,
    validated,
)
from fullcount.readers._json import walk_object
from fullcount.readers._texts import text_fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.plugin import ContentPolicy, Options, ReadRequest
    from fullcount.sources import Source

__all__ = ["SPEC", "read", "sniff"]

SPEC = ReaderSpec(
    name="pydantic-evals",
    title="pydantic-evals reports",
    sniff="fullcount.readers.pydantic_evals:sniff",
    reader="fullcount.readers.pydantic_evals:read",
    versions="2",
)

_ARRAYS = ("cases", "failures")
_MARKS = (b'"cases"', b'"assertions"', b'"source_case_name"')
_REPEAT = re.compile(r"(?P<name>.*) \[(?P<number>[0-9]{1,9})/[0-9]{1,9}\]", re.DOTALL)
_KINDS = ("scores", "labels", "assertions")
_JUDGES = frozenset({"LLMJudge"})


def sniff(source: Source) -> Confidence:
    """An object with cases that have assertions and a source case name."""
    head = source.head
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
        return Confidence(0)
    if all(mark in head for mark in _MARKS):
        return Confidence(85, "cases with assertions and source_case_name")
    if b'"report_evaluator_failures"' in head and b'"failures"' in head:
        return Confidence(85, "report_evaluator_failures")
    return Confidence(0)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """One run for the report, which is gone through twice.

    Raises:
        DamagedInputError: It is no report.
    """
    del options
    head: dict[str, Any] = {}
    metrics: dict[tuple[str, str], str] = {}
    failed: dict[str, None] = {}
    count = 0
    for kind, number, case in _cases(source, head):
        count += 1
        _check(case, kind, number, source)
        for key, about in _results(case):
            metrics.setdefault(key, about["kind"])
        for name in _failures(case):
            failed.setdefault(name)
    for name in failed:
        if not any(evaluator == name for evaluator, _ in metrics):
            metrics[name, name] = "scores"
    if not count:
        raise DamagedInputError("holds no case", source=source.shown, pointer="/cases")
    run = validated(Run, _run(source, head, metrics, count))
    yield RunStream(run, _trials(source, list(metrics), request.content))


def _run(
    source: Source, head: dict[str, Any], metrics: dict[tuple[str, str], str], count: int
) -> dict[str, Any]:
    evaluators: dict[str, dict[str, Any]] = {}
    for (evaluator, metric), kind in metrics.items():
        entry = evaluators.setdefault(
            evaluator,
            {
                "name": evaluator,
                "kind": "model" if evaluator in _JUDGES else "unknown",
                "metrics": [],
            },
        )
        scale = {"minimum": 0.0, "maximum": 1.0} if kind == "assertions" else {}
        entry["metrics"].append({"name": metric, "categorical": kind == "labels"} | scale)
    name = as_word(head.get("name")) or "unknown"
    return {
        "id": f"{name}-{source.sha256[:16]}",
        "source": {"format": "pydantic-evals"},
        "harness": {"name": "pydantic-evals"},
        "subject": {"id": name},
        "suite": {"name": as_word(head.get("dataset_name")) or source.path.stem or name},
        "evaluators": list(evaluators.values()),
        "reported_counts": {"cases_and_failures": count},
    }


def _cases(source: Source, head: dict[str, Any]) -> Iterator[tuple[str, int, Any]]:
    """Every case of both arrays, with the array and its number; all else goes to `head`."""
    with source.open() as file:
        numbers = dict.fromkeys(_ARRAYS, 0)
        for part in walk_object(file, _ARRAYS, source=source.shown):
            if part.kind == "item":
                yield part.key, numbers[part.key], part.value
                numbers[part.key] += 1
            elif part.kind == "value":
                head[part.key] = part.value


def _check(case: Any, kind: str, number: int, source: Source) -> None:
    if not isinstance(case, dict) or as_word(case.get("name")) is None:
        raise DamagedInputError(
            f"must be a case with a name, not {quoted(case)}",
            source=source.shown,
            pointer=f"/{kind}/{number}",
        )


def _results(case: dict[str, Any]) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """Each result of a case, by evaluator and metric."""
    for kind in _KINDS:
        for name, result in as_dict(case.get(kind)).items():
            about = as_dict(result)
            evaluator = as_word(as_dict(about.get("source")).get("name")) or name
            if name and evaluator:
                yield (evaluator, name), {"kind": kind, "result": about}


def _failures(case: dict[str, Any]) -> Iterator[str]:
    for failure in map(as_dict, as_list(case.get("evaluator_failures"))):
        name = as_word(as_dict(failure.get("source")).get("name")) or as_word(failure.get("name"))
        if name is not None:
            yield name


def _trials(
    source: Source, metrics: list[tuple[str, str]], policy: ContentPolicy
) -> Iterator[Trial]:
    for kind, number, case in _cases(source, {}):
        broken = dict.fromkeys(_failures(case))
        failed = kind == "failures"
        results = dict(_results(case))
        scores = []
        for evaluator, metric in metrics:
            about = {"evaluator": evaluator, "metric": metric}
            if (evaluator, metric) in results:
                found = results[evaluator, metric]
                scores.append(about | _score(found["result"], found["kind"], policy))
            elif evaluator in broken:
                scores.append(about | {"state": "error", "reason": "evaluator_failed"})
            elif failed:
                scores.append(about | {"state": "not_measured", "reason": "task_failed"})
            else:
                scores.append(about | {"state": "missing"})
        fields = _identity(case) | {"pointer": f"#/{kind}/{number}", "scores": scores}
        yield validated(Trial, fields | _outcome(case, failed=failed, policy=policy))


def _identity(case: dict[str, Any]) -> dict[str, Any]:
    """Case and attempt; a repeated case is named `name [2/5]`."""
    name = str(as_word(case["name"]))
    source_name = as_word(case.get("source_case_name"))
    repeat = _REPEAT.fullmatch(name)
    if repeat is None or source_name is None:
        return {"case_id": name}
    return {"case_id": source_name, "attempt": max(1, int(repeat["number"]))}


def _outcome(case: dict[str, Any], *, failed: bool, policy: ContentPolicy) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    expected = case.get("expected_output")
    fields |= text_fields(
        raw_text(case.get("inputs")),
        [] if expected is None else [raw_text(expected)],
        [raw_text(case["output"])] if not failed and "output" in case else [],
        policy,
    )
    trace, span = as_word(case.get("trace_id")), as_word(case.get("span_id"))
    if (
        trace
        and span
        and re.fullmatch("[0-9a-f]{32}", trace)
        and re.fullmatch("[0-9a-f]{16}", span)
    ):
        fields["trace"] = {"trace_id": trace, "span_id": span}
    duration = as_number(case.get("task_duration"))
    if duration is not None and duration >= 0:
        fields["duration"] = duration
    if failed:
        message = case.get("error_message")
        fields |= {"status": "harness_error", "status_reason": "task_failed"}
        fields["error"] = present(
            type=error_type(message),
            message=excerpt(message, policy) if isinstance(message, str) else None,
        )
    return fields


def _score(result: dict[str, Any], kind: str, policy: ContentPolicy) -> dict[str, Any]:
    if "value" not in result:
        return {"state": "missing"}
    fields = measured(result["value"])
    if kind != "assertions":
        fields.pop("outcome", None)
    reason = result.get("reason")
    told = excerpt(reason, policy) if isinstance(reason, str) and reason else None
    return fields | present(explanation=told)
