from __future__ import annotations

from typing import Any

import pytest

from fullcount.model import Finding, ReportedMetric, Run, Trial
from fullcount.reconcile import compare
from fullcount.tally import TallyBuilder

UNIT = {"name": "accuracy", "minimum": 0.0, "maximum": 1.0}


def findings(
    values: list[Any], *, metric: dict[str, Any] | None = None, cases: int = 10**9, **more: Any
) -> list[tuple[str, str, int | None]]:
    """Code, message and count of each finding.

    A value is a number, a state, `=` and a label, or None for a trial that was not run.
    """
    run = Run.model_validate(
        {
            "id": "r",
            "source": {"format": "f"},
            "harness": {"name": "h"},
            "subject": {"id": "s"},
            "suite": {"name": "t"},
            "evaluators": [{"name": "match", "metrics": [metric or UNIT]}],
            **more,
        }
    )
    builder = TallyBuilder(run)
    for number, value in enumerate(values):
        builder.add(trial(number % cases, value, run.metric_keys[0][1]))
    return [(f.code, f.message, f.count) for f in builder.build().findings]


def trial(number: int, value: Any, metric: str) -> Trial:
    status = "completed"
    if value is None:
        status, result = "not_run", {"state": "not_measured"}
    elif isinstance(value, str) and value.startswith("="):
        result = {"state": "scored", "label": value[1:]}
    elif isinstance(value, str):
        result = {"state": value}
    else:
        result = {"state": "scored", "value": value}
    return Trial.model_validate(
        {
            "case_id": str(number),
            "status": status,
            "scores": [{"evaluator": "match", "metric": metric, **result}],
        }
    )


def reported(value: float | None, statistic: str = "accuracy", **more: Any) -> dict[str, Any]:
    return {
        "reported": [
            {
                "evaluator": "match",
                "metric": "accuracy",
                "statistic": statistic,
                "value": value,
                **more,
            }
        ]
    }


NINETY = [1.0] * 80 + [0.0] * 10 + ["null"] * 6 + ["error"] * 4
COVERS = (
    "coverage.partial",
    (
        "match.accuracy: 0.8889 covers 90 of 100 trials and lies between 0.8 and 0.9 over all of "
        "them (6 null, 4 error)"
    ),
    10,
)


def test_whole_run_has_no_finding() -> None:
    assert findings([1.0, 0.0]) == []
    assert findings([]) == []
    assert findings([1.0, "skipped", "not_applicable"]) == []


def test_mean_that_covers_a_part() -> None:
    assert findings(NINETY) == [COVERS]


def test_bounds_are_left_out_where_the_scale_is_open() -> None:
    assert findings([3.0, "nan"], metric={"name": "accuracy", "minimum": 0.0}) == [
        (
            "coverage.partial",
            "match.accuracy: 3 covers 1 of 2 trials and is at least 1.5 over all of them (1 nan)",
            1,
        )
    ]
    assert findings([3.0, "nan"], metric={"name": "accuracy"}) == [
        ("coverage.partial", "match.accuracy: 3 covers 1 of 2 trials (1 nan)", 1)
    ]


def test_excluded_trials_are_no_part_of_what_a_mean_covers() -> None:
    assert findings([1.0, "null", "skipped"]) == [
        (
            "coverage.partial",
            (
                "match.accuracy: 1 covers 1 of 2 trials and lies between 0.5 and 1 over all "
                "of them (1 null)"
            ),
            1,
        )
    ]


def test_nothing_scored() -> None:
    assert findings(["null", "error", "error"]) == [
        (
            "coverage.nothing_scored",
            (
                "match.accuracy: none of the 3 trials has a score, so there is no mean "
                "(1 null, 2 error)"
            ),
            3,
        )
    ]


def test_labels_are_covered_by_no_mean() -> None:
    assert findings([1.0, "=odd", "=odd"]) == [
        (
            "coverage.labels",
            "match.accuracy: 2 of 3 scored trials have only a label, which no mean can cover",
            2,
        )
    ]
    assert findings(["=a", "=b"]) == []
    assert findings(["=a", "=b", "null"], metric={"name": "accuracy"}) == [
        ("coverage.partial", "match.accuracy: labels cover 2 of 3 trials (1 null)", 1)
    ]


def test_values_outside_the_scale() -> None:
    expected = [
        (
            "scale.exceeded",
            (
                "match.accuracy: values from -0.5 to 2.0 leave the scale 0.0 to 1.0; nothing was "
                "clamped"
            ),
            None,
        )
    ]
    assert findings([-0.5, 2.0]) == expected
    assert findings([-0.5, 2.0], metric={"name": "accuracy"}) == []
    assert [f[0] for f in findings([5.0], metric={"name": "accuracy", "maximum": 4.0})] == [
        "scale.exceeded"
    ]


@pytest.mark.parametrize(
    ("values", "between", "sides"),
    [
        ([4.2, "null"], " and is at least 2.1 over all of them", "upper"),
        ([-4.2, "null"], " and is at most -1.6 over all of them", "lower"),
        ([-4.2, 4.2, "null"], "", "lower and upper"),
    ],
)
def test_a_scale_that_values_have_left_bounds_nothing_there(
    values: list[Any], between: str, sides: str
) -> None:
    partial, exceeded = findings(values)
    assert f"trials{between} (1 null)" in partial[1]
    assert exceeded[0] == "scale.exceeded"
    assert f"and there is no {sides} bound: what is not there may leave it too" in exceeded[1]


def test_reported_mean_that_agrees() -> None:
    assert findings([1.0, 0.0], **reported(0.5)) == []
    assert findings([1.0, 0.0], **reported(0.5 + 1e-12)) == []
    assert findings([1.0, 0.0], **reported(0.5, scored=2)) == []
    assert findings(NINETY, **reported(8 / 9)) == [COVERS]


def test_reported_mean_that_differs() -> None:
    assert findings(NINETY, **reported(0.8)) == [
        COVERS,
        (
            "reported.differs",
            (
                "match.accuracy: accuracy: the harness reports 0.8, the trials give 0.8889 over 90 "
                "of 100 trials"
            ),
            None,
        ),
    ]


def test_reported_mean_over_cases() -> None:
    # Cases are 0, 1, 0, 1, 0: their means are 2/3 and 0.5, that of the trials is 0.6.
    values = [1.0, 1.0, 1.0, 0.0, 0.0]
    assert findings(values, cases=2, **reported(0.6)) == []
    assert findings(values, cases=2, **reported((2 / 3 + 0.5) / 2)) == []
    assert findings(values, cases=2, **reported((2 / 3 + 0.5) / 2, scored=2)) == []
    assert findings(values, cases=2, **reported(0.6, scored=5)) == []
    assert findings(values, cases=2, **reported(0.1, reducer="mean")) == [
        (
            "reported.differs",
            (
                "match.accuracy: accuracy: the harness reports 0.1, the trials give 0.5833 over 2 "
                "cases, 5 of 5 trials"
            ),
            None,
        )
    ]


@pytest.mark.parametrize("nonfinite", ["nan", "null", "inf", "-inf"])
def test_reported_mean_that_is_no_number(nonfinite: str) -> None:
    assert findings([1.0, 0.0], **reported(None, nonfinite=nonfinite)) == [
        (
            "reported.differs",
            (
                f"match.accuracy: accuracy: the harness reports {nonfinite}, the trials give 0.5 "
                "over 2 of 2 trials"
            ),
            None,
        )
    ]


def test_no_number_where_nothing_was_scored_is_no_difference() -> None:
    found = findings(["null"], **reported(None, nonfinite="nan"))
    assert [code for code, _, _ in found] == ["coverage.nothing_scored"]
    found = findings(["null"], **reported(0.0))
    assert found[1] == (
        "reported.differs",
        (
            "match.accuracy: accuracy: the harness reports 0, the trials give no value over 0 of 1 "
            "trials"
        ),
        None,
    )


def test_reported_standard_error() -> None:
    assert findings([1.0, 0.0], **reported(0.5, "stderr")) == []
    assert findings([1.0, 0.0], **reported(0.25, "stderr")) == [
        (
            "reported.differs",
            (
                "match.accuracy: stderr: the harness reports 0.25, the trials give 0.5 over 2 of 2 "
                "trials"
            ),
            None,
        )
    ]
    # A standard error that happens to be the mean is not right for that.
    assert len(findings([1.0, 1.0, 0.0, 0.0], **reported(0.5, "stderr"))) == 1
    assert findings([1.0], **reported(0.0, "stderr")) == []


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"reducer": "max"}, "accuracy 0.9 with reducer max"),
        ({"group": "easy"}, "accuracy 0.9 for group easy"),
        ({"reducer": "pass_at_2", "group": "a"}, "accuracy 0.9 with reducer pass_at_2 for group a"),
        ({"statistic": "f1"}, "f1 0.9"),
        ({"statistic": "stderr", "group": "easy"}, "stderr 0.9 for group easy"),
    ],
)
def test_other_statistics_are_kept_as_they_are(more: dict[str, Any], text: str) -> None:
    assert findings([1.0, 0.0], **reported(0.9, **more)) == [
        (
            "reported.not_recounted",
            (
                f"match.accuracy: {text} is kept as reported; it is not a mean that can be "
                "recounted from the trials"
            ),
            None,
        )
    ]


def test_reported_metric_that_no_trial_has() -> None:
    run = reported(0.9, evaluator="match", metric="f1", statistic="mean")
    assert findings([1.0], **run) == [
        (
            "reported.not_recounted",
            "match.f1: mean 0.9 is kept as reported; no trial holds a score of it",
            None,
        )
    ]


def test_reported_count_that_differs() -> None:
    assert findings([1.0, 1.0, "null"], **reported(1.0, scored=3))[1:] == [
        (
            "reported.count_differs",
            "match.accuracy: accuracy: the harness counts 3 scored, the trials hold 2 values",
            1,
        )
    ]
    assert findings([1.0] * 4, cases=2, **reported(1.0, scored=3)) == [
        (
            "reported.count_differs",
            (
                "match.accuracy: accuracy: the harness counts 3 scored, the trials hold 4 values "
                "of 2 cases"
            ),
            1,
        )
    ]


def test_plan_that_differs() -> None:
    assert findings([1.0, 0.0], plan={"trials": 5}) == [
        ("plan.differs", "the source plans 5 trials and gives 2", 3)
    ]
    assert findings([1.0, 0.0], plan={"trials": 2}) == []


def test_planned_trials_without_a_record() -> None:
    found = findings([1.0, None, None], plan={"trials": 3})
    assert found[1:] == [("plan.absent", "2 of 3 planned trials have no record in the source", 2)]


def test_findings_of_the_reader_come_first() -> None:
    noticed = Finding(code="reader.odd", message="odd", count=7)
    found = findings(["null"], findings=[noticed.model_dump()])
    assert found[0] == ("reader.odd", "odd", 7)
    assert found[1][0] == "coverage.nothing_scored"


def test_comparison_says_what_was_recounted() -> None:
    run = Run.model_validate(
        {
            "id": "r",
            "source": {"format": "f"},
            "harness": {"name": "h"},
            "subject": {"id": "s"},
            "suite": {"name": "t"},
            "evaluators": [{"name": "match", "metrics": [UNIT]}],
        }
    )
    builder = TallyBuilder(run)
    for number, value in enumerate([1.0, 0.0]):
        builder.add(trial(number, value, "accuracy"))
    (metric,) = builder.build().metrics
    about = {"evaluator": "match", "metric": "accuracy"}

    def compared(**more: Any) -> tuple[bool, float | None, bool]:
        found = compare(ReportedMetric(**about, **more), metric)
        return found.recounted, found.ours, found.same

    assert compared(statistic="mean", value=0.5) == (True, 0.5, True)
    assert compared(statistic="mean", value=0.4) == (True, 0.5, False)
    assert compared(statistic="mean", nonfinite="nan") == (True, 0.5, False)
    assert compared(statistic="stderr", value=0.5) == (True, 0.5, True)
    assert compared(statistic="mean", value=0.4, group="g") == (False, None, True)
    assert compared(statistic="f1", value=0.4) == (False, None, True)
