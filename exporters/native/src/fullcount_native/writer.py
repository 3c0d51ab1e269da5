"""Writes runs as JSON lines and counts them again."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from fullcount.model import (
    Counts,
    MetricCounts,
    ScoreState,
    TrialStatus,
    Verdict,
)

if TYPE_CHECKING:
    from pathlib import Path

    from fullcount.model import Run, RunTally, Trial
    from fullcount.notices import Report
    from fullcount.plugin import Context, Options, Sink

__all__ = ["FORMAT", "NativeWriter", "recount"]

FORMAT = "fullcount/1"


class NativeWriter:
    """One file of JSON lines for each artifact, named after its first run."""

    def __init__(self, sink: Sink, options: Options, report: Report, context: Context) -> None:
        del options, report
        self._sink = sink
        self._context = context
        self._file: Any = None

    def begin(self, run: Run) -> None:
        """Write the run's line."""
        if self._file is None:
            name = self._context.uuid("native", run.source.sha256 or "", run.id)
            self._file = self._sink.open(f"{name}.fullcount.jsonl")
        self._line(b'{"format":"' + FORMAT.encode() + b'","type":"run","run":', run)

    def add(self, trial: Trial) -> None:
        """Write the trial's line, with what is derived from it."""
        verdict = trial.verdict
        shown = b"null" if verdict is None else b'"' + verdict.value.encode() + b'"'
        self._line(
            b'{"type":"trial","verdict":'
            + shown
            + b',"retry":"'
            + trial.retry.value.encode()
            + b'","trial":',
            trial,
        )

    def end(self, tally: RunTally) -> None:
        """Write the tally's line."""
        self._line(b'{"type":"tally","tally":', tally)

    def close(self) -> None:
        """Complete the file."""
        if self._file is not None:
            self._file.close()

    def _line(self, start: bytes, record: Run | Trial | RunTally) -> None:
        self._file.write(
            start + record.__pydantic_serializer__.to_json(record, exclude_defaults=True) + b"}\n"
        )


def recount(files: tuple[Path, ...]) -> tuple[Counts, ...]:
    """Count every trial line again, by its own status, verdict and score states."""
    return tuple(counts for path in files for counts in _runs(path))


def _runs(path: Path) -> list[Counts]:
    found: list[Counts] = []
    run: dict[str, Any] = {}
    statuses: Counter[str] = Counter()
    verdicts: Counter[str | None] = Counter()
    states: Counter[tuple[str, str, str]] = Counter()
    with path.open("rb") as file:
        for line in file:
            record = json.loads(line)
            if record["type"] == "run":
                run = record["run"]
                for counter in (statuses, verdicts, states):
                    counter.clear()
            elif record["type"] == "trial":
                trial = record["trial"]
                statuses[trial.get("status", "completed")] += 1
                verdicts[record["verdict"]] += 1
                for score in trial.get("scores", ()):
                    states[score["evaluator"], score["metric"], score["state"]] += 1
            else:
                found.append(_counts(run, statuses, verdicts, states))
    return found


def _counts(
    run: dict[str, Any],
    statuses: Counter[str],
    verdicts: Counter[str | None],
    states: Counter[tuple[str, str, str]],
) -> Counts:
    return Counts(
        run_id=run["id"],
        total=statuses.total(),
        statuses={status: statuses[status] for status in TrialStatus},
        verdicts={verdict: verdicts[verdict] for verdict in Verdict},
        no_verdict=verdicts[None],
        metrics=tuple(
            MetricCounts(
                evaluator=evaluator["name"],
                metric=metric["name"],
                states={
                    state: states[evaluator["name"], metric["name"], state] for state in ScoreState
                },
            )
            for evaluator in run.get("evaluators", ())
            for metric in evaluator.get("metrics", ())
        ),
    )
