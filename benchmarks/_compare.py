"""Runs commands on the same input, turn by turn, and prints what each of them cost."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from _measure import Measured, measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["FULLCOUNT", "PEER", "PEER_VARIABLE", "Row", "growth", "program", "run", "table"]

FULLCOUNT = "fullcount"
PEER = "every_eval_ever"
PEER_VARIABLE = "EVERY_EVAL_EVER"


@dataclass(frozen=True)
class Row:
    """One command on one input.

    Attributes:
        kind: What kind of input it is.
        path: Where it is: a file or a folder.
        samples: How many samples it holds.
        what: Name of the command.
        result: What it cost.
    """

    kind: str
    path: Path
    samples: int
    what: str
    result: Measured

    @property
    def size(self) -> int:
        """Bytes of the input."""
        if self.path.is_file():
            return self.path.stat().st_size
        return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())


def run(
    rows: Sequence[Row],
    commands: Mapping[str, Sequence[str | Path]],
    out: Path,
    bytecode: Path,
    repeats: int,
) -> None:
    """Measure the command of every row so many times, in turns, so that all meet the same noise.

    A command that fails is not run again; what it wrote below `out` is removed each time.
    """
    # Lets Python keep what it compiles, as it does for an installed program.
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environ = kept | {"PYTHONPYCACHEPREFIX": str(bytecode)}
    for turn in range(repeats):
        for row in rows:
            if row.result.status == 0:
                print(f"{row.path.name}: {row.what}, run {turn + 1}", file=sys.stderr)
                measure(commands[row.what], row.result, environ)
                shutil.rmtree(out, ignore_errors=True)


def table(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table, each beside the peer's figures on the same input."""
    rows = list(rows)
    heads = (
        "log | samples | MB | command | user s, min / median | user + system s | peak MB | user "
        f"time and peak, of {PEER}'s"
    )
    lines = [f"| {heads} |", "|---|---:|---:|---|---:|---:|---:|---|"]
    peers = {row.path: row.result for row in rows if row.what == PEER and row.result.status == 0}
    for row in rows:
        result = row.result
        peer = peers.get(row.path)
        note = ""
        if result.status:
            note = f"fails ({result.status}): {result.last_line}".replace("|", "\\|")[:160]
        elif peer is not None and peer is not result:
            time, size = min(peer.user) / min(result.user), peer.peak / result.peak
            note = f"1/{time:.1f} and 1/{size:.1f}"
        lines.append(
            f"| {row.kind} | {row.samples} | {row.size / 1e6:.1f} "
            f"| {row.what} | {min(result.user):.2f} / {median(result.user):.2f} "
            f"| {median(result.processor):.2f} | {result.peak / 1e6:.0f} | {note} |"
        )
    return "\n".join(lines)


def growth(rows: Iterable[Row]) -> list[str]:
    """How the peak of fullcount grows from the smallest input of a kind to the largest."""
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        if row.what == FULLCOUNT:
            kinds.setdefault(row.kind, []).append(row)
    lines = []
    for kind, ours in kinds.items():
        ours.sort(key=lambda row: row.samples)
        if len(ours) > 1 and not any(row.result.status for row in ours):
            first, last = ours[0], ours[-1]
            lines.append(
                f"fullcount on {kind}: peak {first.result.peak / 1e6:.0f} MB at "
                f"{first.samples} samples, {last.result.peak / 1e6:.0f} MB at {last.samples}."
            )
    return lines


def program(name: str, chosen: str | None) -> str | None:
    """The path of a program, or None where there is none."""
    beside = shutil.which(name, path=str(Path(sys.executable).parent))
    return shutil.which(chosen) if chosen else beside or shutil.which(name)
