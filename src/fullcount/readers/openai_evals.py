"""Reads event logs of openai/evals.

Checked against `evals/record.py` of mid 2026. The first line is the `spec`; a `final_report` may
come anywhere, because events are flushed by a thread; all others are events of a sample. Accuracy
is over the samples with a `match`, so one that ended in an error is in no number of the report.

`match` gives one evaluator, and each key of `metrics` another. What a model-graded eval could not
read of its judge, choice `__invalid__`, is scored with the lowest choice; here it is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt
from fullcount.errors import DamagedInputError, quoted
from fullcount.model import Run, Trial
from fullcount.plugin import Confidence, ReaderSpec, RunStream
from fullcount.readers._fields import (
    as_dict,
    as_list,
    as_number,
    as_time,
    as_word,
    measured,
    nonfinite,
    one_of,
    present,
    raw_fields,
    validated,
)
from fullcount.readers._jsonl import object_at, objects
from fullcount.readers._seen import Seen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from fullcount.plugin import ContentPolicy, Options, ReadRequest
    from fullcount.sources import Source

__all__ = ["INVALID", "SPEC", "read", "sniff"]

SPEC = ReaderSpec(
    name="openai-evals",
    title="openai/evals event logs",
    sniff="fullcount.readers.openai_evals:sniff",
    reader="fullcount.readers.openai_evals:read",
)

INVALID = "__invalid__"
"""Choice of a model-graded eval whose judge gave none."""

_MATCH = "match"
_CHOICE = "choice"
_EVENTS = frozenset({"match", "metrics", "error", "sampling"})


def sniff(source: Source) -> Confidence:
    """A first line with a `spec` that names completion functions and an eval."""
    first = source.head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0]
    if first.startswith(b'{"spec"') and b'"eval_name"' in first and b'"run_id"' in first:
        return Confidence(95, "spec with eval_name")
    return Confidence(0)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """One run; its events are gone through twice.

    Raises:
        DamagedInputError: A line is no event, or there is no spec.
    """
    del options
    index = _Index(source)
    run = validated(Run, _run(source, index))
    yield RunStream(run, _trials(source, index, request.content))


class _Index:
    """Where the events of each sample stand: a list of offsets for those that come apart."""

    def __init__(self, source: Source) -> None:
        self.spec: dict[str, Any] = {}
        self.report: dict[str, Any] | None = None
        self.metrics: dict[str, None] = {}
        self.count = 0
        blocks = Seen()
        last: str | None = None
        with source.open() as file:
            for line, _, record in objects(file, source=source.shown):
                sample = _take(self, record, source, line)
                if sample is not None:
                    if sample != last:
                        blocks.add(Seen.key(sample))
                    last = sample
        if not self.spec:
            raise DamagedInputError("holds no spec", source=source.shown, line=1, pointer="/spec")
        scattered = blocks.repeated()
        self.scattered: dict[int, list[int]] = {key: [] for key in scattered}
        if scattered:
            with source.open() as file:
                for _, offset, record in objects(file, source=source.shown):
                    sample = _sample(record)
                    if sample is not None and Seen.key(sample) in scattered:
                        self.scattered[Seen.key(sample)].append(offset)


def _sample(record: dict[str, Any]) -> str | None:
    """The sample of an event that says something of its outcome."""
    if "spec" in record or "final_report" in record:
        return None
    return as_word(record.get("sample_id")) if one_of(record.get("type"), _EVENTS) else None


def _take(index: _Index, record: dict[str, Any], source: Source, line: int) -> str | None:
    if "spec" in record:
        if not isinstance(record["spec"], dict):
            raise DamagedInputError(
                f"must be an object, not {quoted(record['spec'])}",
                source=source.shown,
                line=line,
                pointer="/spec",
            )
        index.spec = record["spec"]
        return None
    if "final_report" in record:
        index.report = as_dict(record["final_report"])
        return None
    kind, data = one_of(record.get("type"), _EVENTS), record.get("data")
    if kind is None:
        return None
    sample = _sample(record)
    if sample is None or not isinstance(data, dict):
        raise DamagedInputError(
            "must be an event of a sample, with its data",
            source=source.shown,
            line=line,
            pointer="/sample_id" if sample is None else "/data",
        )
    index.count += 1
    if kind == "match":
        index.metrics.setdefault(_MATCH)
    elif kind == "metrics":
        for name, value in data.items():
            if name and (isinstance(value, (int, float, type(None))) or name == _CHOICE):
                index.metrics.setdefault(name)
    return sample


def _run(source: Source, index: _Index) -> dict[str, Any]:
    spec, report = index.spec, index.report
    functions = [name for each in as_list(spec.get("completion_fns")) if (name := as_word(each))]
    reported = []
    for name, value in (report or {}).items():
        known = name in index.metrics
        if (name == "accuracy" and _MATCH in index.metrics) or known:
            evaluator = name if known else _MATCH
            reported.append(
                {
                    "evaluator": evaluator,
                    "metric": evaluator,
                    "statistic": "accuracy" if name == "accuracy" else "mean",
                    "value": as_number(value),
                    "nonfinite": nonfinite(value),
                }
            )
    findings = []
    if report is None:
        findings = [
            {"code": "run.unfinished", "message": "there is no final report: the run did not end"}
        ]
    return present(
        id=as_word(spec.get("run_id")) or source.sha256[:16],
        source={"format": "openai-evals"},
        harness={"name": "openai/evals"},
        subject={"id": "+".join(functions) or "unknown"},
        suite=present(
            name=as_word(spec.get("eval_name")) or source.path.stem or "unknown",
            split=as_word(spec.get("split")),
        ),
        evaluators=[_evaluator(name) for name in index.metrics],
        status="started" if report is None else "success",
        created_at=as_time(spec.get("created_at")),
        reported=reported,
        findings=findings,
    )


def _evaluator(name: str) -> dict[str, Any]:
    metric: dict[str, Any] = {"name": name, "categorical": name == _CHOICE}
    if name == _MATCH:
        metric |= {"minimum": 0.0, "maximum": 1.0}
    return {"name": name, "kind": "rule" if name == _MATCH else "unknown", "metrics": [metric]}


def _trials(source: Source, index: _Index, policy: ContentPolicy) -> Iterator[Trial]:
    metrics = list(index.metrics)
    last: str | None = None
    block: list[tuple[int, dict[str, Any]]] = []
    with source.open() as file, source.open() as again:
        for _, offset, record in objects(file, source=source.shown):
            sample = _sample(record)
            if sample is None:
                continue
            if sample != last:
                if block:
                    yield _trial(block, metrics, policy)
                block, last = [], sample
            if Seen.key(sample) not in index.scattered:
                block.append((offset, record))
            else:
                yield from _gathered(source, again, index, sample, metrics, policy)
        if block:
            yield _trial(block, metrics, policy)


def _gathered(
    source: Source,
    file: BinaryIO,
    index: _Index,
    sample: str,
    metrics: list[str],
    policy: ContentPolicy,
) -> Iterator[Trial]:
    """The trials of samples whose events do not follow each other, at the first of them."""
    offsets = index.scattered[Seen.key(sample)]
    index.scattered[Seen.key(sample)] = []
    by_sample: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for offset in offsets:
        record = object_at(file, offset, source=source.shown)
        by_sample.setdefault(str(_sample(record)), []).append((offset, record))
    for block in by_sample.values():
        yield _trial(block, metrics, policy)


def _trial(
    block: list[tuple[int, dict[str, Any]]], metrics: list[str], policy: ContentPolicy
) -> Trial:
    found: dict[str, dict[str, Any]] = {}
    error: dict[str, Any] | None = None
    content: dict[str, Any] = {}
    times = []
    for _, record in block:
        kind, data = record["type"], as_dict(record["data"])
        times.append(as_time(record.get("created_at")))
        if kind == "match":
            found[_MATCH] = _match(data)
        elif kind == "metrics":
            found |= _measures(data, metrics)
        elif kind == "error":
            message = data.get("message")
            told = excerpt(message, policy) if isinstance(message, str) else None
            error = present(type=as_word(data.get("type")), message=told)
        elif kind == "sampling":
            content = _content(data, policy)
    absent = {"state": "missing" if error is None else "not_measured"}
    fields = present(
        case_id=str(_sample(block[0][1])),
        pointer=f"@{block[0][0]}",
        error=error,
        completed_at=next((moment for moment in reversed(times) if moment), None),
        content=content or None,
    )
    if error is not None and not found:
        fields |= {"status": "harness_error", "status_reason": "sample_error"}
    fields["scores"] = [
        {"evaluator": name, "metric": name} | found.get(name, absent) for name in metrics
    ]
    return validated(Trial, fields)


def _match(data: dict[str, Any]) -> dict[str, Any]:
    if "correct" not in data:
        return {"state": "missing"}
    fields = measured(data["correct"])
    if data.get("picked") == INVALID:
        return raw_fields(data["correct"]) | {"state": "error", "reason": "judge_invalid"}
    return fields


def _measures(data: dict[str, Any], metrics: list[str]) -> dict[str, dict[str, Any]]:
    """The metrics of an event; none of them was measured where the judge's choice is invalid."""
    invalid = data.get(_CHOICE) == INVALID
    found = {}
    for name, value in data.items():
        if name in metrics:
            if invalid:
                found[name] = raw_fields(value) | {"state": "error", "reason": "judge_invalid"}
            else:
                found[name] = measured(value)
                if not isinstance(value, bool):
                    found[name].pop("outcome", None)
    return found


def _content(data: dict[str, Any], policy: ContentPolicy) -> dict[str, Any]:
    prompt, sampled = data.get("prompt"), data.get("sampled")
    content: dict[str, Any] = {}
    if isinstance(prompt, str) and (told := excerpt(prompt, policy)) is not None:
        content["input"] = told
    outputs = sampled if isinstance(sampled, list) else [sampled]
    texts = [excerpt(part, policy) for part in outputs if isinstance(part, str)]
    if any(texts):
        content["outputs"] = [told for told in texts if told is not None]
    return content
