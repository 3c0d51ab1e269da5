"""The samples file: what a row says, and what has no row."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from fullcount.model import Run, Trial, Verdict
from fullcount.plugin import ContentPolicy, Context
from fullcount.testing import strategies
from fullcount_eee.identity import identify
from fullcount_eee.options import EeeOptions
from fullcount_eee.results import result_id
from fullcount_eee.rows import RowBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

RUN = Run.model_validate(
    {
        "id": "run-1",
        "source": {"format": "test"},
        "harness": {"name": "harness"},
        "subject": {"id": "acme/anvil"},
        "suite": {"name": "suite"},
        "evaluators": [{"name": "acc", "metrics": [{"name": "acc"}]}],
    }
)


def scored(value: float = 1, **more: Any) -> dict[str, Any]:
    return {"evaluator": "acc", "metric": "acc", "state": "scored", "value": value, **more}


def trial(**more: Any) -> Trial:
    return Trial.model_validate({"case_id": "a", "scores": [scored(outcome="passed")], **more})


def digest(text: str) -> str:
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def test_whole_row(export: Callable[..., Any]) -> None:
    full = trial(
        attempt=2,
        scores=[scored(0.5, outcome="partial", raw='"C"', raw_type="string", label="C")],
        content={"input": {"text": "q"}, "references": [{"text": "A"}], "outputs": [{"text": "o"}]},
        sample_hash="b" * 64,
        started_at="2026-01-02T03:04:05+00:00",
        duration=0.25,
        working_time=0.125,
        usage={"input_tokens": 2, "output_tokens": 3, "total_tokens": 5, "cost": 0.5},
        trace={"record_id": "rec"},
        pointer="samples.json#/3",
    )
    out = export(RUN, (full,))
    assert out.rows_of("acc") == [
        {
            "schema_version": "0.3.0",
            "evaluation_id": out.aggregate["evaluation_id"],
            "model_id": "acme/anvil",
            "evaluation_name": "suite",
            "evaluation_result_id": "metric/acc/acc/mean",
            "sample_id": "a",
            "sample_hash": "b" * 64,
            "interaction_type": "single_turn",
            "input": {"raw": digest("q"), "reference": [digest("A")]},
            "output": {"raw": [digest("o")]},
            "answer_attribution": [],
            "evaluation": {"score": 0.5, "is_correct": False},
            "token_usage": {"input_tokens": 2, "output_tokens": 3, "total_tokens": 5},
            "performance": {
                "latency_ms": 250.0,
                "additional_details": {"working_time_seconds": "0.125"},
            },
            "metadata": {
                "run_id": "run-1",
                "evaluator": "acc",
                "metric": "acc",
                "state": "scored",
                "verdict": "partial",
                "verdict_basis": "derived",
                "attempt": "2",
                "status": "completed",
                "started_at": "2026-01-02T03:04:05+00:00",
                "record_id": "rec",
                "pointer": "samples.json#/3",
                "cost_usd": "0.5",
                "outcome": "partial",
                "label": "C",
                "raw": '"C"',
            },
        }
    ]
    (row,) = out.rows_of("verdict")
    assert row["evaluation"] == {"score": 3, "is_correct": False}
    assert row["metadata"]["quantity"] == "verdict"
    assert row["input"] == {"raw": digest("q"), "reference": [digest("A")]}


@pytest.mark.parametrize(
    ("outcome", "correct", "basis"),
    [
        ("passed", True, None),
        ("failed", False, None),
        ("partial", False, None),
        (None, False, "no threshold: false does not mean wrong"),
    ],
)
def test_is_correct_has_a_basis(
    outcome: str | None,
    correct: bool,  # noqa: FBT001 - a parameter of the test
    basis: str | None,
    export: Callable[..., Any],
) -> None:
    out = export(RUN, (trial(scores=[scored(outcome=outcome)]),))
    (row,) = out.rows_of("acc")
    assert row["evaluation"]["is_correct"] is correct
    assert row["metadata"].get("is_correct_basis") == basis
    assert ("eee.correct_without_threshold" in out.notices) is (basis is not None)
    # Without a threshold nobody was asked for a verdict.
    assert ("verdict" in out.names()) is (basis is None)


@pytest.mark.parametrize(
    ("verdict", "correct", "basis"),
    [
        ("passed", True, None),
        ("partial", False, None),
        ("failed", False, None),
        ("contradicted", False, None),
        ("disputed", False, "verdict disputed: false does not mean wrong"),
        ("unverified", False, "verdict unverified: false does not mean wrong"),
    ],
)
def test_a_verdict_that_leaves_it_open_says_so(
    verdict: str,
    correct: bool,  # noqa: FBT001 - a parameter of the test
    basis: str | None,
    export: Callable[..., Any],
) -> None:
    out = export(RUN, (trial(declared_verdict=verdict),))
    (row,) = out.rows_of("verdict")
    assert row["evaluation"]["is_correct"] is correct
    assert row["metadata"].get("is_correct_basis") == basis
    assert ("eee.correct_unsettled" in out.notices) is (basis is not None)


def test_is_correct_averages_right_without_the_rows_that_have_a_basis(
    export: Callable[..., Any],
) -> None:
    verdicts = ["passed", "passed", "failed", "unverified", "disputed"]
    out = export(
        RUN,
        tuple(trial(case_id=str(i), declared_verdict=v) for i, v in enumerate(verdicts)),
    )
    known = [
        row["evaluation"]["is_correct"]
        for row in out.rows_of("verdict")
        if "is_correct_basis" not in row["metadata"]
    ]
    assert known == [True, True, False]


def test_raw_is_left_out_only_where_it_is_the_number(export: Callable[..., Any]) -> None:
    raws = ["0.5", "5e-1", '"0.5"', "0.50"]
    trials = tuple(
        trial(case_id=raw, scores=[scored(0.5, raw=raw, raw_type="number")]) for raw in raws
    )
    out = export(RUN, trials)
    assert [row["metadata"].get("raw") for row in out.rows_of("acc")] == [None, *raws[1:]]


@pytest.mark.parametrize(
    ("facts", "include", "private"),
    [
        ({"status": "harness_error"}, "harness_error", "harness_error"),
        (
            {
                "status": "subject_error",
                "status_reason": "timeout",
                "error": {"type": "TimeoutError", "message": {"text": "at 10 s"}},
            },
            "subject_error: timeout: TimeoutError: at 10 s",
            "subject_error: timeout: TimeoutError",
        ),
        ({"error": {"message": {"text": "odd"}}}, "odd", "error"),
        ({"error": {"type": "OddError", "retries": 2}}, "OddError", "OddError"),
        ({}, None, None),
    ],
)
def test_error_is_told_as_far_as_it_may_be(
    facts: dict[str, Any], include: str | None, private: str | None, export: Callable[..., Any]
) -> None:
    for policy in ContentPolicy:
        out = export(RUN, (trial(**facts),), policy)
        expected = include if policy is ContentPolicy.INCLUDE else private
        assert [row.get("error") for row in out.rows] == [expected, expected]
        message = facts.get("error", {}).get("message")
        told = out.rows[0]["metadata"].get("error_message")
        hashed = message is not None and policy is ContentPolicy.DIGEST
        assert told == (digest(message["text"]) if hashed else None)
        assert out.rows[0]["metadata"].get("error_retries") == (
            "2" if facts.get("error", {}).get("retries") else None
        )


@pytest.mark.parametrize(
    ("usage", "tokens", "rest"),
    [
        ({"input_tokens": 1, "output_tokens": 2}, None, {"input_tokens": 1, "output_tokens": 2}),
        ({"total_tokens": 0}, None, {"total_tokens": 0}),
        ({"cost": 0.25}, None, None),
        (
            {
                "input_tokens": 0,
                "output_tokens": 2**62,
                "total_tokens": 7,
                "cache_read_tokens": 1,
                "cache_write_tokens": 2,
                "reasoning_tokens": 3,
            },
            {
                "input_tokens": 0,
                "output_tokens": 2**62,
                "total_tokens": 7,
                "input_tokens_cache_read": 1,
                "input_tokens_cache_write": 2,
                "reasoning_tokens": 3,
            },
            None,
        ),
    ],
)
def test_tokens_are_all_there_or_in_the_metadata(
    usage: dict[str, Any],
    tokens: dict[str, int] | None,
    rest: dict[str, int] | None,
    export: Callable[..., Any],
) -> None:
    row = export(RUN, (trial(usage=usage),)).rows[0]
    assert row.get("token_usage") == tokens
    told = row["metadata"].get("usage")
    assert (None if told is None else json.loads(told)) == rest
    assert row["metadata"].get("cost_usd") == ("0.25" if "cost" in usage else None)


def test_rare_fields_are_in_the_metadata(export: Callable[..., Any]) -> None:
    row = export(
        RUN,
        (
            trial(
                case_id_type="number",
                declared_verdict="failed",
                judge_verdict="passed",
                self_report=False,
                gates=[{"name": "cheating", "fired": None, "invalidates": True}],
                limit="time",
                invalidated=True,
                control="trap",
                pressure_round=0,
                order=0,
                seed=-1,
            ),
        ),
    ).rows[0]
    expected = {
        "verdict": "failed",
        "verdict_basis": "declared",
        "case_id_type": "number",
        "judge_verdict": "passed",
        "self_report": "false",
        "gates": '[{"name":"cheating","invalidates":true}]',
        "limit": "time",
        "invalidated": "true",
        "control": "trap",
        "pressure_round": "0",
        "order": "0",
        "seed": "-1",
    }
    assert expected.items() <= row["metadata"].items()


@pytest.mark.parametrize(
    "case", ["a\u2028b\u2029c\u0085d", "😀", '"\\/\x00\x1f', "", "naïve", "1" * 5000]
)
def test_any_case_id(case: str, export: Callable[..., Any]) -> None:
    out = export(RUN, (trial(case_id=case),))
    assert [row["sample_id"] for row in out.rows] == [case, case]
    samples = out.path.with_name(f"{out.path.stem}_samples.jsonl")
    # Upstream splits lines at every character that Python takes for a line end.
    assert len(samples.read_text().splitlines()) == 2


def test_attempts_at_a_case_can_be_told_apart(export: Callable[..., Any]) -> None:
    trials = tuple(trial(attempt=n, scores=[scored(n)]) for n in (1, 2, 3))
    rows = export(RUN, trials).rows_of("acc")
    assert {(r["sample_id"], r["metadata"]["attempt"]): r["evaluation"]["score"] for r in rows} == {
        ("a", "1"): 1,
        ("a", "2"): 2,
        ("a", "3"): 3,
    }


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(strategies.runs())
def test_rows_are_the_numbers_and_verdicts_of_the_trials(
    generated: tuple[Run, tuple[Trial, ...]],
) -> None:
    run, trials = generated
    builder = RowBuilder(run, identify(run, EeeOptions(), Context()))
    lines = [line for trial in trials for line in builder.lines(trial)]
    assert all(line.endswith("\n") and line.isascii() for line in lines)
    rows = [json.loads(line) for line in lines]
    found = Counter(
        (
            row["evaluation_result_id"],
            row["sample_id"],
            row["metadata"]["attempt"],
            repr(float(row["evaluation"]["score"])),
        )
        for row in rows
    )
    levels = {
        Verdict.FAILED: 0.0,
        Verdict.CONTRADICTED: 1.0,
        Verdict.DISPUTED: 2.0,
        Verdict.PARTIAL: 3.0,
        Verdict.PASSED: 4.0,
        Verdict.UNVERIFIED: -1.0,
    }
    expected = Counter(
        (
            result_id("metric", score.evaluator, score.metric, "mean"),
            trial.case_id,
            str(trial.attempt),
            repr(score.value),
        )
        for trial in trials
        for score in trial.scores
        if score.value is not None
    ) + Counter(
        ("verdict/level", trial.case_id, str(trial.attempt), repr(levels[trial.verdict]))
        for trial in trials
        if trial.verdict is not None
    )
    assert found == expected
    silent = [
        trial
        for trial in trials
        if trial.verdict is None and all(score.value is None for score in trial.scores)
    ]
    assert builder.trials_without_row == len(silent)
