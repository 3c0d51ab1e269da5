"""Sends OTLP/JSON lines again: what a conversion could not deliver, or any other such file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.errors import DamagedInputError, UnrecognizedInputError, one_line
from fullcount.interrupts import DeferredInterrupts
from fullcount_otel.batches import Gatherer
from fullcount_otel.delivery import Account, Delivery
from fullcount_otel.http import Connection
from fullcount_otel.otlp_json import records_of
from fullcount_otel.sending import user_agent
from fullcount_otel.settings import destinations
from fullcount_otel.spool import SPOOL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from fullcount.notices import Report
    from fullcount.plugin import Context
    from fullcount_otel.batches import Batch
    from fullcount_otel.encode_proto import Envelope
    from fullcount_otel.model import Signal
    from fullcount_otel.options import TransportOptions

__all__ = ["resend", "spool_files"]


class _Unchanged:
    """The spool itself stays as it is, so nothing has to be kept."""

    def spool(self, batch: Batch) -> None:
        """Nothing to do."""

    def rejected(self, batch: Batch) -> None:
        """Nothing to do."""


def spool_files(given: Iterable[Path]) -> list[Path]:
    """The files that are meant: a file itself, or the spools of a folder.

    Raises:
        UnrecognizedInputError: There is none.
    """
    found: list[Path] = []
    for path in given:
        if path.is_dir():
            folder = path if path.name == SPOOL else path / SPOOL
            files = sorted(folder.glob("*.jsonl"))
            if not files:
                raise UnrecognizedInputError("holds no spool; name files", source=str(path))
            found.extend(files)
        elif path.is_file():
            found.append(path)
        else:
            raise UnrecognizedInputError("no such file or folder", source=str(path))
    return found


def resend(
    files: Iterable[Path],
    options: TransportOptions,
    environ: Mapping[str, str],
    context: Context,
    report: Report,
) -> dict[Signal, Account]:
    """Send every record of the files; the files stay as they are.

    Every line is read before anything is sent. Records keep their ids, so that sending a file
    twice gives duplicates that can be told as such.

    Args:
        files: OTLP/JSON lines.
        options: Where and how to send.
        environ: Holds the OTEL_EXPORTER_OTLP_* variables.
        context: Names the program in the User-Agent.
        report: Where failures are noted.

    Returns:
        For each signal that was sent, where its records are.

    Raises:
        DamagedInputError: A line is no OTLP/JSON; nothing was sent.
        OptionError: An option or variable does not fit.
    """
    every = list(files)
    to = destinations(options, environ)
    holds = {path: {signal for signal, _, _ in _records(path)} for path in every}
    accounts: dict[Signal, Account] = {}
    away: dict[tuple[str, int], str] = {}
    with DeferredInterrupts() as interrupts:
        for signal in ("traces", "logs", "metrics"):
            sources = [path for path in every if signal in holds[path]]
            if not sources or signal not in to:
                continue
            connection = Connection(to[signal], user_agent(context))
            place = (connection.to.host, connection.to.port)
            delivery = Delivery(
                signal,
                connection,
                _Unchanged(),
                attempts=options.attempts,
                report=report,
                interrupts=interrupts,
                advice="the spool is as it was",
                gave_up=away.get(place, ""),
            )
            try:
                delivery.send(_batches(signal, sources, options.batch_bytes))
            finally:
                connection.close()
            if delivery.away:
                away[place] = delivery.away
            accounts[signal] = delivery.account
    return accounts


def _batches(signal: Signal, files: Iterable[Path], limit: int) -> Iterator[Batch]:
    gatherer = Gatherer(signal, limit)
    for path in files:
        for found, envelope, record in _records(path):
            if found == signal and (batch := gatherer.add(envelope, record)) is not None:
                yield batch
    if (batch := gatherer.rest()) is not None:
        yield batch


def _records(path: Path) -> Iterator[tuple[Signal, Envelope, bytes]]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield from records_of(line)
                except ValueError as error:
                    problem = f"is no OTLP/JSON: {one_line(str(error), 160)}"
                    raise DamagedInputError(problem, source=str(path), line=number) from error
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise DamagedInputError(problem, source=str(path)) from error
