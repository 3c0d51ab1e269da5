"""Serialized records on their way to a receiver: staged on disk, read back in batches."""

from __future__ import annotations

import struct
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

from fullcount_otel.encode_proto import frame, unframed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount_otel.encode_proto import Envelope
    from fullcount_otel.model import Signal

__all__ = ["Batch", "Gatherer", "Stage"]

_HEAD = struct.Struct("<QII")


@dataclass(frozen=True)
class Batch:
    """Records that travel in one request.

    Attributes:
        signal: What they are.
        envelope: What stands around them.
        frames: The serialized records, one after the other, each as a field of its request.
        count: How many.
    """

    signal: Signal
    envelope: Envelope
    frames: bytes
    count: int

    @property
    def weight(self) -> int:
        """What the receiver counts: log records, spans, or data points of metrics."""
        if self.signal != "metrics":
            return self.count
        return sum(map(_points, self.records()))

    def records(self) -> Iterator[bytes]:
        """The serialized records."""
        return unframed(self.frames)

    def body(self) -> bytes:
        """The serialized request."""
        return self.envelope.around(self.frames)

    def halves(self) -> tuple[Batch, Batch]:
        """The batch as two; it has at least two records."""
        records = list(map(frame, self.records()))
        middle = len(records) // 2
        first, second = records[:middle], records[middle:]
        return (
            Batch(self.signal, self.envelope, b"".join(first), len(first)),
            Batch(self.signal, self.envelope, b"".join(second), len(second)),
        )


def _points(record: bytes) -> int:
    metric = Metric.FromString(record)
    kind = metric.WhichOneof("data")
    return 0 if kind is None else len(getattr(metric, kind).data_points)


class Gatherer:
    """Puts records of one envelope together, up to a request of `limit` bytes.

    A record that is larger by itself travels alone.

    Args:
        signal: What the records are.
        limit: Largest request in bytes.
    """

    def __init__(self, signal: Signal, limit: int) -> None:
        self._signal = signal
        self._limit = limit
        self._envelope: Envelope | None = None
        self._frames: list[bytes] = []
        self._size = 0

    def add(self, envelope: Envelope, record: bytes) -> Batch | None:
        """Take a serialized record; give the batch that it no longer fits in."""
        framed = frame(record)
        done = None
        if self._frames and (
            envelope is not self._envelope or self._size + len(framed) > self._limit
        ):
            done = self.rest()
        if not self._frames:
            self._envelope = envelope
            self._size = envelope.size
        self._frames.append(framed)
        self._size += len(framed)
        return done

    def rest(self) -> Batch | None:
        """The batch that was begun."""
        if self._envelope is None or not self._frames:
            return None
        batch = Batch(self._signal, self._envelope, b"".join(self._frames), len(self._frames))
        self._frames = []
        return batch


class Stage:
    """Batches of one signal, in a file without a name.

    Nothing is sent before the whole input was read and counted: a receiver cannot take back
    what it was given of an input that turns out to be damaged.

    Args:
        signal: What the records are.
        limit: Largest request in bytes.
    """

    def __init__(self, signal: Signal, limit: int) -> None:
        self._signal = signal
        self._gatherer = Gatherer(signal, limit)
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._envelopes: list[Envelope] = []

    def begin(self, envelope: Envelope) -> None:
        """Records under this envelope follow."""
        self._envelopes.append(envelope)

    def add(self, record: bytes) -> None:
        """Keep a serialized record."""
        self._write(self._gatherer.add(self._envelopes[-1], record))

    def _write(self, batch: Batch | None) -> None:
        if batch is not None:
            # A batch is of the run that is being written, or of the one before it.
            index = next(
                number
                for number in range(len(self._envelopes) - 1, -1, -1)
                if self._envelopes[number] is batch.envelope
            )
            self._file.write(_HEAD.pack(len(batch.frames), batch.count, index))
            self._file.write(batch.frames)

    def batches(self) -> Iterator[Batch]:
        """Everything that was kept, in order."""
        self._write(self._gatherer.rest())
        self._file.seek(0)
        while head := self._file.read(_HEAD.size):
            size, count, index = _HEAD.unpack(head)
            yield Batch(self._signal, self._envelopes[index], self._file.read(size), count)

    def close(self) -> None:
        """Give the file back."""
        self._file.close()
