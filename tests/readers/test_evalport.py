"""EvalPort ResultSets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount import registry
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


def grader(score: Any, *, passed: bool = False, name: str = "g", **more: Any) -> dict[str, Any]:
    kind = {"grader_id": name, "type": "llm_judge"}
    return {**kind, "score": score, "passed": passed, "reason": SECRET, **more}


def result(case: str, graders: list[Any], *, passed: bool = False, **more: Any) -> dict[str, Any]:
    return {
        "test_case_id": case,
        "actual_output": SECRET,
        "grader_results": graders,
        "passed": passed,
        **more,
    }


def document(results: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "version": "1.0.0-rc.3",
        "suite_id": "s",
        "run_id": "r",
        "started_at": "2026-08-16T10:00:00Z",
        "provider": {"model": "gpt-4o", "api_base": "https://secret.example.org"},
        "results": results,
        **more,
    }


def tally(tmp_path: Path, value: Any) -> RunTally:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(value))
    spec = registry.readers().get("evalport")
    ((_, found),) = tally_runs(Input(Source(path), spec, spec.options()), Report())
    return found


def test_nulls_and_timeouts_are_no_failures(tmp_path: Path) -> None:
    found = tally(
        tmp_path,
        document(
            [
                result("a", [grader(1, passed=True)], passed=True),
                result("b", [grader(None, metadata={"error": "judge 503"})]),
                result("c", [], error={"type": "timeout", "message": "30s"}),
            ],
            summary={"total": 3, "passed": 1, "failed": 2, "by_grader": {"g": {"avg_score": 1}}},
        ),
    )
    (metric,) = found.metrics
    assert (metric.rate.value, metric.rate.n, metric.rate.sought) == (1.0, 1, 3)
    assert (metric.rate.lower, metric.rate.upper) == (1 / 3, 1.0)
    assert {s.value: n for s, n in metric.states.items() if n} == {
        "scored": 1,
        "error": 1,
        "not_measured": 1,
    }
    assert {v.value: n for v, n in found.counts.verdicts.items() if n} == {
        "passed": 1,
        "unverified": 2,
    }
    assert found.measurement_failures == 1


@pytest.mark.parametrize(
    ("entry", "state", "verdict"),
    [
        (result("a", [grader(0.4)]), "scored", "failed"),
        (result("a", [grader(None)]), "null", "unverified"),
        (result("a", [grader(None, metadata={"skip_reason": "x"})]), "skipped", None),
        (
            result("a", [grader(0.2), grader(1, passed=True, name="h")], passed=True),
            "scored",
            "passed",
        ),
        (result("a", [grader(None)], verdict="disputed"), "null", "disputed"),
        (
            result("a", [grader(1, passed=True)], metadata={"openeval": {"verdict": "unknown"}}),
            "scored",
            "unverified",
        ),
        (
            result("a", [grader(1, passed=True)], error={"type": "provider_error"}),
            "scored",
            "passed",
        ),
    ],
)
def test_states_and_verdicts(
    tmp_path: Path, entry: dict[str, Any], state: str, verdict: str | None
) -> None:
    found = tally(tmp_path, document([entry]))
    assert next(s.value for s, n in found.metrics[0].states.items() if n) == state
    given = [v.value for v, n in found.counts.verdicts.items() if n]
    assert given == ([] if verdict is None else [verdict])


def test_passed_without_a_grader_is_no_verdict(tmp_path: Path) -> None:
    found = tally(tmp_path, document([result("a", [], passed=True)]))
    assert (found.counts.no_verdict, found.metrics) == (1, ())


def test_a_repeated_case_is_another_attempt(tmp_path: Path) -> None:
    entries = [result("a", [grader(score, passed=True)], passed=True) for score in (0, 1)]
    found = tally(tmp_path, document(entries))
    assert (found.metrics[0].cases, found.metrics[0].rate.value) == (1, 0.5)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"version": "2.0"}, "/version"),
        ({"results": [3]}, "/results/0"),
        ({"results": [{"test_case_id": None}]}, "/results/0/test_case_id"),
        (
            {"results": [{"test_case_id": "a", "grader_results": [{}]}]},
            "/results/0/grader_results/*/grader_id",
        ),
    ],
)
def test_bad_sets_are_named(tmp_path: Path, change: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as caught:
        tally(tmp_path, document([]) | change)
    assert caught.value.pointer == where


class TestContract(ReaderContract):
    reader = "evalport"
    memory_slack = 4 << 20  # the window of the text fills only in a long file
    secrets: ClassVar = (SECRET,)
    examples = 30

    @pytest.fixture(autouse=True)
    def _prepare(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.folder = tmp_path_factory.mktemp("logs")

    def samples(self) -> Iterable[Sample]:
        path = self.folder / "results.json"
        path.write_text(
            json.dumps(
                document(
                    [
                        result("a", [grader(1, passed=True)], passed=True),
                        result("b", [grader(None)]),
                    ]
                )
            )
        )
        expected = {
            "total": 2,
            "statuses": {"completed": 2},
            "verdicts": {"passed": 1, "unverified": 1},
            "metrics": {"g": {"scored": 1, "null": 1}},
        }
        yield Sample(path, [expected])

    def make_large(self, folder: Path, count: int) -> Path:
        path = folder / "results.json"
        entries = [result(str(n), [grader(1, passed=True)], passed=True) for n in range(count)]
        path.write_text(json.dumps(document(entries)))
        return path
