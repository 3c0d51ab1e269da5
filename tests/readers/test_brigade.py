"""brigade model trials: a cell's state comes before its graders."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount import registry
from fullcount.decide.gate import Thresholds, bucket, judge
from fullcount.errors import InputError
from fullcount.notices import Report
from fullcount.pipeline import Input, tally_runs
from fullcount.sources import Source
from fullcount.testing import ReaderContract, Sample

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fullcount.model import RunTally

SECRET = "whisper-it-quietly"  # noqa: S105 - a text that must not leave


def grader(score: float | None, status: str = "scored") -> dict[str, Any]:
    return {
        "schema": "brigade.grader_result.v1",
        "grader_id": "exact_output:1",
        "grader_type": "exact_output",
        "status": status,
        "score": score,
        "score_min": 0.0,
        "score_max": 1.0,
        "detail": SECRET,
        "component_checks": [{"name": "exact_output", "passed": score == 1.0}],
    }


def cell(name: str, state: str, graders: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "schema": "brigade.eval_cell.v1",
        "cell_id": name,
        "case_id": f"case-{name}",
        "prompt": SECRET,
        "seat": "codex",
        "trial": 1,
        "state": state,
        "attempt": 1,
        "started_at": "2026-08-22T00:00:00+00:00",
        "duration_seconds": 1.5,
        "graders": graders,
        **more,
    }


ALL = [
    cell("accepted", "accepted", [grader(1.0)]),
    cell("rejected", "rejected", [grader(0.0)]),
    cell("unscored", "unscored", []),
    cell("crashed", "execution_error", [grader(0.0)], exit_code=1),
    cell("late", "execution_error", [grader(0.0)], failure_reason="timeout"),
    cell("adapter", "adapter_error", [grader(0.0)], failure_reason="provider_5xx"),
    cell("grader", "grader_error", [grader(None, "grader_error")]),
]


def write(folder: Path, cells: list[dict[str, Any]], planned: list[str] | None = None) -> Path:
    for entry in cells:
        place = folder / "cells" / entry["cell_id"]
        place.mkdir(parents=True)
        (place / "cell.json").write_text(json.dumps(entry))
    plan = [
        {
            "cell_id": name,
            "case_id": f"case-{name}",
            "seat": "codex",
            "trial": 1,
            "graders": [] if name == "unscored" else [{"type": "exact_output"}],
        }
        for name in (planned or [entry["cell_id"] for entry in cells])
    ]
    (folder / "plan.json").write_text(
        json.dumps({"schema": "brigade.eval_manifest.v1", "name": "demo", "cells": plan})
    )
    summary = {
        "schema": "brigade.eval_summary.v1",
        "counts": {"accepted": 1},
        "measurement_failures": 3,
        "scores": {"mean": 0.2, "count": 5},
    }
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder


def tally(folder: Path) -> RunTally:
    spec = registry.readers().get("brigade")
    ((_, found),) = tally_runs(Input(Source(folder), spec, spec.options()), Report())
    return found


def test_a_state_of_another_kind_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="/state"):
        tally(
            write(
                tmp_path,
                [
                    cell(
                        "a",
                        "accepted",
                        [grader(1.0)],
                    )
                    | {"state": ["x"]}
                ],
            )
        )


@pytest.mark.parametrize(
    ("name", "status", "reason", "verdict", "state", "failure"),
    [
        ("accepted", "completed", None, "passed", "scored", 0),
        ("rejected", "completed", None, "failed", "scored", 0),
        ("unscored", "completed", "unscored", None, "not_applicable", 0),
        ("crashed", "subject_error", "execution_error", "failed", "scored", 0),
        ("late", "subject_error", "timeout", "unverified", "not_measured", 1),
        ("adapter", "harness_error", "provider_5xx", "unverified", "not_measured", 1),
        ("grader", "evaluator_error", "grader_error", "unverified", "error", 1),
    ],
)
def test_every_state(
    tmp_path: Path,
    name: str,
    status: str,
    reason: str | None,
    verdict: str | None,
    state: str,
    failure: int,
) -> None:
    del reason
    keep = [entry for entry in ALL if entry["cell_id"] in (name, "accepted")]
    found = tally(write(tmp_path, keep))
    extra = 0 if name == "accepted" else 1
    statuses = {s.value: n for s, n in found.counts.statuses.items() if n}
    assert statuses[status] == (1 + extra if status == "completed" else 1)
    states = {s.value: n for s, n in found.metrics[0].states.items() if n}
    assert states[state] == (1 + extra if state == "scored" else 1)
    verdicts = {v.value: n for v, n in found.counts.verdicts.items() if n}
    if verdict is None:
        assert found.counts.no_verdict == 1
    else:
        assert verdicts[verdict] >= 1
    assert found.measurement_failures == failure


def test_environmental_cells_are_not_performance(tmp_path: Path) -> None:
    found = tally(write(tmp_path, ALL))
    (metric,) = found.metrics
    assert (metric.rate.value, metric.rate.n, metric.rate.sought) == (1 / 3, 3, 6)
    (pooled,) = [f for f in found.findings if f.code == "reported.pooled"]
    assert pooled.message == (
        "the harness reports a mean of 0.2 that covers 5 values, 2 of them from environmental "
        "cells; accepted and rejected cells alone give 0.5 over 2"
    )


def test_planned_cells_without_a_record_count(tmp_path: Path) -> None:
    found = tally(write(tmp_path, ALL[:1], planned=["accepted", "never"]))
    assert found.counts.total == 2
    assert {s.value: n for s, n in found.counts.statuses.items() if n} == {
        "completed": 1,
        "not_run": 1,
    }


def test_stale_cells_are_passed_over(tmp_path: Path) -> None:
    report = Report()
    spec = registry.readers().get("brigade")
    folder = write(tmp_path, ALL[:2], planned=["accepted"])
    ((_, found),) = tally_runs(Input(Source(folder), spec, spec.options()), report)
    assert found.counts.total == 1
    assert [notice.code for notice in report.notices()] == ["input.stale"]


def test_the_graders_of_a_running_cell_are_no_results(tmp_path: Path) -> None:
    running = cell("now", "running", [{"type": "exact_output", "expected": "ok"}])
    found = tally(write(tmp_path, [ALL[0], running]))
    assert {s.value: n for s, n in found.metrics[0].states.items() if n} == {
        "scored": 1,
        "not_measured": 1,
    }


def test_an_unknown_state_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="state 'odd' is none of"):
        tally(write(tmp_path, [cell("x", "odd", [])]))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("accepted", 0),
        ("unscored", 0),
        ("rejected", 1),
        ("crashed", 1),
        ("late", 3),
        ("adapter", 3),
        ("grader", 3),
    ],
)
def test_the_exit_bucket_of_every_state(tmp_path: Path, name: str, code: int) -> None:
    chosen = [entry for entry in ALL if entry["cell_id"] in ("accepted", name)]
    spec = registry.readers().get("brigade")
    folder = write(tmp_path, chosen)
    ((run, found),) = tally_runs(Input(Source(folder), spec, spec.options()), Report())
    assert bucket(judge(run, found, Thresholds())) == code


class TestContract(ReaderContract):
    reader = "brigade"
    secrets: ClassVar = (SECRET,)
    examples = 30

    @pytest.fixture(autouse=True)
    def _prepare(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.folder = tmp_path_factory.mktemp("logs")
        write(self.folder / "trial", ALL)

    def samples(self) -> Iterable[Sample]:
        expected = {
            "total": 7,
            "statuses": {
                "completed": 3,
                "subject_error": 2,
                "harness_error": 1,
                "evaluator_error": 1,
            },
            "verdicts": {"passed": 1, "failed": 2, "unverified": 3},
            "no_verdict": 1,
            "metrics": {
                "exact_output:1": {
                    "scored": 3,
                    "error": 1,
                    "not_measured": 2,
                    "not_applicable": 1,
                }
            },
        }
        yield Sample(self.folder / "trial", [expected])
