"""What each way of ending and of scoring becomes."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from fullcount.model import Outcome, ScoreState, TrialStatus, Verdict
from fullcount.plugin import ContentPolicy

NAN = math.nan


@pytest.mark.parametrize(
    ("value", "number", "outcome", "label"),
    [
        ("C", 1.0, Outcome.PASSED, "C"),
        ("I", 0.0, Outcome.FAILED, "I"),
        ("P", 0.5, Outcome.PARTIAL, "P"),
        ("N", 0.0, Outcome.FAILED, "N"),
        (True, 1.0, Outcome.PASSED, None),
        (False, 0.0, Outcome.FAILED, None),
        (3, 3.0, None, None),
        (0.25, 0.25, None, None),
        (-7.5, -7.5, None, None),
        ("yes", None, None, "yes"),
        ("0.7", None, None, "0.7"),
        ("c", None, None, "c"),
    ],
)
def test_a_value_is_a_number_or_stays_a_label(
    kit: Any, value: Any, number: float | None, outcome: Outcome | None, label: str | None
) -> None:
    log = kit.Log([kit.sample("a", value)], scores=[kit.reported()])
    for read in kit.both(log):
        (trial,) = read.trials()
        (score,) = trial.scores
        assert (score.state, score.value, score.outcome, score.label) == (
            ScoreState.SCORED,
            number,
            outcome,
            label,
        )


@pytest.mark.parametrize(
    ("value", "state", "reason", "raw"),
    [
        (NAN, ScoreState.NAN, None, "NaN"),
        (math.inf, ScoreState.NAN, "infinite", "Infinity"),
        (10**400, ScoreState.NAN, "infinite", "1" + "0" * 400),
        (None, ScoreState.NULL, None, "null"),
        (..., ScoreState.MISSING, None, None),
    ],
)
def test_what_is_no_value_has_a_state(
    kit: Any, value: Any, state: ScoreState, reason: str | None, raw: str | None
) -> None:
    log = kit.Log([kit.sample("a", value), kit.sample("b", "C")], scores=[kit.reported()])
    for read in kit.both(log):
        first, second = read.trials(ContentPolicy.INCLUDE)
        assert (first.scores[0].state, first.scores[0].reason) == (state, reason)
        assert first.scores[0].raw == raw
        assert first.verdict is Verdict.UNVERIFIED
        assert second.verdict is Verdict.PASSED
        _, tally = read.tally()
        assert (tally.metrics[0].rate.value, tally.metrics[0].rate.n) == (1.0, 1)
        assert (tally.metrics[0].rate.lower, tally.metrics[0].rate.upper) == (0.5, 1.0)


def test_a_failed_judge_gives_its_reason(kit: Any) -> None:
    why = {"metadata": {"unscored_reason": "grade_parse_failure"}}
    log = kit.Log([kit.sample("a", NAN, score=why)], scores=[kit.reported(accuracy=NAN)])
    for read in kit.both(log):
        assert read.trials()[0].scores[0].reason == "grade_parse_failure"


def test_prose_is_no_reason(kit: Any) -> None:
    why = {"reason": "The judge said: please see the appendix"}
    log = kit.Log([kit.sample("a", NAN, score=why)], scores=[kit.reported()])
    assert kit.archive(log).trials()[0].scores[0].reason is None


def test_a_label_gets_the_number_that_an_option_gives(kit: Any) -> None:
    log = kit.Log([kit.sample("a", "yes"), kit.sample("b", "no")], scores=[kit.reported()])
    read = kit.read(kit.archive(log).path, values="yes:1,no:0")
    assert [trial.scores[0].value for trial in read.trials()] == [1.0, 0.0]


def test_a_failed_sample_is_not_measured(kit: Any) -> None:
    log = kit.Log(
        [kit.sample("a", ..., error="ValueError('boom')"), kit.sample("b", "C")],
        scores=[kit.reported()],
    )
    for read in kit.both(log):
        failed, _ = read.trials()
        assert (failed.status, failed.status_reason) == (TrialStatus.HARNESS_ERROR, "sample_error")
        assert failed.scores[0].state is ScoreState.NOT_MEASURED
        assert failed.error is not None
        assert failed.error.type == "ValueError"
        assert failed.error.message is not None
        assert failed.error.message.text is None


def test_a_failed_sample_keeps_the_score_that_it_has(kit: Any) -> None:
    log = kit.Log(
        [kit.sample("a", "I", error="ValueError('boom')"), kit.sample("b", "C")],
        scores=[kit.reported(accuracy=0.5)],
        config={"score_on_error": True},
    )
    for read in kit.both(log):
        _, tally = read.tally()
        assert tally.scored_and_errored == 1
        assert (tally.metrics[0].rate.value, tally.metrics[0].rate.n) == (0.5, 2)
        assert tally.counts.statuses[TrialStatus.HARNESS_ERROR] == 1


def test_a_scorer_that_failed_is_told_from_a_sample_that_did(kit: Any) -> None:
    log = kit.Log(
        [kit.sample("a", "C", error="KeyError('x')")],
        scores=[kit.reported(), kit.reported("judge")],
        scorers=("match", "judge"),
    )
    for read in kit.both(log):
        (trial,) = read.trials()
        assert trial.status is TrialStatus.EVALUATOR_ERROR
        assert [score.state for score in trial.scores] == [ScoreState.SCORED, ScoreState.ERROR]


@pytest.mark.parametrize("message", ["CancelledError('stop')", "Cancelled()"])
def test_a_cancelled_sample_is_cancelled(kit: Any, message: str) -> None:
    log = kit.Log(
        [kit.sample("a", ..., error=message)], scores=[kit.reported()], status="cancelled"
    )
    for read in kit.both(log):
        (trial,) = read.trials()
        assert trial.status is TrialStatus.CANCELLED
        assert read.tally()[0].status == "cancelled"


@pytest.mark.parametrize(
    ("limit", "status", "reason", "failure"),
    [
        ("time", TrialStatus.SUBJECT_ERROR, "timeout", True),
        ("working", TrialStatus.SUBJECT_ERROR, "timeout", True),
        ("message", TrialStatus.SUBJECT_ERROR, "message_limit", False),
        ("token", TrialStatus.SUBJECT_ERROR, "token_limit", False),
        ("custom", TrialStatus.SUBJECT_ERROR, "custom_limit", False),
        ("operator", TrialStatus.CANCELLED, "operator", False),
    ],
)
def test_a_limit_ends_a_trial_that_may_still_be_scored(
    kit: Any,
    limit: str,
    status: TrialStatus,
    reason: str,
    failure: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    log = kit.Log([kit.sample("a", "I", limit=limit)], scores=[kit.reported(accuracy=0.0)])
    for read in kit.both(log):
        (trial,) = read.trials()
        assert (trial.status, trial.status_reason, trial.limit) == (status, reason, limit)
        assert trial.scores[0].value == 0.0
        assert trial.measurement_failure is failure


def test_a_limited_sample_without_a_score_is_missing_it(kit: Any) -> None:
    log = kit.Log([kit.sample("a", ..., limit="token")], scores=[kit.reported()])
    assert kit.archive(log).states() == {"match": {"missing": 1}}


def test_an_invalidated_sample_measures_nothing(kit: Any) -> None:
    void = {"timestamp": "2026-01-01T00:00:00+00:00", "author": "me", "reason": "leak"}
    log = kit.Log(
        [kit.sample("a", "C", invalidation=void), kit.sample("b", "I")],
        scores=[kit.reported(accuracy=0.5)],
        extra={"invalidated": True},
    )
    for read in kit.both(log):
        first, _ = read.trials()
        assert first.invalidated
        assert (first.scores[0].state, first.scores[0].reason, first.scores[0].raw) == (
            ScoreState.NOT_MEASURED,
            "invalidated",
            '"C"',
        )
        run, tally = read.tally()
        assert run.invalidated
        assert (tally.metrics[0].rate.value, tally.invalidated) == (0.0, 1)


def test_a_sample_left_out_early_is_not_sought(kit: Any) -> None:
    stops = {"manager": "m", "early_stops": [{"id": "b", "epoch": 1, "reason": "done"}]}
    log = kit.Log(
        [kit.sample("a", "C")],
        ids=["a", "b"],
        scores=[kit.reported()],
        results={"early_stopping": stops},
    )
    for read in kit.both(log):
        _, tally = read.tally()
        assert read.states() == {"match": {"scored": 1, "skipped": 1}}
        assert (tally.metrics[0].sought, tally.metrics[0].rate.lower) == (1, 1.0)
        assert read.trials()[1].status_reason == "early_stopped"


def test_retries_are_kept(kit: Any) -> None:
    log = kit.Log(
        [kit.sample("a", "C", error_retries=[{"message": "x", "traceback": "y"}] * 2)],
        scores=[kit.reported()],
    )
    for read in kit.both(log):
        (trial,) = read.trials()
        assert trial.status is TrialStatus.COMPLETED
        assert trial.error is not None
        assert trial.error.retries == 2


def test_an_edited_score_says_so(kit: Any) -> None:
    edit = {"history": [{"value": "I"}, {"value": "C", "provenance": {"author": "me"}}]}
    log = kit.Log([kit.sample("a", "C", score=edit)], scores=[kit.reported()])
    (trial,) = kit.document(log).trials()
    assert trial.scores[0].edited
    assert trial.scores[0].value == 1.0


def test_the_scores_of_a_dict_are_metrics_of_their_own(kit: Any) -> None:
    def scored(value: Any) -> dict[str, Any]:
        return {"multi": {"value": value}}

    log = kit.Log(
        [
            kit.sample("a", scores=scored({"x": 1, "y": NAN})),
            kit.sample("b", scores=scored({"x": None, "y": 3})),
            kit.sample("c", scores=scored({"x": 0})),
            kit.sample("d", scores=scored(NAN)),
        ],
        scores=[kit.reported("x", "multi"), kit.reported("y", "multi")],
        scorers=("multi",),
    )
    for read in kit.both(log):
        assert read.states() == {
            "multi.x": {"scored": 2, "null": 1, "nan": 1},
            "multi.y": {"scored": 1, "nan": 2, "missing": 1},
        }
        _, tally = read.tally()
        assert [metric.rate.value for metric in tally.metrics] == [0.5, 3.0]


def test_the_elements_of_a_list_are_metrics_of_their_own(kit: Any) -> None:
    log = kit.Log([kit.sample("a", [1, NAN]), kit.sample("b", [0, 1])], scores=[kit.reported()])
    for read in kit.both(log):
        assert read.states() == {"match.0": {"scored": 2}, "match.1": {"scored": 1, "nan": 1}}


def test_a_metric_that_the_header_does_not_tell_of_is_found(kit: Any) -> None:
    log = kit.Log(
        [kit.sample("a", "C"), kit.sample("b", "C", scores={"late": {"value": 1}})],
        scores=[kit.reported()],
    )
    for read in kit.both(log):
        assert read.states() == {
            "match": {"scored": 1, "missing": 1},
            "late": {"scored": 1, "missing": 1},
        }


def test_all_samples_failed(kit: Any) -> None:
    log = kit.Log([kit.sample(n, ..., error="OSError('x')") for n in range(3)])
    for read in kit.both(log):
        run, tally = read.tally()
        assert run.status == "success"
        assert read.states() == {"match": {"not_measured": 3}}
        assert tally.metrics[0].rate.value is None
        assert tally.counts.verdicts[Verdict.UNVERIFIED] == 3


def test_a_reason_stands_only_where_there_is_no_value(kit: Any) -> None:
    why = {"reason": "refusal"}
    log = kit.Log(
        [kit.sample("a", "N", score=why), kit.sample("b", NAN, score=why)],
        scores=[kit.reported(accuracy=0.0)],
    )
    for read in kit.both(log):
        first, second = read.trials()
        assert (first.scores[0].value, first.scores[0].reason) == (0.0, None)
        assert (second.scores[0].state, second.scores[0].reason) == (ScoreState.NAN, "refusal")


@pytest.mark.parametrize(
    ("history", "edited"),
    [
        ([], False),
        ([{"value": "I"}, {"value": "C"}], True),
        ([{"value": "C"}, {"value": "UNCHANGED", "explanation": "better words"}], False),
        ([{"value": "C", "provenance": {"author": "me"}}], True),
    ],
)
def test_an_edit_that_leaves_the_value_is_none(
    kit: Any,
    history: list[dict[str, Any]],
    edited: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    log = kit.Log([kit.sample("a", "C", score={"history": history})], scores=[kit.reported()])
    (trial,) = kit.document(log).trials()
    assert trial.scores[0].edited is edited
    assert trial.scores[0].value == 1.0


@pytest.mark.parametrize(
    ("value", "states", "label"),
    [
        (
            list(range(65)),
            {"match": {"scored": 1}},
            json.dumps([*range(65)], separators=(",", ":")),
        ),
        ({"x": {"y": [1, None]}}, {"match.x": {"scored": 1}}, '{"y":[1,null]}'),
        ([["deep"]], {"match.0": {"scored": 1}}, '["deep"]'),
    ],
)
def test_what_has_too_many_or_no_plain_values_is_a_label(
    kit: Any, value: Any, states: dict[str, Any], label: str
) -> None:
    log = kit.Log([kit.sample("a", value)])
    for read in kit.both(log):
        assert read.states() == states
        (trial,) = read.trials(ContentPolicy.INCLUDE)
        (score,) = trial.scores
        assert (score.value, score.label, score.raw, score.outcome) == (None, label, label, None)


def test_trials_do_not_share_what_is_theirs(kit: Any) -> None:
    log = kit.Log(
        [
            kit.sample("a", "C", score={"answer": "one"}),
            kit.sample("b", "C", score={"answer": "two"}),
            kit.sample("c", "C", score={"history": [{"value": "I"}, {"value": "C"}]}),
        ],
        scores=[kit.reported()],
    )
    (one, two, three) = (trial.scores[0] for trial in kit.document(log).trials())
    assert one == two
    assert three.edited
    assert not one.edited
    answers = [t.scores[0].answer for t in kit.document(log).trials(ContentPolicy.INCLUDE)]
    assert [answer and answer.text for answer in answers] == ["one", "two", None]


def test_a_failed_sample_that_was_also_limited(kit: Any) -> None:
    log = kit.Log(
        [kit.sample("a", ..., error="TimeoutError('scoring')", limit="time")],
        scores=[kit.reported()],
    )
    for read in kit.both(log):
        (trial,) = read.trials()
        assert (trial.status, trial.limit) == (TrialStatus.HARNESS_ERROR, "time")
        assert trial.scores[0].state is ScoreState.NOT_MEASURED


def test_a_metric_that_only_the_results_name_is_sought(kit: Any) -> None:
    log = kit.Log(
        [kit.sample("a", scores={"multi": {"value": {"x": 1}}})],
        scores=[kit.reported("x", "multi"), kit.reported("y", "multi")],
        scorers=("multi",),
    )
    for read in kit.both(log):
        assert read.states() == {"multi.x": {"scored": 1}, "multi.y": {"missing": 1}}
        survey = [[s.metric for s in trial.scores] for trial in read.trials()]
        assert survey == [["x", "y"]]


def test_a_sample_that_is_planned_twice_is_one(kit: Any) -> None:
    log = kit.Log([kit.sample("a", "C")], ids=["a", "b", "b", 1, "1", 1], scores=[kit.reported()])
    for read in kit.both(log):
        found = sorted(trial.case_id for trial in read.trials())
        _, tally = read.tally()
        assert len(found) == len(set(found)) == tally.counts.total == 4
