"""Confidence intervals against scipy, and how often they hold the truth."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount.decide.intervals import interval, rate_interval, student
from fullcount.model import Metric, Run, Trial
from fullcount.tally import TallyBuilder

np = pytest.importorskip("numpy")
optimize = pytest.importorskip("scipy.optimize")
stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 30, 199, 200, 201, 500, 10_000, 2**31])
def test_the_quantile_is_that_of_scipy(freedom: int) -> None:
    assert student(freedom) == pytest.approx(float(stats.t.ppf(0.975, freedom)), rel=1e-9)


@given(st.integers(1, 5_000))
def test_every_quantile_is_that_of_scipy(freedom: int) -> None:
    assert student(freedom) == pytest.approx(float(stats.t.ppf(0.975, freedom)), rel=1e-9)


@given(st.floats(0.01, 0.99), st.floats(0.005, 0.4), st.integers(2, 300))
def test_cases_that_differ_have_the_score_interval(mean: float, error: float, cases: int) -> None:
    """Its ends are where the standardized distance from the mean is Student's quantile."""
    size = mean * (1 - mean) / error**2
    quantile = float(stats.t.ppf(0.975, cases - 1))

    def distance(x: float) -> float:
        return (mean - x) ** 2 - quantile**2 * x * (1 - x) / size

    wanted = optimize.brentq(distance, 0, mean), optimize.brentq(distance, mean, 1)
    assert interval(mean, error, cases, 0, 1) == pytest.approx(wanted, abs=1e-8)
    # A scale of another place and width moves and stretches it.
    moved = tuple(10 * end - 3 for end in wanted)
    assert interval(10 * mean - 3, 10 * error, cases, -3, 7) == pytest.approx(moved, abs=1e-7)


@given(st.integers(2, 2_000))
def test_cases_that_agree_have_the_exact_limit(cases: int) -> None:
    exact = stats.binomtest(cases, cases).proportion_ci(0.95, method="exact")
    assert interval(1.0, 0.0, cases, 0, 1) == pytest.approx((exact.low, 1.0))
    exact = stats.binomtest(0, cases).proportion_ci(0.95, method="exact")
    assert interval(0.0, 0.0, cases, 0, 1) == pytest.approx((0.0, exact.high))
    # Pairs without a difference: the share that may differ may do so either way.
    assert interval(0.0, 0.0, cases, -1, 1) == pytest.approx((-exact.high, exact.high))


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=4), min_size=1, max_size=12),
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
)
def test_no_interval_leaves_the_scale_or_the_mean(
    cases: list[list[float]], low: float, size: float
) -> None:
    high = low + size
    values = [[min(low + size * value, high) for value in case] for case in cases]
    tally, metric = of(values, low, high)
    found = rate_interval(tally, metric)
    assert (found is None) == (len(cases) < 2)
    if found is not None:
        slack = 1e-9 * max(abs(low), abs(high))
        assert low <= found[0] <= tally.rate.value + slack
        assert tally.rate.value - slack <= found[1] <= high


def test_an_open_scale_has_the_interval_of_student() -> None:
    values = [2.0, 4.0, 9.0, 1.0, 3.5]
    wanted = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    tally, metric = of([[value] for value in values], None, None)
    assert rate_interval(tally, metric) == pytest.approx([float(end) for end in wanted])
    # One end is kept.
    tally, metric = of([[value] for value in values], 0.0, None)
    assert rate_interval(tally, metric) == pytest.approx([0.0 + max(wanted[0], 0), wanted[1]])
    # Values that all agree tell nothing of an open scale.
    assert interval(2.0, 0.0, 9) is None


def test_too_few_cases_have_none() -> None:
    assert interval(0.5, None, 1, 0, 1) is None
    assert interval(0.5, 0.1, 1, 0, 1) is None
    tally, metric = of([[1.0, 0.0, 1.0]], 0, 1)  # three attempts at one case
    assert rate_interval(tally, metric) is None


@pytest.mark.parametrize(
    ("cases", "attempts", "mean", "spread"),
    [(10, 1, 0.8, 0.3), (10, 4, 0.8, 0.3), (30, 3, 0.5, 1.0), (30, 3, 0.95, 0.5), (200, 2, 0.7, 3)],
)
def test_intervals_hold_the_truth_as_often_as_they_say(
    cases: int, attempts: int, mean: float, spread: float
) -> None:
    """Attempts at a case are alike: each case has its own chance, of a beta distribution."""
    random = np.random.default_rng(cases * attempts)
    rounds, held = 2_000, 0
    for _ in range(rounds):
        chances = random.beta(mean * spread, (1 - mean) * spread, cases)
        sums = random.binomial(attempts, chances)
        values = sums / attempts
        error = float(np.std(values, ddof=1)) / math.sqrt(cases)
        ends = interval(float(np.mean(values)), error, cases, 0, 1)
        assert ends is not None
        held += ends[0] <= mean <= ends[1]
    # Three standard errors of the simulation are .015.
    assert held / rounds >= 0.95 - 0.015


def of(cases: list[list[float]], low: float | None, high: float | None) -> tuple[Any, Metric]:
    metric = Metric(name="m", minimum=low, maximum=high)
    run = Run.model_validate(
        {
            "id": "run",
            "source": {"format": "test"},
            "harness": {"name": "test"},
            "subject": {"id": "agent"},
            "suite": {"name": "suite"},
            "evaluators": [{"name": "m", "metrics": [metric.model_dump()]}],
        }
    )
    builder = TallyBuilder(run)
    for number, case in enumerate(cases):
        for attempt, value in enumerate(case, 1):
            score = {"evaluator": "m", "metric": "m", "state": "scored", "value": value}
            about = {"case_id": str(number), "attempt": attempt, "scores": [score]}
            builder.add(Trial.model_validate(about))
    return builder.build().metrics[0], metric
