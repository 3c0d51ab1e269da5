"""Reads results of AgentEval (.NET): the JSON exporter's report, and a folder of its runs.

Checked against AgentEval 0.8. A folder has `results.jsonl`, `summary.json` and `run.json`; the
report has its results inside. Scores are from 0 to 100. A skipped test stays in AgentEval's total
with score 0; here it is skipped. `error` is filled with the reason of plain failures too, so it
marks nothing. `MemoryTemporalMetric` passes with 0 where it does not apply, and its details, which
say so, are not exported: such a 0 is not applicable here.
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
    as_number,
    as_time,
    as_word,
    measured,
    nonfinite,
    present,
    raw_fields,
    validated,
)
from fullcount.readers._folders import object_of
from fullcount.readers._json import walk_object
from fullcount.readers._jsonl import objects
from fullcount.readers._seen import Attempts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.plugin import ContentPolicy, Options, ReadRequest
    from fullcount.sources import Source

__all__ = ["NOT_APPLICABLE_AT_ZERO", "SPEC", "read", "sniff"]

SPEC = ReaderSpec(
    name="agenteval",
    title="AgentEval (.NET) reports and run folders",
    sniff="fullcount.readers.agenteval:sniff",
    reader="fullcount.readers.agenteval:read",
    versions="0.8",
)

NOT_APPLICABLE_AT_ZERO = frozenset({"memory_temporal", "MemoryTemporalMetric", "MemoryTemporal"})
"""Metrics whose 0 says that the case cannot test them."""

_OVERALL = "agenteval"
_ROWS = "results.jsonl"
_MARKS = (b'"runId"', b'"overallScore"', b'"stats"')
_COUNTS = ("total", "passed", "failed", "skipped")


def sniff(source: Source) -> Confidence:
    """A report with `runId`, `overallScore` and `stats`, or a folder whose summary has them."""
    if source.is_folder:
        summary = source.path / "summary.json"
        if not (source.path / _ROWS).is_file() or not summary.is_file():
            return Confidence(0)
        with summary.open("rb") as file:
            head = file.read(65_536)
        found = b'"runId"' in head and b'"overallScore"' in head
        return Confidence(90, "summary.json of AgentEval") if found else Confidence(0)
    head = source.head
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
        return Confidence(0)
    if all(mark in head for mark in _MARKS) and b'"results"' in head:
        return Confidence(85, "runId, overallScore and stats")
    return Confidence(0)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """One run; its results are gone through twice.

    Raises:
        DamagedInputError: It is no report.
    """
    del options
    head: dict[str, Any] = {}
    metrics: dict[str, None] = {}
    attempts = Attempts()
    count = 0
    for number, row in _rows(source, head):
        _check(row, number, source)
        count += 1
        attempts.note(str(as_word(row["name"])))
        metrics.update(dict.fromkeys(name for name in _metrics(row) if name))
    if not count:
        raise DamagedInputError("holds no result", source=source.shown, pointer="/results")
    if source.is_folder:
        head = object_of(source, "summary.json") | {
            "agent": object_of(source, "run.json").get("agent")
        }
    run = validated(Run, _run(source, head, list(metrics)))
    yield RunStream(run, _trials(source, list(metrics), attempts, request.content))


def _rows(source: Source, head: dict[str, Any]) -> Iterator[tuple[int, Any]]:
    """Every result with its number; what else a report holds goes to `head`."""
    if source.is_folder:
        path = source.path / _ROWS
        try:
            with path.open("rb") as file:
                for line, _, row in objects(file, source=source.shown, member=_ROWS):
                    yield line, row
        except OSError as error:
            raise DamagedInputError(
                f"cannot be read: {error.strerror}", source=source.shown, member=_ROWS
            ) from error
        return
    with source.open() as file:
        number = 0
        for part in walk_object(file, {"results"}, source=source.shown):
            if part.kind == "item":
                yield number, part.value
                number += 1
            elif part.kind == "value":
                head[part.key] = part.value


def _check(row: Any, number: int, source: Source) -> None:
    folder = source.is_folder
    if not isinstance(row, dict) or as_word(row.get("name")) is None:
        raise DamagedInputError(
            f"must be a result with a name, not {quoted(row)}",
            source=source.shown,
            member=_ROWS if folder else None,
            line=number if folder else None,
            pointer="/name" if folder else f"/results/{number}",
        )
    for field in ("passed", "skipped"):
        value = row.get(field, False)
        if not isinstance(value, bool):
            raise DamagedInputError(
                f"must be true or false, not {quoted(value)}",
                source=source.shown,
                member=_ROWS if folder else None,
                line=number if folder else None,
                pointer=f"/{field}" if folder else f"/results/{number}/{field}",
            )


def _metrics(row: dict[str, Any]) -> dict[str, Any]:
    return as_dict(row.get("metricScores")) or as_dict(row.get("metrics"))


def _run(source: Source, head: dict[str, Any], metrics: list[str]) -> dict[str, Any]:
    agent, stats = as_dict(head.get("agent")), as_dict(head.get("stats"))
    overall = head.get("overallScore")
    reported = []
    if "overallScore" in head:
        reported = [
            {
                "evaluator": _OVERALL,
                "metric": _OVERALL,
                "statistic": "mean",
                "value": as_number(overall),
                "nonfinite": nonfinite(overall),
            }
        ]
    for name, about in as_dict(head.get("metrics")).items():
        mean = as_dict(about).get("mean")
        if name in metrics and "mean" in as_dict(about):
            reported.append(
                {
                    "evaluator": name,
                    "metric": name,
                    "statistic": "mean",
                    "value": as_number(mean),
                    "nonfinite": nonfinite(mean),
                }
                | present(scored=as_count(as_dict(about).get("sampleSize")))
            )
    names = [_OVERALL, *(name for name in metrics if name != _OVERALL)]
    return {
        "id": as_word(head.get("runId")) or source.sha256[:16],
        "source": {"format": "agenteval"},
        "harness": {"name": "AgentEval"},
        "subject": present(
            id=as_word(agent.get("name")) or as_word(agent.get("model")) or "unknown",
            name=as_word(agent.get("model")),
            version=as_word(agent.get("version")),
        ),
        "suite": {"name": as_word(head.get("name")) or source.path.stem or "agenteval"},
        "evaluators": [
            {"name": name, "metrics": [{"name": name, "minimum": 0.0, "maximum": 100.0}]}
            for name in names
        ],
        "started_at": as_time(head.get("startTime")) or as_time(head.get("timestamp")),
        "completed_at": as_time(head.get("endTime")),
        "reported": reported,
        "reported_counts": {
            name: count for name in _COUNTS if (count := as_count(stats.get(name))) is not None
        },
    }


def _trials(
    source: Source, metrics: list[str], attempts: Attempts, policy: ContentPolicy
) -> Iterator[Trial]:
    for number, row in _rows(source, {}):
        name = str(as_word(row["name"]))
        skipped = row.get("skipped") is True
        values = _metrics(row)
        scores = [{"evaluator": _OVERALL, "metric": _OVERALL} | _overall(row, skipped=skipped)]
        for metric in metrics:
            if metric == _OVERALL:
                continue
            about = {"evaluator": metric, "metric": metric}
            if skipped:
                scores.append(about | {"state": "skipped"})
            elif metric in values:
                scores.append(about | _value(metric, values[metric]))
            else:
                scores.append(about | {"state": "missing"})
        message = row.get("error")
        told = excerpt(message, policy) if isinstance(message, str) and message else None
        if told is not None:
            scores[0]["explanation"] = told
        duration = as_number(row.get("durationMs"))
        pointer = f"line {number}" if source.is_folder else f"#/results/{number}"
        fields = present(
            case_id=name,
            attempt=attempts.next(name),
            pointer=pointer,
            duration=None if duration is None or duration < 0 else duration / 1000,
        )
        if skipped:
            fields |= {"status": "not_run", "status_reason": "skipped"}
        yield validated(Trial, fields | {"scores": scores})


def _overall(row: dict[str, Any], *, skipped: bool) -> dict[str, Any]:
    if skipped:
        return (raw_fields(row["score"]) if "score" in row else {}) | {"state": "skipped"}
    if "score" not in row:
        return {"state": "missing"}
    fields = measured(row["score"])
    passed = row.get("passed")
    if fields["state"] == "scored" and isinstance(passed, bool):
        fields["outcome"] = "passed" if passed else "failed"
    return fields


def _value(metric: str, value: Any) -> dict[str, Any]:
    if metric in NOT_APPLICABLE_AT_ZERO and value == 0 and not isinstance(value, bool):
        return raw_fields(value) | {"state": "not_applicable"}
    return measured(value)
