"""Gates, verdicts and retries, with values worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from fullcount.decide.gate import Thresholds, bucket, judge
from fullcount.decide.retry import retry_record
from fullcount.decide.verdicts import summarize
from fullcount.model import Run, RunTally, Trial
from fullcount.tally import TallyBuilder

PASSED = {"state": "scored", "value": 1.0, "outcome": "passed"}
FAILED = {"state": "scored", "value": 0.0, "outcome": "failed"}
NAN = {"state": "nan"}


def run(**changes: Any) -> Run:
    metric = {"name": "judge", "minimum": 0, "maximum": 1, **changes.pop("metric", {})}
    return Run.model_validate(
        {
            "id": "run",
            "source": {"format": "test"},
            "harness": {"name": "test"},
            "subject": {"id": "agent", "version": "v1", **changes.pop("subject", {})},
            "suite": {"name": "suite", **changes.pop("suite", {})},
            "evaluators": [{"name": "judge", "metrics": [metric]}],
            "status": "success",
            **changes,
        }
    )


def trial(score: dict[str, Any], number: int = 0, **more: Any) -> Trial:
    scores = [{"evaluator": "judge", "metric": "judge", **score}]
    return Trial.model_validate({"case_id": str(number), "scores": scores, **more})


def tally(about: Run, *trials: Trial) -> RunTally:
    builder = TallyBuilder(about)
    for each in trials:
        builder.add(each)
    return builder.build()


def of(passed: int, failed: int, unverified: int = 0, **changes: Any) -> tuple[Run, RunTally]:
    scores = [PASSED] * passed + [FAILED] * failed + [NAN] * unverified
    about = run(**changes)
    return about, tally(about, *(trial(score, n) for n, score in enumerate(scores)))


def code(found: tuple[Run, RunTally], before: RunTally | None = None, **wanted: Any) -> int:
    return bucket(judge(*found, Thresholds(**wanted), before))


# Gate


@pytest.mark.parametrize(
    ("counts", "wanted", "expected"),
    [
        ((3, 0), {}, 0),
        ((3, 1), {}, 1),
        ((3, 0, 1), {}, 3),
        ((3, 1, 1), {}, 3),  # 3 dominates 1
        ((8, 2), {"pass_rate": 0.8}, 0),
        ((8, 2), {"pass_rate": 0.81}, 1),
        # .8 over ten of eleven is .727 at worst.
        ((8, 2, 1), {"pass_rate": 0.8, "unverified_rate": 0.1}, 1),
        ((8, 2, 1), {"pass_rate": 0.8, "unverified_rate": 0.1, "over": "scored"}, 0),
        ((8, 2, 1), {"pass_rate": 0.72, "unverified_rate": 0.1, "over": "sought"}, 0),
        ((8, 2, 1), {"pass_rate": 0.73, "unverified_rate": 0.1, "over": "sought"}, 1),
        ((8, 2, 1), {"pass_rate": 0.5, "unverified_rate": 0.09}, 3),
        ((8, 2), {"pass_rate": 0.5, "minimum": 10}, 0),
        ((8, 2), {"pass_rate": 0.5, "minimum": 11}, 3),
        ((8, 2), {"means": {"judge": 0.8}}, 0),
        ((8, 2), {"means": {"judge": 0.9}}, 1),
        ((8, 2), {"means": {"other": 0.1}}, 3),
        # NaN, nothing at all, and everything unverified never pass.
        ((0, 0, 3), {"pass_rate": 0.0, "unverified_rate": 1.0}, 3),
        ((0, 0, 3), {"means": {"judge": 0.0}, "unverified_rate": 1.0}, 3),
        ((0, 0), {}, 3),
        ((0, 0), {"pass_rate": 0.0, "unverified_rate": 1.0}, 3),
    ],
)
def test_a_gate(counts: tuple[int, ...], wanted: dict[str, Any], expected: int) -> None:
    assert code(of(*counts), **wanted) == expected


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"score": PASSED}, 0),
        ({"score": {"state": "not_applicable"}}, 0),
        ({"score": {"state": "skipped"}}, 0),
        ({"score": FAILED}, 1),
        ({"score": PASSED, "declared_verdict": "partial"}, 1),
        ({"score": PASSED, "declared_verdict": "disputed"}, 1),
        ({"score": FAILED, "status": "subject_error", "status_reason": "crash"}, 1),
        ({"score": {"state": "not_measured"}, "status": "subject_error",
          "status_reason": "timeout"}, 3),
        ({"score": {"state": "not_measured"}, "status": "harness_error"}, 3),
        ({"score": {"state": "error"}, "status": "evaluator_error"}, 3),
        ({"score": {"state": "not_measured"}, "status": "blocked"}, 3),
        ({"score": {"state": "null"}}, 3),
        ({"score": {"state": "missing"}}, 3),
        ({"score": {"state": "not_measured"}, "status": "not_run"}, 3),
    ],
)  # fmt: skip
def test_the_bucket_of_every_state(more: dict[str, Any], expected: int) -> None:
    about = run()
    assert code((about, tally(about, trial(PASSED, 1), trial(**more)))) == expected


def test_failures_of_the_environment_may_be_allowed() -> None:
    about = run()
    late = trial({"state": "not_measured"}, status="harness_error")
    found = (about, tally(about, trial(PASSED, 1), trial(PASSED, 2), trial(PASSED, 3), late))
    allowed = {"pass_rate": 0.75, "unverified_rate": 0.25}
    assert code(found, **allowed, measurement_failures=1) == 0
    assert code(found, **allowed) == 3
    assert code(found, **allowed, measurement_failures=0) == 3


def test_a_mean_that_should_be_low() -> None:
    found = of(2, 8, metric={"lower_is_better": True})
    assert code(found, means={"judge": 0.2}) == 0
    assert code(found, means={"judge": 0.19}) == 1
    # The upper bound is what it may be at worst: .2 over ten of eleven, .273.
    unsure = of(2, 8, 1, metric={"lower_is_better": True})
    assert code(unsure, means={"judge": 0.25}, unverified_rate=1.0) == 1
    assert code(unsure, means={"judge": 0.25}, unverified_rate=1.0, over="scored") == 0


@pytest.mark.parametrize(
    ("metric", "scores", "expected"),
    [
        # Without an end of the scale there is no bound once something is unverified.
        ({"minimum": None}, [PASSED, NAN], 3),
        ({"minimum": None}, [PASSED, PASSED], 0),
        # 4.2 on a scale up to 1 is above any threshold, and no evidence of anything.
        ({}, [{"state": "scored", "value": 4.2}], 3),
        ({}, [{"state": "scored", "value": 4.2}, NAN], 3),
        ({"maximum": 5}, [{"state": "scored", "value": 4.2}], 0),
    ],
)
@pytest.mark.parametrize("over", ["lower", "scored"])
def test_a_mean_without_a_bound_never_passes(
    metric: dict[str, Any], scores: list[dict[str, Any]], expected: int, over: str
) -> None:
    about = run(metric=metric)
    found = about, tally(about, *(trial(score, n) for n, score in enumerate(scores)))
    checks = judge(*found, Thresholds(means={"judge": 0.5}, over=over, unverified_rate=1.0))  # type: ignore[arg-type]
    told = 0 if (over == "scored" and metric.get("minimum", 0) is None) else expected
    assert checks[0].code == told
    if len(scores) == 1 and expected:
        assert checks[0].message == (
            "values from 4.2 to 4.2 leave the declared scale 0 to 1; correct the scale or the "
            "values"
        )


def test_a_regression() -> None:
    _, before = of(9, 1)
    assert code(of(8, 2), before, pass_rate=0.0, drop=0.1 + 1e-9) == 0
    assert code(of(8, 2), before, pass_rate=0.0, drop=0.05) == 1
    _, nothing = of(0, 0, 2)
    assert code(of(8, 2), nothing, pass_rate=0.0, drop=0.5) == 3
    assert code(of(8, 2), None, pass_rate=0.0, drop=0.5) == 3


# Verdicts


@pytest.mark.parametrize(
    ("counts", "word"),
    [
        ((10, 0), "pass"),
        ((9, 1), "partial"),
        ((10, 0, 1), "partial"),
        ((0, 3), "fail"),
        ((0, 3, 1), "fail"),
        ((0, 0, 3), "none"),
        ((0, 0), "none"),
    ],
)
def test_the_four_words(counts: tuple[int, ...], word: str) -> None:
    (summary,) = summarize([of(*counts)])
    assert summary.word == word


def test_evaluations_are_summed_up() -> None:
    runs = [of(10, 0, suite={"name": "a"}), of(9, 1, suite={"name": "b"}),
            of(9, 1, suite={"name": "c"})]  # fmt: skip
    (summary,) = summarize(runs)
    assert (summary.tests, summary.passed, len(summary.evaluations)) == (30, 28, 3)
    assert summary.sentence == "2 of 30 tests failed across 3 evaluations"


def test_running_again_replaces() -> None:
    old = of(1, 9, completed_at="2026-01-01T00:00:00Z", id="old")
    new = of(10, 0, completed_at="2026-01-02T00:00:00Z", id="new")
    broken = of(0, 5, completed_at="2026-01-03T00:00:00Z", id="broken", status="error")
    for order in ([old, new, broken], [broken, new, old]):
        (summary,) = summarize(order)
        assert (summary.word, summary.tests) == ("pass", 10)
        assert [each.run_id for each in summary.evaluations] == ["new"]


def test_versions_are_kept_apart_and_latest_is_resolved() -> None:
    first = of(10, 0, completed_at="2026-01-01T00:00:00Z")
    second = of(0, 2, subject={"version": "v2"}, completed_at="2026-01-02T00:00:00Z")
    assert [(s.version, s.word) for s in summarize([second, first])] == [
        ("v1", "pass"),
        ("v2", "fail"),
    ]
    (latest,) = summarize([second, first], ["agent@latest"])
    assert (latest.version, latest.word) == ("v2", "fail")
    (unknown,) = summarize([second, first], ["agent@v3"])
    assert (unknown.version, unknown.word, unknown.tests) == ("v3", "none", 0)
    assert unknown.sentence == "no test covers it: nothing is known, and nothing failed"
    assert [s.version for s in summarize([second, first], ["agent"])] == ["v1", "v2"]


def test_unverified_tests_stay_in_the_total() -> None:
    (summary,) = summarize([of(8, 0, 2)])
    assert summary.sentence == "2 of 10 tests are unverified across 1 evaluation"


@pytest.mark.parametrize(
    ("subject", "stale"),
    [
        ({"draft": True, "modified_at": "2026-01-03T00:00:00Z"}, True),
        ({"draft": True, "modified_at": "2026-01-01T00:00:00Z"}, False),
        ({"draft": False, "modified_at": "2026-01-03T00:00:00Z"}, False),
        ({"modified_at": "2026-01-03T00:00:00Z"}, False),
    ],
)
def test_a_draft_that_was_edited_since_is_stale(subject: dict[str, Any], stale: bool) -> None:  # noqa: FBT001 - expected
    (summary,) = summarize([of(1, 0, subject=subject, completed_at="2026-01-02T00:00:00Z")])
    assert summary.stale is stale
    assert ("edited after its newest run" in summary.sentence) is stale


# Retry


@pytest.mark.parametrize(
    ("more", "retry"),
    [
        ({"score": PASSED}, "none"),
        ({"score": {"state": "skipped"}}, "none"),
        ({"score": {"state": "not_measured"}, "status": "not_run"}, "rerun"),
        ({"score": {"state": "not_measured"}, "status": "blocked"}, "rerun"),
        ({"score": NAN}, "regrade"),
        ({"score": {"state": "error"}, "status": "evaluator_error"}, "regrade"),
        ({"score": {"state": "not_measured"}, "status": "harness_error"}, "reconcile_first"),
        ({"score": {"state": "not_measured"}, "status": "subject_error"}, "reconcile_first"),
    ],
)
def test_what_to_do_about_a_trial(more: dict[str, Any], retry: str) -> None:
    record = retry_record(run(), trial(**more))
    assert record["retry"] == retry
    sought = more["score"]["state"] not in ("scored", "skipped")
    assert [score["metric"] for score in record["unverified"]] == (["judge"] if sought else [])
    assert (record["case_id"], record["attempt"]) == ("0", 1)
