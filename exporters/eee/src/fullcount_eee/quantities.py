"""The one table of every number that an aggregate file holds beside the means.

Each is a result of its own, so that it stands in `score_details.score`, which the format types
as a number. Which number it is, is said by `metric_config.additional_details`: `scope`,
`quantity` and, for those of a metric, `evaluator` and `metric`. Names are never taken apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fullcount.model import UNVERIFIED, ScoreState, TrialStatus, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fullcount.model import MetricCounts, RunTally

__all__ = [
    "MEAN",
    "METRIC_BOUNDS",
    "METRIC_COUNTS",
    "PASS_RATE",
    "PASS_RATE_BOUNDS",
    "TRIAL_COUNTS",
    "UNVERIFIED_RATE",
    "VERDICT_COUNTS",
    "VERDICT_LEVEL",
    "Quantity",
    "Scope",
    "metric_counts",
    "trial_counts",
    "verdict_counts",
]

Scope = Literal["metric", "trials", "verdict"]


@dataclass(frozen=True)
class Quantity:
    """One kind of number.

    Attributes:
        name: What `additional_details.quantity` says.
        description: What it counts, in words.
        kind: `metric_kind`.
        unit: `metric_unit`; None where it is the metric's own.
        lower_is_better: The format wants a direction; False also where there is none.
    """

    name: str
    description: str
    kind: str = "count"
    unit: str | None = "trials"
    lower_is_better: bool = False


def _by_name(*quantities: Quantity) -> dict[str, Quantity]:
    return {quantity.name: quantity for quantity in quantities}


MEAN = Quantity(
    "mean",
    "Mean over the trials that have a number; the others are counted beside it",
    "mean",
    None,
)

_STATES = {
    ScoreState.SCORED: "Trials with a number or a label",
    ScoreState.NULL: "Trials for which the evaluator was asked and gave null",
    ScoreState.NAN: "Trials for which the evaluator gave NaN or an infinity",
    ScoreState.ERROR: "Trials for which the evaluator failed",
    ScoreState.MISSING: "Trials ready to be evaluated for which the source holds no value",
    ScoreState.NOT_MEASURED: "Trials that never reached the evaluator, or were invalidated",
    ScoreState.SKIPPED: "Trials left out on purpose",
    ScoreState.NOT_APPLICABLE: "Trials that this evaluator cannot judge",
}

METRIC_COUNTS = _by_name(
    Quantity("n_total", "All trials of the run"),
    Quantity("n_sought", "Trials that were to be scored: all but the excluded"),
    Quantity("n_scored", "Trials with a number or a label"),
    Quantity("n_valued", "Trials with a number: those that the mean covers"),
    Quantity(
        "n_unverified",
        "Trials that were to be scored and are not: null, nan, error, missing and not_measured",
        lower_is_better=True,
    ),
    Quantity("n_excluded", "Trials that nobody sought to score: skipped and not_applicable"),
    *(
        Quantity(f"n_state_{state}", description, lower_is_better=state in UNVERIFIED)
        for state, description in _STATES.items()
    ),
)

UNVERIFIED_RATE = Quantity(
    "unverified_rate",
    "n_unverified over n_sought",
    "unverified_rate",
    "proportion",
    lower_is_better=True,
)

METRIC_BOUNDS = _by_name(
    Quantity(
        "lower_bound",
        "The mean over n_sought if every trial without a number were at the scale's minimum",
        "mean_lower_bound",
        None,
    ),
    Quantity(
        "upper_bound",
        "The mean over n_sought if every trial without a number were at the scale's maximum",
        "mean_upper_bound",
        None,
    ),
)

_STATUSES = {
    TrialStatus.COMPLETED: "Trials that ran to their end",
    TrialStatus.SUBJECT_ERROR: "Trials that the subject cut short",
    TrialStatus.HARNESS_ERROR: "Trials in which the harness, its sandbox or its provider failed",
    TrialStatus.EVALUATOR_ERROR: "Trials whose grading failed",
    TrialStatus.BLOCKED: "Trials that could not start",
    TrialStatus.CANCELLED: "Trials that somebody stopped",
    TrialStatus.NOT_RUN: "Planned trials of which the source holds no record",
}

TRIAL_COUNTS = _by_name(
    Quantity("n_total", "All trials of the run"),
    *(
        Quantity(
            f"n_status_{status}", description, lower_is_better=status is not TrialStatus.COMPLETED
        )
        for status, description in _STATUSES.items()
    ),
    Quantity(
        "n_measurement_failures",
        "Trials that the environment, not the subject, kept from being measured",
        lower_is_better=True,
    ),
    Quantity("n_limited", "Trials that a limit ended, scored or not", lower_is_better=True),
    Quantity(
        "n_scored_and_errored",
        "Trials with an error and at least one scored metric",
        lower_is_better=True,
    ),
    Quantity("n_invalidated", "Trials that somebody declared void", lower_is_better=True),
)

_VERDICTS = {
    Verdict.PASSED: "Trials that passed",
    Verdict.PARTIAL: "Trials with partial credit",
    Verdict.FAILED: "Trials that failed",
    Verdict.CONTRADICTED: "Trials whose evidence speaks against the claimed outcome",
    Verdict.DISPUTED: "Trials on which evaluators disagree and nothing settles it",
    Verdict.UNVERIFIED: "Trials whose evidence cannot support a verdict that was sought",
}

VERDICT_COUNTS = _by_name(
    *(
        Quantity(
            f"n_{verdict}",
            description,
            lower_is_better=verdict not in (Verdict.PASSED, Verdict.PARTIAL),
        )
        for verdict, description in _VERDICTS.items()
    ),
    Quantity("n_none", "Trials on which nobody was asked for a verdict"),
)

VERDICT_LEVEL = Quantity(
    "level",
    "Mean level of the verdicts that are known; -1 where none is",
    "verdict_level",
    "level",
)

PASS_RATE = Quantity(
    "pass_rate",
    "Passed over passed, partial, failed and contradicted",
    "pass_rate",
    "proportion",
)

PASS_RATE_BOUNDS = _by_name(
    Quantity(
        "pass_rate_lower_bound",
        "The pass rate over all trials with a verdict if every other one had failed",
        "pass_rate_lower_bound",
        "proportion",
    ),
    Quantity(
        "pass_rate_upper_bound",
        "The pass rate over all trials with a verdict if every other one had passed",
        "pass_rate_upper_bound",
        "proportion",
    ),
)


def metric_counts(counts: MetricCounts, valued: int) -> Mapping[str, int]:
    """The number of every entry of `METRIC_COUNTS`, in its order."""
    return {
        "n_total": counts.total,
        "n_sought": counts.sought,
        "n_scored": counts.scored,
        "n_valued": valued,
        "n_unverified": counts.unverified,
        "n_excluded": counts.excluded,
        **{f"n_state_{state}": counts.states[state] for state in ScoreState},
    }


def trial_counts(tally: RunTally) -> Mapping[str, int]:
    """The number of every entry of `TRIAL_COUNTS`, in its order."""
    return {
        "n_total": tally.counts.total,
        **{f"n_status_{status}": tally.counts.statuses[status] for status in TrialStatus},
        "n_measurement_failures": tally.measurement_failures,
        "n_limited": tally.limited,
        "n_scored_and_errored": tally.scored_and_errored,
        "n_invalidated": tally.invalidated,
    }


def verdict_counts(tally: RunTally) -> Mapping[str, int]:
    """The number of every entry of `VERDICT_COUNTS`, in its order."""
    return {
        **{f"n_{verdict}": tally.counts.verdicts[verdict] for verdict in Verdict},
        "n_none": tally.counts.no_verdict,
    }
