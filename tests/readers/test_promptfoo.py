"""promptfoo results: one 0 for everything that was not measured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount.errors import InputError
from fullcount.testing import ReaderContract, Sample

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SECRET = "whisper-it-quietly"  # noqa: S105 - a text that must not leave
EQUALS = {"type": "equals", "metric": "exact", "value": SECRET}


def graded(score: Any, assertion: Any, *, passed: bool, **more: Any) -> dict[str, Any]:
    component = {"pass": passed, "score": score, "reason": SECRET, "assertion": assertion, **more}
    return {"pass": passed, "score": score, "reason": SECRET, "componentResults": [component]}


def row(test: int, **more: Any) -> dict[str, Any]:
    """By default one that passed its only assertion."""
    assertions = more.pop("asserts", [EQUALS])
    return {
        "promptIdx": 0,
        "testIdx": test,
        "testCase": {"vars": {"n": test}, "assert": assertions},
        "provider": {"id": "openai:gpt-4o"},
        "prompt": {"raw": SECRET, "label": "Say"},
        "vars": {},
        "response": {"output": SECRET},
        "success": True,
        "failureReason": 0,
        "score": 1,
        "namedScores": {"exact": 1},
        "gradingResult": graded(1, EQUALS, passed=True),
        "latencyMs": 200,
        **more,
    }


def lost(test: int, error: str, **more: Any) -> dict[str, Any]:
    """One that no assertion saw."""
    return row(
        test, success=False, failureReason=2, score=0, error=error, namedScores={},
        gradingResult=None, response=None, **more,
    )  # fmt: skip


RUBRIC = {"type": "llm-rubric", "value": SECRET}
SCRIPT = {"type": "javascript", "value": "x"}
FAILED = {"success": False, "failureReason": 1, "score": 0, "namedScores": {}}


@pytest.mark.parametrize(
    ("found", "status", "state", "verdict"),
    [
        (row(0), "completed", "scored", "passed"),
        (row(0, success=False, failureReason=1, score=0.5, error=SECRET,
             namedScores={"exact": 0}, gradingResult=graded(0.5, EQUALS, passed=False)),
         "completed", "scored", "failed"),
        (lost(0, "API error: 500") | {"response": {"error": "500"}},
         "harness_error", "not_measured", "unverified"),
        (lost(0, f"Error: {SECRET}"), "harness_error", "not_measured", "unverified"),
        (lost(0, "Evaluation timed out after 10ms"),
         "subject_error", "not_measured", "unverified"),
        (row(0, success=False, score=0, error="No output", response={"output": None},
             namedScores={}, gradingResult=None),
         "subject_error", "not_measured", "unverified"),
        (row(0, asserts=[RUBRIC], **FAILED,
             gradingResult=graded(0, RUBRIC, passed=False, metadata={"graderError": True})),
         "evaluator_error", "error", "unverified"),
        (row(0, asserts=[SCRIPT], **FAILED, gradingResult=graded(
            0, SCRIPT, passed=False, reason="Custom function threw error: x")),
         "evaluator_error", "error", "unverified"),
        (row(0, asserts=[SCRIPT], **{**FAILED, "score": None},
             gradingResult=graded(None, SCRIPT, passed=False)),
         "completed", "null", "unverified"),
        (row(0, asserts=[], namedScores={}, gradingResult={
            "pass": True, "score": 1, "reason": "No assertions", "componentResults": []}),
         "completed", "not_applicable", None),
    ],
)  # fmt: skip
def test_what_a_row_says(
    reading: Any, tmp_path: Path, found: Any, status: str, state: str, verdict: str | None
) -> None:
    (trial,) = reading("promptfoo", write(tmp_path / "out.json", [found])).trials().values()
    assert (trial.status, trial.scores[0].state, trial.verdict) == (status, state, verdict)


def write(path: Path, rows: list[Any], **results: Any) -> Path:
    document = {
        "evalId": "eval-1",
        "results": {
            "version": 3,
            "timestamp": "2026-12-01T01:22:01.027Z",
            "prompts": [{"id": "22fd", "metrics": results.pop("metrics", {})}],
            "results": rows,
            "stats": {},
            **results,
        },
        "config": {"description": "demo", "env": {"KEY": SECRET}},
        "shareableUrl": None,
        "metadata": {"promptfooVersion": "0.120.0"},
    }
    path.write_text(json.dumps(document))
    return path


def lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


ALL = [
    row(0),
    row(1, success=False, failureReason=1, score=0, namedScores={"exact": 0},
        gradingResult=graded(0, EQUALS, passed=False)),
    lost(2, "Evaluation timed out after 10ms"),
    row(3, asserts=[RUBRIC], **FAILED,
        gradingResult=graded(0, RUBRIC, passed=False, metadata={"graderError": True})),
]  # fmt: skip


def test_rows_may_lack_named_scores(reading: Any, tmp_path: Path) -> None:
    bare = {key: value for key, value in row(0).items() if key != "namedScores"}
    read = reading("promptfoo", write(tmp_path / "out.json", [bare, row(1)]))
    assert read.states() == {"promptfoo.score": {"scored": 2}, "exact": {"scored": 1, "missing": 1}}


def test_errors_are_in_no_mean(reading: Any, tmp_path: Path) -> None:
    totals = {"testPassCount": 1, "testFailCount": 2, "testErrorCount": 1, "score": 1}
    read = reading("promptfoo", write(tmp_path / "out.json", ALL, metrics=totals))
    assert read.states() == {
        "promptfoo.score": {"scored": 2, "not_measured": 1, "error": 1},
        "exact": {"scored": 2, "not_measured": 1, "not_applicable": 1},
    }
    assert [metric.rate.value for metric in read.tally().metrics] == [0.5, 0.5]
    assert read.verdicts() == {"passed": 1, "failed": 1, "unverified": 2}
    assert "reported.failures" in read.findings()


def test_rows_that_lines_leave_out_were_not_run(reading: Any, tmp_path: Path) -> None:
    read = reading("promptfoo", lines(tmp_path / "out.jsonl", [ALL[0], ALL[1], ALL[3]]))
    assert read.tally().counts.total == 4
    assert read.statuses() == {"completed": 2, "evaluator_error": 1, "not_run": 1}
    assert read.states()["promptfoo.score"] == {"scored": 2, "error": 1, "not_measured": 1}


def test_repeats_are_attempts_and_columns_are_runs(reading: Any, tmp_path: Path) -> None:
    same = {"testCase": {"vars": {}, "assert": [EQUALS]}}
    other = {"promptIdx": 1, "provider": {"id": "other"}}
    rows = [row(0, **same), row(1, **same), row(0, **same, **other), row(1, **same, **other)]
    read = reading("promptfoo", write(tmp_path / "out.json", rows))
    assert [(run.subject.id, tally.counts.total) for run, tally in read.runs()] == [
        ("openai:gpt-4o", 2),
        ("other", 2),
    ]
    assert sorted(trial.attempt for trial in read.trials().values()) == [1, 2]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"success": "yes"}, "/results/results/0/success"),
        ({"score": "1"}, "/results/results/0/score"),
        ({"namedScores": 3}, "/results/results/0/namedScores"),
        ({"failureReason": 7}, "/results/results/0/failureReason"),
        ({"provider": {}}, "/results/results/0/provider/id"),
    ],
)
def test_bad_rows(reading: Any, tmp_path: Path, change: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as caught:
        reading("promptfoo", write(tmp_path / "out.json", [row(0, **change)])).tally()
    assert caught.value.pointer == where


def test_other_versions_are_refused(reading: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="version 9 is not read"):
        reading("promptfoo", write(tmp_path / "out.json", [row(0)], version=9)).tally()


class TestContract(ReaderContract):
    reader = "promptfoo"
    secrets: ClassVar = (SECRET,)
    examples = 30

    @pytest.fixture(autouse=True)
    def _prepare(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.folder = tmp_path_factory.mktemp("logs")

    def samples(self) -> Iterable[Sample]:
        expected = {
            "total": 4,
            "statuses": {"completed": 2, "subject_error": 1, "evaluator_error": 1},
            "verdicts": {"passed": 1, "failed": 1, "unverified": 2},
            "metrics": {
                "promptfoo.score": {"scored": 2, "not_measured": 1, "error": 1},
                "exact": {"scored": 2, "not_measured": 1, "not_applicable": 1},
            },
        }
        yield Sample(write(self.folder / "out.json", ALL), [expected])
        yield Sample(lines(self.folder / "out.jsonl", ALL), [expected])

    def make_large(self, folder: Path, count: int) -> Path:
        return write(folder / "out.json", [row(number) for number in range(count)])

    def make_duplicates(self, folder: Path) -> Sample:
        rows = [row(0, **FAILED, gradingResult=graded(0, EQUALS, passed=False)), row(0)]
        expected = {
            "total": 1,
            "statuses": {"completed": 1},
            "verdicts": {"passed": 1},
            "metrics": {"promptfoo.score": {"scored": 1}, "exact": {"scored": 1}},
        }
        return Sample(write(folder / "out.json", rows), [expected])
