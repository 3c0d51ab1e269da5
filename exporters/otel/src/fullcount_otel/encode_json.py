"""OTLP/JSON lines: one line for each batch, one file for each signal, no SDK.

The format is the OTLP file exporter's (specification, status Development), which the
Collector's `otlpjsonfile` receiver reads: ids are hexadecimal, 64-bit integers are strings,
enumerations are numbers. That receiver cuts lines at 1 MiB unless told otherwise, so lines
stay well below.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, BinaryIO

from fullcount_otel import names
from fullcount_otel.parts import Fragments

if TYPE_CHECKING:
    from collections.abc import Callable

    from fullcount_otel.model import (
        EvaluationEvent,
        MetricRecord,
        Point,
        Resource,
        Signal,
        SpanRecord,
        Value,
    )

__all__ = ["KEYS", "LINE_BYTES", "JsonEncoder", "JsonLines", "envelope"]

LINE_BYTES = 500_000
"""A line is ended before it grows longer; only a single record may be longer."""
_INFO, _WARN = 9, 13
"""Severity of an evaluation, and of one that failed."""
KEYS: dict[Signal, tuple[str, str, str]] = {
    "logs": ("resourceLogs", "scopeLogs", "logRecords"),
    "traces": ("resourceSpans", "scopeSpans", "spans"),
    "metrics": ("resourceMetrics", "scopeMetrics", "metrics"),
}
_text = json.encoder.encode_basestring
_INTERNAL = 1
_ERROR = 2
_CUMULATIVE = 2
_SAMPLED = 1


def _any_value(value: Value) -> str:
    if isinstance(value, str):
        return '{"stringValue":' + _text(value) + "}"
    if isinstance(value, bool):
        return '{"boolValue":true}' if value else '{"boolValue":false}'
    if isinstance(value, int):
        return f'{{"intValue":"{value}"}}'
    if isinstance(value, float):
        return f'{{"doubleValue":{value!r}}}'
    return '{"arrayValue":{"values":[' + ",".join(map(_any_value, value)) + "]}}"


def _attribute(key: str, value: Value) -> str:
    return '{"key":' + _text(key) + ',"value":' + _any_value(value) + "}"


def _record_attribute(name: str) -> Callable[[Value], str]:
    start = '{"key":' + _text(name) + ',"value":'
    text_start = start + '{"stringValue":'

    def encode(value: Value) -> str:
        if isinstance(value, str):
            return text_start + _text(value) + "}}"
        return start + _any_value(value) + "}"

    return encode


def _attributes(values: dict[str, Value]) -> str:
    return "[" + ",".join(_attribute(key, value) for key, value in values.items()) + "]"


def envelope(signal: Signal, resource: Resource) -> tuple[bytes, bytes]:
    """What stands before and after the records of a line."""
    outer, middle, inner = KEYS[signal]
    scope = f'{{"name":"{names.SCOPE}","version":{_text(resource.scope_version)}}}'
    start = (
        f'{{"{outer}":[{{"resource":{{"attributes":{_attributes(resource.attributes)}}},'
        f'"{middle}":[{{"scope":{scope},"{inner}":['
    )
    return start.encode(), f'],"schemaUrl":"{names.SCHEMA_URL}"}}]}}]}}\n'.encode()


class JsonEncoder:
    """Encodes records as OTLP/JSON objects, without what stands around them."""

    def __init__(self) -> None:
        self._fragments: Fragments[str] = Fragments(_record_attribute, ",".join)

    def log(self, event: EvaluationEvent) -> bytes:
        """A `LogRecord`."""
        score = event.score
        severity = _WARN if score is not None and score.error_type is not None else _INFO
        time = "" if event.time is None else f'"timeUnixNano":"{event.time}",'
        span = "" if event.span_id is None else f'"spanId":"{event.span_id}",'
        return (
            f'{{{time}"observedTimeUnixNano":"{event.observed}","severityNumber":{severity},'
            f'"eventName":{_text(event.event_name)},"traceId":"{event.trace_id}",{span}'
            f'"flags":{_SAMPLED},"attributes":[' + ",".join(self._fragments.of(event)) + "]}"
        ).encode()

    def span(self, span: SpanRecord) -> bytes:
        """A `Span`."""
        parent = f'"parentSpanId":"{span.parent_span_id}",' if span.parent_span_id else ""
        events = ",".join(
            f'{{"timeUnixNano":"{event.time}","name":{_text(event.name)},'
            f'"attributes":{_attributes(event.attributes)}}}'
            for event in span.events
        )
        links = ",".join(
            f'{{"traceId":"{link.trace_id}","spanId":"{link.span_id}","flags":{_SAMPLED}}}'
            for link in span.links
        )
        status = f'{{"code":{_ERROR}}}' if span.failed else "{}"
        return (
            f'{{"traceId":"{span.trace_id}","spanId":"{span.span_id}",{parent}'
            f'"flags":{_SAMPLED},"name":{_text(span.name)},"kind":{_INTERNAL},'
            f'"startTimeUnixNano":"{span.start}","endTimeUnixNano":"{span.end}",'
            f'"attributes":{_attributes(span.attributes)},"events":[{events}],'
            f'"links":[{links}],"status":{status}}}'
        ).encode()

    def metric(self, metric: MetricRecord) -> bytes:
        """A `Metric`."""
        points = ",".join(self._point(point, metric) for point in metric.points)
        if metric.kind == "sum":
            data = (
                f'"sum":{{"dataPoints":[{points}],'
                f'"aggregationTemporality":{_CUMULATIVE},"isMonotonic":false}}'
            )
        else:
            data = f'"gauge":{{"dataPoints":[{points}]}}'
        return (
            f'{{"name":{_text(metric.name)},"description":{_text(metric.description)},'
            f'"unit":{_text(metric.unit)},{data}}}'
        ).encode()

    def _point(self, point: Point, metric: MetricRecord) -> str:
        value = point.value
        number = f'"asInt":"{value}"' if isinstance(value, int) else f'"asDouble":{value!r}'
        return (
            f'{{"attributes":{_attributes(point.attributes)},'
            f'"startTimeUnixNano":"{metric.start}","timeUnixNano":"{metric.time}",{number}}}'
        )


class JsonLines:
    """Records of one signal, gathered into lines.

    Args:
        file: Where the lines go.
        signal: What the records are.
    """

    def __init__(self, file: BinaryIO, signal: Signal) -> None:
        self._file = file
        self._signal = signal
        self._around = (b"", b"")
        self._records: list[bytes] = []
        self._size = 0
        self.too_long = 0
        """Records that make a line longer than the Collector's default takes."""

    def begin(self, resource: Resource) -> None:
        """Records of this resource follow."""
        self.flush()
        self._around = envelope(self._signal, resource)

    def add(self, record: bytes) -> None:
        """Write one encoded record, sooner or later."""
        if self._records and self._size + len(record) > LINE_BYTES:
            self.flush()
        if len(record) > 2 * LINE_BYTES:
            self.too_long += 1
        self._records.append(record)
        self._size += len(record) + 1

    def flush(self) -> None:
        """End the line."""
        if self._records:
            start, end = self._around
            self._file.write(start + b",".join(self._records) + end)
            self._records.clear()
            self._size = 0

    def close(self) -> None:
        """End the last line and the file."""
        self.flush()
        self._file.close()
