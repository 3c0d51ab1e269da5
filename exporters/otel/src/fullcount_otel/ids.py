"""Deterministic ids and exact times: the same run gives the same ones whenever it is sent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fullcount.model import Run, Trial

__all__ = ["TrialIds", "metric_id", "nanoseconds", "run_span_id", "run_trace_id"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LATEST = 2**64


def nanoseconds(instant: datetime | None) -> int | None:
    """Nanoseconds since 1970; None for no instant and for one that OTLP cannot hold."""
    if instant is None:
        return None
    value = (instant - _EPOCH) // _MICROSECOND * 1000
    return value if 0 <= value < _LATEST else None


def _digest(size: int, text: str) -> str:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
    # All zeros is no valid id.
    return digest if digest.strip("0") else "1" * (2 * size)


def run_trace_id(run: Run) -> str:
    """The trace that a run's own spans are in."""
    return _digest(16, f"run:{run.id}")


def run_span_id(run: Run) -> str:
    """The run's span."""
    return _digest(8, f"run:{run.id}")


def metric_id(evaluator: str, metric: str) -> str:
    """What the ids of a metric's records have in common."""
    return _digest(8, f"metric:{len(evaluator)}:{evaluator}{metric}")


class TrialIds:
    """Ids of one trial's span and of the records of its metrics.

    A trial is known by its case and attempt, and by its record in the source, so that two
    records of one attempt stay two. Where the source neither names nor places its records, the
    trial's number in the stream tells them apart.

    Args:
        run_id: Id of its run.
        trial: The trial.
        number: How many trials of the run came before it.
    """

    __slots__ = ("_key", "span_id")

    def __init__(self, run_id: str, trial: Trial, number: int) -> None:
        case, place = trial.case_id, trial.pointer or ""
        record = (trial.trace and trial.trace.record_id) or ""
        if not record and not place:
            place = f"#{number}"
        # Lengths before the texts: no two trials give the same line.
        self._key = _digest(
            16,
            f"{len(run_id)}:{run_id}{trial.case_id_type}{len(case)}:{case}{trial.attempt}:"
            f"{len(record)}:{record}{place}",
        )
        self.span_id = self._key[:16] if self._key[:16].strip("0") else self._key[16:]

    def record_id(self, metric: str = "") -> str:
        """Id of the record of the metric with this `metric_id`; without, of the trial itself."""
        return self._key + metric
