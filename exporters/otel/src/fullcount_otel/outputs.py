"""Where records go: to files, or to a stage from which they are sent."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from fullcount.errors import MissingDependencyError
from fullcount_otel.encode_json import JsonEncoder, JsonLines

if TYPE_CHECKING:
    from fullcount.notices import Report
    from fullcount.plugin import Context, Interrupts, Sink
    from fullcount_otel.model import EvaluationEvent, MetricRecord, Resource, Signal, SpanRecord
    from fullcount_otel.options import OtelOptions

__all__ = ["FileOutput", "SendOutput"]


class FileOutput:
    """OTLP/JSON lines, a file for each signal.

    Args:
        sink: Where files go.
        stem: How their names begin.
        signals: Which files to write.
    """

    def __init__(self, sink: Sink, stem: str, signals: tuple[Signal, ...]) -> None:
        self._encoder = JsonEncoder()
        self._lines = {
            signal: JsonLines(sink.open(f"{stem}.{signal}.jsonl"), signal) for signal in signals
        }

    @property
    def too_long(self) -> int:
        """Records that make a line longer than the Collector's default takes."""
        return sum(lines.too_long for lines in self._lines.values())

    def begin(self, resource: Resource) -> None:
        """Records of this run follow."""
        for lines in self._lines.values():
            lines.begin(resource)

    def log(self, event: EvaluationEvent) -> None:
        """Write an event."""
        self._lines["logs"].add(self._encoder.log(event))

    def span(self, span: SpanRecord) -> None:
        """Write a span."""
        self._lines["traces"].add(self._encoder.span(span))

    def metric(self, metric: MetricRecord) -> None:
        """Write a metric."""
        self._lines["metrics"].add(self._encoder.metric(metric))

    def close(self) -> None:
        """Complete the files."""
        for lines in self._lines.values():
            lines.close()


class SendOutput:
    """Protobuf records, staged until the whole input has been read, then sent.

    Args:
        sink: Where spools go.
        stem: How their names begin.
        options: Where and how to send.
        context: Names the program in the User-Agent.
        report: Where failures are noted.

    Raises:
        MissingDependencyError: The extra `otel` is not installed.
        OptionError: An option or a variable of the environment does not fit.
    """

    def __init__(self, sink: Sink, options: OtelOptions, context: Context, report: Report) -> None:
        try:
            from fullcount_otel import encode_proto, sending  # noqa: PLC0415 - needs the extra
        except ModuleNotFoundError as error:
            msg = f"endpoint needs {error.name!r}; run: pip install 'fullcount[otel]'"
            raise MissingDependencyError(msg) from None
        self._proto = encode_proto
        self._encoder = encode_proto.ProtoEncoder()
        self._sender = sending.Sender(sink, options, os.environ, context, report)

    def begin(self, resource: Resource) -> None:
        """Records of this run follow."""
        envelope = self._proto.Envelope.of(resource)
        for stage in self._sender.stages.values():
            stage.begin(envelope)

    def log(self, event: EvaluationEvent) -> None:
        """Stage an event."""
        stage = self._sender.stages.get("logs")
        if stage is not None:
            stage.add(self._encoder.log(event))

    def span(self, span: SpanRecord) -> None:
        """Stage a span."""
        stage = self._sender.stages.get("traces")
        if stage is not None:
            stage.add(self._encoder.span(span))

    def metric(self, metric: MetricRecord) -> None:
        """Stage a metric."""
        stage = self._sender.stages.get("metrics")
        if stage is not None:
            stage.add(self._encoder.metric(metric))

    def send(self, stem: str, interrupts: Interrupts) -> dict[str, Any]:
        """Send everything; say where each record is."""
        return self._sender.send(stem, interrupts)
