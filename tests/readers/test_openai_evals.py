"""openai/evals event logs: a sample without a match is still one."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount.content import sample_hash
from fullcount.errors import InputError
from fullcount.plugin import ContentPolicy
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


def test_samples_side_by_side_keep_their_own_events(reading: Any, tmp_path: Path) -> None:
    """Threads write as they come, and the report may stand anywhere."""
    records = [
        sampling(0), sampling(1), {"final_report": {"accuracy": 0.5}}, sampling(2),
        match(1, correct=False), match(0, correct=True),
        event(2, "error", type="Late", message=SECRET), match(3, correct=True),
        match(0, correct=False),
    ]  # fmt: skip
    trials = reading("openai-evals", write(tmp_path / "e.jsonl", *records)).trials()
    assert {key: trial.scores[0].value for key, trial in trials.items()} == {
        "test.0/1": 1.0,
        "test.0/2": 0.0,
        "test.1/1": 0.0,
        "test.2/1": None,
        "test.3/1": 1.0,
    }
    assert trials["test.2/1"].error.type == "Late"


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


def test_criteria_with_names_of_their_own_are_choices(reading: Any, tmp_path: Path) -> None:
    records = [
        event(0, "metrics", clarity="A", clarity_metascore=True, depth=None, note=SECRET),
        event(1, "metrics", clarity="__invalid__", clarity_metascore=False, depth="B", note="x"),
    ]
    report = {
        "counts/clarity/A": 1, "counts/clarity/__invalid__": 1, "counts/depth/B": 1,
        "score/clarity": 0.5, "metascore/clarity": 0.5,
        "invalid_request_during_completion": 2,
    }  # fmt: skip
    read = reading("openai-evals", write(tmp_path / "e.jsonl", *records, report=report))
    assert read.states() == {
        "clarity": {"scored": 1, "error": 1},
        "clarity_metascore": {"scored": 1, "error": 1},
        "depth": {"scored": 1, "null": 1},
    }
    labels = [metric.labels for metric in read.tally().metrics]
    assert labels == [{"A": 1}, {}, {"B": 1}]
    assert [(each.metric, each.statistic, each.value) for each in read.run().reported] == [
        ("clarity", "score", 0.5),
        ("clarity_metascore", "mean", 0.5),
    ]
    assert read.run().reported_counts == {
        "counts/clarity/A": 1,
        "counts/clarity/__invalid__": 1,
        "counts/depth/B": 1,
        "invalid_request_during_completion": 2,
    }
    assert "plan.unknown" in read.findings()


def test_texts_that_are_no_choices_are_said_to_be_passed_over(reading: Any, tmp_path: Path) -> None:
    read = reading("openai-evals", write(tmp_path / "e.jsonl", event(0, "metrics", note=SECRET)))
    assert read.tally().counts.total == 1
    assert [(each.code, each.count) for each in read.report.notices()] == [("input.passed_over", 1)]


def test_invalid_choices_are_told_without_a_report(reading: Any, tmp_path: Path) -> None:
    records = [event(0, "metrics", depth="B"), event(1, "metrics", depth="__invalid__")]
    read = reading("openai-evals", write(tmp_path / "e.jsonl", *records))
    assert read.states() == {"depth": {"scored": 1, "error": 1}}


def test_a_sample_that_was_begun_counts(reading: Any, tmp_path: Path) -> None:
    records = [event(0, "raw_sample", input=SECRET), match(1, correct=True)]
    read = reading("openai-evals", write(tmp_path / "e.jsonl", *records, report={"accuracy": 1.0}))
    assert read.states() == {"match": {"scored": 1, "missing": 1}}
    (metric,) = read.tally().metrics
    assert (metric.rate.value, metric.rate.lower, metric.rate.upper) == (1.0, 0.5, 1.0)


def test_a_sample_with_two_matches_has_two_attempts(reading: Any, tmp_path: Path) -> None:
    again = event(0, "sampling", prompt="again", sampled=["second"])
    records = [sampling(0), match(0, correct=True), again, match(0, correct=False)]
    path = write(tmp_path / "e.jsonl", *records, report={"accuracy": 0.5})
    read = reading("openai-evals", path)
    trials = read.trials(ContentPolicy.INCLUDE)
    assert {key: trial.scores[0].value for key, trial in trials.items()} == {
        "test.0/1": 1.0,
        "test.0/2": 0.0,
    }
    assert trials["test.0/1"].content.outputs[0].text == SECRET
    assert trials["test.0/2"].content.outputs[0].text == "second"
    assert "reported.differs" not in read.findings()


def test_a_text_in_place_of_a_number_is_no_score(reading: Any, tmp_path: Path) -> None:
    records = [event(0, "metrics", score=1.0), event(1, "metrics", score=SECRET)]
    read = reading("openai-evals", write(tmp_path / "e.jsonl", *records))
    assert read.states() == {"score": {"scored": 1, "error": 1}}
    (score,) = read.trials(ContentPolicy.INCLUDE)["test.1/1"].scores
    assert (score.reason, score.raw, score.raw_type) == ("not_a_number", None, "string")


def test_what_a_judge_was_asked_is_not_the_input(reading: Any, tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "2 + 2?"}]
    subject = event(0, "sampling", prompt=chat, sampled=["4"])
    judge = event(0, "sampling", prompt="Is 4 right?", sampled=["Yes"])
    path = write(tmp_path / "e.jsonl", subject, judge, event(0, "metrics", choice="Yes", score=1))
    (trial,) = reading("openai-evals", path).trials(ContentPolicy.INCLUDE).values()
    assert trial.content.input.text == '[{"role":"user","content":"2 + 2?"}]'
    assert [output.text for output in trial.content.outputs] == ["4"]
    assert trial.sample_hash == sample_hash('[{"role":"user","content":"2 + 2?"}]', [])


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
        ({"spec": SPEC}, "line 2: /spec: holds the spec of a second run"),
        (match(0, correct="yes"), "line 2: /data/correct"),
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
