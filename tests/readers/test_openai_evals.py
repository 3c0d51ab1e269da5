"""openai/evals event logs: a sample without a match is still one."""

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
SPEC = {
    "completion_fns": ["gpt-4"],
    "eval_name": "test-match.s1",
    "split": "s1",
    "run_id": "2308",
    "created_at": "2023-08-01 00:00:00",
}


def event(sample: int, kind: str, **data: Any) -> dict[str, Any]:
    return {
        "run_id": "2308",
        "sample_id": f"test.{sample}",
        "type": kind,
        "data": data,
        "created_at": "2023-08-01 00:00:01",
    }


def match(sample: int, *, correct: Any, picked: str = "A") -> dict[str, Any]:
    return event(sample, "match", correct=correct, expected="A", picked=picked)


def sampling(sample: int) -> dict[str, Any]:
    return event(sample, "sampling", prompt=SECRET, sampled=[SECRET])


def write(path: Path, *records: Any, report: dict[str, Any] | None = None) -> Path:
    lines = [{"spec": SPEC}, *records]
    if report is not None:
        lines.append({"final_report": report})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


ALL = [
    sampling(0),
    match(0, correct=True),
    sampling(1),
    event(1, "error", type="RateLimitError", message=SECRET),
    sampling(2),
    match(2, correct=False),
    match(3, correct=False, picked="__invalid__"),
    sampling(4),
]


def test_a_sample_in_an_error_is_in_no_accuracy(reading: Any, tmp_path: Path) -> None:
    read = reading("openai-evals", write(tmp_path / "e.jsonl", *ALL, report={"accuracy": 0.3333}))
    assert read.states() == {"match": {"scored": 2, "not_measured": 1, "error": 1, "missing": 1}}
    (metric,) = read.tally().metrics
    assert (metric.rate.value, metric.rate.lower, metric.rate.upper) == (0.5, 0.2, 0.8)
    assert read.statuses() == {"completed": 4, "harness_error": 1}
    assert read.trials()["test.1/1"].error.type == "RateLimitError"
    assert read.trials()["test.3/1"].scores[0].reason == "judge_invalid"
    run = read.run()
    assert (run.subject.id, run.suite.name, run.status) == ("gpt-4", "test-match.s1", "success")
    assert "reported.differs" in read.findings()


def test_a_judge_without_a_choice_gave_no_score(reading: Any, tmp_path: Path) -> None:
    records = [
        event(0, "metrics", choice="5", score=5.0),
        event(1, "metrics", choice="__invalid__", score=1.0),
        event(2, "metrics", choice="3", score=math.nan),
        event(3, "metrics", choice="4", score=None),
    ]
    read = reading("openai-evals", write(tmp_path / "e.jsonl", *records, report={"score": 3.0}))
    assert read.states() == {
        "choice": {"scored": 3, "error": 1},
        "score": {"scored": 1, "error": 1, "nan": 1, "null": 1},
    }
    assert read.tally().metrics[1].rate.value == 5.0


def test_events_far_apart_are_one_sample(reading: Any, tmp_path: Path) -> None:
    records = [sampling(0), sampling(1), match(1, correct=False), match(0, correct=True)]
    read = reading("openai-evals", write(tmp_path / "e.jsonl", *records, report={}))
    assert sorted(read.trials()) == ["test.0/1", "test.1/1"]
    assert read.states() == {"match": {"scored": 2}}


def test_scored_and_errored_is_both(reading: Any, tmp_path: Path) -> None:
    records = [match(0, correct=True), event(0, "error", type="Late", message=SECRET)]
    tally = reading("openai-evals", write(tmp_path / "e.jsonl", *records)).tally()
    assert (tally.scored_and_errored, tally.counts.total) == (1, 1)


def test_an_event_of_no_known_type_is_passed_over(reading: Any, tmp_path: Path) -> None:
    odd = {"type": {"a": 1}, "sample_id": "x", "data": {}}
    both = {"final_report": {}, "type": "match", "sample_id": "y"}
    path = write(tmp_path / "e.jsonl", odd, match(0, correct=True), both)
    read = reading("openai-evals", path)
    assert sorted(read.trials()) == ["test.0/1"]


def test_no_report_is_a_run_that_did_not_end(reading: Any, tmp_path: Path) -> None:
    read = reading("openai-evals", write(tmp_path / "e.jsonl", match(0, correct=True)))
    assert read.run().status == "started"
    assert "run.unfinished" in read.findings()


@pytest.mark.parametrize(
    ("record", "where"),
    [
        ({"type": "match", "data": {}}, "line 2: /sample_id"),
        ({"type": "match", "sample_id": "a", "data": 3}, "line 2: /data"),
        ({"spec": 3}, "line 2: /spec"),
        ([1], "line 2"),
        ({"type": "match", "sample_id": {}, "data": {}}, "line 2: /sample_id"),
    ],
)
def test_bad_lines(reading: Any, tmp_path: Path, record: Any, where: str) -> None:
    with pytest.raises(InputError) as caught:
        reading("openai-evals", write(tmp_path / "e.jsonl", record)).tally()
    assert where in str(caught.value)


class TestContract(ReaderContract):
    reader = "openai-evals"
    secrets: ClassVar = (SECRET,)
    examples = 30

    @pytest.fixture(autouse=True)
    def _prepare(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.folder = tmp_path_factory.mktemp("logs")

    def samples(self) -> Iterable[Sample]:
        expected = {
            "total": 5,
            "statuses": {"completed": 4, "harness_error": 1},
            "verdicts": {"passed": 1, "failed": 1, "unverified": 3},
            "metrics": {"match": {"scored": 2, "not_measured": 1, "error": 1, "missing": 1}},
        }
        yield Sample(write(self.folder / "e.jsonl", *ALL, report={"accuracy": 0.5}), [expected])

    def make_large(self, folder: Path, count: int) -> Path:
        records = [match(number, correct=True) for number in range(count)]
        return write(folder / "e.jsonl", *records, report={"accuracy": 1.0})
