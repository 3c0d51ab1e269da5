"""What an event says for every state, and what it does not."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest

from fullcount.model import ScoreState
from fullcount.notices import Report
from fullcount.plugin import Context
from fullcount_otel import names
from fullcount_otel.events import RunEvents, event_attributes
from fullcount_otel.model import Label
from fullcount_otel.options import OtelOptions

VALUE = "gen_ai.evaluation.score.value"
LABEL = "gen_ai.evaluation.score.label"


def events(kit: Any, *trials: Any, **options: Any) -> list[dict[str, Any]]:
    made = RunEvents(kit.run(), Context(), OtelOptions(**options), Report())
    return [event_attributes(event) for trial in trials for event in made.trial(trial)]


def test_names_are_those_of_the_conventions() -> None:
    conventions = "opentelemetry.semconv._incubating.attributes"
    gen_ai = pytest.importorskip(f"{conventions}.gen_ai_attributes")
    test = pytest.importorskip(f"{conventions}.test_attributes")
    error = pytest.importorskip("opentelemetry.semconv.attributes.error_attributes")
    assert {
        names.METRIC["evaluation_name"]: gen_ai.GEN_AI_EVALUATION_NAME,
        names.SCORE["value"]: gen_ai.GEN_AI_EVALUATION_SCORE_VALUE,
        names.SCORE["label"]: gen_ai.GEN_AI_EVALUATION_SCORE_LABEL,
        names.SCORE["explanation"]: gen_ai.GEN_AI_EVALUATION_EXPLANATION,
        names.SCORE["error_type"]: error.ERROR_TYPE,
        names.TRIAL["response_id"]: gen_ai.GEN_AI_RESPONSE_ID,
        names.TRIAL["case_name"]: test.TEST_CASE_NAME,
        names.TRIAL["case_result"]: test.TEST_CASE_RESULT_STATUS,
        names.RUN["suite"]: test.TEST_SUITE_NAME,
        names.RUN_SPAN_ATTRIBUTES["suite_status"]: test.TEST_SUITE_RUN_STATUS,
    } == {
        name: name
        for name in (
            "gen_ai.evaluation.name",
            "gen_ai.evaluation.score.value",
            "gen_ai.evaluation.score.label",
            "gen_ai.evaluation.explanation",
            "error.type",
            "gen_ai.response.id",
            "test.case.name",
            "test.case.result.status",
            "test.suite.name",
            "test.suite.run.status",
        )
    }
    assert {value.value for value in test.TestCaseResultStatusValues} == {"pass", "fail"}


def test_every_other_name_is_ours() -> None:
    borrowed = ("gen_ai.", "test.", "error.type", "service.name")
    tables = [value for value in vars(names).values() if isinstance(value, MappingProxyType)]
    every = {name for table in tables for name in table.values()}
    assert {n for n in every if not n.startswith(borrowed)} == {
        n for n in every if n.startswith("fullcount.")
    }


@pytest.mark.parametrize("state", [state for state in ScoreState if state != "scored"])
def test_a_score_that_is_not_there_has_no_value(kit: Any, state: ScoreState) -> None:
    (found,) = events(kit, kit.trial(score={"state": state, "reason": "why"}))
    assert VALUE not in found
    assert (found[LABEL], found["fullcount.score.state"]) == (state.value, state.value)
    unverified = state in ("null", "nan", "error", "missing", "not_measured")
    assert found["fullcount.score.class"] == ("unverified" if unverified else "excluded")
    assert found.get("error.type") == ("why" if state == "error" else None)


@pytest.mark.parametrize(
    ("outcome", "label", "passed"),
    [("passed", "pass", True), ("partial", "partial", None), ("failed", "fail", False),
     (None, "scored", None)],
)  # fmt: skip
def test_a_score_has_a_double(kit: Any, outcome: str | None, label: str, passed: Any) -> None:
    score = {"state": "scored", "value": 1, "outcome": outcome, "label": "C"}
    (found,) = events(kit, kit.trial(score=score))
    assert (found[VALUE], type(found[VALUE])) == (1.0, float)
    assert (found[LABEL], found.get("fullcount.score.passed")) == (label, passed)
    assert found["fullcount.score.label"] == "C"
    assert "error.type" not in found


def test_a_label_without_a_number_has_no_value(kit: Any) -> None:
    (found,) = events(kit, kit.trial(score={"state": "scored", "label": "good"}))
    assert VALUE not in found
    assert (found[LABEL], found["fullcount.score.label"]) == ("scored", "good")


def test_the_vocabulary_of_labels_is_small_and_whole() -> None:
    states = {state.value for state in ScoreState}
    assert set(Label.__args__) == {"pass", "partial", "fail"} | states


def test_an_error_type_is_a_class_and_never_prose(kit: Any) -> None:
    prose = kit.trial(score={"state": "error", "reason": "the judge said: no idea"})
    graded = kit.trial(
        score={"state": "error"}, status="evaluator_error", error={"type": "TimeoutError"}
    )
    subject = kit.trial(
        score={"state": "not_measured"}, status="harness_error", error={"type": "OSError"}
    )
    found = events(kit, prose, graded, subject)
    assert [each.get("error.type") for each in found] == ["_OTHER", "TimeoutError", None]
    assert found[2]["fullcount.trial.error_type"] == "OSError"


def test_what_is_known_of_a_trial_is_told(kit: Any) -> None:
    trial = kit.trial(
        7,
        attempt=3,
        status="subject_error",
        status_reason="timeout",
        declared_verdict="disputed",
        trace={"response_id": "resp-1", "record_id": "rec-1"},
        seed=2**70,
    )
    (found,) = events(kit, trial)
    wanted = {
        "gen_ai.evaluation.name": "judge",
        "gen_ai.response.id": "resp-1",
        "fullcount.run.id": "run-1",
        "fullcount.case.id": "case-7",
        "fullcount.trial.attempt": 3,
        "fullcount.trial.status": "subject_error",
        "fullcount.trial.status_reason": "timeout",
        "fullcount.trial.verdict": "disputed",
        "fullcount.trial.verdict_basis": "declared",
        "fullcount.trial.measurement_failure": True,
        "fullcount.trial.seed": str(2**70),
        "fullcount.evaluator.name": "judge",
        "fullcount.evaluator.version": "2",
        "fullcount.evaluator.kind": "model",
        "fullcount.evaluator.model": "openai/o3",
        "fullcount.metric.minimum": 0.0,
        "fullcount.metric.maximum": 1.0,
        "test.suite.name": "capitals",
        "test.case.name": "case-7",
    }
    assert {name: found.get(name) for name in wanted} == wanted


def test_the_parent_is_what_was_evaluated(kit: Any) -> None:
    trace = {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"}
    made = RunEvents(kit.run(), Context(), OtelOptions(), Report())
    (known,) = made.trial(kit.trial(1, trace=trace))
    (unknown,) = made.trial(kit.trial(2))
    (again,) = made.trial(kit.trial(1, trace=trace))
    assert (known.trace_id, known.span_id) == (trace["trace_id"], trace["span_id"])
    assert unknown.trace_id == made.trace_id
    assert unknown.span_id not in (None, made.span_id, known.span_id)
    assert known.record_id != unknown.record_id
    # The number in the stream tells two records apart that the source does not.
    assert again.record_id != known.record_id


def test_ids_depend_on_the_run_alone(kit: Any) -> None:
    for folder in ("one", "two"):
        kit.export(kit.trials(5), name=folder)
    assert kit.files("logs", "one") == kit.files("logs", "two")
    assert kit.files("traces", "one") == kit.files("traces", "two")
    ids = [
        pair["value"]["stringValue"]
        for line in kit.files("logs", "one")
        for pair in json.loads(line)["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0][
            "attributes"
        ]
        if pair["key"] == "fullcount.record.id"
    ]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("times", "wanted", "basis"),
    [
        ({}, "2026-03-02T09:10:00", None),
        ({"completed_at": None, "started_at": "2026-03-02T09:05:00Z"}, "2026-03-02T09:05:00", None),
        ({"completed_at": None}, "2026-03-02T09:30:00", "run"),
        ({"completed_at": "1960-01-01T00:00:00Z"}, "2026-03-02T09:30:00", "run"),
    ],
)
def test_times_are_those_of_the_source(
    kit: Any, times: dict[str, Any], wanted: str, basis: str | None
) -> None:
    made = RunEvents(kit.run(), Context(), OtelOptions(), Report())
    (event,) = made.trial(kit.trial(**times))
    moment = datetime.fromisoformat(wanted).replace(tzinfo=UTC)
    assert event.time == int(moment.timestamp()) * 10**9
    assert event_attributes(event).get("fullcount.trial.time_basis") == basis


def test_texts_leave_only_when_asked(kit: Any) -> None:
    explained = {"state": "scored", "value": 1.0, "explanation": {"sha256": "b" * 64}}
    (digested,) = events(kit, kit.trial(score=explained))
    explained["explanation"] = {"text": "because"}
    (told,) = events(kit, kit.trial(score=explained))
    assert "gen_ai.evaluation.explanation" not in digested
    assert digested["fullcount.score.explanation_sha256"] == "b" * 64
    assert told["gen_ai.evaluation.explanation"] == "because"


def test_a_run_without_metrics_has_an_event_for_each_trial(kit: Any) -> None:
    run = kit.run(evaluators=[])
    kit.export([kit.trial(n).model_copy(update={"scores": ()}) for n in (1, 2)], run)
    text = b"".join(kit.files("logs")).decode()
    assert text.count('"eventName":"fullcount.trial.result"') == 2
