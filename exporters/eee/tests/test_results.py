"""The aggregate file: means, counts and what they are read with. Values are worked out by hand."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from fullcount.model import Counts, MetricCounts, Run, ScoreState, Trial, TrialStatus, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

STATES = dict.fromkeys(ScoreState, 0)


def run(*evaluators: dict[str, Any], **more: Any) -> Run:
    base = {
        "id": "run-1",
        "source": {"format": "test"},
        "harness": {"name": "harness"},
        "subject": {"id": "acme/anvil"},
        "suite": {"name": "suite"},
        "evaluators": evaluators,
    }
    return Run.model_validate({**base, **more})


def acc(**metric: Any) -> dict[str, Any]:
    scale = {"minimum": 0, "maximum": 1, **metric}
    return {"name": "acc", "metrics": [{"name": "acc", **scale}]}


def score(state: str, value: float | None = None, **more: Any) -> dict[str, Any]:
    return {"evaluator": "acc", "metric": "acc", "state": state, "value": value, **more}


def trial(case: str, *scores: dict[str, Any], **more: Any) -> Trial:
    return Trial.model_validate({"case_id": case, "scores": scores, **more})


MIXED = (
    trial("a", score("scored", 1, outcome="passed")),
    trial("b", score("scored", 1, outcome="passed")),
    trial("c", score("scored", 0, outcome="failed")),
    trial("d", score("nan", raw="NaN", raw_type="number")),
    trial("e", score("not_measured"), status="harness_error", status_reason="sandbox"),
    trial("f", score("skipped")),
)


def test_mean_and_what_it_leaves_out(export: Callable[..., Any]) -> None:
    out = export(run(acc()), MIXED)
    main = out.result("acc")
    assert main["score_details"]["score"] == 2 / 3
    # Deviations from 2/3 are 1/3, 1/3 and -2/3: their squares add up to 2/3, over n - 1 = 2.
    spread = main["score_details"]["uncertainty"]
    assert spread["num_samples"] == 3
    assert spread["standard_deviation"] == pytest.approx(math.sqrt(1 / 3))
    assert spread["standard_error"]["value"] == pytest.approx(1 / 3)
    assert spread["standard_error"]["method"] == "clustered by case"
    config = main["metric_config"]
    assert (config["metric_id"], config["metric_kind"]) == ("harness.acc", "mean")
    assert (config["score_type"], config["min_score"], config["max_score"]) == ("continuous", 0, 1)
    assert config["lower_is_better"] is False
    assert {name: out.score(f"acc.{name}") for name in ("lower_bound", "upper_bound")} == {
        "lower_bound": 2 / 5,
        "upper_bound": 4 / 5,
    }
    assert out.score("acc.unverified_rate") == 2 / 5


def test_every_count_is_a_typed_number(export: Callable[..., Any]) -> None:
    out = export(run(acc()), MIXED)
    expected = {
        "n_total": 6,
        "n_sought": 5,
        "n_scored": 3,
        "n_valued": 3,
        "n_unverified": 2,
        "n_excluded": 1,
        "n_state_scored": 3,
        "n_state_null": 0,
        "n_state_nan": 1,
        "n_state_error": 0,
        "n_state_missing": 0,
        "n_state_not_measured": 1,
        "n_state_skipped": 1,
        "n_state_not_applicable": 0,
    }
    for name, count in expected.items():
        found = out.result(f"acc.{name}")
        assert found["score_details"]["score"] == count
        assert isinstance(found["score_details"]["score"], int)
        config = found["metric_config"]
        assert (config["metric_kind"], config["metric_unit"]) == ("count", "trials")
        assert (config["score_type"], config["min_score"], config["max_score"]) == (
            "continuous",
            0,
            6,
        )
        assert config["additional_details"] == {
            "scope": "metric",
            "evaluator": "acc",
            "metric": "acc",
            "quantity": name,
        }
    assert out.score("trials.n_total") == 6
    assert out.score("trials.n_status_completed") == 5
    assert out.score("trials.n_status_harness_error") == 1
    assert out.score("trials.n_status_not_run") == 0
    assert out.score("trials.n_measurement_failures") == 1
    assert {name: out.score(f"verdict.n_{name}") for name in (*Verdict, "none")} == {
        "passed": 2,
        "partial": 0,
        "failed": 1,
        "contradicted": 0,
        "disputed": 0,
        "unverified": 2,
        "none": 1,
    }


def test_counts_come_back_from_the_numbers(export: Callable[..., Any]) -> None:
    states = STATES | {"scored": 3, "nan": 1, "not_measured": 1, "skipped": 1}
    assert export(run(acc()), MIXED).counts == Counts(
        run_id="run-1",
        total=6,
        statuses=dict.fromkeys(TrialStatus, 0) | {"completed": 5, "harness_error": 1},
        verdicts=dict.fromkeys(Verdict, 0) | {"passed": 2, "failed": 1, "unverified": 2},
        no_verdict=1,
        metrics=(MetricCounts(evaluator="acc", metric="acc", states=states),),
    )


def test_counts_are_told_in_words_too(export: Callable[..., Any]) -> None:
    out = export(run(acc(threshold=0.5)), MIXED)
    main = out.result("acc")
    details = main["score_details"]["details"]
    assert details["denominator"] == (
        "the mean covers 3 of 5 trials that were to be scored; "
        "not scored: 1 nan, 1 not_measured, 1 skipped, none of them counted as 0"
    )
    assert (details["n_unverified"], details["mean_lower_bound"]) == ("2", "0.4")
    assert (details["n_passed"], details["n_failed"], details["n_without_threshold"]) == (
        "2",
        "1",
        "0",
    )
    more = main["metric_config"]["additional_details"]
    assert details.items() <= more.items()
    assert (more["threshold"], more["scale_maximum"]) == ("0.5", "1.0")
    (finding,) = json.loads(details["findings"])
    assert finding.startswith("acc: 0.6667 covers 3 of 5 trials")


def test_nothing_verified_is_unknown_and_no_mean(export: Callable[..., Any]) -> None:
    trials = (
        trial("a", score("error")),
        trial("b", score("missing")),
        trial("c", score("not_measured"), status="not_run"),
    )
    out = export(run(acc()), trials)
    assert "acc" not in out.names()
    assert out.score("acc.n_scored") == 0
    assert out.score("acc.n_unverified") == 3
    assert out.score("acc.unverified_rate") == 1
    assert (out.score("acc.lower_bound"), out.score("acc.upper_bound")) == (0, 1)
    verdict = out.result("verdict")
    assert verdict["score_details"]["score"] == -1
    assert verdict["score_details"]["uncertainty"] == {"num_samples": 0}
    assert verdict["metric_config"]["has_unknown_level"] is True
    assert "verdict.pass_rate" not in out.names()
    assert [row["evaluation"] for row in out.rows] == [{"score": -1, "is_correct": False}] * 3
    assert [row["metadata"]["verdict"] for row in out.rows] == ["unverified"] * 3
    details = out.result("acc.n_total")["score_details"]["details"]
    assert details["denominator"].startswith("no mean: none of 3 trials that were to be scored")


def test_run_without_trials(export: Callable[..., Any]) -> None:
    out = export(run(acc()), ())
    assert out.rows == []
    assert "detailed_evaluation_results" not in out.aggregate
    assert [p.name for p in out.path.parent.iterdir()] == [out.path.name]
    assert "acc" not in out.names()
    assert "verdict" not in out.names()
    assert out.score("trials.n_total") == 0
    assert out.score("acc.n_total") == 0
    assert out.counts.total == 0


def test_run_without_metrics(export: Callable[..., Any]) -> None:
    bare = run({"name": "human", "kind": "human"}, generation={"temperature": 0})
    out = export(bare, (trial("a"), trial("b", declared_verdict="passed")))
    assert out.score("trials.n_total") == 2
    assert out.score("verdict.n_none") == 1
    assert [row["sample_id"] for row in out.rows] == ["b"]
    details = out.aggregate["source_metadata"]["additional_details"]
    assert json.loads(details["evaluators_without_metrics"])[0]["name"] == "human"
    assert out.result("verdict")["generation_config"] == {"generation_args": {"temperature": 0}}


def test_names_with_dots_and_slashes_stay_apart(export: Callable[..., Any]) -> None:
    pairs = [("a.b", "c"), ("a", "b.c"), ("a/b", "c"), ("a", "b/c"), ("a%2Fb", "c")]
    evaluators: dict[str, list[dict[str, Any]]] = {}
    for evaluator, metric in pairs:
        evaluators.setdefault(evaluator, []).append({"name": metric})
    given = run(*({"name": name, "metrics": m} for name, m in evaluators.items()))
    order = given.metric_keys
    scores = [
        {"evaluator": evaluator, "metric": metric, "state": "scored", "value": n}
        for n, (evaluator, metric) in enumerate(order)
    ]
    out = export(given, (trial("x", *scores),))
    assert [(m.evaluator, m.metric) for m in out.counts.metrics] == list(order)
    means = {
        result["evaluation_result_id"]: result["score_details"]["score"]
        for result in out.aggregate["evaluation_results"]
        if result["metric_config"]["additional_details"]["quantity"] == "mean"
    }
    assert means == {
        "metric/a.b/c/mean": 0,
        "metric/a/b.c/mean": 1,
        "metric/a/b%2Fc/mean": 2,
        "metric/a%2Fb/c/mean": 3,
        "metric/a%252Fb/c/mean": 4,
    }
    assert {r["evaluation_result_id"]: r["evaluation"]["score"] for r in out.rows} == means


def test_names_like_our_own_stay_apart(export: Callable[..., Any]) -> None:
    given = run(
        {"name": "m", "metrics": [{"name": "m"}, {"name": "n_total"}]},
        {"name": "trials", "metrics": [{"name": "trials"}]},
        {"name": "verdict", "metrics": [{"name": "level"}]},
    )
    scores = [
        {"evaluator": evaluator, "metric": metric, "state": "scored", "value": 50}
        for evaluator, metric in given.metric_keys
    ]
    out = export(given, (trial("x", *scores), trial("y", *scores)))
    assert [m.states[ScoreState.SCORED] for m in out.counts.metrics] == [2, 2, 2, 2]
    assert out.counts.total == 2


@pytest.mark.parametrize(
    ("metric", "value", "expected"),
    [
        ({}, 0.5, {}),
        ({"minimum": 0}, 0.5, {"min_score": 0}),
        ({"maximum": 1}, 0.5, {"max_score": 1}),
        ({"minimum": 0, "maximum": 1}, 7.0, {}),
        ({"minimum": 0, "maximum": 1}, -0.1, {}),
        ({"minimum": 0}, -0.1, {}),
        (
            {"minimum": -5, "maximum": 5},
            -5.0,
            {"score_type": "continuous", "min_score": -5, "max_score": 5},
        ),
    ],
)
def test_bounds_only_where_they_hold(
    metric: dict[str, Any], value: float, expected: dict[str, Any], export: Callable[..., Any]
) -> None:
    given = run({"name": "acc", "metrics": [{"name": "acc", **metric}]})
    main = export(given, (trial("a", score("scored", value)),)).result("acc")
    assert main["score_details"]["score"] == value
    config = main["metric_config"]
    found = {
        name: config[name] for name in ("score_type", "min_score", "max_score") if name in config
    }
    assert found == expected
    scale = {f"scale_{name}": str(float(end)) for name, end in metric.items()}
    assert scale.items() <= config["additional_details"].items()


def test_a_scale_that_a_value_has_left_gives_no_bound_there(export: Callable[..., Any]) -> None:
    out = export(run(acc()), (trial("a", score("scored", 4.2)), trial("b", score("null"))))
    assert (out.score("acc"), out.score("acc.lower_bound")) == (4.2, 2.1)
    assert not [r for r in out.aggregate["evaluation_results"]
                if r["evaluation_name"] == "acc.upper_bound"]  # fmt: skip
    details = out.result("acc")["score_details"]["details"]
    assert "there is no upper bound" in details["findings"]
    assert "mean_upper_bound" not in details


def test_direction_and_unit_are_those_of_the_metric(export: Callable[..., Any]) -> None:
    given = run(acc(lower_is_better=True, unit="seconds"))
    out = export(given, (trial("a", score("scored", 0.5)), trial("b", score("null"))))
    for name in ("acc", "acc.lower_bound", "acc.upper_bound"):
        config = out.result(name)["metric_config"]
        assert (config["lower_is_better"], config["metric_unit"]) == (True, "seconds")
    config = out.result("acc.n_scored")["metric_config"]
    assert (config["lower_is_better"], config["metric_unit"]) == (False, "trials")
    assert out.result("acc.n_unverified")["metric_config"]["lower_is_better"] is True
    assert "metric_unit" not in export(run(acc()), MIXED).result("acc")["metric_config"]


def test_labels_have_no_mean(export: Callable[..., Any]) -> None:
    given = run({"name": "acc", "metrics": [{"name": "acc", "categorical": True}]})
    trials = (
        trial(
            "a", score("scored", label="good", outcome="passed", raw='"good"', raw_type="string")
        ),
        trial("b", score("scored", label="bad", outcome="failed")),
        trial("c", score("scored", label="good", outcome="passed")),
    )
    out = export(given, trials)
    assert "acc" not in out.names()
    assert (out.score("acc.n_scored"), out.score("acc.n_valued")) == (3, 0)
    details = out.result("acc.n_total")["score_details"]["details"]
    assert json.loads(details["labels"]) == {"good": 2, "bad": 1}
    assert "3 have only a label" in details["denominator"]
    assert [row["evaluation"]["score"] for row in out.rows] == [4, 0, 4]
    assert json.loads(out.rows[0]["metadata"]["scores_without_row"]) == [
        {
            "evaluator": "acc",
            "metric": "acc",
            "state": "scored",
            "label": "good",
            "outcome": "passed",
            "raw": '"good"',
        }
    ]
    assert out.notices["eee.score_without_row"].count == 3


def test_verdict_is_the_mean_of_known_levels(export: Callable[..., Any]) -> None:
    verdicts = ["passed", "partial", "failed", "contradicted", "disputed", "unverified", None]
    trials = [trial(str(n), declared_verdict=verdict) for n, verdict in enumerate(verdicts)]
    out = export(run(), tuple(trials))
    verdict = out.result("verdict")
    # 4 + 3 + 0 + 1 + 2 over five.
    assert verdict["score_details"]["score"] == 2
    assert verdict["score_details"]["uncertainty"] == {"num_samples": 5}
    config = verdict["metric_config"]
    assert config["score_type"] == "levels"
    assert config["level_names"] == ["failed", "contradicted", "disputed", "partial", "passed"]
    assert config["has_unknown_level"] is True
    assert "min_score" not in config
    rows = {row["metadata"]["verdict"]: row["evaluation"] for row in out.rows}
    assert rows == {
        "passed": {"score": 4, "is_correct": True},
        "partial": {"score": 3, "is_correct": False},
        "failed": {"score": 0, "is_correct": False},
        "contradicted": {"score": 1, "is_correct": False},
        "disputed": {"score": 2, "is_correct": False},
        "unverified": {"score": -1, "is_correct": False},
    }
    # Passed over passed, partial, failed and contradicted; disputed and unverified are unknown.
    assert out.score("verdict.pass_rate") == 1 / 4
    assert out.score("verdict.pass_rate_lower_bound") == pytest.approx(1 / 6)
    assert out.score("verdict.pass_rate_upper_bound") == pytest.approx(3 / 6)
    rate = out.result("verdict.pass_rate")
    assert rate["score_details"]["uncertainty"]["num_samples"] == 4
    assert rate["metric_config"]["metric_unit"] == "proportion"
    assert out.notices["eee.trial_without_row"].count == 1
    assert out.notices["eee.trial_without_row"].severity == "loss"


def test_numbers_at_the_ends_of_their_range(export: Callable[..., Any]) -> None:
    given = run({"name": "acc", "metrics": [{"name": "acc"}]})
    trials = (
        trial("a", score("scored", 1.7e308), duration=1.7e308),
        trial("b", score("scored", -1.7e308), duration=5e-324),
        trial("c", score("scored", -0.0)),
        trial("d", score("scored", 0.1 + 0.2)),
    )
    out = export(given, trials)
    values = [row["evaluation"]["score"] for row in out.rows]
    assert values == [1.7e308, -1.7e308, 0.0, 0.1 + 0.2]
    assert math.copysign(1, values[2]) == -1
    assert "performance" not in out.rows[0]
    assert out.rows[0]["metadata"]["duration_seconds"] == "1.7e+308"
    assert out.rows[1]["performance"]["latency_ms"] == 5e-324 * 1000
