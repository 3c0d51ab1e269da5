"""Reads deepeval test runs: `test_run_<date>.json` and what stands in `.deepeval`.

Checked against deepeval 4.3. It leaves null out, so a metric without a score lacks the key. A
metric with an error has `success` false and counts as failed in `testFailed`; here its score is an
error and the verdict unverified, unless another metric that did measure failed the case. A metric
that was skipped is not in the file: it is missing, as one that was never planned cannot be told
from it.
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
    from collections.abc import Iterator

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


def sniff(source: Source) -> Confidence:
    """Test cases with `metricsData`, in the names that deepeval writes."""
    head = source.head
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{":
        return Confidence(0)
    if b'"testCases"' in head and (b'"metricsData"' in head or b'"metricsScores"' in head):
        return Confidence(85, "testCases with metricsData")
    return Confidence(0)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """One run, whose cases are gone through twice.

    Raises:
        DamagedInputError: It is no test run.
    """
    del options
    head: dict[str, Any] = {}
    metrics: dict[str, dict[str, Any]] = {}
    attempts = Attempts()
    count = 0
    for pointer, case in _cases(source, head):
        if not isinstance(case, dict):
            raise DamagedInputError(
                f"must be a test case, not {quoted(case)}", source=source.shown, pointer=pointer
            )
        attempts.note(_name(case, count))
        count += 1
        for entry in _metrics(case):
            known = metrics.setdefault(entry["name"], {})
            known.setdefault("threshold", as_number(entry.get("threshold")))
            known.setdefault("model", as_word(entry.get("evaluationModel")))
    for entry in map(as_dict, as_list(head.get("metricsScores"))):
        name = as_word(entry.get("metric"))
        if name is not None:
            metrics.setdefault(name, {})
    if not count:
        raise DamagedInputError("holds no test case", source=source.shown, pointer="/testCases")
    run = validated(Run, _run(source, head, metrics))
    yield RunStream(run, _trials(source, list(metrics), attempts, request.content))


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


def _metrics(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The metrics of a case that have a name, the last of one name alone."""
    found = {
        entry["name"]: entry
        for entry in map(as_dict, as_list(case.get("metricsData")))
        if isinstance(entry.get("name"), str) and entry["name"]
    }
    yield from found.values()


def _run(
    source: Source, head: dict[str, Any], metrics: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    parameters = as_dict(head.get("hyperparameters"))
    evaluators = [
        present(
            name=name,
            kind="model" if about.get("model") else "unknown",
            model=about.get("model"),
            metrics=[
                {"name": name, "minimum": 0.0, "maximum": 1.0}
                | present(threshold=about.get("threshold"))
            ],
        )
        for name, about in metrics.items()
    ]
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
        "evaluators": evaluators,
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
    source: Source, metrics: list[str], attempts: Attempts, policy: ContentPolicy
) -> Iterator[Trial]:
    for number, (pointer, case) in enumerate(_cases(source, {})):
        entries = {entry["name"]: entry for entry in _metrics(case)}
        scores = [
            {"evaluator": name, "metric": name}
            | (_score(entries[name], policy) if name in entries else {"state": "missing"})
            for name in metrics
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
        sought = [score for score in scores if score["state"] != "missing"]
        if sought and all(score["state"] == "error" for score in sought):
            fields |= {"status": "evaluator_error", "status_reason": "metric_failed"}
        duration = as_number(case.get("runDuration"))
        if duration is not None and duration >= 0:
            fields["duration"] = duration
        yield validated(Trial, fields | _content(case, policy))


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
    success = entry.get("success")
    if fields["state"] == "scored" and isinstance(success, bool):
        fields["outcome"] = "passed" if success else "failed"
    return fields


def _content(case: dict[str, Any], policy: ContentPolicy) -> dict[str, Any]:
    text, expected, output = (
        value if isinstance(value := case.get(name), str) else None
        for name in ("input", "expectedOutput", "actualOutput")
    )
    return text_fields(
        text,
        [] if expected is None else [expected],
        [] if output is None else [output],
        policy,
    )
