"""pydantic-evals reports: what is in no average is still counted."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount.errors import InputError
from fullcount.plugin import ContentPolicy
from fullcount.testing import ReaderContract, Sample

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SECRET = "whisper-it-quietly"  # noqa: S105 - a text that must not leave


def result(name: str, value: Any = None, source: str | None = None) -> dict[str, Any]:
    return {
        "name": name,
        "value": value,
        "reason": SECRET,
        "source": {"name": source or name, "arguments": None},
    }


def case(name: str, **parts: Any) -> dict[str, Any]:
    return {
        "name": name,
        "inputs": {"q": SECRET},
        "expected_output": SECRET,
        "output": SECRET,
        "scores": {},
        "labels": {},
        "assertions": {},
        "task_duration": 0.5,
        "source_case_name": None,
        "trace_id": None,
        "span_id": None,
        "evaluator_failures": [],
        **parts,
    }


def failure(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputs": SECRET, "error_message": f"ValueError: {SECRET}", **more}


def broken(source: str) -> dict[str, Any]:
    return {"name": source, "error_message": SECRET, "source": {"name": source}}


def write(path: Path, cases: list[Any], failures: list[Any] | None = None, **more: Any) -> Path:
    document = {"name": "task", "cases": cases, "failures": failures or [], "analyses": []}
    path.write_text(json.dumps({**document, "report_evaluator_failures": [], **more}))
    return path


def graded(name: str, score: float, *, right: bool, **more: Any) -> dict[str, Any]:
    return case(
        name,
        scores={"score": result("score", score, "Multi")},
        labels={"tone": result("tone", "warm", "Multi")},
        assertions={"Equals": result("Equals", right)},
        **more,
    )


def example(path: Path) -> Path:
    return write(
        path,
        [
            graded("a", 1.0, right=True),
            graded("b", 0.5, right=False),
            case("c", assertions={"Equals": result("Equals", value=True)}),
            case("d", evaluator_failures=[broken("Multi")],
                 assertions={"Equals": result("Equals", value=True)}),
        ],
        [failure("e")],
    )  # fmt: skip


def test_every_way_to_vanish_from_an_average(reading: Any, tmp_path: Path) -> None:
    read = reading("pydantic-evals", example(tmp_path / "report.json"))
    assert read.states() == {
        "Multi.score": {"scored": 2, "missing": 1, "error": 1, "not_measured": 1},
        "Multi.tone": {"scored": 2, "missing": 1, "error": 1, "not_measured": 1},
        "Equals": {"scored": 4, "not_measured": 1},
    }
    tally = read.tally()
    assert [metric.rate.value for metric in tally.metrics] == [0.75, None, 0.75]
    assert (tally.metrics[2].rate.lower, tally.metrics[2].rate.upper) == (0.6, 0.8)
    assert read.statuses() == {"completed": 4, "harness_error": 1}
    assert read.verdicts() == {"passed": 1, "failed": 1, "unverified": 3}
    error = read.trials()["e/1"].error
    assert (error.type, error.message.text) == ("ValueError", None)


def test_repeats_are_attempts(reading: Any, tmp_path: Path) -> None:
    path = write(
        tmp_path / "r.json",
        [
            graded("a [1/2]", 1.0, right=True, source_case_name="a"),
            graded("a [2/2]", 0.0, right=False, source_case_name="a"),
            graded("b [1/2]", 0.0, right=False),
        ],
    )
    assert sorted(reading("pydantic-evals", path).trials()) == ["a/1", "a/2", "b [1/2]/1"]


def test_an_evaluator_that_failed_everywhere_is_one(reading: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "r.json", [case("a", evaluator_failures=[broken("Judge")])])
    assert reading("pydantic-evals", path).states() == {"Judge": {"error": 1}}


@pytest.mark.parametrize(
    ("value", "state"),
    [(math.nan, "nan"), (None, "null"), (0.0, "scored"), (10**400, "nan")],
)
def test_values(reading: Any, tmp_path: Path, value: Any, state: str) -> None:
    path = write(tmp_path / "r.json", [case("a", scores={"s": result("s", value)})])
    assert reading("pydantic-evals", path).states() == {"s": {state: 1}}


def test_a_span_that_was_evaluated_is_kept(reading: Any, tmp_path: Path) -> None:
    spans = {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"}
    path = write(tmp_path / "r.json", [graded("a", 1.0, right=True, **spans)])
    trace = reading("pydantic-evals", path).trials()["a/1"].trace
    assert (trace.trace_id, trace.span_id) == (spans["trace_id"], spans["span_id"])


def test_texts_are_kept_when_asked(reading: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "r.json", [graded("a", 1.0, right=True)])
    trial = reading("pydantic-evals", path).trials(ContentPolicy.INCLUDE)["a/1"]
    assert trial.content.input.text == f'{{"q":"{SECRET}"}}'
    assert trial.scores[0].explanation.text == SECRET


@pytest.mark.parametrize(
    ("cases", "where"), [([], "/cases"), ([3], "/cases/0"), ([{"name": ""}], "/cases/0")]
)
def test_bad_reports(reading: Any, tmp_path: Path, cases: list[Any], where: str) -> None:
    path = write(tmp_path / "r.json", cases)
    with pytest.raises(InputError) as caught:
        reading("pydantic-evals", path).tally()
    assert caught.value.pointer == where


class TestContract(ReaderContract):
    reader = "pydantic-evals"
    secrets: ClassVar = (SECRET,)
    examples = 30

    @pytest.fixture(autouse=True)
    def _prepare(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.folder = tmp_path_factory.mktemp("logs")

    def samples(self) -> Iterable[Sample]:
        states = {"scored": 2, "missing": 1, "error": 1, "not_measured": 1}
        expected = {
            "total": 5,
            "statuses": {"completed": 4, "harness_error": 1},
            "verdicts": {"passed": 1, "failed": 1, "unverified": 3},
            "metrics": {
                "Multi.score": states,
                "Multi.tone": states,
                "Equals": {"scored": 4, "not_measured": 1},
            },
        }
        yield Sample(example(self.folder / "report.json"), [expected])

    def make_large(self, folder: Path, count: int) -> Path:
        cases = [graded(str(number), 1.0, right=True) for number in range(count)]
        return write(folder / "report.json", cases)
