"""Reads reports of strands-agents-evals: `EvaluationReport.to_file`.

Checked against strands-agents-evals of mid 2026. A report holds parallel arrays, one entry for each
case and evaluator, evaluator by evaluator; older runs saved a list of such reports. What could not
be evaluated is written as score 0, and told apart by `detailed_results` and the reason:

| the entry | status | score |
|---|---|---|
| no detail, reason `An error occurred: ...` | harness_error: task_failed | not measured |
| no detail, reason `Evaluator error: ...` | completed | error: evaluator_failed |
| no detail, reason `No evaluation outputs produced` | completed | missing |
| every detail has label `not_applicable` and passes | completed | not applicable |
| every detail has label `not_applicable`, one fails | completed | error: could_not_judge |
| anything else | completed | as it stands; NaN and null are states |
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
    as_word,
    measured,
    nonfinite,
    present,
    raw_fields,
    raw_text,
    validated,
)
from fullcount.readers._folders import LARGEST
from fullcount.readers._json import loads
from fullcount.readers._texts import text_fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.plugin import ContentPolicy, Options, ReadRequest
    from fullcount.sources import Source

__all__ = ["REASONS", "SPEC", "read", "sniff"]

SPEC = ReaderSpec(
    name="strands",
    title="strands-agents-evals reports",
    sniff="fullcount.readers.strands:sniff",
    reader="fullcount.readers.strands:read",
)

_MARKS = (b'"overall_score"', b'"test_passes"', b'"scores"')
_LENGTHS = ("scores", "test_passes")
_NOT_APPLICABLE = "not_applicable"

REASONS: tuple[tuple[str, str, str | None], ...] = (
    ("An error occurred:", "not_measured", "task_failed"),
    ("Evaluator error:", "error", "evaluator_failed"),
    ("No evaluation outputs produced", "missing", None),
)
"""How the reason of an entry without details starts; what state that is, and why."""


def sniff(source: Source) -> Confidence:
    """An overall score beside parallel scores and passes."""
    head = source.head
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
        return Confidence(0)
    if b'"overall_score"' in head and b'"scores"' in head:
        # The arrays before it may fill the whole start of the file.
        found = sum(mark in head for mark in _MARKS)
        return Confidence(80 if found == len(_MARKS) else 60, "overall_score and scores")
    return Confidence(0)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """One run for each report.

    Raises:
        DamagedInputError: It is no report.
    """
    del options
    for index, report in enumerate(_reports(source)):
        entries = _entries(report, index, source)
        # A case under several evaluators is one trial; its evaluators follow each other.
        cases: dict[str, list[int]] = {}
        for number, case in enumerate(entries):
            cases.setdefault(_case_id(case, number), []).append(number)
        evaluators = dict.fromkeys(_evaluator(case) for case in entries)
        run = validated(Run, _run(source, report, index, list(evaluators), entries))
        yield RunStream(
            run, _trials(report, entries, cases, list(evaluators), request.content, index)
        )


def _reports(source: Source) -> list[dict[str, Any]]:
    if source.size > LARGEST:
        raise DamagedInputError(f"is larger than {LARGEST >> 20} MiB", source=source.shown)
    with source.open() as file:
        document = loads(file.read(), source=source.shown)
    reports = document if isinstance(document, list) else [document]
    if not reports or not all(isinstance(each, dict) for each in reports):
        raise DamagedInputError("must be a report or a list of them", source=source.shown)
    return reports


def _entries(report: dict[str, Any], index: int, source: Source) -> list[dict[str, Any]]:
    """The cases, one for each score; older reports may hold none of the other arrays."""
    scores = report.get("scores")
    if not isinstance(scores, list) or not scores:
        raise DamagedInputError(
            f"must be a list of scores, not {quoted(scores)}",
            source=source.shown,
            pointer=f"/{index}/scores",
        )
    cases = as_list(report.get("cases"))
    for name in ("cases", "test_passes"):
        length = len(as_list(report.get(name)))
        if length and length != len(scores):
            raise DamagedInputError(
                f"has {length} entries, where there are {len(scores)} scores",
                source=source.shown,
                pointer=f"/{index}/{name}",
            )
    return [as_dict(cases[n]) if n < len(cases) else {} for n in range(len(scores))]


def _case_id(case: dict[str, Any], number: int) -> str:
    name = as_word(case.get("name")) or as_word(case.get("session_id"))
    return name or f"unnamed-{number}"


def _evaluator(case: dict[str, Any]) -> str:
    return as_word(case.get("evaluator")) or as_word(case.get("evaluator_type")) or "evaluator"


def _run(
    source: Source,
    report: dict[str, Any],
    index: int,
    evaluators: list[str],
    entries: list[dict[str, Any]],
) -> dict[str, Any]:
    score = report.get("overall_score")
    reported, findings = [], []
    if "overall_score" in report and len(evaluators) == 1:
        reported = [
            {
                "evaluator": evaluators[0],
                "metric": evaluators[0],
                "statistic": "mean",
                "value": as_number(score),
                "nonfinite": nonfinite(score),
                "scored": len(entries),
            }
        ]
    elif "overall_score" in report:
        message = (
            f"the overall score {quoted(score)} pools {len(evaluators)} evaluators, and is kept "
            "in words alone"
        )
        findings = [{"code": "reported.pooled", "severity": "info", "message": message}]
    return {
        "id": f"strands-{source.sha256[:16]}-{index}",
        "source": {"format": "strands"},
        "harness": {"name": "strands-agents-evals"},
        "subject": {"id": "unknown"},
        "suite": {"name": source.path.stem or "strands"},
        "evaluators": [{"name": name, "metrics": [{"name": name}]} for name in evaluators],
        "reported": reported,
        "findings": findings,
    }


def _trials(
    report: dict[str, Any],
    entries: list[dict[str, Any]],
    cases: dict[str, list[int]],
    evaluators: list[str],
    policy: ContentPolicy,
    index: int,
) -> Iterator[Trial]:
    for case_id, numbers in cases.items():
        # An evaluator that judges a case again judges another attempt at it.
        attempts: list[dict[str, int]] = []
        for number in numbers:
            name = _evaluator(entries[number])
            for attempt in attempts:
                if name not in attempt:
                    attempt[name] = number
                    break
            else:
                attempts.append({name: number})
        for position, attempt in enumerate(attempts, 1):
            first = next(iter(attempt.values()))
            scores = []
            failed = False
            for name in evaluators:
                about = {"evaluator": name, "metric": name}
                if name in attempt:
                    score = _score(report, attempt[name], policy)
                    failed = failed or score.get("reason") == "task_failed"
                    scores.append(about | score)
                else:
                    scores.append(about | {"state": "not_applicable"})
            fields: dict[str, Any] = {
                "case_id": case_id,
                "attempt": position,
                "pointer": f"#/{index}/scores/{first}",
                "scores": scores,
            }
            if as_word(entries[first].get("name")) is None:
                fields["case_id_type"] = "synthetic"
            if failed:
                fields |= {"status": "harness_error", "status_reason": "task_failed"}
            yield validated(Trial, fields | _content(entries[first], policy))


def _at(report: dict[str, Any], name: str, number: int) -> Any:
    """An entry of a parallel array, which may be shorter or absent."""
    values = as_list(report.get(name))
    return values[number] if number < len(values) else None


def _score(report: dict[str, Any], number: int, policy: ContentPolicy) -> dict[str, Any]:
    value = report["scores"][number]
    details = [as_dict(each) for each in as_list(_at(report, "detailed_results", number))]
    reason = _at(report, "reasons", number)
    told = excerpt(reason, policy) if isinstance(reason, str) and reason else None
    fields = present(explanation=told)
    if not details and isinstance(reason, str):
        for start, state, why in REASONS:
            if reason.startswith(start):
                return fields | raw_fields(value) | present(state=state, reason=why)
    if details and all(detail.get("label") == _NOT_APPLICABLE for detail in details):
        if all(detail.get("test_pass") is True for detail in details):
            return fields | raw_fields(value) | {"state": "not_applicable"}
        return fields | raw_fields(value) | {"state": "error", "reason": "could_not_judge"}
    fields |= measured(value)
    passed = _at(report, "test_passes", number)
    if fields["state"] == "scored" and isinstance(passed, bool):
        fields["outcome"] = "passed" if passed else "failed"
    return fields


def _content(case: dict[str, Any], policy: ContentPolicy) -> dict[str, Any]:
    if "input" not in case:
        return {}
    expected, output = case.get("expected_output"), case.get("actual_output")
    return text_fields(
        raw_text(case["input"]),
        [] if expected is None else [raw_text(expected)],
        [] if output is None else [raw_text(output)],
        policy,
    )
