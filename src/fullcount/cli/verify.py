"""`fullcount verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fullcount.cli._console import complain, emit, fail
from fullcount.cli._inputs import each_input
from fullcount.cli._options import pairs, reader_options
from fullcount.cli._stop import check
from fullcount.cli._summary import plural
from fullcount.errors import FullcountError, one_line
from fullcount.notices import Report
from fullcount.pipeline import tally_runs
from fullcount.receipts import compare, find_receipts, verify

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fullcount.model import Counts
    from fullcount.receipts import Receipt

__all__ = ["command"]


@click.command(
    name="verify",
    short_help="Count artifacts again and hold them against their receipts.",
)
@click.argument("artifacts", metavar="ARTIFACT...", nargs=-1, required=True)
@click.option(
    "--source",
    "sources",
    metavar="SRC",
    multiple=True,
    help="Read the source again too, and hold its counts against the artifact's.",
)
@click.option("--from", "reader", metavar="NAME", help="Format of SRC, where it is not obvious.")
@click.option(
    "-R",
    "--reader-option",
    "reading",
    metavar="KEY=VALUE",
    multiple=True,
    help="Option of the reader of SRC.",
)
def command(
    *, artifacts: Sequence[str], sources: Sequence[str], reader: str | None, reading: Sequence[str]
) -> int:
    """Check that each ARTIFACT (a file, a folder or a receipt) still holds what was written.

    Files are held against the digests of their receipt, and the counts are read again from the
    artifact's own fields. Standard output gets one line for each receipt.
    """
    options = reader_options(pairs(reading, "-R"))
    truth = dict(_counted(sources, reader, options)) if sources else None
    exit_code = 0
    done: set[Path] = set()
    checked = refused = 0
    for artifact in artifacts:
        try:
            receipts = list(find_receipts(Path(artifact)))
        except FullcountError as error:
            exit_code = exit_code or fail(error)
            continue
        for path in receipts:
            if path.absolute() in done:
                continue
            done.add(path.absolute())
            checked += 1
            try:
                receipt = verify(path)
                if truth is not None:
                    _against_source(receipt, truth, path)
            except FullcountError as error:
                check()
                refused += 1
                exit_code = exit_code or error.exit_code
                emit(f"failed  {one_line(_named(path, error))}")
            else:
                emit(f"ok      {one_line(f'{path}: {_summary(receipt)}')}")
    if refused:
        complain(f"error: {refused} of {plural(checked, 'receipt')} cannot be confirmed")
    return exit_code


def _counted(
    sources: Sequence[str], reader: str | None, options: dict[str, Any]
) -> Iterator[tuple[str, Counts]]:
    """The counts of every run of the sources.

    Raises:
        FullcountError: A source cannot be read: without it nothing can be confirmed.
    """
    for item in each_input(sources, Report(), reader, options):
        if isinstance(item, FullcountError):
            raise item
        for run, tally in tally_runs(item, Report()):
            yield run.id, tally.counts


def _against_source(receipt: Receipt, truth: dict[str, Counts], path: Path) -> None:
    """Hold the counts of an artifact against those of the source as it is now."""
    wanted = {counts.run_id for counts in receipt.counts_written}
    now = tuple(counts for run_id, counts in truth.items() if run_id in wanted)
    compare(now, receipt.counts_written, f"{path}, with the source read again")


def _named(path: Path, error: FullcountError) -> str:
    return str(error) if str(path) in str(error) else f"{path}: {error}"


def _summary(receipt: Receipt) -> str:
    counts = receipt.counts_written
    trials = sum(run.total for run in counts)
    unverified = sum(metric.unverified for run in counts for metric in run.metrics)
    return (
        f"{receipt.exporter}, {plural(len(receipt.files), 'file')}, {plural(len(counts), 'run')}, "
        f"{plural(trials, 'trial')}, {plural(unverified, 'unverified score')}"
    )
