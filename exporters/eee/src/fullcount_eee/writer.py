"""Writes each run as an aggregate file and, beside it, a samples file."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, BinaryIO

from fullcount_eee.aggregate import document, samples_reference
from fullcount_eee.identity import identify
from fullcount_eee.losses import report_rows, report_unstated
from fullcount_eee.rows import RowBuilder

if TYPE_CHECKING:
    from fullcount.model import Run, RunTally, Trial
    from fullcount.notices import Report
    from fullcount.plugin import Context, Sink
    from fullcount_eee.identity import Identity
    from fullcount_eee.options import EeeOptions

__all__ = ["EeeWriter"]

_BATCH = 1 << 16


class EeeWriter:
    """Two files for each run; the samples file only where there is a row for it.

    Args:
        sink: Where the files go.
        options: What the format asks for and a log does not hold.
        report: Where losses go that depend on the data.
        context: Clock, ids and content policy.
    """

    def __init__(self, sink: Sink, options: EeeOptions, report: Report, context: Context) -> None:
        self._sink = sink
        self._options = options
        self._report = report
        self._context = context
        self._run: _OpenRun | None = None

    def begin(self, run: Run) -> None:
        """File the run."""
        self._run = _OpenRun(run, identify(run, self._options, self._context), self._sink)

    def add(self, trial: Trial) -> None:
        """Write the trial's rows, if there are any."""
        if self._options.samples and self._run is not None:
            self._run.add(trial)

    def end(self, tally: RunTally) -> None:
        """Complete the samples file and write the aggregate file."""
        if self._run is None:
            return
        run, identity, samples = self._run.run, self._run.identity, self._run.finish()
        aggregate = document(run, tally, identity, self._options, self._context)
        if samples is not None:
            aggregate["detailed_evaluation_results"] = samples_reference(identity, *samples)
        text = json.dumps(aggregate, ensure_ascii=True, allow_nan=False, indent=1)
        with self._sink.open(identity.aggregate_path) as file:
            file.write(text.encode("ascii") + b"\n")
        report_rows(self._report, self._run.rows)
        report_unstated(self._report, run, identity, self._options)
        self._run = None

    def close(self) -> None:
        """Nothing is left open."""


class _OpenRun:
    """A run while its trials come in; its samples file is opened with the first row."""

    def __init__(self, run: Run, identity: Identity, sink: Sink) -> None:
        self.run = run
        self.identity = identity
        self.rows = RowBuilder(run, identity)
        self._sink = sink
        self._file: BinaryIO | None = None
        self._digest = sha256()
        self._lines: list[str] = []
        self._length = 0
        self._count = 0

    def add(self, trial: Trial) -> None:
        lines = self.rows.lines(trial)
        self._lines += lines
        self._length += sum(map(len, lines))
        if self._length >= _BATCH:
            self._flush()

    def finish(self) -> tuple[str, int] | None:
        """Checksum and rows of the samples file; None where there is none."""
        if self._lines:
            self._flush()
        if self._file is None:
            return None
        self._file.close()
        return self._digest.hexdigest(), self._count

    def _flush(self) -> None:
        if self._file is None:
            self._file = self._sink.open(self.identity.samples_path)
        data = "".join(self._lines).encode("ascii")
        self._digest.update(data)
        self._file.write(data)
        self._count += len(self._lines)
        self._lines.clear()
        self._length = 0
