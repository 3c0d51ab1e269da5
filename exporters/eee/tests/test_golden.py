"""Whole artifacts, byte for byte; FULLCOUNT_ACCEPT=1 rewrites them."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fullcount.convert import Target
from fullcount.model import Run, Trial
from fullcount.plugin import ContentPolicy, Context
from fullcount.registry import make_options
from fullcount.testing import export_run
from fullcount_eee import SPEC

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parent / "golden"
_NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
_START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def _run(**more: Any) -> Run:
    base = {
        "id": "run-1",
        "source": {"format": "inspect", "path": "logs/arc.eval", "sha256": "a" * 64, "size": 1},
        "harness": {"name": "inspect_ai", "version": "0.3.200"},
        "subject": {"id": "acme/anvil-1", "provider": "acme"},
        "suite": {"name": "arc_easy", "dataset": "ai2_arc", "dataset_location": "allenai/ai2_arc"},
        "evaluators": [
            {"name": "match", "metrics": [{"name": "match", "maximum": 1, "minimum": 0}]}
        ],
        "status": "success",
        "started_at": _START,
        "generation": {"temperature": 0.5},
    }
    return Run.model_validate({**base, **more})


def _score(state: str, value: float | None = None, **more: Any) -> dict[str, Any]:
    return {"evaluator": "match", "metric": "match", "state": state, "value": value, **more}


def _mixed() -> tuple[Run, list[dict[str, Any]]]:
    run = _run(
        reported=[
            {
                "evaluator": "match",
                "metric": "match",
                "statistic": "accuracy",
                "value": 0.75,
                "scored": 4,
            }
        ],
        plan={"cases": 6, "attempts": 1, "trials": 6},
    )
    asked = {
        "input": {"text": "Which planet is nearest to the sun?"},
        "references": [{"text": "A"}],
        "outputs": [{"text": "A"}],
    }
    return run, [
        {
            "case_id": "1",
            "scores": [
                _score("scored", 1, outcome="passed", raw='"C"', raw_type="string", label="C")
            ],
            "content": asked,
            "sample_hash": "b" * 64,
            "duration": 0.25,
            "usage": {"input_tokens": 12, "output_tokens": 1, "total_tokens": 13},
        },
        {"case_id": "2", "scores": [_score("scored", 1, outcome="passed")]},
        {"case_id": "3", "scores": [_score("scored", 0, outcome="failed")]},
        {"case_id": "4 \u2028 😀", "scores": [_score("nan", raw="NaN", raw_type="number")]},
        {
            "case_id": "5",
            "status": "harness_error",
            "status_reason": "sandbox",
            "error": {"type": "RuntimeError", "message": {"text": "no such container"}},
            "scores": [_score("not_measured")],
        },
        {"case_id": "6", "status": "not_run", "scores": [_score("not_measured")]},
    ]


def _agentic() -> tuple[Run, list[dict[str, Any]]]:
    run = _run(
        evaluators=[
            {
                "name": "judge",
                "kind": "model",
                "model": "acme/judge-2",
                "metrics": [
                    {"name": "quality", "minimum": 1, "maximum": 5, "unit": "points"},
                    {"name": "tone", "categorical": True},
                ],
            }
        ],
        suite={"name": "support-desk", "dataset_location": "https://example.org/tickets"},
    )
    messages = [
        {"role": "system", "content": {"text": "Use the tool."}},
        {"role": "user", "content": {"text": "Where is my parcel?"}},
        {
            "role": "assistant",
            "reasoning": {"text": "Look it up."},
            "tool_calls": [{"id": "call-1", "name": "track", "arguments": {"id": "17"}}],
        },
        {"role": "tool", "tool_call_id": "call-1", "content": {"text": "in Oslo"}},
        {"role": "assistant", "content": {"text": "In Oslo."}},
    ]

    def scores(quality: dict[str, Any], tone: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"evaluator": "judge", "metric": "quality", **quality},
            {"evaluator": "judge", "metric": "tone", **tone},
        ]

    return run, [
        {
            "case_id": "17",
            "attempt": 1,
            "scores": scores({"state": "scored", "value": 4}, {"state": "scored", "label": "warm"}),
            "content": {
                "input": {"text": "Where is my parcel?"},
                "outputs": [{"text": "In Oslo."}],
                "messages": messages,
                "turns": 2,
            },
            "declared_verdict": "partial",
            "judge_verdict": "passed",
            "gates": [{"name": "tracked", "fired": False}],
        },
        {
            "case_id": "17",
            "attempt": 2,
            "scores": scores(
                {"state": "error", "reason": "judge_unavailable"}, {"state": "not_applicable"}
            ),
        },
    ]


def _unverified() -> tuple[Run, list[dict[str, Any]]]:
    return _run(), [
        {"case_id": "1", "scores": [_score("error")], "status": "evaluator_error"},
        {"case_id": "2", "scores": [_score("null", raw="null", raw_type="null")]},
    ]


def _empty() -> tuple[Run, list[dict[str, Any]]]:
    return _run(subject={"id": "anvil"}, started_at=None), []


CASES = {
    "mixed": (_mixed, ContentPolicy.DIGEST),
    "agentic": (_agentic, ContentPolicy.INCLUDE),
    "unverified": (_unverified, ContentPolicy.DIGEST),
    "empty": (_empty, ContentPolicy.DIGEST),
}


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str, tmp_path: Path, check_folder: Callable[[Path], None]) -> None:
    make, policy = CASES[name]
    run, trials = make()
    target = Target(SPEC, make_options(SPEC, {"organization": "Acme Labs"}), tmp_path)
    result = export_run(
        run,
        tuple(map(Trial.model_validate, trials)),
        target,
        context=Context(now=_NOW, content=policy, tool_version="0.1"),
    )
    assert result.error is None
    check_folder(tmp_path)
    if os.environ.get("FULLCOUNT_ACCEPT") == "1":
        shutil.rmtree(GOLDEN / name, ignore_errors=True)
        shutil.copytree(tmp_path / "data", GOLDEN / name / "data")
    assert _files(tmp_path / "data") == _files(GOLDEN / name / "data")
