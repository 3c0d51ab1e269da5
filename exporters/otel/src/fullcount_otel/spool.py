"""What a receiver did not accept, as OTLP/JSON lines that can be sent again."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from fullcount.plugin import Sink
    from fullcount_otel.batches import Batch
    from fullcount_otel.model import Signal

__all__ = ["SPOOL", "Spool"]

SPOOL = "spool"
"""Folder of the spools, below the folder of the artifacts."""


class Spool:
    """Files of one signal, opened when something has to be kept.

    Args:
        sink: Where files go.
        stem: How their names begin.
        signal: What is kept.
    """

    def __init__(self, sink: Sink, stem: str, signal: Signal) -> None:
        self._sink = sink
        self._stem = stem
        self._signal = signal
        self._files: dict[str, BinaryIO] = {}

    def spool(self, batch: Batch) -> None:
        """Keep a batch that the receiver did not take."""
        self._write("spooled", batch)

    def rejected(self, batch: Batch) -> None:
        """Keep a batch of which the receiver refused some, and did not say which."""
        self._write("rejected", batch)

    def close(self) -> None:
        """Complete the files."""
        for file in self._files.values():
            file.close()

    def _write(self, what: str, batch: Batch) -> None:
        from fullcount_otel.otlp_json import lines_of  # noqa: PLC0415 - needs the extra

        if what not in self._files:
            name = f"{SPOOL}/{self._stem}.{what}.{self._signal}.jsonl"
            self._files[what] = self._sink.open(name)
        for line in lines_of(batch):
            self._files[what].write(line)
