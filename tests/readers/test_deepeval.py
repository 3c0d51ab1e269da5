"""deepeval test runs: a metric that broke is no failure."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount.errors import InputError
from fullcount.plugin import ContentPolicy
from fullcount.readers.deepeval import sniff
from fullcount.sources import Source
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


def test_a_flaky_metric_decides_nothing(reading: Any, tmp_path: Path) -> None:
    firm = metric("m", 0.9, success=True)
    cases = [
        case("low", firm, metric("f", 0.1, flaky=True), success=True),
        case("broken", firm, metric("f", error=SECRET, flaky=True), success=True),
        case("failed", metric("m", 0.1), metric("f", 0.9, success=True, flaky=True)),
        case("unknown", metric("m", error=SECRET), metric("f", 0.9, success=True, flaky=True)),
    ]
    read = reading("deepeval", write(tmp_path / "t.json", cases))
    assert {key: trial.verdict for key, trial in read.trials().items()} == {
        "low/1": "passed",
        "broken/1": "passed",
        "failed/1": "failed",
        "unknown/1": "unverified",
    }
    assert read.states()["f"] == {"scored": 3, "error": 1}


def test_a_case_that_only_flaky_metrics_saw_has_no_verdict(reading: Any, tmp_path: Path) -> None:
    found = case("a", metric("f", 0.1, flaky=True))
    del found["success"]
    read = reading("deepeval", write(tmp_path / "t.json", [found]))
    assert read.tally().counts.no_verdict == 1
    assert read.states() == {"f": {"scored": 1}}


def test_metrics_of_spans_are_evaluators(reading: Any, tmp_path: Path) -> None:
    def spans(*metrics: dict[str, Any]) -> dict[str, Any]:
        span = {"uuid": "1", "name": "planner", "metricsData": list(metrics)}
        return {"agentSpans": [span], "toolSpans": [{"uuid": "2", "name": "web"}]}

    cases = [
        case("a", trace=spans(metric("Plan", 0.2))),
        case("b", trace=spans(metric("Plan", error=SECRET))),
        case("c", metric("Plan", 0.9, success=True)),
    ]
    read = reading("deepeval", write(tmp_path / "t.json", cases))
    assert read.states() == {
        "agent:planner.Plan": {"scored": 1, "error": 1, "not_applicable": 1},
        "Plan": {"scored": 1, "missing": 2},
    }
    assert read.verdicts() == {"failed": 1, "unverified": 1, "passed": 1}
    assert read.statuses() == {"completed": 2, "evaluator_error": 1}


def test_expectations_are_an_evaluator(reading: Any, tmp_path: Path) -> None:
    cases = [
        case("a", metric("m", 0.9, success=True), expectationsData={"score": 0, "success": False}),
        case("b", metric("m", 0.9, success=True), expectationsData={"error": SECRET}),
        case("c", metric("m", 0.9, success=True)),
    ]
    read = reading("deepeval", write(tmp_path / "t.json", cases))
    states = {"scored": 1, "error": 1, "not_applicable": 1}
    assert read.states() == {"m": {"scored": 3}, "expectations.result": states}
    assert read.verdicts() == {"failed": 1, "unverified": 1, "passed": 1}


def test_two_metrics_of_one_name_are_both_there(reading: Any, tmp_path: Path) -> None:
    cases = [case("a", metric("GEval", 0.9, success=True), metric("GEval", 0.1))]
    (trial,) = reading("deepeval", write(tmp_path / "t.json", cases)).trials().values()
    assert [(score.metric, score.value) for score in trial.scores] == [
        ("GEval", 0.9),
        ("GEval #2", 0.1),
    ]
    assert trial.verdict == "failed"


@pytest.mark.parametrize(
    ("thresholds", "expected"),
    [([None, 0.5], 0.5), ([0.5, 0.5], 0.5), ([0.5, 0.7], None), ([None], None)],
)
def test_a_threshold_is_that_of_every_case(
    reading: Any, tmp_path: Path, thresholds: list[float | None], expected: float | None
) -> None:
    cases = [
        case(str(number), metric("m", 0.6, success=True, threshold=threshold))
        for number, threshold in enumerate(thresholds)
    ]
    run = reading("deepeval", write(tmp_path / "t.json", cases)).run()
    assert run.evaluators[0].metrics[0].threshold == expected


def test_what_a_conversation_holds(reading: Any, tmp_path: Path) -> None:
    found = {
        "name": "talk",
        "success": True,
        "metricsData": [metric("m", 1, success=True)],
        "scenario": "refund",
        "expectedOutcome": "paid",
        "inputTokenCount": 5,
        "tokenCost": 0.25,
    }
    path = write(tmp_path / "t.json", [], conversationalTestCases=[found])
    trial = reading("deepeval", path).trials(ContentPolicy.INCLUDE)["talk/1"]
    assert trial.content.input.text == "refund"
    assert trial.content.references[0].text == "paid"
    assert (trial.usage.input_tokens, trial.usage.cost) == (5, 0.25)
    assert trial.pointer == "#/conversationalTestCases/0"


def test_a_first_case_longer_than_the_head_is_known(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", [case("a", metric("m", 1.0), input="x" * 100_000)])
    assert sniff(Source(path)).score == 85
    path.write_text(json.dumps({"testCases": ["x" * 100_000]}))
    assert sniff(Source(path)).score == 0


def test_the_latest_run_is_wrapped(reading: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"testRunData": {"testCases": ALL, "testPassed": 1}}))
    read = reading("deepeval", path)
    assert read.tally().counts.total == 5
    assert read.run().reported_counts == {"testPassed": 1}


@pytest.mark.parametrize(
    ("cases", "where"),
    [
        ([], "/testCases"),
        ([3], "/testCases/0"),
        ([case("a") | {"metricsData": "x"}], "/testCases/0/metricsData"),
        ([case("a", {"score": 1})], "/testCases/0/metricsData/0"),
        (
            [case("a", trace={"llmSpans": [{"metricsData": [3]}]})],
            "/testCases/0/trace/llmSpans/0/metricsData/0",
        ),
    ],
)
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
