"""Reads deepeval test runs: `test_run_<date>.json` and what stands in `.deepeval`.

Checked against deepeval 4.3. It leaves null out, so a metric without a score lacks the key. A
metric with an error has `success` false and counts as failed in `testFailed`; here its score is an
error and the verdict unverified, unless another metric that did measure failed the case. A metric
that was skipped is not in the file: it is missing, as one that was never planned cannot be told
from it. A `flaky` metric never decides a case, so it has a score and no outcome.

A metric of a span, such as `agent:planner`, is an evaluator of its own, and so are the expectations
of a case, which deepeval keeps apart from its metrics. Neither applies to a case without them.
Where a case or span has two metrics of one name, the second is `name #2`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt
from fullcount.errors import DamagedInputError, quoted
from fullcount.model import Run, Trial
from fullcount.plugin import Confidence, ReaderSpec, RunStream
from fullcount.readers._fields import (
    as_count,
    as_dict,
    as_list,
    as_number,
    as_word,
    error_type,
    measured,
    present,
    raw_fields,
    validated,
)
from fullcount.readers._json import walk_object
from fullcount.readers._seen import Attempts
from fullcount.readers._texts import text_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fullcount.plugin import ContentPolicy, Options, ReadRequest
    from fullcount.sources import Source

__all__ = ["SPEC", "read", "sniff"]

SPEC = ReaderSpec(
    name="deepeval",
    title="deepeval test runs",
    sniff="fullcount.readers.deepeval:sniff",
    reader="fullcount.readers.deepeval:read",
    versions="4",
)

_ARRAYS = ("testCases", "conversationalTestCases")
_INNER = {f"testRunData/{name}": name for name in _ARRAYS} | {name: name for name in _ARRAYS}
_COUNTS = ("testPassed", "testFailed")
_SPANS = ("agentSpans", "toolSpans", "retrieverSpans", "llmSpans", "baseSpans")
_MARKS = (b'"metricsData"', b'"metricsScores"')
_FURTHER = 8 << 20
"""Bytes in which a mark must stand where the first case is longer than the head."""

_Key = tuple[str, str]
"""Evaluator and metric."""
_EXPECTATIONS: _Key = ("expectations", "result")


def sniff(source: Source) -> Confidence:
    """Test cases with `metricsData`, in the names that deepeval writes."""
    head = source.head
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{" or b'"testCases"' not in head:
        return Confidence(0)
    if not any(mark in head for mark in _MARKS) and source.size > len(head):
        with source.open() as file:
            head = file.read(_FURTHER)
    if any(mark in head for mark in _MARKS):
        return Confidence(85, "testCases with metricsData")
    return Confidence(0)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """One run, whose cases are gone through twice.

    Raises:
        DamagedInputError: It is no test run.
    """
    del options
    head: dict[str, Any] = {}
    metrics: dict[_Key, dict[str, Any]] = {}
    attempts = Attempts()
    count = 0
    for pointer, case in _cases(source, head):
        if not isinstance(case, dict):
            raise DamagedInputError(
                f"must be a test case, not {quoted(case)}", source=source.shown, pointer=pointer
            )
        attempts.note(_name(case, count))
        count += 1
        for key, entry in _metrics(case, pointer, source).items():
            about = metrics.setdefault(key, {"thresholds": set(), "model": None})
            about["thresholds"].add(as_number(entry.get("threshold")))
            about["model"] = about["model"] or as_word(entry.get("evaluationModel"))
    named = {metric for _, metric in metrics}
    for entry in map(as_dict, as_list(head.get("metricsScores"))):
        name = as_word(entry.get("metric"))
        if name is not None and name not in named:
            metrics[name, name] = {"thresholds": set(), "model": None}
    if not count:
        raise DamagedInputError("holds no test case", source=source.shown, pointer="/testCases")
    run = validated(Run, _run(source, head, metrics))
    yield RunStream(run, _trials(source, run.metric_keys, attempts, request.content))


def _cases(source: Source, head: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every test case with its place; all else of the run goes to `head`."""
    with source.open() as file:
        numbers = dict.fromkeys(_INNER, 0)
        for part in walk_object(file, _INNER, inside={"testRunData"}, source=source.shown):
            if part.kind == "item":
                yield f"/{part.key}/{numbers[part.key]}", part.value
                numbers[part.key] += 1
            elif part.kind == "value":
                head[part.key.removeprefix("testRunData/")] = part.value


def _name(case: dict[str, Any], number: int) -> str:
    return as_word(case.get("name")) or f"unnamed-{number}"


def _metrics(case: dict[str, Any], pointer: str, source: Source) -> dict[_Key, dict[str, Any]]:
    """The metrics of a case, of its spans, and what became of its expectations."""
    found: dict[_Key, dict[str, Any]] = {}
    for place, scope, entries in _lists(case):
        if entries is not None and not isinstance(entries, list):
            raise DamagedInputError(
                f"must be an array, not {quoted(entries)}",
                source=source.shown,
                pointer=f"{pointer}{place}",
            )
        for number, entry in enumerate(entries or ()):
            name = as_word(as_dict(entry).get("name"))
            if name is None:
                raise DamagedInputError(
                    f"must be a metric with a name, not {quoted(entry)}",
                    source=source.shown,
                    pointer=f"{pointer}{place}/{number}",
                )
            found[_free(found, scope, name)] = entry
    if isinstance(case.get("expectationsData"), dict):
        found[_EXPECTATIONS] = case["expectationsData"]
    return found


def _lists(case: dict[str, Any]) -> Iterator[tuple[str, str | None, Any]]:
    """Each list of metrics, its place, and its span; those of the trace are the case's own."""
    yield "/metricsData", None, case.get("metricsData")
    trace = as_dict(case.get("trace"))
    for kind in _SPANS:
        for number, span in enumerate(map(as_dict, as_list(trace.get(kind)))):
            scope = f"{kind.removesuffix('Spans')}:{as_word(span.get('name')) or 'unnamed'}"
            yield f"/trace/{kind}/{number}/metricsData", scope, span.get("metricsData")


def _free(taken: Iterable[_Key], scope: str | None, name: str) -> _Key:
    """The first of `name`, `name #2` and so on that is not taken."""
    number, metric = 1, name
    while (scope or metric, metric) in taken:
        number += 1
        metric = f"{name} #{number}"
    return scope or metric, metric


def _run(
    source: Source, head: dict[str, Any], metrics: dict[_Key, dict[str, Any]]
) -> dict[str, Any]:
    parameters = as_dict(head.get("hyperparameters"))
    evaluators: dict[str, dict[str, Any]] = {}
    for (name, metric), about in metrics.items():
        model = about["model"]
        evaluator = evaluators.setdefault(
            name, {"name": name, "kind": "unknown", "metrics": []} | present(model=model)
        )
        if model is not None:
            evaluator["kind"] = "model"
        # A threshold that differs between cases is none of the metric's.
        thresholds = about["thresholds"] - {None}
        threshold = thresholds.pop() if len(thresholds) == 1 else None
        evaluator["metrics"].append(
            {"name": metric, "minimum": 0.0, "maximum": 1.0} | present(threshold=threshold)
        )
    return {
        "id": as_word(head.get("identifier")) or source.sha256[:16],
        "source": {"format": "deepeval"},
        "harness": {"name": "deepeval"},
        "subject": {"id": as_word(parameters.get("model")) or "unknown"},
        "suite": present(
            name=as_word(head.get("datasetAlias"))
            or as_word(head.get("testFile"))
            or source.path.stem
            or "deepeval",
            version=as_word(head.get("datasetVersion")),
            dataset=as_word(head.get("datasetId")),
        ),
        "evaluators": list(evaluators.values()),
        "reported_counts": {
            name: count for name in _COUNTS if (count := as_count(head.get(name))) is not None
        },
        "findings": list(_findings(head)),
    }


def _findings(head: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for entry in map(as_dict, as_list(head.get("metricsScores"))):
        errors = as_count(entry.get("errors"))
        name = as_word(entry.get("metric"))
        if errors and name:
            yield {
                "code": "reported.failures",
                "message": f"{name}: deepeval counts a case as failed where the metric had an "
                f"error, {errors} of them",
                "count": errors,
            }


def _trials(
    source: Source, keys: tuple[_Key, ...], attempts: Attempts, policy: ContentPolicy
) -> Iterator[Trial]:
    for number, (pointer, case) in enumerate(_cases(source, {})):
        entries = _metrics(case, pointer, source)
        scores = [
            {"evaluator": key[0], "metric": key[1]}
            | (_score(entries[key], policy) if key in entries else _absent(key))
            for key in keys
        ]
        name = _name(case, number)
        fields: dict[str, Any] = {
            "case_id": name,
            "attempt": attempts.next(name),
            "pointer": f"#{pointer}",
            "scores": scores,
        }
        if as_word(case.get("name")) is None:
            fields["case_id_type"] = "synthetic"
        sought = [score for key, score in zip(keys, scores, strict=True) if key in entries]
        if sought and all(score["state"] == "error" for score in sought):
            fields |= {"status": "evaluator_error", "status_reason": "metric_failed"}
        if case.get("success") is True and _only_flaky_lack(keys, scores, entries):
            fields["declared_verdict"] = "passed"
        duration = as_number(case.get("runDuration"))
        if duration is not None and duration >= 0:
            fields["duration"] = duration
        yield validated(Trial, fields | _usage(case) | _content(case, policy))


def _absent(key: _Key) -> dict[str, Any]:
    evaluator, metric = key
    if evaluator != metric:
        reason = "no_expectations" if key == _EXPECTATIONS else "no_span"
        return {"state": "not_applicable", "reason": reason}
    return {"state": "missing"}


def _only_flaky_lack(
    keys: tuple[_Key, ...], scores: list[dict[str, Any]], entries: dict[_Key, dict[str, Any]]
) -> bool:
    """Whether a score is not there, and all that decide the case are."""
    lacking = [
        entries.get(key, {}).get("flaky") is True
        for key, score in zip(keys, scores, strict=True)
        if score["state"] not in ("scored", "not_applicable")
    ]
    return bool(lacking) and all(lacking)


def _score(entry: dict[str, Any], policy: ContentPolicy) -> dict[str, Any]:
    reason = entry.get("reason")
    fields = present(
        explanation=excerpt(reason, policy) if isinstance(reason, str) and reason else None
    )
    error = entry.get("error")
    if "score" not in entry:
        if "error" not in entry or error is None:
            return fields | {"state": "missing"}
        return fields | {"state": "error", "reason": error_type(error) or "metric_failed"}
    if error is not None:
        # What the metric gave before it failed is kept as it stands, and is no measurement.
        return (
            fields
            | raw_fields(entry["score"])
            | {"state": "error", "reason": error_type(error) or "metric_failed"}
        )
    fields |= measured(entry["score"])
    success = entry.get("success") if entry.get("flaky") is not True else None
    if fields["state"] == "scored" and isinstance(success, bool):
        fields["outcome"] = "passed" if success else "failed"
    return fields


def _usage(case: dict[str, Any]) -> dict[str, Any]:
    cost = as_number(case.get("tokenCost"))
    fields = present(
        input_tokens=as_count(case.get("inputTokenCount")),
        output_tokens=as_count(case.get("outputTokenCount")),
        cost=None if cost is None or cost < 0 else cost,
    )
    return {"usage": fields} if fields else {}


def _content(case: dict[str, Any], policy: ContentPolicy) -> dict[str, Any]:
    """Texts of a case; a conversation has a scenario and an expected outcome."""
    text, expected, output = (
        next((case[name] for name in names if isinstance(case.get(name), str)), None)
        for names in (
            ("input", "scenario"),
            ("expectedOutput", "expectedOutcome"),
            ("actualOutput",),
        )
    )
    return text_fields(
        text,
        [] if expected is None else [expected],
        [] if output is None else [output],
        policy,
    )
