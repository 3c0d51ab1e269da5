"""`fullcount retry`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fullcount.cli._console import emit_json, fail, say
from fullcount.cli._inputs import each_input
from fullcount.cli._options import pairs, reader_options
from fullcount.cli._runs import reading_options
from fullcount.cli._summary import plural
from fullcount.decide.retry import retry_record
from fullcount.errors import FullcountError
from fullcount.model import RetryClass
from fullcount.notices import Report
from fullcount.pipeline import open_runs
from fullcount.plugin import ContentPolicy, ReadRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["command"]

_CLASSES = [each.value for each in RetryClass]


@click.command(name="retry", short_help="List what to run, grade or look at again.")
@click.argument("sources", metavar="SRC...", nargs=-1, required=True)
@click.option(
    "--class",
    "classes",
    type=click.Choice(_CLASSES),
    multiple=True,
    help="List these alone; by default all but none.",
)
@reading_options
def command(
    *, sources: Sequence[str], classes: Sequence[str], reader: str | None, reading: Sequence[str]
) -> int:
    """List the trials of SRC that lack a measurement, one JSON object a line, for a harness.

    \b
    rerun            it never started: run it again
    regrade          only the evaluation failed: grade the retained output again
    reconcile_first  it may have had effects: look before it is run again
    none             it has its measurements, or none was sought
    """  # noqa: D301 - click's mark of a paragraph that stays as it is
    wanted = frozenset(classes or set(_CLASSES) - {RetryClass.NONE.value})
    counts = dict.fromkeys(_CLASSES, 0)
    exit_code = 0
    report = Report()
    request = ReadRequest(ContentPolicy.OMIT, report, survey=True)
    for item in each_input(sources, report, reader, reader_options(pairs(reading, "-R"))):
        if isinstance(item, FullcountError):
            exit_code = exit_code or fail(item)
            continue
        try:
            for stream in open_runs(item, request):
                for trial in stream.trials:
                    record = retry_record(stream.run, trial)
                    counts[record["retry"]] += 1
                    if record["retry"] in wanted:
                        emit_json(record)
        except FullcountError as error:
            exit_code = exit_code or fail(error, item.source.shown)
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    say(f"{plural(sum(counts.values()), 'trial')}: {told or 'none'}")
    return exit_code
