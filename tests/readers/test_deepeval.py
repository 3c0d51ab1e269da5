"""deepeval test runs: a metric that broke is no failure."""

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


def metric(name: str, score: Any = ..., *, success: bool = False, **more: Any) -> dict[str, Any]:
    found = {"name": name, "threshold": 0.5, "success": success, "reason": SECRET, **more}
    return found | ({} if score is ... else {"score": score})


def case(name: str, *metrics: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "input": SECRET,
        "actualOutput": SECRET,
        "expectedOutput": SECRET,
        "success": False,
        "metricsData": list(metrics),
        "runDuration": 1.5,
        **more,
    }


def write(path: Path, cases: list[Any], **more: Any) -> Path:
    run = {"testFile": "test_it.py", "testCases": cases, "metricsScores": [], **more}
    path.write_text(json.dumps(run))
    return path


ALL = [
    case("a", metric("Faithfulness", 0.9, success=True), metric("Relevancy", 0.8, success=True)),
    case("b", metric("Faithfulness", error=f"TimeoutError: {SECRET}"),
         metric("Relevancy", 0.9, success=True)),
    case("c", metric("Faithfulness", 0.1), metric("Relevancy", error=SECRET)),
    case("d", metric("Faithfulness", error=SECRET), metric("Relevancy", error=SECRET)),
    case("e", metric("Faithfulness", 0.7, success=True)),
]  # fmt: skip


def test_an_error_of_a_metric_is_no_failure(reading: Any, tmp_path: Path) -> None:
    scores = [{"metric": "Faithfulness", "scores": [0.9, 0.1], "passes": 1, "errors": 2}]
    read = reading("deepeval", write(tmp_path / "t.json", ALL, metricsScores=scores, testFailed=4))
    assert read.states() == {
        "Faithfulness": {"scored": 3, "error": 2},
        "Relevancy": {"scored": 2, "error": 2, "missing": 1},
    }
    assert read.verdicts() == {"passed": 1, "failed": 1, "unverified": 3}
    assert read.statuses() == {"completed": 4, "evaluator_error": 1}
    assert read.trials()["b/1"].scores[0].reason == "TimeoutError"
    assert read.run().reported_counts == {"testFailed": 4}
    assert "reported.failures" in read.findings()


def test_nan_is_in_no_mean(reading: Any, tmp_path: Path) -> None:
    values = [0.9, 0.8, 0.85, 0.8, math.nan]
    cases = [case(str(n), metric("m", value, success=True)) for n, value in enumerate(values)]
    read = reading("deepeval", write(tmp_path / "t.json", cases))
    (found,) = read.tally().metrics
    assert read.states() == {"m": {"scored": 4, "nan": 1}}
    assert (found.rate.value, found.rate.n) == (pytest.approx(0.8375), 4)


def test_a_score_beside_an_error_is_no_measurement(reading: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", [case("a", metric("m", 0, error=SECRET))])
    read = reading("deepeval", path)
    assert read.states() == {"m": {"error": 1}}
    assert read.trials()["a/1"].scores[0].raw == "0"


def test_the_latest_run_is_wrapped(reading: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"testRunData": {"testCases": ALL, "testPassed": 1}}))
    read = reading("deepeval", path)
    assert read.tally().counts.total == 5
    assert read.run().reported_counts == {"testPassed": 1}


@pytest.mark.parametrize(("cases", "where"), [([], "/testCases"), ([3], "/testCases/0")])
def test_bad_runs(reading: Any, tmp_path: Path, cases: list[Any], where: str) -> None:
    with pytest.raises(InputError) as caught:
        reading("deepeval", write(tmp_path / "t.json", cases)).tally()
    assert caught.value.pointer == where


class TestContract(ReaderContract):
    reader = "deepeval"
    secrets: ClassVar = (SECRET,)
    examples = 30

    @pytest.fixture(autouse=True)
    def _prepare(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.folder = tmp_path_factory.mktemp("logs")

    def samples(self) -> Iterable[Sample]:
        expected = {
            "total": 5,
            "statuses": {"completed": 4, "evaluator_error": 1},
            "verdicts": {"passed": 1, "failed": 1, "unverified": 3},
            "metrics": {
                "Faithfulness": {"scored": 3, "error": 2},
                "Relevancy": {"scored": 2, "error": 2, "missing": 1},
            },
        }
        yield Sample(write(self.folder / "t.json", ALL), [expected])

    def make_large(self, folder: Path, count: int) -> Path:
        cases = [
            case(str(number), metric("m", 1.0, success=True), comments="x" * 3_000)
            for number in range(count)
        ]
        return write(folder / "t.json", cases)
