"""Stages records of every signal and sends them in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount_otel.batches import Stage
from fullcount_otel.delivery import Delivery
from fullcount_otel.http import Connection
from fullcount_otel.settings import destinations
from fullcount_otel.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fullcount.notices import Report
    from fullcount.plugin import Context, Interrupts, Sink
    from fullcount_otel.model import Signal
    from fullcount_otel.options import OtelOptions

__all__ = ["Sender", "user_agent"]


def user_agent(context: Context) -> str:
    """How we name ourselves to a receiver."""
    return f"{context.tool}/{context.tool_version} OTLP-HTTP"


class Sender:
    """Sends traces first, so that a store knows the run before its events.

    Args:
        sink: Where spools go.
        options: Where and how to send.
        environ: Holds the OTEL_EXPORTER_OTLP_* variables.
        context: Names the program in the User-Agent.
        report: Where failures are noted.

    Raises:
        OptionError: An option or variable does not fit.
    """

    def __init__(
        self,
        sink: Sink,
        options: OtelOptions,
        environ: Mapping[str, str],
        context: Context,
        report: Report,
    ) -> None:
        self._sink = sink
        self._options = options
        self._report = report
        found = destinations(options, environ)
        agent = user_agent(context)
        # Made before anything is read, so that a bad certificate is known at once.
        self._connections = {signal: Connection(to, agent) for signal, to in found.items()}
        self.stages: dict[Signal, Stage] = {
            signal: Stage(signal, options.batch_bytes)
            for signal in ("traces", "logs", "metrics")
            if signal in found
        }

    def send(self, stem: str, interrupts: Interrupts) -> dict[str, Any]:
        """Send everything; say for each signal where its records are."""
        found: dict[str, Any] = {}
        away: dict[tuple[str, int], str] = {}
        for signal, stage in self.stages.items():
            spool = Spool(self._sink, stem, signal)
            connection = self._connections[signal]
            # Where nobody answers one signal, the next need not wait for it again.
            place = (connection.to.host, connection.to.port)
            delivery = Delivery(
                signal,
                connection,
                spool,
                attempts=self._options.attempts,
                report=self._report,
                interrupts=interrupts,
                advice="they are in the spool, for 'fullcount otel resend'",
                gave_up=away.get(place, ""),
            )
            try:
                delivery.send(stage.batches())
            finally:
                connection.close()
                stage.close()
            spool.close()
            if delivery.away:
                away[place] = delivery.away
            found[signal] = delivery.account.numbers()
        return found
