"""Writes the tables, and counts them again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO

from fullcount.model import Counts, MetricCounts, ScoreState, TrialStatus, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fullcount.model import Run, RunTally, Trial
    from fullcount.notices import Report
    from fullcount.plugin import Context, Sink
    from fullcount_markdown import MarkdownOptions

_RUN = "run: "
_NOBODY_ASKED = "no verdict"


class MarkdownWriter:
    """One file for each source, with a section for each of its runs."""

    def __init__(
        self, sink: Sink, options: MarkdownOptions, report: Report, context: Context
    ) -> None:
        del report  # what is lost is in the support table, which is reported for us
        self._sink = sink
        self._digits = options.digits
        self._context = context
        self._file: BinaryIO | None = None

    def begin(self, run: Run) -> None:
        """A run starts: its title."""
        if self._file is None:
            name = self._context.uuid("markdown", run.source.sha256 or "", run.id)
            self._file = self._sink.open(f"{name}.md")
        self._line(f"# {_cell(run.suite.name)}: {_cell(run.subject.id)}")
        self._line()
        self._line(f"{_RUN}{_cell(run.id)}")

    def add(self, trial: Trial) -> None:
        """One trial; the tally counts it."""

    def end(self, tally: RunTally) -> None:
        """All trials are counted: the tables."""
        counts = tally.counts
        self._table("Trials", ["status", "trials"], list(counts.statuses.items()))
        self._table(
            "Verdicts",
            ["verdict", "trials"],
            [*counts.verdicts.items(), (_NOBODY_ASKED, counts.no_verdict)],
        )
        self._table(
            "Scores",
            ["evaluator", "metric", *ScoreState, "mean", "lowest", "highest"],
            [
                [
                    metric.evaluator,
                    metric.metric,
                    *(metric.states[state] for state in ScoreState),
                    self._number(metric.rate.value),
                    self._number(metric.rate.lower),
                    self._number(metric.rate.upper),
                ]
                for metric in tally.metrics
            ],
        )
        self._line()

    def close(self) -> None:
        """No more runs."""
        if self._file is not None:
            self._file.close()

    def _table(self, title: str, columns: list[str], rows: list[Any]) -> None:
        self._line()
        self._line(f"## {title}")
        self._line()
        self._line(f"| {' | '.join(columns)} |")
        self._line(f"|{'---|' * len(columns)}")
        for row in rows:
            self._line(f"| {' | '.join(map(_cell, row))} |")

    def _number(self, value: float | None) -> float | None:
        return None if value is None else float(f"{value:.{self._digits}g}")

    def _line(self, text: str = "") -> None:
        if self._file is not None:
            self._file.write(text.encode() + b"\n")


def _cell(value: object) -> str:
    """A value as JSON, in a code span where it is text: what is read back has its type."""
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, str):
        return text
    # A bar would end the cell, a backtick the code span.
    return "`" + text.replace("|", "\\u007c").replace("`", "\\u0060") + "`"


def recount(files: tuple[Path, ...]) -> tuple[Counts, ...]:
    """The counts of every run, from the cells of the tables."""
    return tuple(counts for file in files for counts in _runs(file))


def _runs(file: Path) -> Iterator[Counts]:
    text = file.read_text(encoding="utf-8")
    for section in text.split(f"\n{_RUN}")[1:]:
        run_id, *tables = section.split("\n## ")
        trials, verdicts, scores = (_rows(table) for table in tables)
        by_verdict = {row["verdict"]: row["trials"] for row in verdicts}
        yield Counts(
            run_id=_value(run_id.strip()),
            total=sum(row["trials"] for row in trials),
            statuses={TrialStatus(row["status"]): row["trials"] for row in trials},
            verdicts={verdict: by_verdict[verdict] for verdict in Verdict},
            no_verdict=by_verdict[_NOBODY_ASKED],
            metrics=tuple(
                MetricCounts(
                    evaluator=row["evaluator"],
                    metric=row["metric"],
                    states={state: row[state] for state in ScoreState},
                )
                for row in scores
            ),
        )


def _rows(table: str) -> list[dict[str, Any]]:
    """The rows of a Markdown table, by the titles of its columns."""
    lines = [line for line in table.split("\n") if line.startswith("| ")]
    columns, *rows = ([cell.strip() for cell in line[1:-1].split("|")] for line in lines)
    return [dict(zip(columns, map(_value, row), strict=True)) for row in rows]


def _value(cell: str) -> Any:
    return json.loads(cell.strip("`"))
