"""What only a terminal gets to see; this module imports rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from fullcount.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fullcount.cli._table import Column

__all__ = ["ProgressLine", "draw_table"]


def draw_table(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Draw a table on standard output, folded to the width of the terminal."""
    table = Table(box=SIMPLE_HEAD)
    for column in columns:
        table.add_column(
            Text(column.title), justify="right" if column.number else "left", overflow="fold"
        )
    for row in rows:
        # Text, not str: brackets in a log are no markup.
        table.add_row(*map(Text, row))
    Console().print(table)


class ProgressLine:
    """One line on standard error that counts trials and goes away at the end of an input."""

    def __init__(self) -> None:
        self._progress: Progress | None = None

    def update(self, shown: str, trials: int) -> None:
        """Count trials of an input; a short input is done before a line would be of use."""
        if self._progress is None:
            if trials < 1000:
                return
            self._progress = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                TextColumn("{task.completed:,.0f} trials", markup=False),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
                # Standard output is data: nothing may be drawn into it.
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._progress.add_task(one_line(shown, 60), total=None)
            self._progress.start()
        for task in self._progress.task_ids:
            self._progress.advance(task, trials)

    def clear(self) -> None:
        """Take the line away."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
