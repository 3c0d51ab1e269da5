"""Two runs beside each other: what differs, how surely, and what cannot be told.

A difference is paired by case where both runs have a value, so that a case which is hard for
both says nothing about either. Beside it stand the bounds of the difference over all that was
sought: where they hold zero, the conclusion depends on what is unverified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Literal

from fullcount.decide.intervals import LEVEL, interval, scale
from fullcount.model import ScoreState
from fullcount.tally import TallyBuilder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fullcount.model import Evaluator, Metric, MetricTally, Run, RunTally, Trial

__all__ = [
    "Difference",
    "Direction",
    "Measured",
    "compare",
    "differences",
    "mcnemar",
    "measure",
]

Key = tuple[str, str]
Direction = Literal["higher", "lower", "could not tell"]
"""Where the second lies, as far as the evidence carries."""
_NOTHING = 1e-12


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

    def metric(self, tally: MetricTally) -> Metric:
        """What the run says of a metric that it has a tally of."""
        return _metrics(self.run)[tally.evaluator, tally.metric][1]


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
        interval: Its 95 % confidence interval; None where there are too few pairs for one.
        tested: Cases that both scored once, 0 or 1; 0 where some value is another one.
        only_first: Those of them that only the first got right.
        only_second: Those that only the second got right.
        p_value: Exact two-sided McNemar test over these; None where there are none.
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
    interval: tuple[float, float] | None
    tested: int
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
    def direction(self) -> Direction:
        """Where the second lies; only an interval without 0 can tell.

        Where McNemar's test covers every pair it has to agree: of few pairs it is the exact one.
        """
        if not self.difference or self.interval is None:
            return "could not tell"
        if self.interval[0] <= 0 <= self.interval[1] or self._overruled:
            return "could not tell"
        return "higher" if self.difference > 0 else "lower"

    @property
    def robust(self) -> bool | None:
        """Whether the sign of the difference holds whatever the unverified are.

        None where there is no difference to speak of, or no bound.
        """
        if not self.difference or self.lower is None or self.upper is None:
            return None
        return self.lower > 0 if self.difference > 0 else self.upper < 0

    @property
    def statements(self) -> tuple[str, str, str]:
        """What was measured, what the unverified may change, and their rates, in words."""
        return self._measured, self._resolved, self._unable

    @property
    def conclusion(self) -> str:
        """All three in one line."""
        return "; ".join(self.statements)

    @property
    def _overruled(self) -> bool:
        covered = self.tested == self.pairs and self.p_value is not None
        return covered and self.p_value is not None and self.p_value >= 1 - LEVEL

    @property
    def _measured(self) -> str:
        if self.difference is None:
            return "could not tell: no case has a value in both runs"
        pairs = f"over {self.pairs} pair{'s' * (self.pairs != 1)}"
        size = f"{abs(self.difference):.3g}"
        ends = self.interval and f"95 % interval {self.interval[0]:.3g} to {self.interval[1]:.3g}"
        if self.direction != "could not tell":
            return f"the second is {self.direction} by {size} {pairs}, {ends}"
        if not self.difference:
            found = f"no difference was measured {pairs}"
        else:
            side = "higher" if self.difference > 0 else "lower"
            found = f"the second measured {size} {side} {pairs}"
        if ends is None:
            return f"could not tell: {found}, too few for an interval"
        if self.interval is not None and self.interval[0] <= 0 <= self.interval[1]:
            return f"could not tell: {found}, {ends} holds 0"
        return f"could not tell: {found}, {ends}, but McNemar's test gives p = {self.p_value:.3g}"

    @property
    def _resolved(self) -> str:
        if self.lower is None or self.upper is None:
            return "what the unverified would change is unknown, as the scale has no end there"
        between = (
            f"over all sought the difference lies between {self.lower:.3g} and {self.upper:.3g}"
        )
        if self.robust:
            return f"the sign holds whatever the unverified are: {between}"
        if self.robust is False and (self.lower > 0 or self.upper < 0):
            return f"the sign is the other one over all cases, those of one run included: {between}"
        if not self.first.unverified and not self.second.unverified:
            return "nothing is unverified"
        if self.lower > 0 or self.upper < 0:
            return f"its sign does not depend on what is unverified: {between}"
        return f"the sign depends on what is unverified: {between}"

    @property
    def _unable(self) -> str:
        before, after = self.unverified_rates
        rates = f"unverified {before:.3g} and {after:.3g}"
        if before == after:
            return f"both leave you unable to tell alike ({rates})"
        which = "second" if after > before else "first"
        return f"the {which} more often leaves you unable to tell ({rates})"


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
    difference = fmean(paired) if paired else None
    if difference and abs(difference) <= _NOTHING * _size(before, after):
        difference = 0.0  # what is left of rounding is no sign
    error = stdev(paired) / math.sqrt(len(paired)) if len(paired) > 1 else None
    ends = scale(before, first.metric(before)), scale(after, second.metric(after))
    return Difference(
        metric=before.name,
        first=before,
        second=after,
        pairs=len(paired),
        difference=difference,
        standard_error=error,
        interval=None
        if difference is None
        else interval(
            difference,
            error,
            len(paired),
            _less(ends[1][0], ends[0][1]),
            _less(ends[1][1], ends[0][0]),
        ),
        tested=len(single) if binary else 0,
        only_first=only_first,
        only_second=only_second,
        p_value=mcnemar(only_first, only_second) if binary else None,
        lower=_less(after.rate.lower, before.rate.upper),
        upper=_less(after.rate.upper, before.rate.lower),
    )


def _less(value: float | None, other: float | None) -> float | None:
    """The difference of two ends; None where one is open."""
    return None if value is None or other is None else value - other


def _size(*metrics: MetricTally) -> float:
    """The greatest size of a value."""
    return max(abs(end) for m in metrics for end in (m.minimum or 0.0, m.maximum or 0.0))


def _metrics(run: Run) -> dict[Key, tuple[Evaluator, Metric]]:
    return {
        (evaluator.name, metric.name): (evaluator, metric)
        for evaluator in run.evaluators
        for metric in evaluator.metrics
    }


def _share(metric: MetricTally) -> float:
    return metric.unverified / metric.sought if metric.sought else 0.0
