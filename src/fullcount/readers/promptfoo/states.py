"""What a row of promptfoo's says: was anything graded, and by whom?

promptfoo writes `success: false` and `score: 0` for all of these, and puts the reason of a failed
assertion where an error's message stands. They are told apart by:

| the row | status | score |
|---|---|---|
| `failureReason` 2, `Evaluation timed out after` | subject_error: timeout | not measured |
| `failureReason` 2, `Evaluation exceeded max duration of` | cancelled | not measured |
| `failureReason` 2, an error in the response | harness_error: provider_error | not measured |
| `failureReason` 2, anything else | harness_error: error | not measured |
| output null (a red team's `success` is then true) | subject_error: no_output | not measured |
| no assertion, or none that weighs: nothing could fail | completed | not applicable |
| `graderError`, or an `llm-rubric` result without its assertion | completed | error: judge_failed |
| assertion code that threw, by the message in `THREW` | completed | error: assertion_failed |
| a scoring function that threw | completed | error: scoring_failed |
| `score: null`, which is how JavaScript writes NaN | completed | null |

Where a judge failed and nothing else was graded, the trial is an evaluator_error. Where nothing
tells (a judge of 0.120 that answered garbage to another assertion than `llm-rubric`), the row is
a failure, as promptfoo has it. A person's rating settles a row, whatever failed before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fullcount.readers._fields import as_dict, as_list, as_word, nonfinite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["NOT_REACHED", "THREW", "Graded", "Reading", "base_type", "in_sets", "reading", "weighs"]

NOT_REACHED: dict[str, tuple[str, str]] = {
    "timeout": ("subject_error", "timeout"),
    "max_duration": ("cancelled", "max_duration"),
    "provider_error": ("harness_error", "provider_error"),
    "error": ("harness_error", "error"),
    "no_output": ("subject_error", "no_output"),
}
"""Status and its reason for rows that no assertion saw."""

_TIMEOUTS = {
    "Evaluation timed out after ": "timeout",
    "Evaluation exceeded max duration of ": "max_duration",
}
THREW = {
    "javascript": "Custom function threw error:",
    "python": "Python code execution failed:",
    "ruby": "Ruby code execution failed:",
    "regex": "Invalid regex pattern:",
}
"""How the reason of a result starts whose assertion of this type failed itself."""

_SCORING_THREW = "Scoring function error:"
_NO_ASSERTIONS = "No assertions"
_ERROR = 2


@dataclass(frozen=True, slots=True)
class Graded:
    """What one assertion made of the output.

    Attributes:
        metric: The name that it counts for, if any.
        passed: Whether it passed; None: it gave no number, or nothing depends on it.
        failure: Why it gave nothing, if it did not.
        weighs: Whether the row's score and success depend on it.
        parts: The results of a set of assertions.
    """

    metric: str | None
    passed: bool | None
    failure: str | None
    weighs: bool
    parts: tuple[Graded, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What a row says.

    Attributes:
        kind: A key of `NOT_REACHED`; `no_assertions`; `no_weight`; the failure of an evaluator;
            `null`: no number; or `scored`.
        graded: Results of its own assertions, in their order.
        failed: Whether an assertion that was able to judge failed the row for certain.
        rated: Whether a person rated it.
        by_score: Whether success depends on the score and not on every assertion.
    """

    kind: str
    graded: tuple[Graded, ...] = ()
    failed: bool = False
    rated: bool = False
    by_score: bool = False


def reading(row: dict[str, Any]) -> Reading:
    """What a row says."""
    grading = as_dict(row.get("gradingResult"))
    results = as_list(grading.get("componentResults"))
    kind = _not_reached(row, grading, results)
    if kind is not None:
        return Reading(kind)
    test = as_dict(row.get("testCase"))
    planned = [as_dict(each) for each in as_list(test.get("assert"))]
    reason = grading.get("reason")
    if not results and (reason == _NO_ASSERTIONS or ("testCase" in row and not planned)):
        return Reading("no_assertions")
    graded = tuple(_graded(results, [each for each in planned if not _compares(each)]))
    rated = any(
        as_dict(as_dict(result).get("assertion")).get("type") == "human" for result in results
    )
    by_score = test.get("threshold") is not None or "assertScoringFunction" in test
    failed = not by_score and any(each.passed is False for each in graded)
    failure = next((each.failure for each in graded if each.failure and each.weighs), None)
    if rated:
        kind = "scored"
    elif isinstance(reason, str) and reason.startswith(_SCORING_THREW):
        kind = "scoring_failed"
    elif planned and not any(map(weighs, planned)):
        kind = "no_weight"
    elif failure is not None:
        kind = failure
    else:
        kind = "scored"
    if kind == "scored" and nonfinite(row.get("score")) is not None:
        kind = "null"
    return Reading(kind, graded, failed, rated, by_score)


def base_type(assertion: dict[str, Any]) -> str:
    """The type of an assertion, without a `not-` before it."""
    return (as_word(assertion.get("type")) or "").removeprefix("not-")


def weighs(assertion: dict[str, Any]) -> bool:
    """Whether the row's score and success can depend on an assertion."""
    return assertion.get("weight") != 0 and assertion.get("metricOnly") is not True


def in_sets(assertions: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Assertions, each set followed by what is in it."""
    for assertion in map(as_dict, assertions):
        yield assertion
        yield from in_sets(as_list(assertion.get("assert")))


def _not_reached(row: dict[str, Any], grading: dict[str, Any], results: list[Any]) -> str | None:
    """Why no assertion saw the output, or None."""
    response, error = row.get("response"), row.get("error")
    failure = row.get("failureReason")
    told = as_dict(response).get("error")
    # Before 0.96 rows have no failureReason.
    if failure == _ERROR or (failure is None and not grading and (told or response is None)):
        for start, kind in _TIMEOUTS.items():
            if isinstance(error, str) and error.startswith(start):
                return kind
        return "provider_error" if told else "error"
    if results:
        return None
    if isinstance(response, dict):
        return "no_output" if response.get("output") is None else None
    return "no_output" if not grading and error == "No output" else None


def _compares(assertion: dict[str, Any]) -> bool:
    """Whether it compares outputs with each other; its result stands after the others."""
    kind = base_type(assertion)
    return kind.startswith("select-") or kind == "max-score"


def _graded(results: list[Any], planned: list[dict[str, Any]]) -> Iterator[Graded]:
    """The results of these assertions; those that are left over have no plan."""
    for number, result in enumerate(_own(results)):
        plan = planned[number] if number < len(planned) else {}
        stated = as_dict(result.get("assertion"))
        if "type" not in stated:
            stated = {}
        elif stated["type"] != plan.get("type"):
            plan = {}
        parts = tuple(
            _graded(
                as_list(result.get("componentResults")),
                list(map(as_dict, as_list(plan.get("assert")))),
            )
        )
        failure = _failure(result, stated, plan)
        if failure is None:
            failure = next((part.failure for part in parts if part.failure), None)
        assertion = stated or plan
        weight = weighs(assertion)
        passed = result.get("pass")
        sure = failure is None and weight and nonfinite(result.get("score")) is None
        yield Graded(
            as_word(plan.get("metric")) or as_word(stated.get("metric")),
            passed if sure and isinstance(passed, bool) else None,
            failure,
            weight,
            parts,
        )


def _own(results: list[Any]) -> Iterator[dict[str, Any]]:
    """Results without those of a set's members, which stand again behind their set."""
    at = 0
    while at < len(results):
        result = as_dict(results[at])
        yield result
        at += 1 + len(as_list(result.get("componentResults")))


def _failure(result: dict[str, Any], stated: dict[str, Any], plan: dict[str, Any]) -> str | None:
    if as_dict(result.get("metadata")).get("graderError") is True:
        return "judge_failed"
    kind = base_type(stated or plan)
    reason = result.get("reason")
    if kind in THREW and isinstance(reason, str) and reason.startswith(THREW[kind]):
        return "assertion_failed"
    return "judge_failed" if not stated and kind == "llm-rubric" else None
