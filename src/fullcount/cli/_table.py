"""Tables: drawn on a terminal, aligned text everywhere else."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fullcount.cli._console import emit
from fullcount.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Column", "emit_table"]


@dataclass(frozen=True)
class Column:
    """A column's title, and whether it holds numbers."""

    title: str
    number: bool = False


def emit_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; without a terminal its form depends on nothing but its content.

    Args:
        columns: Title and alignment of each column.
        rows: One text for each column; line breaks and control characters are made visible.
    """
    clean = [[one_line(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        from fullcount.cli import _terminal  # noqa: PLC0415 - rich is for terminals only

        _terminal.draw_table(columns, clean)
    else:
        _align(columns, clean)


def _align(columns: Sequence[Column], rows: list[list[str]]) -> None:
    lines = [[column.title for column in columns], *rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    for line in lines:
        cells = [
            cell.rjust(width) if column.number else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        ]
        emit(f"  {'  '.join(cells)}".rstrip())
