"""strands-agents-evals reports: a score of 0 that nobody gave."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount.errors import InputError
from fullcount.testing import ReaderContract, Sample

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SECRET = "whisper-it-quietly"  # noqa: S105 - a text that must not leave


def detail(score: Any = 1.0, *, passed: bool = True, label: str | None = None) -> dict[str, Any]:
    return {"score": score, "test_pass": passed, "reason": SECRET, "label": label}


def report(*entries: tuple[str, Any, bool, str, list[Any]], **more: Any) -> dict[str, Any]:
    """Entries are (case, score, passed, reason, details); `case/evaluator` names both."""
    return {
        "overall_score": more.pop("overall", 0.5),
        "scores": [score for _, score, _, _, _ in entries],
        "test_passes": [passed for _, _, passed, _, _ in entries],
        "reasons": [reason for _, _, _, reason, _ in entries],
        "cases": [
            {
                "name": name.partition("/")[0],
                "input": SECRET,
                "actual_output": SECRET,
                "expected_output": SECRET,
                "evaluator": name.partition("/")[2] or "Output",
            }
            for name, _, _, _, _ in entries
        ],
        "detailed_results": [details for _, _, _, _, details in entries],
        **more,
    }


ALL = report(
    ("right", 1.0, True, SECRET, [detail()]),
    ("wrong", 0.0, False, SECRET, [detail(0.0, passed=False)]),
    ("judge", 0, False, f"Evaluator error: {SECRET}", []),
    ("task", 0, False, f"An error occurred: {SECRET}", []),
    ("empty", 0.0, False, "No evaluation outputs produced", []),
    ("other", 0.0, True, "no skill", [detail(0.0, label="not_applicable")]),
    ("blind", 0.0, False, "no trace", [detail(0.0, passed=False, label="not_applicable")]),
)


def write(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document))
    return path


def test_a_zero_is_a_score_only_where_something_was_graded(reading: Any, tmp_path: Path) -> None:
    read = reading("strands", write(tmp_path / "x.json", ALL))
    assert read.states() == {
        "Output": {"scored": 2, "error": 2, "missing": 1, "not_measured": 1, "not_applicable": 1}
    }
    (metric,) = read.tally().metrics
    assert (metric.rate.value, metric.rate.n, metric.rate.sought) == (0.5, 2, 6)
    assert read.verdicts() == {"passed": 1, "failed": 1, "unverified": 4}
    assert read.tally().counts.no_verdict == 1
    found = read.trials()
    assert (found["task/1"].status, found["task/1"].scores[0].reason) == (
        "harness_error",
        "task_failed",
    )
    assert found["judge/1"].scores[0].reason == "evaluator_failed"
    assert found["blind/1"].scores[0].reason == "could_not_judge"


def test_the_mean_is_over_what_was_scored(reading: Any, tmp_path: Path) -> None:
    document = report(
        ("c1", 1.0, True, "ok", [detail()]),
        ("c2", 0, False, "Evaluator error: ctx overflow", []),
        ("c3", 0.0, True, "no skill invoked", [detail(0.0, label="not_applicable")]),
    )
    read = reading("strands", write(tmp_path / "x.json", document))
    (metric,) = read.tally().metrics
    assert (metric.rate.value, metric.rate.n, metric.unverified, metric.excluded) == (1.0, 1, 1, 1)
    assert "reported.differs" in read.findings()


def test_evaluators_of_a_case_are_one_trial(reading: Any, tmp_path: Path) -> None:
    document = report(
        ("a/One", 1.0, True, "", [detail()]),
        ("b/One", 1.0, True, "", [detail()]),
        ("a/Two", 0.25, False, "", [detail()]),
        ("a/One", 0.0, False, "", [detail()]),
    )
    read = reading("strands", write(tmp_path / "x.json", document))
    assert read.states() == {
        "One": {"scored": 3},
        "Two": {"scored": 1, "not_applicable": 2},
    }
    assert sorted(read.trials()) == ["a/1", "a/2", "b/1"]
    assert "reported.pooled" in read.findings()


def test_a_list_of_reports_is_a_run_each(reading: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", [ALL, report(("a", 1.0, True, "", [detail()]))])
    assert [tally.counts.total for tally in reading("strands", path).tallies()] == [7, 1]


def test_old_reports_have_fewer_arrays(reading: Any, tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.json",
        {"overall_score": 0.5, "scores": [1.0, math.nan], "test_passes": [True, False]},
    )
    assert reading("strands", path).states() == {"evaluator": {"scored": 1, "nan": 1}}


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ({"overall_score": 1, "scores": 3}, "/0/scores"),
        ({"overall_score": 1, "scores": []}, "/0/scores"),
        ({"overall_score": 1, "scores": [1, 2], "cases": [{}]}, "/0/cases"),
        ([3], None),
    ],
)
def test_bad_reports(reading: Any, tmp_path: Path, document: Any, where: str | None) -> None:
    with pytest.raises(InputError) as caught:
        reading("strands", write(tmp_path / "x.json", document)).tally()
    assert caught.value.pointer == where


class TestContract(ReaderContract):
    reader = "strands"
    secrets: ClassVar = (SECRET,)
    examples = 30

    @pytest.fixture(autouse=True)
    def _prepare(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.folder = tmp_path_factory.mktemp("logs")

    def samples(self) -> Iterable[Sample]:
        expected = {
            "total": 7,
            "statuses": {"completed": 6, "harness_error": 1},
            "verdicts": {"passed": 1, "failed": 1, "unverified": 4},
            "no_verdict": 1,
            "metrics": {
                "Output": {
                    "scored": 2,
                    "error": 2,
                    "missing": 1,
                    "not_measured": 1,
                    "not_applicable": 1,
                }
            },
        }
        yield Sample(write(self.folder / "x.json", ALL), [expected])
