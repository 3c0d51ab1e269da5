"""A run in which every field of every model holds something."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from fullcount.model import Run, Trial

__all__ = ["CANARIES", "kitchen_sink"]

_START = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
_HEX = "0123456789abcdef"

CANARIES: dict[str, str] = {
    key: f"the {key} of a trial is private and stays so"
    for key in (
        "input",
        "references",
        "choices",
        "outputs",
        "messages",
        "reasoning",
        "tool_calls",
        "answer",
        "explanation",
        "error",
        "run_error",
    )
} | {
    "label": "a label so long that it holds an output; " * 4,
    "raw": '"a raw value so long that it holds an output; ' + "and more " * 12 + '"',
}
"""The private texts of the run, by what they are; none of them may leave unless asked for."""


def _text(key: str) -> dict[str, str]:
    return {"text": CANARIES[key]}


def kitchen_sink() -> tuple[Run, tuple[Trial, ...]]:
    """The run, and trials that together set every field of a trial to something of its own."""
    return Run.model_validate(_run()), tuple(map(Trial.model_validate, _trials()))


def _usage(size: int) -> dict[str, Any]:
    return {
        "input_tokens": size,
        "output_tokens": size + 1,
        "total_tokens": 2 * size + 1,
        "cache_read_tokens": size + 2,
        "cache_write_tokens": size + 3,
        "reasoning_tokens": size + 4,
        "cost": 0.125,
    }


def _run() -> dict[str, Any]:
    return {
        "id": "run-1",
        "source": {
            "format": "kitchen",
            "format_version": "3",
            "path": "logs/kitchen.json",
            "sha256": _HEX * 4,
            "size": 12345,
        },
        "harness": {"name": "sink", "version": "1.2.3", "packages": {"sinklib": "4.5"}},
        "subject": {
            "id": "acme/anvil-1",
            "name": "Anvil 1",
            "version": "anvil-1-2026-01-01",
            "provider": "acme",
            "draft": True,
            "modified_at": _START - timedelta(days=3),
        },
        "suite": {
            "name": "hammering",
            "version": "7",
            "dataset": "nails",
            "dataset_location": "https://example.org/datasets/nails",
            "dataset_revision": "abc123",
            "split": "test",
            "cases": 3,
        },
        "evaluators": [
            {
                "name": "judge",
                "kind": "model",
                "model": "acme/judge-2",
                "version": "2",
                "rubric_revision": "r9",
                "independence": "another vendor",
                "calibration": "against 100 human grades",
                "limits": "English only",
                "metrics": [
                    {
                        "name": "quality",
                        "minimum": 0.0,
                        "maximum": 10.0,
                        "lower_is_better": True,
                        "unit": "points",
                        "threshold": 4.0,
                    },
                    {"name": "grade", "categorical": True},
                ],
            },
            {"name": "exact", "kind": "rule", "metrics": [{"name": "exact"}]},
        ],
        "environment": {"python": "3.12", "platform": "linux"},
        "generation": {
            "temperature": 0.7,
            "top_p": 0.9,
            "top_k": 40.0,
            "max_tokens": 512,
            "seed": 42,
            "reasoning_effort": "high",
            "time_limit": 60,
            "message_limit": 20,
            "token_limit": 9000,
            "sandbox": "docker",
            "solver": "react",
            "tools": ["bash", "python"],
        },
        "status": "error",
        "error": {"type": "RunError", "message": _text("run_error"), "retries": 2},
        "created_at": _START,
        "started_at": _START + timedelta(seconds=1),
        "completed_at": _START + timedelta(seconds=90),
        "plan": {"cases": 3, "attempts": 2, "trials": 6},
        "reported": [
            {
                "evaluator": "judge",
                "metric": "quality",
                "statistic": "mean",
                "value": 9.5,
                "reducer": "mean",
                "group": "easy",
                "scored": 2,
                "unscored": 1,
            },
            {
                "evaluator": "exact",
                "metric": "exact",
                "statistic": "accuracy",
                "nonfinite": "nan",
            },
        ],
        "reported_counts": {"samples": 6, "errored": 1},
        "usage": {"acme/anvil-1": _usage(100), "acme/judge-2": _usage(50)},
        "tags": ["nightly", "hammer"],
        "invalidated": True,
        "findings": [
            {
                "code": "reader.noticed",
                "severity": "info",
                "message": "the log was edited",
                "evaluator": "judge",
                "metric": "quality",
                "count": 2,
            }
        ],
    }


def _trials() -> list[dict[str, Any]]:
    return [
        _full_trial(),
        _failed_trial(),
        {
            "case_id": "c",
            "status": "not_run",
            "scores": [
                {"evaluator": "judge", "metric": "quality", "state": "not_measured"},
                {"evaluator": "judge", "metric": "grade", "state": "skipped"},
                {"evaluator": "exact", "metric": "exact", "state": "not_applicable"},
            ],
        },
    ]


def _full_trial() -> dict[str, Any]:
    return {
        "case_id": "17",
        "case_id_type": "number",
        "attempt": 2,
        "status": "subject_error",
        "status_reason": "timeout",
        "scores": [
            {
                "evaluator": "judge",
                "metric": "quality",
                "state": "scored",
                "value": 7.25,
                "label": CANARIES["label"],
                "outcome": "failed",
                "raw": CANARIES["raw"],
                "raw_type": "string",
                "reason": "edited by a person",
                "answer": _text("answer"),
                "explanation": _text("explanation"),
                "edited": True,
            },
            {
                "evaluator": "judge",
                "metric": "grade",
                "state": "scored",
                "label": "B+",
                "outcome": "partial",
                "raw": '"B+"',
                "raw_type": "string",
            },
            {
                "evaluator": "exact",
                "metric": "exact",
                "state": "nan",
                "raw": "NaN",
                "raw_type": "number",
            },
        ],
        "declared_verdict": "disputed",
        "judge_verdict": "passed",
        "self_report": True,
        "gates": [
            {"name": "no cheating", "fired": True, "invalidates": True},
            {"name": "unknown gate"},
        ],
        "error": {"type": "TimeoutError", "message": _text("error"), "retries": 1},
        "limit": "time",
        "invalidated": True,
        "control": "trap",
        "pressure_round": 1,
        "order": 5,
        "seed": 7,
        "started_at": _START + timedelta(seconds=2),
        "completed_at": _START + timedelta(seconds=62),
        "duration": 60.0,
        "working_time": 41.5,
        "usage": _usage(10),
        "trace": {
            "trace_id": _HEX * 2,
            "span_id": _HEX,
            "response_id": "resp-1",
            "record_id": "rec-1",
        },
        "content": {
            "input": _text("input"),
            "references": [_text("references")],
            "choices": [_text("choices")],
            "outputs": [_text("outputs")],
            "messages": [
                {
                    "role": "assistant",
                    "content": _text("messages"),
                    "reasoning": _text("reasoning"),
                    "tool_calls": [
                        {
                            "id": "call-1",
                            "name": "bash",
                            "arguments": {"command": CANARIES["tool_calls"]},
                        }
                    ],
                    "tool_call_id": "call-0",
                }
            ],
            "turns": 3,
        },
        "sample_hash": _HEX[::-1] * 4,
        "pointer": "samples/17_epoch_2.json",
    }


def _failed_trial() -> dict[str, Any]:
    return {
        "case_id": "17",
        "case_id_type": "number",
        "attempt": 1,
        "status": "evaluator_error",
        "scores": [
            {
                "evaluator": "judge",
                "metric": "quality",
                "state": "error",
                "reason": "judge_unavailable",
            },
            {"evaluator": "judge", "metric": "grade", "state": "missing"},
            {
                "evaluator": "exact",
                "metric": "exact",
                "state": "null",
                "raw": "null",
                "raw_type": "null",
            },
        ],
        "error": {"type": "JudgeError"},
    }
