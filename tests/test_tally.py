from __future__ import annotations

import math
import random
import statistics
import tracemalloc
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullcount import tally as tally_module
from fullcount.model import MetricTally, Rate, Run, RunTally, Trial
from fullcount.plugin import SurveyNeeded
from fullcount.tally import TallyBuilder
from fullcount.testing.corpus import CORPUS, example
from fullcount.testing.strategies import runs

UNIT = {"minimum": 0.0, "maximum": 1.0}
Row = tuple[str, float | str]
"""A case, and its value or the state that stands in for one."""


def run_with(**metric: Any) -> Run:
    return Run.model_validate(
        {
            "id": "r",
            "source": {"format": "f"},
            "harness": {"name": "h"},
            "subject": {"id": "s"},
            "suite": {"name": "t"},
            "evaluators": [{"name": "e", "metrics": [{"name": "m", **metric}]}],
        }
    )


def trial(case: str, value: float | str, **more: Any) -> Trial:
    state = {"state": value} if isinstance(value, str) else {"state": "scored", "value": value}
    scores = [{"evaluator": "e", "metric": "m", **state}]
    return Trial.model_validate({"case_id": case, "scores": scores, **more})


def count(run: Run, trials: list[Trial]) -> RunTally:
    builder = TallyBuilder(run)
    for item in trials:
        builder.add(item)
    return builder.build()


def of(rows: list[Row], **metric: Any) -> MetricTally:
    (found,) = count(run_with(**metric), [trial(*row) for row in rows]).metrics
    return found


# -- by hand


def test_five_trials() -> None:
    found = of([("a", 1.0), ("b", 0.0), ("c", "null"), ("d", "error"), ("e", "missing")], **UNIT)
    assert found.rate == Rate(
        value=0.5,
        n=2,
        sought=5,
        lower=0.2,
        upper=0.8,
        standard_error=0.5,
        method="clustered by case",
    )
    assert (found.minimum, found.maximum) == (0.0, 1.0)
    assert found.standard_deviation == math.sqrt(0.5)
    assert (found.cases, found.case_mean) == (2, 0.5)
    assert {str(s): n for s, n in found.states.items() if n} == {
        "scored": 2,
        "null": 1,
        "error": 1,
        "missing": 1,
    }


def test_excluded_trials_are_not_sought() -> None:
    found = of([("a", 1.0), ("b", "skipped"), ("c", "not_applicable"), ("d", "nan")], **UNIT)
    assert found.rate.sought == 2
    assert (found.rate.lower, found.rate.value, found.rate.upper) == (0.5, 1.0, 1.0)
    assert (found.excluded, found.unverified, found.total) == (2, 1, 4)


def test_nothing_scored_is_no_mean() -> None:
    found = of([("a", "null"), ("b", "not_measured")], **UNIT)
    assert found.rate == Rate(n=0, sought=2, lower=0.0, upper=1.0)
    assert found.minimum is found.maximum is found.standard_deviation is found.case_mean is None
    assert found.cases == 0


def test_no_trial_at_all() -> None:
    tally = count(run_with(**UNIT), [])
    assert tally.metrics[0].rate == Rate(n=0, sought=0)
    assert tally.pass_rate == Rate(n=0, sought=0)
    assert tally.counts.total == 0
    assert tally.findings == ()


def test_open_scales_have_no_bound_on_that_side() -> None:
    rows: list[Row] = [("a", 2.0), ("b", "null")]
    assert (of(rows).rate.lower, of(rows).rate.upper) == (None, None)
    assert (of(rows, minimum=0.0).rate.lower, of(rows, minimum=0.0).rate.upper) == (1.0, None)
    assert (of(rows, maximum=4.0).rate.lower, of(rows, maximum=4.0).rate.upper) == (None, 3.0)
    complete = of([("a", 2.0), ("b", 4.0)]).rate
    assert (complete.lower, complete.upper) == (3.0, 3.0)


def test_clustered_error_by_hand() -> None:
    # Deviations from the mean 0.5 add up to 1, -1 and 0 by case.
    rows: list[Row] = [("a", 1.0), ("a", 1.0), ("b", 0.0), ("b", 0.0), ("c", 1.0), ("c", 0.0)]
    found = of(rows, **UNIT)
    assert found.rate.standard_error == pytest.approx(math.sqrt(2 / 36 * 3 / 2), rel=1e-15)
    assert found.rate.standard_error == pytest.approx(
        statistics.stdev([1.0, 0.0, 0.5]) / math.sqrt(3), rel=1e-15
    )
    assert (found.cases, found.case_mean) == (3, 0.5)


def test_mean_over_cases_differs_from_the_mean_where_attempts_do() -> None:
    found = of([("a", 1.0), ("a", 1.0), ("a", 1.0), ("b", 0.0)], **UNIT)
    assert (found.rate.value, found.case_mean) == (0.75, 0.5)


def test_one_case_has_no_standard_error() -> None:
    found = of([("a", 1.0), ("a", 0.0)], **UNIT)
    assert (found.rate.standard_error, found.rate.method) == (None, None)


def test_labels_are_scored_without_a_value() -> None:
    scores = [{"evaluator": "e", "metric": "m", "state": "scored", "label": x} for x in "abba"]
    trials = [Trial(case_id=str(n), scores=(score,)) for n, score in enumerate(scores)]
    (found,) = count(run_with(categorical=True), trials).metrics
    assert found.labels == {"a": 2, "b": 2}
    assert (found.scored, found.rate.n, found.rate.value) == (4, 0, None)


def test_only_so_many_labels_are_kept() -> None:
    labels = [f"l{n}" for n in range(100)] * 2
    trials = [
        Trial(
            case_id=str(n),
            scores=({"evaluator": "e", "metric": "m", "state": "scored", "label": x},),
        )
        for n, x in enumerate(labels)
    ]
    (found,) = count(run_with(), trials).metrics
    assert found.labels == {f"l{n}": 2 for n in range(64)}
    assert found.scored == 200


def test_outcomes_and_pass_rate() -> None:
    verdicts = ["passed", "passed", "partial", "failed", "contradicted", "disputed", "unverified"]
    trials = [trial(str(n), 0.5, declared_verdict=v) for n, v in enumerate(verdicts)]
    trials.append(trial("x", 0.5))
    tally = count(run_with(**UNIT), trials)
    rate = tally.pass_rate
    assert (rate.value, rate.n, rate.sought) == (0.4, 5, 7)
    assert (rate.lower, rate.upper) == (2 / 7, 4 / 7)
    assert tally.counts.no_verdict == 1
    assert {str(v): n for v, n in tally.counts.verdicts.items()} == {
        "passed": 2,
        "partial": 1,
        "failed": 1,
        "contradicted": 1,
        "disputed": 1,
        "unverified": 1,
    }
    scores = [
        {"evaluator": "e", "metric": "m", "state": "scored", "value": 1.0, "outcome": outcome}
        for outcome in ("passed", "partial", "failed", "failed", None)
    ]
    tally = count(run_with(), [Trial(case_id=str(n), scores=(s,)) for n, s in enumerate(scores)])
    (found,) = tally.metrics
    assert (found.passed, found.partial, found.failed) == (1, 1, 2)


def test_conditions_are_counted() -> None:
    tally = count(
        run_with(),
        [
            trial("1", 1.0, error={"type": "E"}, status="harness_error"),
            trial("2", "error", error={"type": "E"}, status="evaluator_error"),
            trial("3", 1.0, limit="tokens", status="subject_error"),
            trial("4", 1.0, limit="time", status="subject_error", status_reason="timeout"),
            trial("5", 1.0, invalidated=True),
        ],
    )
    assert tally.measurement_failures == 3
    assert tally.limited == 2
    assert tally.scored_and_errored == 1
    assert tally.invalidated == 1


def test_undeclared_metric_asks_for_a_survey() -> None:
    builder = TallyBuilder(run_with())
    with pytest.raises(SurveyNeeded) as caught:
        builder.add(
            Trial(case_id="1", scores=({"evaluator": "e", "metric": "other", "state": "null"},))
        )
    assert caught.value.args == ("e", "other")


# -- against an independent implementation

VALUES = st.floats(-1e6, 1e6) | st.sampled_from((0.0, 1.0, 0.1, -0.0))
STATES = st.sampled_from(("null", "nan", "error", "missing", "not_measured", "skipped"))
ROWS = st.lists(st.tuples(st.sampled_from("abcde"), VALUES | STATES), max_size=30)


@settings(max_examples=150)
@given(ROWS)
def test_mean_spread_and_bounds(rows: list[Row]) -> None:
    found = of(rows, minimum=-1e6, maximum=1e6)
    values = [v for _, v in rows if not isinstance(v, str)]
    sought = sum(v != "skipped" for _, v in rows)
    assert (found.rate.n, found.rate.sought) == (len(values), sought)
    if not values:
        assert found.rate.value is None
        return
    exact = sum(map(Fraction, values), Fraction(0))
    size = max(1.0, *(abs(v) for v in values))
    assert found.rate.value == pytest.approx(
        float(exact / len(values)), rel=1e-12, abs=1e-14 * size
    )
    assert found.minimum == min(values)
    assert found.maximum == max(values)
    assert min(values) <= found.rate.value <= max(values)
    absent = sought - len(values)
    for bound, end in ((found.rate.lower, -(10**6)), (found.rate.upper, 10**6)):
        assert bound == pytest.approx(float((exact + absent * end) / sought), rel=1e-9, abs=1e-9)
    if len(values) > 1:
        expected = statistics.stdev(values)
        assert found.standard_deviation == pytest.approx(expected, rel=1e-6, abs=1e-9 * size)


@pytest.mark.parametrize(
    ("rows", "lower", "upper"),
    [
        # 4.2 and 0 over two; nothing is known of what lies above.
        ([("a", 4.2), ("b", "null")], 2.1, None),
        ([("a", -4.2), ("b", "null")], None, -1.6),
        ([("a", -1.0), ("b", 3.0), ("c", "null")], None, None),
        # Where nothing is absent, both bounds are the mean itself.
        ([("a", 4.2), ("b", 0.2)], 2.2, 2.2),
        ([("a", 4.2), ("b", "skipped")], 4.2, 4.2),
    ],
)
def test_a_scale_that_a_value_has_left_is_no_bound(
    rows: list[Row], lower: float | None, upper: float | None
) -> None:
    found = of(rows, minimum=0.0, maximum=1.0).rate
    assert found.lower == (None if lower is None else pytest.approx(lower))
    assert found.upper == (None if upper is None else pytest.approx(upper))


@settings(max_examples=150)
@given(ROWS)
def test_clustered_standard_error(rows: list[Row]) -> None:
    groups: dict[str, list[Fraction]] = {}
    for case, value in rows:
        if not isinstance(value, str):
            groups.setdefault(case, []).append(Fraction(value))
    found = of(rows)
    count_of_all = sum(map(len, groups.values()))
    assert found.cases == len(groups)
    if groups:
        means = [sum(g, Fraction(0)) / len(g) for g in groups.values()]
        expected = float(sum(means, Fraction(0)) / len(means))
        assert found.case_mean == pytest.approx(expected, rel=1e-9, abs=1e-9)
    if len(groups) < 2:
        assert found.rate.standard_error is None
        return
    mean = sum((x for g in groups.values() for x in g), Fraction(0)) / count_of_all
    squares = sum(
        (sum((x - mean for x in g), Fraction(0)) ** 2 for g in groups.values()), Fraction(0)
    )
    variance = squares / count_of_all**2 * Fraction(len(groups), len(groups) - 1)
    assert found.rate.standard_error == pytest.approx(math.sqrt(variance), rel=1e-6, abs=1e-6)


@given(st.lists(VALUES, min_size=2, max_size=40))
def test_without_repeats_the_error_is_that_of_a_simple_sample(values: list[float]) -> None:
    found = of([(str(n), value) for n, value in enumerate(values)])
    expected = statistics.stdev(values) / math.sqrt(len(values))
    assert found.rate.standard_error == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(st.lists(st.floats(-1e200, 1e200), min_size=1, max_size=60))
def test_sum_is_compensated(values: list[float]) -> None:
    found = of([(str(n), value) for n, value in enumerate(values)])
    largest = max(map(abs, values))
    assert found.rate.value == pytest.approx(
        math.fsum(values) / len(values), rel=1e-14, abs=1e-28 * largest * len(values)
    )


def test_small_terms_survive_large_ones() -> None:
    values = [1e16, 1.0, -1e16] * 50
    found = of([(str(n), value) for n, value in enumerate(values)])
    assert found.rate.value == 50 / 150


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_any_finite_values_have_a_finite_mean(values: list[float]) -> None:
    found = of([(str(n % 3), value) for n, value in enumerate(values)])
    exact = sum(map(Fraction, values), Fraction(0)) / len(values)
    largest = max(map(abs, values))
    assert found.rate.value is not None
    assert abs(Fraction(found.rate.value) - exact) <= Fraction(largest) * Fraction(1, 10**12)
    assert min(values) <= found.rate.value <= max(values)


@pytest.mark.parametrize("count_of_values", [2, 3, 5, 7, 11, 100, 1001])
def test_mean_of_the_largest_double_is_the_largest_double(count_of_values: int) -> None:
    largest = 1.7976931348623157e308
    found = of([(str(n), largest) for n in range(count_of_values)])
    assert found.rate.value == largest
    assert found.case_mean == largest


def test_spread_that_no_double_can_hold_is_not_given() -> None:
    rows: list[Row] = [(str(n), sign * 1.7e308) for n, sign in enumerate((1, -1, 1, -1))]
    found = of(rows)
    assert found.rate.value == 0.0
    assert found.standard_deviation is None
    assert found.rate.standard_error is None
    # Squares that are finite one by one, and not together.
    found = of([(str(n), sign * 4e154) for n, sign in enumerate((1, -1) * 4)])
    assert found.rate.value == 0.0
    assert found.standard_deviation is None


def test_sums_that_overflow() -> None:
    rows: list[Row] = [("a", 0.0), ("b", 1e308), ("c", 1e308), ("d", 1.5e308), ("e", "null")]
    found = of(rows, minimum=0.0, maximum=1.6e308)
    assert found.rate.value == pytest.approx(0.875e308, rel=1e-15)
    assert found.rate.lower == pytest.approx(0.7e308, rel=1e-15)
    assert found.rate.upper == pytest.approx(1.02e308, rel=1e-15)


@settings(max_examples=15)
@given(runs())
def test_counts_of_any_run(generated: tuple[Run, tuple[Trial, ...]]) -> None:
    run, trials = generated
    tally = count(run, list(trials))
    assert tally.counts.total == len(trials)
    for place, metric in enumerate(tally.metrics):
        assert (metric.evaluator, metric.metric) == run.metric_keys[place]
        assert metric.states == {
            state: sum(t.scores[place].state is state for t in trials) for state in metric.states
        }
        assert metric.scored + metric.unverified + metric.excluded == metric.total == len(trials)


@pytest.mark.parametrize("name", CORPUS)
def test_corpus_can_be_counted(name: str) -> None:
    found = example(name)
    tally = count(found.run, list(found.trials))
    assert tally.counts.total == len(found.trials)
    for metric in tally.metrics:
        assert metric.rate.sought == metric.sought


# -- many cases


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally_module, "EXACT_CASES", 50)
    monkeypatch.setattr(tally_module, "BUCKETS", 200)


def attempts(cases: int, each: int, seed: int = 5) -> list[Trial]:
    """Attempts of which a case's are alike, so that clustering matters."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    easy = [chance.random() for _ in range(cases)]
    return [
        trial(f"case-{case}", 1.0 if chance.random() < easy[case] else 0.0, attempt=attempt + 1)
        for attempt in range(each)
        for case in range(cases)
    ]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("each", [1, 4])
def test_folded_cases_keep_counts_and_mean_exact(each: int) -> None:
    trials = attempts(3000, each)
    (found,) = count(run_with(**UNIT), trials).metrics
    values = [t.scores[0].value or 0.0 for t in trials]
    assert found.states["scored"] == len(trials)
    assert found.rate.value == math.fsum(values) / len(values)
    assert found.standard_deviation == pytest.approx(statistics.stdev(values), rel=1e-9)


def clustered(trials: list[Trial]) -> float:
    groups: dict[str, list[float]] = {}
    for item in trials:
        groups.setdefault(item.case_id, []).append(item.scores[0].value or 0.0)
    size = len(trials)
    mean = sum(map(sum, groups.values())) / size
    squares = sum(sum(x - mean for x in g) ** 2 for g in groups.values())
    return math.sqrt(squares / size**2 * len(groups) / (len(groups) - 1))


@pytest.mark.usefixtures("few")
def test_folded_cases_keep_the_clustered_error_within_its_tolerance() -> None:
    # The relative error of one estimate is about 1 / sqrt(2 * 200) = 0.05.
    ratios = []
    for seed in range(12):
        trials = attempts(1000, 4, seed)
        (found,) = count(run_with(**UNIT), trials).metrics
        assert found.rate.method == "clustered by 200 buckets of cases"
        assert (found.cases, found.case_mean) == (None, None)
        assert found.rate.standard_error is not None
        ratios.append(found.rate.standard_error / clustered(trials))
    assert all(0.8 < ratio < 1.2 for ratio in ratios)
    assert statistics.fmean(ratios) == pytest.approx(1.0, abs=0.06)


@pytest.mark.usefixtures("few")
def test_many_cases_without_repeats_have_an_exact_error() -> None:
    trials = attempts(3000, 1)
    (found,) = count(run_with(**UNIT), trials).metrics
    assert found.rate.standard_error == pytest.approx(clustered(trials), rel=1e-6)
    assert (found.rate.method, found.cases) == ("clustered by case", 3000)
    assert found.case_mean == found.rate.value


@pytest.mark.usefixtures("few")
def test_case_that_came_before_the_fold_is_found_after_it() -> None:
    trials = [*attempts(200, 1), trial("case-3", 1.0, attempt=2)]
    (found,) = count(run_with(**UNIT), trials).metrics
    assert found.cases is None
    assert found.rate.n == 201


@pytest.mark.usefixtures("few")
def test_memory_is_constant_in_the_number_of_cases() -> None:
    def peak(cases: int) -> int:
        builder = TallyBuilder(run_with(**UNIT))
        made = trial("x", 1.0)
        tracemalloc.start()
        try:
            for case in range(cases):
                builder.add(made.model_copy(update={"case_id": f"case-{case}"}))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(100)
    assert peak(20_000) < 1.2 * peak(1_000) + 20_000
