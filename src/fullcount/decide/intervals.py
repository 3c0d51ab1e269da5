"""Confidence intervals of means that lie on a scale, from errors clustered by case.

A normal interval leaves the scale where few cases are known, and has no width where all of them
agree. Two intervals that do neither take its place:

- Cases that differ: the score interval of Wilson (J. Am. Stat. Assoc. 22, 1927) with the effective
  sample size that the clustered error stands for, and Student's t over the cases in place of the
  normal quantile (Korn and Graubard, Survey Methodology 24, 1998; Dean and Pagano, J. Survey Stat.
  Methodology 3, 2015). It holds for any mean on a scale, not for shares alone, since the
  effective size is that of the variance which was seen.
- Cases that all agree: the variance that was seen, none, says nothing. The exact limit (Clopper and
  Pearson, Biometrika 26, 1934) of the share of cases that would not agree takes its place, each
  of which may lie anywhere on the scale.

Without a scale the interval is that of Student's t, and none where all cases agree.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fullcount.model import Metric, MetricTally

__all__ = ["LEVEL", "interval", "rate_interval", "scale", "student"]

LEVEL = 0.95
"""How often an interval holds the mean that the cases are drawn from."""
_TAIL = (1 + LEVEL) / 2
_EXACT = 200
_NOTHING = 1e-12


def interval(
    mean: float,
    standard_error: float | None,
    cases: int,
    minimum: float | None = None,
    maximum: float | None = None,
) -> tuple[float, float] | None:
    """The 95 % confidence interval of a mean; it never leaves the scale.

    Args:
        mean: The mean, in the unit of the metric.
        standard_error: Its error, clustered by case, in the same unit.
        cases: Distinct cases, or pairs of them, that it is over.
        minimum: Least value of the scale; None: open.
        maximum: Greatest value of the scale.

    Returns:
        Its two ends; None below two cases, and where all cases agree and the scale is open: that
        is too little for an interval.
    """
    if standard_error is None or cases < 2:
        return None
    if (
        minimum is None
        or maximum is None
        or not minimum <= mean <= maximum
        or not 0 < maximum - minimum < math.inf
    ):
        return _open(mean, standard_error, cases, minimum, maximum)
    size = maximum - minimum
    if standard_error <= _NOTHING * size:
        others = 1 - (1 - _TAIL) ** (1 / cases)
        low, high = mean - others * (mean - minimum), mean + others * (maximum - mean)
    else:
        share = (mean - minimum) / size
        ends = _wilson(share, standard_error / size, student(cases - 1))
        low, high = (minimum + size * end for end in ends)
    return max(low, minimum), min(high, maximum)


def rate_interval(tally: MetricTally, metric: Metric) -> tuple[float, float] | None:
    """The 95 % confidence interval of the mean of a metric over what was scored.

    Args:
        tally: The metric's tally.
        metric: The metric, for its scale.
    """
    rate = tally.rate
    if rate.value is None:
        return None
    # Where there are too many cases to keep apart, there are too many for the difference to show.
    cases = rate.n if tally.cases is None else tally.cases
    return interval(rate.value, rate.standard_error, cases, *scale(tally, metric))


def scale(tally: MetricTally, metric: Metric) -> tuple[float | None, float | None]:
    """Both ends of the scale of a metric, without one that its values have left.

    Args:
        tally: The metric's tally.
        metric: The metric.
    """
    low, high = metric.minimum, metric.maximum
    if low is not None and tally.minimum is not None and tally.minimum < low:
        low = None
    if high is not None and tally.maximum is not None and tally.maximum > high:
        high = None
    return low, high


def _wilson(share: float, error: float, quantile: float) -> tuple[float, float]:
    """Both solutions `x` of `(share - x)^2 = quantile^2 x (1 - x) / n`.

    `n`, the effective size, is `share (1 - share) / error^2`; it is 0 where the share is at an end
    and the error is not, which rounding alone can bring about.
    """
    spread = max(share * (1 - share), 0.0)
    square = (quantile * error) ** 2
    # With numerator and denominator times `spread`, which may be next to nothing.
    middle = (share * spread + square / 2) / (spread + square)
    half = math.sqrt(square * (spread * spread + square / 4)) / (spread + square)
    return middle - half, middle + half


def _open(
    mean: float, error: float, cases: int, minimum: float | None, maximum: float | None
) -> tuple[float, float] | None:
    """Student's interval, up to an end of the scale that the mean itself has not left."""
    if error <= _NOTHING * abs(mean):
        return None
    half = student(cases - 1) * error
    low, high = mean - half, mean + half
    if not math.isfinite(high - low):
        return None
    if minimum is not None and minimum <= mean:
        low = max(low, minimum)
    if maximum is not None and mean <= maximum:
        high = min(high, maximum)
    return low, high


@cache
def student(freedom: int) -> float:
    """The 97.5 % quantile of Student's t distribution.

    Up to `_EXACT` degrees of freedom by bisection of the finite sum for its distribution
    (Abramowitz and Stegun, 26.7.3 and 26.7.4), above by its asymptotic expansion (26.7.5).
    """
    if freedom > _EXACT:
        x = NormalDist().inv_cdf(_TAIL)
        terms = (
            (x**3 + x) / 4,
            (5 * x**5 + 16 * x**3 + 3 * x) / 96,
            (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
            (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
        )
        return x + math.fsum(term / float(freedom) ** n for n, term in enumerate(terms, 1))
    low, high = 0.0, math.pi / 2
    for _ in range(80):
        angle = (low + high) / 2
        if _within(angle, freedom) < LEVEL:
            low = angle
        else:
            high = angle
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _within(angle: float, freedom: int) -> float:
    """How likely t lies within `sqrt(freedom) * tan(angle)` of 0."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = 0.0
    for k in range(odd + 1, freedom, 2):
        total += term
        term *= cosine * cosine * k / (k + 1)
    return (angle + sine * total) * 2 / math.pi if odd else sine * total
