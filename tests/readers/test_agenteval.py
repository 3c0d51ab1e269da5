"""AgentEval (.NET) reports and run folders."""

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


def result(name: str, score: Any, *, passed: bool, **more: Any) -> dict[str, Any]:
    return {"name": name, "score": score, "passed": passed, "skipped": False, "durationMs": 1200,
            **more}  # fmt: skip


ROWS = [
    result("t1", 95, passed=True, metricScores={"relevance": 92.5, "memory_temporal": 0}),
    result("t2", 0, passed=False, error=f"HttpRequestException: {SECRET}",
           metricScores={"relevance": 10.0, "memory_temporal": 50}),
    result("t3", 0, passed=False, skipped=True, durationMs=0),
]  # fmt: skip


def report(path: Path, rows: list[Any], **more: Any) -> Path:
    document = {
        "runId": "a1b2c3d4",
        "startTime": "2026-03-01T14:30:00+00:00",
        "endTime": "2026-03-01T14:30:30+00:00",
        "stats": {"total": 3, "passed": 1, "failed": 1, "skipped": 1, "passRate": 33.33},
        "overallScore": 31.67,
        "agent": {"name": "Bot", "model": "gpt-4o"},
        "results": rows,
        **more,
    }
    path.write_text(json.dumps(document))
    return path


def folder(path: Path, rows: list[Any]) -> Path:
    path.mkdir(exist_ok=True)
    lines = [
        {("metrics" if key == "metricScores" else key): value for key, value in row.items()}
        for row in rows
    ]
    (path / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    metrics = {"relevance": {"mean": 51.25, "sampleSize": 2}, "memory_temporal": {"mean": 25.0}}
    summary = {"runId": "a1b2c3d4", "name": "s", "overallScore": 31.67, "metrics": metrics}
    (path / "summary.json").write_text(json.dumps(summary))
    (path / "run.json").write_text(json.dumps({"agent": {"name": "Bot", "model": "gpt-4o"}}))
    return path


def test_a_skipped_test_is_in_no_mean(reading: Any, tmp_path: Path) -> None:
    read = reading("agenteval", report(tmp_path / "r.json", ROWS))
    assert read.states() == {
        "agenteval": {"scored": 2, "skipped": 1},
        "relevance": {"scored": 2, "skipped": 1},
        "memory_temporal": {"scored": 1, "not_applicable": 1, "skipped": 1},
    }
    means = {metric.name: metric.rate.value for metric in read.tally().metrics}
    assert means == {"agenteval": 47.5, "relevance": 51.25, "memory_temporal": 50.0}
    assert read.verdicts() == {"passed": 1, "failed": 1}
    assert "reported.differs" in read.findings()


def test_an_error_is_filled_for_plain_failures_too(reading: Any, tmp_path: Path) -> None:
    trial = reading("agenteval", report(tmp_path / "r.json", ROWS)).trials()["t2/1"]
    assert (trial.status, trial.error, trial.verdict) == ("completed", None, "failed")


def test_a_run_folder(reading: Any, tmp_path: Path) -> None:
    read = reading("agenteval", folder(tmp_path / "run", ROWS))
    assert (read.run().subject.id, read.run().subject.name) == ("Bot", "gpt-4o")
    assert read.states()["memory_temporal"] == {"scored": 1, "not_applicable": 1, "skipped": 1}
    told = [f for f in read.tally().findings if f.code == "reported.differs"]
    assert any(f.metric == "memory_temporal" and "25" in f.message for f in told)


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        ([], "/results"),
        ([{"score": 1}], "/results/0"),
        ([result("a", 1, passed="yes")], "/results/0/passed"),  # type: ignore[arg-type]
    ],
)
def test_bad_reports(reading: Any, tmp_path: Path, rows: list[Any], where: str) -> None:
    with pytest.raises(InputError) as caught:
        reading("agenteval", report(tmp_path / "r.json", rows)).tally()
    assert caught.value.pointer == where


class TestContract(ReaderContract):
    reader = "agenteval"
    secrets: ClassVar = (SECRET,)
    examples = 30

    @pytest.fixture(autouse=True)
    def _prepare(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.folder = tmp_path_factory.mktemp("logs")

    def samples(self) -> Iterable[Sample]:
        expected = {
            "total": 3,
            "statuses": {"completed": 2, "not_run": 1},
            "verdicts": {"passed": 1, "failed": 1},
            "no_verdict": 1,
            "metrics": {
                "agenteval": {"scored": 2, "skipped": 1},
                "relevance": {"scored": 2, "skipped": 1},
                "memory_temporal": {"scored": 1, "not_applicable": 1, "skipped": 1},
            },
        }
        yield Sample(report(self.folder / "r.json", ROWS), [expected])
        yield Sample(folder(self.folder / "run", ROWS), [expected])

    def make_large(self, folder: Path, count: int) -> Path:
        rows = [result(str(n), 50, passed=True, category="x" * 3_000) for n in range(count)]
        return report(folder / "r.json", rows)
