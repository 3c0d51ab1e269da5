"""Writes runs as a Croissant dataset, in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.errors import ExportError, OptionError, quoted
from fullcount_croissant.aggregates import TABLES
from fullcount_croissant.card import card
from fullcount_croissant.check import require
from fullcount_croissant.describe import build, facts_of
from fullcount_croissant.jsonld import serialize
from fullcount_croissant.rows import Rows
from fullcount_croissant.tables import TableWriter, write_bytes
from fullcount_croissant.tasks import build_tasks

if TYPE_CHECKING:
    from fullcount.model import Run, RunTally, Trial
    from fullcount.notices import Report
    from fullcount.plugin import Context, Sink
    from fullcount_croissant.options import CroissantOptions
    from fullcount_croissant.words import Counted

__all__ = ["CroissantWriter"]

_MISSING_LICENSE = (
    "'croissant', option 'license': is missing, and a dataset cannot be published without one; "
    "give an SPDX identifier or a URL, such as license=CC-BY-4.0"
)


class CroissantWriter:
    """One dataset of all runs; trials and scores are written as they come.

    Args:
        sink: The dataset's folder.
        options: What can be set about it.
        report: Where it is noted what the description lacks.
        context: Clock and content policy.

    Raises:
        OptionError: There is no license.
        MissingDependencyError: The dataset is to be checked, and mlcroissant is not installed.
    """

    def __init__(
        self, sink: Sink, options: CroissantOptions, report: Report, context: Context
    ) -> None:
        if options.license is None:
            raise OptionError(_MISSING_LICENSE)
        require(options)
        self._sink = sink
        self._options = options
        self._report = report
        self._context = context
        self._tables = {
            table.name: TableWriter(
                sink, table, context.content, options.row_group_size, options.max_file_size
            )
            for table in TABLES
        }
        self._trials = self._tables["trials"]
        self._scores = self._tables["scores"]
        self._runs: list[Counted] = []
        self._sources: dict[str, str] = {}
        self._run: Run | None = None
        self._rows: Rows | None = None

    def begin(self, run: Run) -> None:
        """Start the run's partition.

        Raises:
            ExportError: A run of the same id is in the dataset already.
        """
        path = run.source.path or "one of the inputs"
        if run.id in self._sources:
            msg = (
                f"run {quoted(run.id)} is in {quoted(self._sources[run.id])} and again in "
                f"{quoted(path)}: its trials would count twice; leave one of them out"
            )
            raise ExportError(msg)
        self._sources[run.id] = path
        self._run = run
        self._rows = Rows(run, self._context.content)
        for table in (self._trials, self._scores):
            table.begin(run.id, partition=self._options.partition)

    def add(self, trial: Trial) -> None:
        """Write the trial's row and those of its scores."""
        assert self._rows is not None  # noqa: S101 - between begin and end
        row, scores = self._rows.trial(trial)
        self._trials.add(row)
        for score in scores:
            self._scores.add(score)

    def end(self, tally: RunTally) -> None:
        """Write what the run's trials add up to."""
        assert self._run is not None  # noqa: S101 - between begin and end
        assert self._rows is not None  # noqa: S101 - between begin and end
        rows = self._rows
        self._runs.append((self._run, tally))
        for name, found in (
            ("summary", rows.summary(tally)),
            ("runs", iter([rows.run(tally)])),
            ("reported", rows.reported()),
            ("findings", rows.findings(tally)),
        ):
            for row in found:
                self._tables[name].add(row)
        self._run = self._rows = None

    def close(self) -> None:
        """Complete the tables, then write what describes them."""
        if not self._runs:
            return
        for table in self._tables.values():
            table.close()
        tables = [table for table in self._tables.values() if table.parts]
        facts = facts_of(self._runs, self._options, self._context)
        text = card(self._runs, tables, facts, self._context)
        write_bytes(self._sink, "README.md", text.encode())
        if self._options.tasks:
            tasks = build_tasks(self._runs, facts, self._context)
            write_bytes(self._sink, "croissant-tasks.jsonld", serialize(tasks))
        # The description comes last: a folder that holds it holds the dataset.
        dataset = build(self._runs, tables, self._options, self._context, self._report)
        write_bytes(self._sink, "croissant.json", serialize(dataset))
