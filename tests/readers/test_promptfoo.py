"""promptfoo results: one 0 for everything that was not measured."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount.errors import InputError
from fullcount.readers._json import walk_object
from fullcount.readers.promptfoo.files import sniff
from fullcount.sources import Source
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
        (lost(0, "Evaluation exceeded max duration of 9ms"),
         "cancelled", "not_measured", "unverified"),
        # A red team takes no output for a success.
        (row(0, score=0, response={"output": None}, namedScores={}, gradingResult=None),
         "subject_error", "not_measured", "unverified"),
        # Nothing could fail it.
        (row(0, score=0, asserts=[{**EQUALS, "weight": 0}],
             gradingResult=graded(0, {**EQUALS, "weight": 0}, passed=True)),
         "completed", "not_applicable", None),
        (row(0, **FAILED, gradingResult={
            **graded(0, EQUALS, passed=True), "reason": "Scoring function error: x"}),
         "evaluator_error", "error", "unverified"),
        (row(0, score=0.6, testCase={"threshold": 0.5, "assert": [EQUALS]},
             gradingResult=graded(0.6, EQUALS, passed=False)),
         "completed", "scored", "passed"),
        # A result of the judge's that lacks its assertion is how 0.120 writes a failed judge.
        (row(0, asserts=[{**RUBRIC, "type": "not-llm-rubric"}], **FAILED,
             gradingResult=graded(0, None, passed=False)),
         "evaluator_error", "error", "unverified"),
        # A person rated what a judge could not.
        (row(0, asserts=[RUBRIC], namedScores={}, gradingResult={"pass": True, "score": 1,
             "reason": SECRET, "componentResults": [
                 {"pass": False, "score": 0, "assertion": RUBRIC,
                  "metadata": {"graderError": True}},
                 {"pass": True, "score": 1, "assertion": {"type": "human"}}]}),
         "completed", "scored", "passed"),
        # One assertion failed it for certain; that another's judge broke changes nothing.
        (row(0, asserts=[EQUALS, RUBRIC], **FAILED, gradingResult={"pass": False, "score": 0,
             "reason": SECRET, "componentResults": [
                 {"pass": False, "score": 0, "assertion": EQUALS},
                 {"pass": False, "score": 0, "assertion": RUBRIC,
                  "metadata": {"graderError": True}}]}),
         "completed", "error", "failed"),
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


def test_files_put_together_lose_no_row(reading: Any, tmp_path: Path) -> None:
    """Each starts its places anew, and has its own providers."""
    rows = [row(test, provider={"id": name}) for name in ("a", "b") for test in (0, 1)]
    read = reading("promptfoo", lines(tmp_path / "out.jsonl", rows))
    runs = read.runs()
    assert [(run.subject.id, tally.counts.total) for run, tally in runs] == [("a", 2), ("b", 2)]
    assert len({run.id for run, _ in runs}) == 2
    assert read.report.notices() == ()


def test_columns_with_and_without_a_place_have_ids_of_their_own(
    reading: Any, tmp_path: Path
) -> None:
    bare = {key: value for key, value in row(0).items() if key != "promptIdx"}
    rows = [bare, row(0, provider={"id": "other"})]
    runs = reading("promptfoo", lines(tmp_path / "out.jsonl", rows)).runs()
    assert len({run.id for run, _ in runs}) == 2


def test_totals_of_a_shared_place_are_nobodys(reading: Any, tmp_path: Path) -> None:
    rows = [row(0, provider={"id": "a"}), row(0, provider={"id": "b"})]
    path = write(tmp_path / "out.json", rows, metrics={"score": 1, "testPassCount": 1})
    for run, _ in reading("promptfoo", path).runs():
        assert (run.reported, run.reported_counts) == ((), {})


def test_a_first_row_longer_than_the_head_is_known(tmp_path: Path) -> None:
    output = {"response": {"output": "x" * 100_000}}
    long = {"provider": {"id": "a"}} | output | row(0) | output
    path = lines(tmp_path / "out.jsonl", [long, row(1)])
    assert sniff(Source(path)).score == 85
    del long["testIdx"]
    assert sniff(Source(lines(tmp_path / "other.jsonl", [long, row(1)]))).score == 0


def test_the_tests_of_the_config_are_not_held(
    reading: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "out.json", ALL)
    document = json.loads(path.read_text())
    document["config"]["tests"] = [{"vars": {"text": "x" * 1_000}}] * 100
    path.write_text(json.dumps(document))
    # A whole value as large as these tests would be refused.
    held = partial(walk_object, largest=20_000)
    monkeypatch.setattr("fullcount.readers.promptfoo.files.walk_object", held)
    read = reading("promptfoo", path)
    assert (read.run().suite.name, read.tally().counts.total) == ("demo", 4)


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


def test_a_set_of_assertions_is_no_better_than_its_parts(reading: Any, tmp_path: Path) -> None:
    rubric = {**RUBRIC, "metric": "tone"}
    whole = {"type": "assert-set", "metric": "all", "assert": [EQUALS, rubric]}
    parts = [
        {"pass": True, "score": 1, "assertion": EQUALS},
        {"pass": False, "score": 0, "assertion": rubric, "metadata": {"graderError": True}},
    ]
    result = {"pass": False, "score": 0.5, "assertion": whole, "componentResults": parts}
    grading = {"pass": False, "score": 0.5, "componentResults": [result, *parts]}
    named = {"all": 0.5, "exact": 1, "tone": 0}
    found = row(0, asserts=[whole], success=False, failureReason=1, score=0.5,
                namedScores=named, gradingResult=grading)  # fmt: skip
    read = reading("promptfoo", write(tmp_path / "out.json", [found]))
    assert read.states() == {
        "promptfoo.score": {"error": 1},
        "all": {"error": 1},
        "exact": {"scored": 1},
        "tone": {"error": 1},
    }
    assert read.verdicts() == {"unverified": 1}


def test_what_stands_behind_a_set_is_not_taken_for_its_parts(reading: Any, tmp_path: Path) -> None:
    last = {"type": "equals", "metric": "last"}
    whole = {"type": "assert-set", "assert": [EQUALS]}
    part = {"pass": True, "score": 1, "assertion": EQUALS}
    results = [
        {"pass": True, "score": 1, "assertion": whole, "componentResults": [part]},
        part,
        {"pass": False, "score": 0, "assertion": last},
    ]
    grading = {"pass": False, "score": 0.5, "componentResults": results}
    named = {"exact": 1, "last": 0}
    found = row(0, asserts=[whole, last], **{**FAILED, "namedScores": named}, gradingResult=grading)
    (trial,) = reading("promptfoo", write(tmp_path / "out.json", [found])).trials().values()
    assert {score.metric: score.outcome for score in trial.scores} == {
        "score": "failed",
        "exact": "passed",
        "last": "failed",
    }


@pytest.mark.parametrize("version", [1, 2])
def test_old_versions_hold_a_table_beside_their_rows(
    reading: Any, tmp_path: Path, version: int
) -> None:
    def old(number: int, **more: Any) -> dict[str, Any]:
        return {
            "provider": {"id": "openai:gpt-4"},
            "prompt": {"raw": SECRET, "label": "Say"},
            "vars": {"n": number},
            "response": {"output": SECRET},
            "success": True,
            "score": 1,
            "namedScores": {},
            "gradingResult": graded(1, EQUALS, passed=True),
            **more,
        }

    rows = [
        old(0),
        old(1, success=False, score=0, gradingResult=graded(0, EQUALS, passed=False)),
        old(2, success=False, score=0, error=SECRET, response={"error": "500"},
            gradingResult=None),
        old(3, success=False, score=0, error=SECRET, response=None, gradingResult=None),
        old(0),
    ]  # fmt: skip
    table = {"head": {"prompts": [], "vars": ["n"]}, "body": [{"outputs": []}]}
    path = write(tmp_path / "out.json", rows, version=version, table=table)
    read = reading("promptfoo", path)
    assert read.statuses() == {"completed": 3, "harness_error": 2}
    assert read.verdicts() == {"passed": 2, "failed": 1, "unverified": 2}
    assert sorted(trial.attempt for trial in read.trials().values()) == [1, 1, 1, 1, 2]


def test_numbers_that_no_double_holds_are_no_score(reading: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "out.json", [row(0, namedScores={"exact": 10**400}), row(1)])
    path.write_text(
        path.read_text().replace('"score": 1, "namedScores"', '"score": 1e999, "namedScores"', 1)
    )
    assert reading("promptfoo", path).states() == {
        "promptfoo.score": {"scored": 1, "nan": 1},
        "exact": {"scored": 1, "nan": 1},
    }


def test_places_that_no_grid_can_have_are_refused(reading: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="trials that have no record"):
        reading("promptfoo", lines(tmp_path / "out.jsonl", [row(2**40)])).tally()


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
