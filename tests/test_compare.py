"""Comparisons, with values worked out by hand and by scipy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount.cli import main
from fullcount.decide.compare import Measured, compare, differences, interval, mcnemar, measure
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


def measured(*values: float | None, cases: Sequence[int] = ()) -> Measured:
    """A run; None is unverified."""
    names = cases or range(len(values))
    seen: dict[int, int] = {}
    trials = []
    for case, value in zip(names, values, strict=True):
        seen[case] = seen.get(case, 0) + 1
        score = {"state": "null"} if value is None else {"state": "scored", "value": value}
        trials.append(
            Trial.model_validate(
                {
                    "case_id": str(case),
                    "attempt": seen[case],
                    "scores": [{"evaluator": "judge", "metric": "judge", **score}],
                }
            )
        )
    return measure(run(), trials)


def one(first: Measured, second: Measured) -> Difference:
    (found,) = compare(first, second)
    return found


def test_a_difference_is_over_the_cases_that_both_scored() -> None:
    found = one(measured(1, 0, 0, None), measured(1, 1, None, 1))
    assert (found.pairs, found.difference) == (2, 0.5)
    assert (found.only_first, found.only_second) == (0, 1)
    # 1/4 to 2/4 against 3/4 to 4/4: .25 to .75.
    assert (found.lower, found.upper) == (0.25, 0.75)
    assert found.robust is True
    assert found.conclusion == "the second is higher, within the error, whatever the unverified are"


def test_a_sign_that_flips_says_so() -> None:
    first = measured(*[1] * 6, *[0] * 4, *[None] * 5)
    second = measured(*[1] * 8, *[0] * 2, *[None] * 5)
    found = one(first, second)
    # .6 and .8 over ten; 6/15 to 11/15 and 8/15 to 13/15 over all.
    assert found.difference == pytest.approx(0.2)
    assert (found.lower, found.upper) == (pytest.approx(-3 / 15), pytest.approx(7 / 15))
    assert found.robust is False
    assert "the sign depends on what is unverified" in found.conclusion


def test_which_one_leaves_you_unable_to_tell() -> None:
    found = one(measured(1, 0, 1, 0), measured(1, None, None, 0))
    assert found.unverified_rates == (0.0, 0.5)
    assert "the second more often leaves you unable to tell (0, 0.5)" in found.conclusion


def test_nothing_in_common_says_nothing() -> None:
    found = one(measured(1, None), measured(None, 1))
    assert (found.difference, found.robust, found.p_value) == (None, None, None)
    assert found.conclusion == "no case has a value in both runs: nothing can be said"


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
        if error > 1e-6:
            ends = stats.norm.interval(0.95, loc=found.difference, scale=error)
            assert interval(found.difference or 0.0, found.standard_error) == pytest.approx(
                [float(end) for end in ends], abs=1e-6
            )


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
    assert "judge, 1 and 2: no difference" in text
    assert main(["compare", str(EXAMPLE), str(copy), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["pairs"], record["difference"], record["unverified"]) == (7, 0.0, [3, 3])
    assert record["difference_bounds"] == [pytest.approx(-0.3), pytest.approx(0.3)]
    assert main(["compare", str(EXAMPLE)]) == 2
    assert main(["compare", str(EXAMPLE), str(copy), "--suite", "other"]) == 21
