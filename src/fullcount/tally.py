"""One pass over the trials of a run: counts, means, bounds and standard errors.

Memory is constant for each metric. Cases are kept apart exactly up to `EXACT_CASES`; beyond
that they are folded into `BUCKETS` groups by a hash of their id, which leaves the clustered
variance unbiased (cases are independent, so sums of whole cases are too) at a relative error
of about `1 / sqrt(2 * BUCKETS)`.
"""

from __future__ import annotations

import math
from array import array
from hashlib import blake2b
from typing import TYPE_CHECKING

from fullcount.model import (
    Counts,
    MetricCounts,
    MetricTally,
    Outcome,
    Rate,
    RunTally,
    ScoreState,
    TrialStatus,
    Verdict,
)
from fullcount.plugin import SurveyNeeded
from fullcount.reconcile import reconcile

if TYPE_CHECKING:
    from fullcount.model import Metric, Run, Score, Trial

__all__ = ["BUCKETS", "EXACT_CASES", "TallyBuilder"]

EXACT_CASES = 65_536
BUCKETS = 4_096
_LABELS = 64
_HUGE = 2.0**960
_SCALE = 2.0**-64


class TallyBuilder:
    """Counts the trials of one run.

    Args:
        run: Declares every metric that a trial may be scored on.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._metrics = {
            (evaluator.name, metric.name): _MetricBuilder(evaluator.name, metric)
            for evaluator in run.evaluators
            for metric in evaluator.metrics
        }
        self._total = 0
        self._statuses = dict.fromkeys(TrialStatus, 0)
        self._verdicts: dict[Verdict | None, int] = dict.fromkeys([*Verdict, None], 0)
        self._passing = _Moments()
        self._cases = _Cases()
        self._failures = self._limited = self._both = self._invalidated = 0

    def add(self, trial: Trial) -> None:
        """Count one trial, which is scored on every metric of the run.

        Raises:
            SurveyNeeded: The trial is scored on a metric that the run does not declare.
        """
        scores = trial.scores
        metrics = self._metrics
        case = self._cases.index(trial.case_id, trial.attempt)
        try:
            for score in scores:
                metrics[score.evaluator, score.metric].add(score, case)
        except KeyError as error:
            raise SurveyNeeded(*error.args[0]) from None
        self._total += 1
        self._statuses[trial.status] += 1
        verdict = trial.verdict
        self._verdicts[verdict] += 1
        if verdict in _DECIDED:
            self._passing.add(1.0 if verdict is Verdict.PASSED else 0.0, case)
        if trial.status is not TrialStatus.COMPLETED and trial.measurement_failure:
            self._failures += 1
        if trial.limit is not None:
            self._limited += 1
        if trial.error is not None and any(s.state is ScoreState.SCORED for s in scores):
            self._both += 1
        if trial.invalidated:
            self._invalidated += 1

    def build(self) -> RunTally:
        """The tally of everything added so far, reconciled with what the harness reports."""
        metrics = tuple(metric.build(self._cases) for metric in self._metrics.values())
        verdicts = {verdict: self._verdicts[verdict] for verdict in Verdict}
        counts = Counts(
            run_id=self._run.id,
            total=self._total,
            statuses=self._statuses,
            verdicts=verdicts,
            no_verdict=self._verdicts[None],
            metrics=tuple(
                MetricCounts(evaluator=m.evaluator, metric=m.metric, states=m.states)
                for m in metrics
            ),
        )
        tally = RunTally(
            counts=counts,
            metrics=metrics,
            pass_rate=self._passing.rate(
                self._cases, sought=sum(verdicts.values()), minimum=0.0, maximum=1.0
            ),
            measurement_failures=self._failures,
            limited=self._limited,
            scored_and_errored=self._both,
            invalidated=self._invalidated,
        )
        return tally.model_copy(update={"findings": reconcile(self._run, tally)})


_DECIDED = frozenset({Verdict.PASSED, Verdict.PARTIAL, Verdict.FAILED, Verdict.CONTRADICTED})


class _Cases:
    """Gives every case an index: its own while there is room, else that of its bucket."""

    def __init__(self) -> None:
        self.indices: dict[str, int] | None = {}
        self.size = 0
        self.repeated = False
        self.folds: array[int] | None = None

    def index(self, case_id: str, attempt: int) -> int:
        if attempt > 1:
            self.repeated = True
        indices = self.indices
        if indices is None:
            return _bucket(case_id)
        index = indices.get(case_id)
        if index is not None:
            self.repeated = True
            return index
        if self.size == EXACT_CASES:
            # Sums by case become sums by bucket when a metric next needs them.
            self.folds = array("l", (_bucket(case) for case in indices))
            self.indices = None
            return _bucket(case_id)
        indices[case_id] = self.size
        self.size += 1
        return self.size - 1


def _bucket(case_id: str) -> int:
    digest = blake2b(case_id.encode(), digest_size=4).digest()
    # Past the exact indices, so that a bucket is never mistaken for a case before the fold.
    return EXACT_CASES + int.from_bytes(digest) % BUCKETS


class _Moments:
    """Sum, spread and sums by case of a stream of numbers."""

    __slots__ = (
        "case_counts",
        "case_sums",
        "compensation",
        "huge",
        "m2",
        "maximum",
        "mean",
        "minimum",
        "n",
        "shift",
        "total",
    )

    def __init__(self) -> None:
        self.n = 0
        self.total = self.compensation = self.huge = 0.0
        self.mean = self.m2 = self.shift = 0.0
        self.minimum = math.inf
        self.maximum = -math.inf
        self.case_counts = array("l")
        self.case_sums = array("d")

    def add(self, value: float, case: int) -> None:
        self.n += 1
        # Neumaier's compensated sum; numbers that could overflow it are summed scaled down.
        total = self.total
        if -_HUGE < value < _HUGE:
            new = total + value
            if abs(total) >= abs(value):
                self.compensation += (total - new) + value
            else:
                self.compensation += (value - new) + total
            self.total = new
        else:
            self.huge += value * _SCALE
        # Welford's update.
        delta = value - self.mean
        self.mean += delta / self.n
        self.m2 += delta * (value - self.mean)
        self.minimum = min(self.minimum, value)
        self.maximum = max(self.maximum, value)
        if self.n == 1:
            self.shift = value
        counts = self.case_counts
        if case >= len(counts):
            grow = max(case + 1 - len(counts), len(counts))
            counts.frombytes(bytes(grow * counts.itemsize))
            self.case_sums.frombytes(bytes(grow * self.case_sums.itemsize))
        counts[case] += 1
        self.case_sums[case] += value - self.shift

    @property
    def average(self) -> float | None:
        if self.n == 0:
            return None
        return self._clean(self._sum_over(self.n))

    def _sum_over(self, size: int) -> float:
        """The sum divided by `size`, which keeps it finite where the sum is not."""
        plain = (self.total + self.compensation) / size
        return plain + self.huge / size / _SCALE if self.huge else plain

    def _clean(self, mean: float) -> float:
        """A mean lies between the smallest and the largest value, whatever was rounded."""
        return min(max(mean, self.minimum), self.maximum)

    @property
    def deviation(self) -> float | None:
        if self.n < 2:
            return None
        variance = self.m2 / (self.n - 1)
        return math.sqrt(max(variance, 0.0)) if math.isfinite(variance) else None

    def by_case(self, cases: _Cases) -> list[tuple[int, float]]:
        """(values, their sum less `shift` each) of every case or bucket with a value."""
        pairs = zip(self.case_counts, self.case_sums, strict=True)
        if cases.folds is None:
            return [(count, total) for count, total in pairs if count]
        counts = [0] * BUCKETS
        sums = [0.0] * BUCKETS
        for index, (count, total) in enumerate(pairs):
            if count:
                bucket = (cases.folds[index] if index < EXACT_CASES else index) - EXACT_CASES
                counts[bucket] += count
                sums[bucket] += total
        return [(count, total) for count, total in zip(counts, sums, strict=True) if count]

    def case_mean(self, groups: list[tuple[int, float]]) -> float | None:
        if not groups:
            return None
        try:
            offset = math.fsum(total / count for count, total in groups) / len(groups)
        except (OverflowError, ValueError):
            return None
        return self._clean(self.shift + offset) if math.isfinite(offset) else None

    def standard_error(self, groups: list[tuple[int, float]]) -> float | None:
        """Cluster-robust error of the mean, with the factor G / (G - 1) for G groups.

        With one value for each case this is the usual s / sqrt(n).
        """
        average, size = self.average, len(groups)
        if average is None or size < 2:
            return None
        offset = average - self.shift
        squares = [(total - count * offset) / self.n for count, total in groups]
        try:
            variance = math.fsum(part * part for part in squares) * size / (size - 1)
        except OverflowError:
            return None
        return math.sqrt(variance) if math.isfinite(variance) else None

    def rate(
        self, cases: _Cases, *, sought: int, minimum: float | None, maximum: float | None
    ) -> Rate:
        groups = self.by_case(cases)
        error, method = self.standard_error(groups), "clustered by case"
        if cases.folds is not None:
            if cases.repeated:
                method = f"clustered by {BUCKETS} buckets of cases"
            else:
                deviation = self.deviation
                error = None if deviation is None else deviation / math.sqrt(self.n)
        return Rate(
            value=self.average,
            n=self.n,
            sought=sought,
            # An end of the scale that a value has left is no bound of the values that are absent.
            lower=self._bound(sought, None if self._below(minimum) else minimum),
            upper=self._bound(sought, None if self._above(maximum) else maximum),
            standard_error=error,
            method=None if error is None else method,
        )

    def _below(self, minimum: float | None) -> bool:
        return minimum is not None and self.minimum < minimum

    def _above(self, maximum: float | None) -> bool:
        return maximum is not None and self.maximum > maximum

    def _bound(self, sought: int, end: float | None) -> float | None:
        """The mean over all sought trials if each without a value were at `end`."""
        absent = sought - self.n
        if sought == 0 or (absent > 0 and end is None):
            return None
        missing = absent * end if absent and end is not None else 0.0
        bound = (self.total + self.compensation + missing) / sought
        if self.huge or not math.isfinite(bound):
            bound = self._sum_over(sought) + (0.0 if end is None else end * (absent / sought))
        return bound if math.isfinite(bound) else None


class _MetricBuilder:
    """Counts one metric of one evaluator."""

    def __init__(self, evaluator: str, metric: Metric) -> None:
        self.evaluator = evaluator
        self.metric = metric
        self.states = dict.fromkeys(ScoreState, 0)
        self.outcomes: dict[Outcome | None, int] = dict.fromkeys([*Outcome, None], 0)
        self.labels: dict[str, int] = {}
        self.moments = _Moments()

    def add(self, score: Score, case: int) -> None:
        self.states[score.state] += 1
        if score.state is ScoreState.SCORED:
            self.outcomes[score.outcome] += 1
            if score.value is not None:
                self.moments.add(score.value, case)
            label = score.label
            if label is not None and (label in self.labels or len(self.labels) < _LABELS):
                self.labels[label] = self.labels.get(label, 0) + 1

    def build(self, cases: _Cases) -> MetricTally:
        moments = self.moments
        excluded = self.states[ScoreState.SKIPPED] + self.states[ScoreState.NOT_APPLICABLE]
        groups = moments.by_case(cases)
        exact = cases.folds is None
        return MetricTally(
            evaluator=self.evaluator,
            metric=self.metric.name,
            states=dict(self.states),
            rate=moments.rate(
                cases,
                sought=sum(self.states.values()) - excluded,
                minimum=self.metric.minimum,
                maximum=self.metric.maximum,
            ),
            minimum=moments.minimum if moments.n else None,
            maximum=moments.maximum if moments.n else None,
            standard_deviation=moments.deviation,
            cases=len(groups) if exact else None if cases.repeated else moments.n,
            case_mean=moments.case_mean(groups)
            if exact
            else None
            if cases.repeated
            else moments.average,
            labels=self.labels,
            passed=self.outcomes[Outcome.PASSED],
            partial=self.outcomes[Outcome.PARTIAL],
            failed=self.outcomes[Outcome.FAILED],
        )
