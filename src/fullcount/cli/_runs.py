"""Options and reading that the commands which decide have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from fullcount.cli._inputs import each_input
from fullcount.cli._options import pairs, reader_options
from fullcount.errors import FullcountError
from fullcount.notices import Report
from fullcount.pipeline import tally_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from fullcount.model import Run, RunTally

__all__ = ["reading_options", "tallied"]

_Command = TypeVar("_Command", bound="Callable[..., Any]")


def reading_options(command: _Command) -> _Command:
    """`--from` and `-R`, as every command that reads has them."""
    command = click.option(
        "-R",
        "--reader-option",
        "reading",
        metavar="KEY=VALUE",
        multiple=True,
        help="Option of the reader.",
    )(command)
    return click.option(
        "--from", "reader", metavar="NAME", help="Format to read, where it is not obvious."
    )(command)


def tallied(
    sources: Sequence[str], reader: str | None, reading: Sequence[str]
) -> Iterator[tuple[str, Run, RunTally]]:
    """Every run of the sources with the name of its input.

    Raises:
        FullcountError: A source cannot be read: a decision on the rest would be one on less than
            was asked for.
    """
    report = Report()
    for item in each_input(sources, report, reader, reader_options(pairs(reading, "-R"))):
        if isinstance(item, FullcountError):
            raise item
        for run, tally in tally_runs(item, report):
            yield item.source.shown, run, tally
