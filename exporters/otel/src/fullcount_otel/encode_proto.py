"""OTLP protobuf, built with opentelemetry-proto record by record.

Each record is serialized on its own, so that one which cannot be takes no other with it, and
so that a request can be bounded by its bytes. A request is put together from serialized parts:
fields of a message may be written one after the other.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from opentelemetry.proto.common.v1.common_pb2 import (
    AnyValue,
    ArrayValue,
    InstrumentationScope,
    KeyValue,
)
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, SeverityNumber
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AggregationTemporality,
    Gauge,
    Metric,
    NumberDataPoint,
    Sum,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource as ProtoResource
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from fullcount_otel import names
from fullcount_otel.parts import Fragments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fullcount_otel.model import (
        EvaluationEvent,
        MetricRecord,
        Point,
        Resource,
        SpanRecord,
        Value,
    )

__all__ = ["Envelope", "ProtoEncoder", "frame", "unframed"]

_SAMPLED = 1
_DOUBLE = struct.Struct("<d")
_CUMULATIVE = AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
_INFO, _WARN = SeverityNumber.SEVERITY_NUMBER_INFO, SeverityNumber.SEVERITY_NUMBER_WARN


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


_SIZES = tuple(map(_varint, range(4096)))


def _field(tag: bytes, body: bytes) -> bytes:
    size = len(body)
    return tag + (_SIZES[size] if size < 4096 else _varint(size)) + body


_FIRST, _SECOND, _THIRD, _ATTRIBUTES = b"\x0a", b"\x12", b"\x1a", b"\x32"
"""Tags of the length-delimited fields 1 to 3, and of 6, where a `LogRecord` has attributes."""


class Envelope:
    """What stands around the records of a request: resource, scope and schema.

    Resource and scope wrappers number their fields alike for logs, spans and metrics: resource
    1 and scope entries 2; scope 1, records 2 and schema URL 3.

    Args:
        resource: A serialized `Resource`.
        scope: A serialized `InstrumentationScope`.
        schema_url: The schema of the scope.
    """

    def __init__(self, resource: bytes, scope: bytes, schema_url: str) -> None:
        self.resource = resource
        self.scope = scope
        self.schema_url = schema_url
        self._resource = _field(_FIRST, resource)
        self._scope = _field(_FIRST, scope)
        self._schema = _field(_THIRD, schema_url.encode()) if schema_url else b""
        self.size = len(self._resource) + len(self._scope) + len(self._schema) + 20

    @classmethod
    def of(cls, resource: Resource) -> Envelope:
        """The envelope of a run."""
        return cls(
            ProtoResource(attributes=_attributes(resource.attributes)).SerializeToString(),
            InstrumentationScope(
                name=names.SCOPE, version=resource.scope_version
            ).SerializeToString(),
            names.SCHEMA_URL,
        )

    def around(self, frames: bytes) -> bytes:
        """A serialized request of framed records."""
        # Written out, so that the records are copied once.
        inner = len(self._scope) + len(frames) + len(self._schema)
        start = self._resource + _SECOND + _varint(inner) + self._scope
        size = len(start) + len(frames) + len(self._schema)
        return b"".join((_FIRST, _varint(size), start, frames, self._schema))


def frame(record: bytes) -> bytes:
    """A serialized record as a field of its scope's entry."""
    return _field(_SECOND, record)


def unframed(frames: bytes) -> Iterator[bytes]:
    """The records of frames that were put one after the other."""
    at = 0
    while at < len(frames):
        at += 1
        size = shift = 0
        while True:
            byte = frames[at]
            at += 1
            size |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
        yield frames[at : at + size]
        at += size


def _any_value(value: Value) -> AnyValue:
    if isinstance(value, str):
        return AnyValue(string_value=value)
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    return AnyValue(array_value=ArrayValue(values=map(_any_value, value)))


def _attributes(values: dict[str, Value]) -> list[KeyValue]:
    return [KeyValue(key=key, value=_any_value(value)) for key, value in values.items()]


def _log_attribute(name: str) -> Callable[[Value], bytes]:
    """Makes a serialized `LogRecord` with this attribute and nothing else.

    Texts and doubles, which are most of what has to be encoded anew, are framed here, ten times
    as fast: what stands before a text depends on nothing but its length, and before a double on
    nothing at all.
    """
    key = KeyValue(key=name).SerializeToString()
    heads: dict[int, bytes] = {}

    def whole(value: Value) -> bytes:
        any_value = _any_value(value).SerializeToString()
        return _field(_ATTRIBUTES, key + _field(_SECOND, any_value))

    before_double = whole(0.0)[: -_DOUBLE.size]

    def encode(value: Value) -> bytes:
        kind = type(value)
        if kind is float:
            return before_double + _DOUBLE.pack(value)
        if not isinstance(value, str):
            return whole(value)
        text = value.encode()
        size = len(text)
        head = heads.get(size)
        if head is None:
            framed = _field(_ATTRIBUTES, key + _field(_SECOND, _field(_FIRST, text)))
            head = framed[: len(framed) - size]
            if size < 4096:
                heads[size] = head
        return head + text

    return encode


_REMEMBERED = 4096
_TIME = struct.Struct("<BQ")
_TIME_TAG = LogRecord(time_unix_nano=1).SerializeToString()[0]
_SPAN_HEAD = LogRecord(span_id=bytes(range(8))).SerializeToString()[:-8]
"""What stands before a time and a span id, which nearly every event has its own of."""


class ProtoEncoder:
    """Encodes records as serialized OTLP messages."""

    def __init__(self) -> None:
        self._fragments: Fragments[bytes] = Fragments(_log_attribute, b"".join)
        self._starts: dict[tuple[str, str, int, bool], bytes] = {}

    def log(self, event: EvaluationEvent) -> bytes:
        """A serialized `LogRecord`."""
        score = event.score
        failed = score is not None and score.error_type is not None
        key = (event.event_name, event.trace_id, event.observed, failed)
        start = self._starts.get(key)
        if start is None:
            start = LogRecord(
                observed_time_unix_nano=event.observed,
                severity_number=_WARN if failed else _INFO,
                event_name=event.event_name,
                trace_id=bytes.fromhex(event.trace_id),
                flags=_SAMPLED,
            ).SerializeToString()
            if len(self._starts) >= _REMEMBERED:
                self._starts.clear()
            self._starts[key] = start
        pieces = [start]
        if event.time:
            pieces.append(_TIME.pack(_TIME_TAG, event.time))
        if event.span_id is not None:
            pieces.append(_SPAN_HEAD + bytes.fromhex(event.span_id))
        pieces += self._fragments.of(event)
        return b"".join(pieces)

    def span(self, span: SpanRecord) -> bytes:
        """A serialized `Span`."""
        message = Span(
            trace_id=bytes.fromhex(span.trace_id),
            span_id=bytes.fromhex(span.span_id),
            parent_span_id=bytes.fromhex(span.parent_span_id or ""),
            flags=_SAMPLED,
            name=span.name,
            kind=Span.SPAN_KIND_INTERNAL,
            start_time_unix_nano=span.start,
            end_time_unix_nano=span.end,
            attributes=_attributes(span.attributes),
            events=[
                Span.Event(
                    time_unix_nano=event.time,
                    name=event.name,
                    attributes=_attributes(event.attributes),
                )
                for event in span.events
            ],
            links=[
                Span.Link(
                    trace_id=bytes.fromhex(link.trace_id),
                    span_id=bytes.fromhex(link.span_id),
                    flags=_SAMPLED,
                )
                for link in span.links
            ],
        )
        message.status.SetInParent()
        if span.failed:
            message.status.code = Status.STATUS_CODE_ERROR
        return message.SerializeToString()

    def metric(self, metric: MetricRecord) -> bytes:
        """A serialized `Metric`."""
        points = [_point(point, metric) for point in metric.points]
        message = Metric(name=metric.name, description=metric.description, unit=metric.unit)
        if metric.kind == "sum":
            # The total of a finished run neither grows nor restarts.
            message.sum.CopyFrom(Sum(data_points=points, aggregation_temporality=_CUMULATIVE))
        else:
            message.gauge.CopyFrom(Gauge(data_points=points))
        return message.SerializeToString()


def _point(point: Point, metric: MetricRecord) -> NumberDataPoint:
    message = NumberDataPoint(
        attributes=_attributes(point.attributes),
        start_time_unix_nano=metric.start,
        time_unix_nano=metric.time,
    )
    if isinstance(point.value, int):
        message.as_int = point.value
    else:
        message.as_double = point.value
    return message
