"""Counts and rates of a run: nothing in them that cannot be added up again."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from fullcount.model._base import Count, Finite, Model, NonNegative, Text, Word
from fullcount.model.outcome import EXCLUDED, UNVERIFIED, ScoreState, TrialStatus, Verdict
from fullcount.model.run import Finding

__all__ = ["Counts", "MetricCounts", "MetricTally", "Rate", "RunTally"]

_ULP = 1e-12


class Rate(Model):
    """A mean that is never a bare number.

    `value` is over the `n` trials that have one. `lower` and `upper` are the means over all
    sought trials if every one without a value were the worst, and the best, that the scale
    allows. There is none on a side where the scale is open, or where a value has left it.
    """

    value: Finite | None = None
    n: Count
    sought: Count
    lower: Finite | None = None
    upper: Finite | None = None
    standard_error: NonNegative | None = None
    """Clustered by case; None below two cases."""
    method: Word | None = None
    """How `standard_error` was computed."""

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.n > self.sought:
            msg = "more values than trials sought"
            raise ValueError(msg)
        if (self.value is None) != (self.n == 0):
            msg = "a rate has a value exactly where n is above 0"
            raise ValueError(msg)
        if self.lower is not None and self.upper is not None:
            slack = _ULP * max(1.0, abs(self.lower), abs(self.upper))
            if self.lower > self.upper + slack:
                msg = "lower bound above upper bound"
                raise ValueError(msg)
        return self


class MetricCounts(Model):
    """How many trials are in each state for one metric of one evaluator."""

    evaluator: Word
    metric: Word
    states: dict[ScoreState, Count]
    """Every state is a key, zeros included."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if len(self.states) != len(ScoreState):
            msg = "every state needs its count, zero included"
            raise ValueError(msg)
        return self

    @property
    def total(self) -> int:
        """All trials of the run."""
        return sum(self.states.values())

    @property
    def scored(self) -> int:
        """Trials with a number or a label."""
        return self.states[ScoreState.SCORED]

    @property
    def unverified(self) -> int:
        """Trials that were sought and are not scored."""
        return sum(self.states[state] for state in UNVERIFIED)

    @property
    def excluded(self) -> int:
        """Trials that nobody sought to score."""
        return sum(self.states[state] for state in EXCLUDED)

    @property
    def sought(self) -> int:
        """All trials but the excluded."""
        return self.total - self.excluded

    @property
    def name(self) -> str:
        """The metric's name within its run."""
        if self.metric == self.evaluator:
            return self.evaluator
        return f"{self.evaluator}.{self.metric}"


class Counts(Model):
    """The counts of one run: what an artifact must be able to give back."""

    run_id: Word
    total: Count
    statuses: dict[TrialStatus, Count]
    verdicts: dict[Verdict, Count]
    no_verdict: Count
    """Trials on which nobody was asked for a verdict."""
    metrics: tuple[MetricCounts, ...] = ()

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        if len(self.statuses) != len(TrialStatus) or len(self.verdicts) != len(Verdict):
            msg = "every status and verdict needs its count, zero included"
            raise ValueError(msg)
        sums = {
            "statuses": sum(self.statuses.values()),
            "verdicts": sum(self.verdicts.values()) + self.no_verdict,
            **{f"states of {metric.name}": metric.total for metric in self.metrics},
        }
        for what, value in sums.items():
            if value != self.total:
                msg = f"{what} add up to {value}, not to the total {self.total}"
                raise ValueError(msg)
        return self


class MetricTally(MetricCounts):
    """The counts of one metric, and the mean they belong to."""

    rate: Rate
    """Mean of the values; `n` leaves out scored trials that have only a label."""
    minimum: Finite | None = None
    """Smallest value seen."""
    maximum: Finite | None = None
    standard_deviation: NonNegative | None = None
    """Sample standard deviation of the values; None below two."""
    cases: Count | None = None
    """Distinct cases with a value; None where there are too many to keep apart."""
    case_mean: Finite | None = None
    """Mean over cases of each case's own mean; None where cases could not be kept apart."""
    labels: dict[Text, Count] = {}
    """Scored trials by label, the first sixty-four labels seen."""
    passed: Count
    """Trials that meet the evaluator's threshold."""
    partial: Count
    failed: Count


class RunTally(Model):
    """Everything that was counted over one run."""

    counts: Counts
    metrics: tuple[MetricTally, ...] = ()
    pass_rate: Rate
    """Passed over passed, partial, failed and contradicted; the rest are unknown."""
    measurement_failures: Count
    """Trials that the environment kept from being measured."""
    limited: Count
    """Trials that a limit ended, whether or not they were scored."""
    scored_and_errored: Count
    """Trials with an error and at least one scored metric."""
    invalidated: Count
    findings: tuple[Finding, ...] = ()
    """Every difference between the harness's numbers and ours, and what else is odd."""
