"""Comparisons, with values worked out by hand and by scipy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount.cli import main
from fullcount.decide.compare import Measured, compare, differences, mcnemar, measure
from fullcount.model import Run, Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fullcount.decide.compare import Difference

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "capitals.eval"


def run(**changes: Any) -> Run:
    metric = {"name": "judge", "minimum": 0, "maximum": 1, **changes.pop("metric", {})}
    evaluator = {"name": "judge", "metrics": [metric], **changes.pop("evaluator", {})}
    return Run.model_validate(
        {
            "id": "run",
            "source": {"format": "test"},
            "harness": {"name": "test"},
            "subject": {"id": "agent"},
            "suite": {"name": "suite", **changes.pop("suite", {})},
            "evaluators": [evaluator],
            **changes,
        }
    )


def trials(*values: float | None, cases: Sequence[int] = ()) -> list[Trial]:
    """Trials; None is unverified."""
    names = cases or range(len(values))
    seen: dict[int, int] = {}
    found = []
    for case, value in zip(names, values, strict=True):
        seen[case] = seen.get(case, 0) + 1
        score = {"state": "null"} if value is None else {"state": "scored", "value": value}
        found.append(
            Trial.model_validate(
                {
                    "case_id": str(case),
                    "attempt": seen[case],
                    "scores": [{"evaluator": "judge", "metric": "judge", **score}],
                }
            )
        )
    return found


def measured(*values: float | None, cases: Sequence[int] = ()) -> Measured:
    """A run of such trials."""
    return measure(run(), trials(*values, cases=cases))


def one(first: Measured, second: Measured) -> Difference:
    (found,) = compare(first, second)
    return found


def test_a_difference_is_over_the_cases_that_both_scored() -> None:
    found = one(measured(1, 0, 0, None), measured(1, 1, None, 1))
    assert (found.pairs, found.difference) == (2, 0.5)
    assert (found.tested, found.only_first, found.only_second) == (2, 0, 1)
    # 1/4 to 2/4 against 3/4 to 4/4: .25 to .75.
    assert (found.lower, found.upper) == (0.25, 0.75)
    assert found.robust is True
    # Two pairs are too few for "higher", however the unverified turn out.
    assert found.direction == "could not tell"
    assert found.statements[0].startswith("could not tell: the second measured 0.5 higher over 2")
    assert found.statements[1] == (
        "the sign holds whatever the unverified are: over all sought the difference lies between "
        "0.25 and 0.75"
    )


def test_one_pair_can_tell_nothing() -> None:
    found = one(measured(0), measured(1))
    assert (found.pairs, found.difference, found.interval, found.p_value) == (1, 1.0, None, 1.0)
    assert found.direction == "could not tell"
    assert found.conclusion == (
        "could not tell: the second measured 1 higher over 1 pair, too few for an interval; "
        "the sign holds whatever the unverified are: over all sought the difference lies between "
        "1 and 1; both leave you unable to tell alike (unverified 0 and 0)"
    )


@pytest.mark.parametrize(("pairs", "told"), [(2, False), (5, False), (6, True), (50, True)])
def test_pairs_that_all_agree_are_as_many_as_mcnemar_wants(pairs: int, told: bool) -> None:  # noqa: FBT001 - expected
    # Two-sided: 2 / 2^5 is .0625, 2 / 2^6 is .031.
    found = one(measured(*[0] * pairs), measured(*[1] * pairs))
    assert (found.difference, found.standard_error) == (1.0, 0.0)
    assert (found.direction == "higher") is told
    assert ((found.p_value or 0) < 0.05) is told


def test_the_exact_test_overrules_an_interval() -> None:
    # Four of five: the interval of Student alone, .245 to 1.36, would leave out 0.
    found = one(measured(0, 0, 0, 0, 0), measured(1, 1, 1, 1, 0))
    assert (found.p_value, found.direction) == (0.125, "could not tell")


def test_a_copy_is_no_evidence_of_no_difference() -> None:
    values = [1, 1, 1, 1, 1, 1, 0, None, None, None]
    found = one(measured(*values), measured(*values))
    assert (found.difference, found.direction, found.robust) == (0.0, "could not tell", None)
    # None of seven pairs differs: at most 1 - .025^(1/7), .41, of all do.
    assert found.interval == (pytest.approx(-0.40962, abs=1e-5), pytest.approx(0.40962, abs=1e-5))
    assert found.statements[1:] == (
        (
            "the sign depends on what is unverified: over all sought the difference lies between "
            "-0.3 and 0.3"
        ),
        "both leave you unable to tell alike (unverified 0.3 and 0.3)",
    )


def test_what_was_measured_may_be_sure_and_what_was_not_may_turn_it_round() -> None:
    first = measured(*[0] * 20, *[None] * 30)
    second = measured(*[1] * 20, *[None] * 30)
    found = one(first, second)
    assert (found.direction, found.robust) == ("higher", False)
    # 0 to 30/50 against 20/50 to 50/50.
    assert found.statements[1] == (
        "the sign depends on what is unverified: over all sought the difference lies between "
        "-0.2 and 1"
    )


def test_rounding_is_no_sign() -> None:
    found = one(measured(0.1 + 0.2, 0.3), measured(0.3, 0.3))
    assert (found.difference, found.direction) == (0.0, "could not tell")


def test_an_open_scale_has_no_bound_and_says_so() -> None:
    scores = [0.0, 3.0, 5.0, 4.0, None]
    open_run = run(metric={"minimum": None, "maximum": None})

    def over(*values: float | None) -> Measured:
        return measure(open_run, trials(*values))

    found = one(over(*scores), over(*[None if s is None else s + 1 for s in scores]))
    assert (found.difference, found.lower, found.robust) == (1.0, None, None)
    # All pairs differ by 1: without a scale that is too little for an interval.
    assert found.interval is None
    assert "the scale has no end" in found.conclusion


def test_a_sign_that_flips_says_so() -> None:
    first = measured(*[1] * 6, *[0] * 4, *[None] * 5)
    second = measured(*[1] * 8, *[0] * 2, *[None] * 5)
    found = one(first, second)
    # .6 and .8 over ten; 6/15 to 11/15 and 8/15 to 13/15 over all.
    assert found.difference == pytest.approx(0.2)
    assert (found.lower, found.upper) == (pytest.approx(-3 / 15), pytest.approx(7 / 15))
    assert found.robust is False
    assert "the sign depends on what is unverified" in found.conclusion


def test_cases_that_only_one_run_has_may_turn_the_sign() -> None:
    # Where both have cases the second is better by .5; over all of them it is worse.
    found = one(measured(0, 1, 1, 1, 1, 1), measured(1, 1))
    assert (found.difference, found.robust) == (0.5, True)
    found = one(measured(0, 1, 1, 1), measured(1, 1, 0, 0, 0, 0, cases=(0, 1, 7, 8, 9, 10)))
    assert (found.difference, found.robust) == (0.5, False)
    assert found.statements[1].startswith("the sign is the other one over all cases")


def test_which_one_leaves_you_unable_to_tell() -> None:
    found = one(measured(1, 0, 1, 0), measured(1, None, None, 0))
    assert found.unverified_rates == (0.0, 0.5)
    assert found.statements[2] == (
        "the second more often leaves you unable to tell (unverified 0 and 0.5)"
    )


def test_nothing_in_common_says_nothing() -> None:
    found = one(measured(1, None), measured(None, 1))
    assert (found.difference, found.robust, found.p_value) == (None, None, None)
    assert found.statements[0] == "could not tell: no case has a value in both runs"


def test_attempts_at_a_case_are_one_pair() -> None:
    first = measured(1, 0, 1, cases=(0, 0, 1))
    second = measured(1, 1, 1, cases=(0, 0, 1))
    found = one(first, second)
    assert (found.pairs, found.difference) == (2, 0.25)
    # Only the case with one attempt in each run is a pair of McNemar's.
    assert (found.only_first, found.only_second, found.p_value) == (0, 0, 1.0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"suite": {"version": "2"}}, "suite version is None and '2'"),
        ({"suite": {"name": "other"}}, "suite name is 'suite' and 'other'"),
        ({"evaluator": {"rubric_revision": "r2"}}, "rubric_revision is None and 'r2'"),
        ({"evaluator": {"version": "2"}}, "evaluator judge: version is None and '2'"),
        ({"metric": {"maximum": 5}}, "metric judge: maximum is 1.0 and 5.0"),
        ({"metric": {"threshold": 0.5}}, "metric judge: threshold is None and 0.5"),
    ],
)
def test_what_is_not_comparable_is_named(changes: dict[str, Any], words: str) -> None:
    (reason,) = differences(run(), run(**changes))
    assert words in reason
    assert list(differences(run(), run())) == []


values = st.lists(st.tuples(*[st.floats(0, 1, width=32) | st.none()] * 2), min_size=2, max_size=40)


@given(values)
def test_the_paired_error_is_that_of_scipy(pairs: list[tuple[float | None, float | None]]) -> None:
    stats = pytest.importorskip("scipy.stats")
    found = one(measured(*[a for a, _ in pairs]), measured(*[b for _, b in pairs]))
    both = [b - a for a, b in pairs if a is not None and b is not None]
    assert found.pairs == len(both)
    if both:
        assert found.difference == pytest.approx(sum(both) / len(both), abs=1e-9)
    if len(both) > 1:
        error = float(stats.sem(both))
        assert found.standard_error == pytest.approx(error, abs=1e-9)


@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_is_the_binomial_test_of_scipy(first: int, second: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    wanted = 1.0
    if first + second:
        wanted = float(stats.binomtest(min(first, second), first + second, 0.5).pvalue)
    assert mcnemar(first, second) == pytest.approx(wanted)


def test_mcnemar_of_very_many() -> None:
    assert mcnemar(5_000, 5_000) == 1.0
    assert 0 < mcnemar(4_800, 5_200) < 1e-4


@given(values)
def test_the_bounds_hold_whatever_the_unverified_are(
    pairs: list[tuple[float | None, float | None]],
) -> None:
    found = one(measured(*[a for a, _ in pairs]), measured(*[b for _, b in pairs]))
    for fill_first, fill_second in ((0.0, 1.0), (1.0, 0.0), (0.5, 0.5), (0.0, 0.0)):
        first = [fill_first if a is None else a for a, _ in pairs]
        second = [fill_second if b is None else b for _, b in pairs]
        difference = (sum(second) - sum(first)) / len(pairs)
        assert found.lower is not None
        assert found.upper is not None
        assert found.lower - 1e-9 <= difference <= found.upper + 1e-9


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    copy = tmp_path / "again.eval"
    copy.write_bytes(EXAMPLE.read_bytes())
    assert main(["compare", str(EXAMPLE), str(copy)]) == 0
    text = capsys.readouterr().out
    assert "judge, 1 and 2: could not tell: no difference was measured over 7 pairs" in text
    assert "\n    the sign depends on what is unverified: " in text
    assert main(["compare", str(EXAMPLE), str(copy), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["pairs"], record["difference"], record["unverified"]) == (7, 0.0, [3, 3])
    assert (record["direction"], record["unverified_rate_difference"]) == ("could not tell", 0.0)
    assert record["difference_bounds"] == [pytest.approx(-0.3), pytest.approx(0.3)]
    assert main(["compare", str(EXAMPLE)]) == 2
    assert main(["compare", str(EXAMPLE), str(copy), "--suite", "other"]) == 21
