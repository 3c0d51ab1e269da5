"""Results to convert, and the command line as a function."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from fullcount.cli import main
from fullcount.model import (
    Evaluator,
    Finding,
    Gate,
    Harness,
    Metric,
    ReportedMetric,
    Run,
    Score,
    Source,
    Subject,
    Suite,
    Trial,
)
from fullcount.tally import TallyBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

DIGEST = "ab" * 32


@dataclass(frozen=True)
class Result:
    """What one call of the command line gave."""

    code: int
    out: str
    err: str


def a_run(**changes: Any) -> Run:
    """A run of a judge that reports 0.75 over four of the trials."""
    values: dict[str, Any] = {
        "id": "run-1",
        "source": Source(format="made", format_version="3", path="made.json", sha256=DIGEST),
        "harness": Harness(name="bench", version="2.1"),
        "subject": Subject(id="lab/model-1"),
        "suite": Suite(name="capitals", dataset="world"),
        "status": "success",
        "evaluators": (
            Evaluator(name="judge", metrics=(Metric(name="judge", minimum=0, maximum=1),)),
            Evaluator(name="style", metrics=(Metric(name="tone", categorical=True),)),
        ),
        "reported": (
            ReportedMetric(evaluator="judge", metric="judge", statistic="accuracy", value=0.75),
            ReportedMetric(evaluator="judge", metric="judge", statistic="mean", value=0.5),
            ReportedMetric(evaluator="judge", metric="judge", statistic="p99", value=1.0),
            ReportedMetric(evaluator="gone", metric="x", statistic="mean", nonfinite="nan"),
        ),
    }
    return Run.model_validate(values | changes)


def some_trials() -> list[Trial]:
    """Eight trials: four scored, three unverified, one left out on purpose."""

    def judge(**values: Any) -> Score:
        return Score(evaluator="judge", metric="judge", **values)

    def tone(label: str | None) -> Score:
        state = "missing" if label is None else "scored"
        return Score(evaluator="style", metric="tone", state=state, label=label)  # type: ignore[arg-type]

    passed = {"state": "scored", "value": 1.0, "outcome": "passed"}
    return [
        Trial(case_id="a", scores=(judge(**passed), tone("warm"))),
        Trial(case_id="b", scores=(judge(**passed), tone("warm"))),
        Trial(case_id="c", scores=(judge(**passed), tone("cold"))),
        Trial(
            case_id="d",
            scores=(judge(state="scored", value=0.0, outcome="failed"), tone(None)),
            gates=(Gate(name="cheating", fired=False),),
        ),
        Trial(case_id="e", scores=(judge(state="nan"), tone("cold"))),
        Trial(case_id="f", scores=(judge(state="missing"), tone(None))),
        Trial(
            case_id="g",
            status="harness_error",  # type: ignore[arg-type]
            scores=(
                judge(state="not_measured"),
                Score(evaluator="style", metric="tone", state="not_measured"),  # type: ignore[arg-type]
            ),
        ),
        Trial(case_id="h", scores=(judge(state="skipped"), tone("warm"))),
    ]


def write_native(path: Path, run: Run, trials: Sequence[Trial]) -> Path:
    """A file in fullcount's own format."""
    tally = TallyBuilder(run)
    lines: list[dict[str, Any]] = [
        {"format": "fullcount/1", "type": "run", "run": run.model_dump(mode="json")}
    ]
    for trial in trials:
        tally.add(trial)
        lines.append({"type": "trial", "trial": trial.model_dump(mode="json")})
    lines.append({"type": "tally", "tally": tally.build().model_dump(mode="json")})
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with nothing in it; the clock stands still."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1772442000")
    monkeypatch.delenv("FULLCOUNT_DEBUG", raising=False)
    return tmp_path


@pytest.fixture
def native(home: Path) -> Callable[..., Path]:
    """Makes a file of one run of eight trials, with some of its fields changed."""

    def make(name: str, first: int = 8, **changes: Any) -> Path:
        return write_native(home / name, a_run(**changes), some_trials()[:first])

    return make


@pytest.fixture
def made(native: Callable[..., Path]) -> Path:
    """`made.jsonl`: one run of eight trials."""
    return native("made.jsonl")


@pytest.fixture
def another(native: Callable[..., Path]) -> Path:
    """`another.jsonl`: one run without anything odd, but for a finding of its reader."""
    finding = Finding(code="odd", message="the header was edited")
    return native("another.jsonl", 3, id="run-2", reported=(), findings=(finding,))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """The command line, called in this process."""

    def call(*args: str) -> Result:
        code = main(args)
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return call
