from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from fullcount.model import (
    EXCLUDED,
    UNVERIFIED,
    Content,
    Counts,
    Evaluator,
    Excerpt,
    Message,
    Metric,
    MetricCounts,
    Outcome,
    Rate,
    RetryClass,
    Run,
    Score,
    ScoreState,
    Subject,
    TraceRef,
    Trial,
    TrialStatus,
    Verdict,
    VerdictBasis,
    derive_verdict,
    digest_text,
)
from fullcount.testing.strategies import runs, scores, trials


def score(what: str, evaluator: str = "e") -> Score:
    """`+`, `~`, `-`: scored with that outcome; `o`: scored without one; else a state."""
    outcomes = {"+": Outcome.PASSED, "~": Outcome.PARTIAL, "-": Outcome.FAILED, "o": None}
    if what in outcomes:
        return Score(
            evaluator=evaluator, metric="m", state="scored", value=0.5, outcome=outcomes[what]
        )
    return Score(evaluator=evaluator, metric="m", state=what)


def trial(*what: str, **more: Any) -> Trial:
    found = tuple(score(item, f"e{number}") for number, item in enumerate(what))
    return Trial(case_id="c", scores=found, **more)


# -- verdicts


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ((), None),
        (("o",), None),
        (("o", "o"), None),
        (("+",), "passed"),
        (("~",), "partial"),
        (("-",), "failed"),
        (("+", "o"), "passed"),
        (("+", "~"), "partial"),
        (("~", "+"), "partial"),
        (("+", "~", "-"), "failed"),
        (("-", "null"), "failed"),
        (("null", "-"), "failed"),
        (("+", "null"), "unverified"),
        (("null", "+"), "unverified"),
        (("~", "nan"), "unverified"),
        (("error",), "unverified"),
        (("missing",), "unverified"),
        (("not_measured",), "unverified"),
        (("o", "null"), "unverified"),
        (("skipped",), None),
        (("not_applicable",), None),
        (("skipped", "+"), "passed"),
        (("not_applicable", "-"), "failed"),
        (("not_applicable", "null"), "unverified"),
    ],
)
def test_verdict_table(what: tuple[str, ...], expected: str | None) -> None:
    assert trial(*what).verdict == expected
    assert trial(*what).verdict_basis == (None if expected is None else "derived")


@settings(max_examples=40)
@given(st.lists(scores(), max_size=6))
def test_derived_verdict_follows_its_rule(found: list[Score]) -> None:
    outcomes = {item.outcome for item in found}
    states = {item.state for item in found}
    if Outcome.FAILED in outcomes:
        expected = Verdict.FAILED
    elif states & {"null", "nan", "error", "missing", "not_measured"}:
        expected = Verdict.UNVERIFIED
    elif Outcome.PARTIAL in outcomes:
        expected = Verdict.PARTIAL
    elif Outcome.PASSED in outcomes:
        expected = Verdict.PASSED
    else:
        expected = None
    assert derive_verdict(found) is expected
    assert derive_verdict(reversed(found)) is expected


@pytest.mark.parametrize("verdict", list(Verdict))
def test_declared_verdict_stands_before_the_scores(verdict: Verdict) -> None:
    declared = trial("-", "null", declared_verdict=verdict)
    assert declared.verdict is verdict
    assert declared.verdict_basis is VerdictBasis.DECLARED


@pytest.mark.parametrize("verdict", list(Verdict))
def test_judge_verdict_and_self_report_are_no_verdict(verdict: Verdict) -> None:
    assert trial(judge_verdict=verdict, self_report=True).verdict is None


def test_states_are_scored_unverified_or_excluded() -> None:
    assert UNVERIFIED.isdisjoint(EXCLUDED)
    assert UNVERIFIED | EXCLUDED | {ScoreState.SCORED} == set(ScoreState)
    assert {s.value for s in EXCLUDED} == {"skipped", "not_applicable"}


# -- retry and measurement failures

RERUN, REGRADE, RECONCILE, NONE = "rerun", "regrade", "reconcile_first", "none"


@pytest.mark.parametrize(
    ("status", "unmeasured", "declared"),
    [
        ("completed", REGRADE, RECONCILE),
        ("subject_error", RECONCILE, RECONCILE),
        ("harness_error", RECONCILE, RECONCILE),
        ("evaluator_error", REGRADE, RECONCILE),
        ("blocked", RERUN, RERUN),
        ("cancelled", RECONCILE, RECONCILE),
        ("not_run", RERUN, RERUN),
    ],
)
def test_retry_table(status: str, unmeasured: str, declared: str) -> None:
    assert trial("null", status=status).retry == unmeasured
    assert trial("skipped", status=status, declared_verdict="unverified").retry == declared
    assert trial("skipped", status=status, declared_verdict="passed").retry == NONE
    assert trial(status=status).retry == NONE
    if status != "not_run":
        assert trial("+", status=status).retry == NONE


@pytest.mark.parametrize("status", list(TrialStatus))
@pytest.mark.parametrize("reason", [None, "timeout", "message_limit"])
def test_measurement_failures(status: TrialStatus, reason: str | None) -> None:
    environmental = status.value in ("harness_error", "evaluator_error", "blocked")
    timeout = status.value == "subject_error" and reason == "timeout"
    found = trial(status=status, status_reason=reason).measurement_failure
    assert found is (environmental or timeout)


@settings(max_examples=50)
@given(trials(keys=(("a", "x"), ("b", "y"))))
def test_nothing_is_retried_that_has_all_it_sought(found: Trial) -> None:
    sought_and_absent = any(item.unverified for item in found.scores)
    unknown = found.verdict is Verdict.UNVERIFIED
    assert (found.retry is RetryClass.NONE) is not (sought_and_absent or unknown)


# -- what a record refuses


@pytest.mark.parametrize("state", [s for s in ScoreState if s is not ScoreState.SCORED])
def test_only_a_scored_result_has_a_value_or_outcome(state: ScoreState) -> None:
    with pytest.raises(ValidationError, match=f"state '{state}' excludes a value"):
        Score(evaluator="e", metric="m", state=state, value=0.0)
    with pytest.raises(ValidationError, match=f"state '{state}' excludes a value"):
        Score(evaluator="e", metric="m", state=state, outcome="failed")


def test_scored_result_needs_a_value_or_label() -> None:
    with pytest.raises(ValidationError, match="needs a value or a label"):
        Score(evaluator="e", metric="m", state="scored")
    assert Score(evaluator="e", metric="m", state="scored", label="").label == ""


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 10**400])
def test_value_is_finite(value: float) -> None:
    with pytest.raises(ValidationError):
        Score(evaluator="e", metric="m", state="scored", value=value)


def test_trial_is_scored_once_on_each_metric() -> None:
    both = (score("+"), score("null"))
    with pytest.raises(ValidationError, match="two scores for one metric of one evaluator"):
        Trial(case_id="c", scores=both)


def test_trial_that_was_not_run_has_no_score() -> None:
    with pytest.raises(ValidationError, match="not run cannot be scored"):
        trial("+", status="not_run")
    assert trial("not_measured", status="not_run").status == "not_run"


@pytest.mark.parametrize("attempt", [0, -1, 2**63])
def test_attempts_count_from_one(attempt: int) -> None:
    with pytest.raises(ValidationError):
        trial(attempt=attempt)
    assert trial(attempt=2**63 - 1).attempt == 2**63 - 1


@pytest.mark.parametrize(
    "make",
    [
        lambda text: Trial(case_id=text),
        lambda text: Subject(id=text),
        lambda text: Excerpt(text=text),
        lambda text: Message(role=text),
        lambda text: Evaluator(name=text),
        lambda text: Metric(name=text),
        lambda text: Score(evaluator="e", metric="m", state="null", raw=text),
    ],
)
def test_lone_surrogate_is_refused(make: Any) -> None:
    with pytest.raises(ValidationError):
        make("a\ud800b")
    make("a\U0001f600b")


def test_keys_hold_no_lone_surrogate() -> None:
    run = {
        "id": "r",
        "source": {"format": "f"},
        "harness": {"name": "h"},
        "subject": {"id": "s"},
        "suite": {"name": "t"},
    }
    assert Run.model_validate({**run, "environment": {"k": "v"}}).environment == {"k": "v"}
    with pytest.raises(ValidationError):
        Run.model_validate({**run, "environment": {"\udfff": "v"}})


def test_names_are_distinct() -> None:
    with pytest.raises(ValidationError, match="two metrics of one name"):
        Evaluator(name="e", metrics=(Metric(name="m"), Metric(name="m")))
    with pytest.raises(ValidationError, match="two evaluators of one name"):
        Run(
            id="r",
            source={"format": "f"},
            harness={"name": "h"},
            subject={"id": "s"},
            suite={"name": "t"},
            evaluators=(Evaluator(name="e"), Evaluator(name="e")),
        )


def test_scale_is_ordered() -> None:
    with pytest.raises(ValidationError, match="minimum is above maximum"):
        Metric(name="m", minimum=1.0, maximum=0.0)
    assert Metric(name="m", minimum=1.0, maximum=1.0).minimum == 1.0


def test_excerpt_holds_something() -> None:
    with pytest.raises(ValidationError, match="needs a text or a digest"):
        Excerpt()
    for digest in ("A" * 64, "a" * 63, "a" * 64 + "\n"):
        with pytest.raises(ValidationError):
            Excerpt(sha256=digest)


def test_trace_ids_are_hexadecimal() -> None:
    with pytest.raises(ValidationError):
        TraceRef(trace_id="A" * 32)
    assert TraceRef(trace_id="a" * 32, span_id="b" * 16).span_id == "b" * 16


@pytest.mark.parametrize("model", [Trial, Score, Run, Content, Metric])
def test_unknown_fields_are_refused(model: Any) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        model.model_validate({"no_such_field": 1})


def test_records_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        trial().case_id = "other"  # type: ignore[misc]


def test_digest_is_over_the_real_text() -> None:
    assert digest_text("abc") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    assert digest_text("\ud800") != digest_text("?")


# -- rates and counts


def test_rate_agrees_with_its_n() -> None:
    with pytest.raises(ValidationError, match="more values than trials sought"):
        Rate(value=0.5, n=3, sought=2)
    with pytest.raises(ValidationError, match="a value exactly where n is above 0"):
        Rate(n=1, sought=2)
    with pytest.raises(ValidationError, match="a value exactly where n is above 0"):
        Rate(value=0.0, n=0, sought=2)
    with pytest.raises(ValidationError, match="lower bound above upper"):
        Rate(value=0.5, n=1, sought=2, lower=0.6, upper=0.4)
    assert Rate(n=0, sought=0).value is None


def states(**counts: int) -> dict[ScoreState, int]:
    return {state: counts.get(state.value, 0) for state in ScoreState}


def test_metric_counts_add_up() -> None:
    found = MetricCounts(
        evaluator="e",
        metric="m",
        states=states(
            scored=1, null=2, nan=3, error=4, missing=5, not_measured=6, skipped=7, not_applicable=8
        ),
    )
    assert (found.total, found.scored, found.unverified, found.excluded, found.sought) == (
        36,
        1,
        20,
        15,
        21,
    )
    assert found.name == "e.m"
    assert MetricCounts(evaluator="e", metric="e", states=states()).name == "e"


def test_counts_are_complete_and_add_up() -> None:
    good: dict[str, Any] = {
        "run_id": "r",
        "total": 2,
        "statuses": {s: 2 if s == "completed" else 0 for s in TrialStatus},
        "verdicts": {v: 1 if v == "passed" else 0 for v in Verdict},
        "no_verdict": 1,
        "metrics": [{"evaluator": "e", "metric": "m", "states": states(scored=2)}],
    }
    assert Counts.model_validate(good).total == 2
    with pytest.raises(ValidationError, match="statuses add up to 2, not to the total 3"):
        Counts.model_validate({**good, "total": 3})
    with pytest.raises(ValidationError, match="verdicts add up to 1, not to the total 2"):
        Counts.model_validate({**good, "no_verdict": 0})
    with pytest.raises(ValidationError, match=r"states of e.m add up to 1, not to the total 2"):
        Counts.model_validate(
            {**good, "metrics": [{"evaluator": "e", "metric": "m", "states": states(null=1)}]}
        )
    with pytest.raises(ValidationError, match="every status and verdict needs its count"):
        Counts.model_validate({**good, "verdicts": {"passed": 1}})
    with pytest.raises(ValidationError, match="every state needs its count"):
        MetricCounts(evaluator="e", metric="m", states={"scored": 2})


@settings(max_examples=15)
@given(runs())
def test_model_survives_json(generated: tuple[Run, tuple[Trial, ...]]) -> None:
    run, found = generated
    assert Run.model_validate_json(run.model_dump_json()) == run
    for item in found:
        assert Trial.model_validate_json(item.model_dump_json(exclude_defaults=True)) == item
    assert run.metric_keys == tuple(
        (evaluator.name, metric.name)
        for evaluator in run.evaluators
        for metric in evaluator.metrics
    )
