"""Two runs beside each other: what differs, how surely, and what cannot be told.

A difference is paired by case where both runs have a value, so that a case which is hard for
both says nothing about either. Beside it stand the bounds of the difference over all that was
sought: where they hold zero, the conclusion depends on what is unverified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist, fmean, stdev
from typing import TYPE_CHECKING

from fullcount.model import ScoreState
from fullcount.tally import TallyBuilder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fullcount.model import Evaluator, Metric, MetricTally, Run, RunTally, Trial

__all__ = ["Difference", "Measured", "compare", "differences", "interval", "mcnemar", "measure"]

Key = tuple[str, str]
_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Measured:
    """A run, its tally, and what each of its cases scored.

    Attributes:
        run: The run.
        tally: Its tally.
        cases: For each metric, the sum and the number of the values of each case.
    """

    run: Run
    tally: RunTally
    cases: dict[Key, dict[str, tuple[float, int]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Difference:
    """One metric of two runs. Differences are the second less the first.

    Attributes:
        metric: Name of the metric.
        first: Its tally in the first run.
        second: Its tally in the second run.
        pairs: Cases that both runs have a value of.
        difference: Mean over these cases of the difference of each case's mean; None without any.
        standard_error: Of this difference; None below two pairs.
        only_first: Cases, of those scored once by both and 0 or 1, that only the first got right.
        only_second: Those that only the second got right.
        p_value: Exact two-sided McNemar test over these; None where values are not 0 and 1.
        lower: Least difference of the means over all that was sought, whatever the unverified are;
            None where the scale has no such end.
        upper: Greatest such difference.
    """

    metric: str
    first: MetricTally
    second: MetricTally
    pairs: int
    difference: float | None
    standard_error: float | None
    only_first: int
    only_second: int
    p_value: float | None
    lower: float | None
    upper: float | None

    @property
    def unverified_rates(self) -> tuple[float, float]:
        """Share of the sought that is unverified, in each run."""
        return _share(self.first), _share(self.second)

    @property
    def robust(self) -> bool | None:
        """Whether the sign of the difference holds whatever the unverified are.

        None where there is no difference to speak of, or no bound.
        """
        if not self.difference or self.lower is None or self.upper is None:
            return None
        return self.lower > 0 if self.difference > 0 else self.upper < 0

    @property
    def conclusion(self) -> str:
        """The difference in words."""
        if self.difference is None:
            return "no case has a value in both runs: nothing can be said"
        if self.difference == 0:
            words = "no difference"
        else:
            words = f"the second is {'higher' if self.difference > 0 else 'lower'}"
        ends = interval(self.difference, self.standard_error)
        if self.difference and ends is not None and ends[0] <= 0 <= ends[1]:
            words += ", within the error"
        if self.robust is False:
            words += ", and the sign depends on what is unverified"
        elif self.robust:
            words += ", whatever the unverified are"
        before, after = self.unverified_rates
        if before != after:
            which = "second" if after > before else "first"
            words += (
                f"; the {which} more often leaves you unable to tell ({before:.3g}, {after:.3g})"
            )
        return words


def measure(run: Run, trials: Iterable[Trial]) -> Measured:
    """Tally a run and keep what each case scored; memory is that of its cases."""
    builder = TallyBuilder(run)
    cases: dict[Key, dict[str, tuple[float, int]]] = {key: {} for key in run.metric_keys}
    for trial in trials:
        builder.add(trial)
        for score in trial.scores:
            if score.state is ScoreState.SCORED and score.value is not None:
                known = cases[score.evaluator, score.metric]
                total, count = known.get(trial.case_id, (0.0, 0))
                known[trial.case_id] = (total + score.value, count + 1)
    return Measured(run, builder.build(), cases)


def differences(first: Run, second: Run) -> Iterator[str]:
    """What makes two runs not comparable, in words; nothing where they are."""
    for name in ("name", "version", "split", "dataset_revision"):
        before, after = getattr(first.suite, name), getattr(second.suite, name)
        if before != after:
            yield f"suite {name} is {before!r} and {after!r}"
    others = _metrics(second)
    for key, (evaluator, metric) in _metrics(first).items():
        if key not in others:
            continue
        other, same = others[key]
        for what in ("version", "rubric_revision", "kind", "model"):
            before, after = getattr(evaluator, what), getattr(other, what)
            if before != after:
                yield f"evaluator {evaluator.name}: {what} is {before!r} and {after!r}"
        for what in ("minimum", "maximum", "lower_is_better", "unit", "threshold"):
            before, after = getattr(metric, what), getattr(same, what)
            if before != after:
                yield f"metric {metric.name}: {what} is {before!r} and {after!r}"


def compare(first: Measured, second: Measured) -> list[Difference]:
    """Every metric that both runs have, in the order of the first."""
    tallies = {(each.evaluator, each.metric): each for each in second.tally.metrics}
    return [
        _difference(each, tallies[each.evaluator, each.metric], first, second)
        for each in first.tally.metrics
        if (each.evaluator, each.metric) in tallies
    ]


def interval(value: float, standard_error: float | None) -> tuple[float, float] | None:
    """The 95 % confidence interval of a value, by the normal distribution."""
    if standard_error is None:
        return None
    return value - _Z * standard_error, value + _Z * standard_error


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided exact McNemar test: how likely so uneven a split of the discordant pairs is."""
    total = only_first + only_second
    if total == 0:
        return 1.0
    tail = sum(math.comb(total, k) for k in range(min(only_first, only_second) + 1))
    # A quotient of integers is rounded once, however large they are.
    return min(1.0, float(2 * tail / 2**total))


def _difference(
    before: MetricTally, after: MetricTally, first: Measured, second: Measured
) -> Difference:
    key = (before.evaluator, before.metric)
    ours, theirs = first.cases[key], second.cases[key]
    shared = [(ours[case], theirs[case]) for case in ours if case in theirs]
    paired = [right[0] / right[1] - left[0] / left[1] for left, right in shared]
    single = [(left[0], right[0]) for left, right in shared if left[1] == 1 and right[1] == 1]
    binary = bool(single) and all(value in (0.0, 1.0) for pair in single for value in pair)
    only_first = sum(pair == (1.0, 0.0) for pair in single) if binary else 0
    only_second = sum(pair == (0.0, 1.0) for pair in single) if binary else 0
    low, high = (before.rate.lower, before.rate.upper), (after.rate.lower, after.rate.upper)
    return Difference(
        metric=before.name,
        first=before,
        second=after,
        pairs=len(paired),
        difference=fmean(paired) if paired else None,
        standard_error=stdev(paired) / math.sqrt(len(paired)) if len(paired) > 1 else None,
        only_first=only_first,
        only_second=only_second,
        p_value=mcnemar(only_first, only_second) if binary else None,
        lower=None if high[0] is None or low[1] is None else high[0] - low[1],
        upper=None if high[1] is None or low[0] is None else high[1] - low[0],
    )


def _metrics(run: Run) -> dict[Key, tuple[Evaluator, Metric]]:
    return {
        (evaluator.name, metric.name): (evaluator, metric)
        for evaluator in run.evaluators
        for metric in evaluator.metrics
    }


def _share(metric: MetricTally) -> float:
    return metric.unverified / metric.sought if metric.sought else 0.0
