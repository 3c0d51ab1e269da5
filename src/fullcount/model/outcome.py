"""The three axes of an outcome and what is derived from them.

Execution (`TrialStatus`), evidence (`Verdict`) and measurement (`ScoreState`) answer three
different questions. None of them is ever read off another one silently: what is derived is
derived here, by a rule that is written down.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fullcount.model.trial import Score

__all__ = [
    "EXCLUDED",
    "UNVERIFIED",
    "Outcome",
    "RetryClass",
    "ScoreState",
    "TrialStatus",
    "Verdict",
    "VerdictBasis",
    "derive_verdict",
]


class TrialStatus(StrEnum):
    """Did execution complete?"""

    COMPLETED = "completed"
    """The subject ran to its end."""
    SUBJECT_ERROR = "subject_error"
    """The subject stopped short: it crashed, ran out of time or hit a limit."""
    HARNESS_ERROR = "harness_error"
    """The harness, its sandbox or its provider failed."""
    EVALUATOR_ERROR = "evaluator_error"
    """The subject was done; grading it failed."""
    BLOCKED = "blocked"
    """A precondition was not met, so the trial could not start."""
    CANCELLED = "cancelled"
    """Somebody stopped it."""
    NOT_RUN = "not_run"
    """Planned, and the source holds no record of it."""


class Verdict(StrEnum):
    """What does the retained evidence support?"""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    CONTRADICTED = "contradicted"
    """The evidence speaks against the claimed outcome."""
    DISPUTED = "disputed"
    """Evaluators disagree and nothing settles it."""
    UNVERIFIED = "unverified"
    """A verdict was sought and the evidence cannot support one."""


class VerdictBasis(StrEnum):
    """Where a verdict comes from."""

    DECLARED = "declared"
    """The source states it."""
    DERIVED = "derived"
    """`derive_verdict` computed it from the scores."""


class ScoreState(StrEnum):
    """Did this evaluator measure this trial?"""

    SCORED = "scored"
    """It gave a finite number or a label."""
    NULL = "null"
    """It was asked and gave null."""
    NAN = "nan"
    """It gave NaN, an infinity, or a number that no double can hold."""
    ERROR = "error"
    """The evaluator failed."""
    MISSING = "missing"
    """The trial was ready to be evaluated; the source holds no value."""
    NOT_MEASURED = "not_measured"
    """The trial never reached the evaluator, or what it measured was invalidated."""
    SKIPPED = "skipped"
    """Left out on purpose."""
    NOT_APPLICABLE = "not_applicable"
    """The case cannot be judged by this evaluator."""


class Outcome(StrEnum):
    """How a scored value stands against the evaluator's own threshold or vocabulary."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"


class RetryClass(StrEnum):
    """What it takes to get a measurement after all."""

    NONE = "none"
    """Nothing to do: the trial has its measurements, or none was sought."""
    RERUN = "rerun"
    """Nothing can have happened: run it again."""
    REGRADE = "regrade"
    """Only the evaluator failed: grade the retained output again."""
    RECONCILE_FIRST = "reconcile_first"
    """It may have happened: look before a re-run repeats a side effect."""


UNVERIFIED: frozenset[ScoreState] = frozenset(
    {
        ScoreState.NULL,
        ScoreState.NAN,
        ScoreState.ERROR,
        ScoreState.MISSING,
        ScoreState.NOT_MEASURED,
    }
)
"""States of a score that was sought and is not there."""

EXCLUDED: frozenset[ScoreState] = frozenset({ScoreState.SKIPPED, ScoreState.NOT_APPLICABLE})
"""States of a score that nobody sought."""


def derive_verdict(scores: Iterable[Score]) -> Verdict | None:
    """The verdict that the scores support, where the source declares none.

    `failed` if any evaluator that scored failed it; else `unverified` if any sought score is
    not there; else `partial` if any evaluator gave partial credit; else `passed` if any passed
    it; else None: no evaluator has a threshold, so nobody was asked.
    """
    unverified = partial = passed = False
    for score in scores:
        outcome = score.outcome
        if outcome is Outcome.FAILED:
            return Verdict.FAILED
        if outcome is Outcome.PARTIAL:
            partial = True
        elif outcome is Outcome.PASSED:
            passed = True
        elif score.state in UNVERIFIED:
            unverified = True
    if unverified:
        return Verdict.UNVERIFIED
    if partial:
        return Verdict.PARTIAL
    return Verdict.PASSED if passed else None
