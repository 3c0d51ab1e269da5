"""Between serialized OTLP messages and OTLP/JSON lines, in both directions.

The JSON mapping of OTLP is protobuf's, but for trace and span ids, which are hexadecimal and
not base64, and for enumerations, which are numbers.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from typing import TYPE_CHECKING, Any

from google.protobuf import json_format
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, LogsData
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, MetricsData
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData
from pydantic_core import to_json

from fullcount_otel.encode_json import KEYS, LINE_BYTES
from fullcount_otel.encode_proto import Envelope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from google.protobuf.message import Message

    from fullcount_otel.batches import Batch
    from fullcount_otel.model import Signal

__all__ = ["lines_of", "records_of"]

_IDS = frozenset({"traceId", "spanId", "parentSpanId"})
_MESSAGES: dict[Signal, type[Message]] = {"logs": LogRecord, "traces": Span, "metrics": Metric}
_DOCUMENTS: dict[Signal, type[Message]] = {
    "logs": LogsData,
    "traces": TracesData,
    "metrics": MetricsData,
}
_FIELDS: dict[Signal, tuple[str, str, str]] = {
    "logs": ("resource_logs", "scope_logs", "log_records"),
    "traces": ("resource_spans", "scope_spans", "spans"),
    "metrics": ("resource_metrics", "scope_metrics", "metrics"),
}


def lines_of(batch: Batch) -> Iterator[bytes]:
    """A batch as OTLP/JSON lines."""
    outer, middle, inner = KEYS[batch.signal]
    envelope = batch.envelope
    resource = _document(Resource.FromString(envelope.resource))
    scope: dict[str, Any] = {
        "scope": _document(InstrumentationScope.FromString(envelope.scope)),
        inner: ["\0"],
    }
    if envelope.schema_url:
        scope["schemaUrl"] = envelope.schema_url
    around = json.dumps(
        {outer: [{"resource": resource, middle: [scope]}]},
        ensure_ascii=False,
        separators=(",", ":"),
    )
    start, end = (part.encode() for part in around.split('"\\u0000"'))
    end += b"\n"
    held: list[bytes] = []
    size = 0
    for record in batch.records():
        text = _record(batch.signal, record)
        if held and size + len(text) > LINE_BYTES:
            yield start + b",".join(held) + end
            held, size = [], 0
        held.append(text)
        size += len(text) + 1
    if held:
        yield start + b",".join(held) + end


def _record(signal: Signal, record: bytes) -> bytes:
    if signal == "logs":
        document = _log(LogRecord.FromString(record))
    else:
        document = _document(_MESSAGES[signal].FromString(record))
    return to_json(document)


def _log(record: LogRecord) -> dict[str, Any]:
    """A log record; the general way takes ten times as long, and there may be very many."""
    document: dict[str, Any] = {
        "timeUnixNano": record.time_unix_nano and str(record.time_unix_nano),
        "observedTimeUnixNano": record.observed_time_unix_nano
        and str(record.observed_time_unix_nano),
        "severityNumber": record.severity_number,
        "severityText": record.severity_text,
        "eventName": record.event_name,
        "traceId": record.trace_id.hex(),
        "spanId": record.span_id.hex(),
        "flags": record.flags,
        "body": record.HasField("body") and _value(record.body),
        "attributes": _pairs(record.attributes),
        "droppedAttributesCount": record.dropped_attributes_count,
    }
    # In protobuf a zero or an empty text is the same as nothing.
    return {key: value for key, value in document.items() if value}


def _pairs(pairs: Iterable[KeyValue]) -> list[dict[str, Any]]:
    return [{"key": pair.key, "value": _value(pair.value)} for pair in pairs]


def _value(value: AnyValue) -> dict[str, Any]:  # noqa: PLR0911 - one for each kind
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return {"stringValue": value.string_value}
    if kind == "int_value":
        return {"intValue": str(value.int_value)}
    if kind == "bool_value":
        return {"boolValue": value.bool_value}
    if kind == "double_value":
        return {"doubleValue": _double(value.double_value)}
    if kind == "array_value":
        return {"arrayValue": {"values": [_value(part) for part in value.array_value.values]}}
    if kind == "kvlist_value":
        return {"kvlistValue": {"values": _pairs(value.kvlist_value.values)}}
    if kind == "bytes_value":
        return {"bytesValue": base64.b64encode(value.bytes_value).decode()}
    return {}


def _double(number: float) -> float | str:
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _document(message: Message) -> dict[str, Any]:
    document: dict[str, Any] = json_format.MessageToDict(message, use_integers_for_enums=True)
    _change_ids(document, lambda text: base64.b64decode(text).hex())
    return document


def _change_ids(value: Any, change: Any) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in _IDS and isinstance(item, str):
                value[key] = change(item)
            else:
                _change_ids(item, change)
    elif isinstance(value, list):
        for item in value:
            _change_ids(item, change)


def records_of(line: bytes) -> Iterator[tuple[Signal, Envelope, bytes]]:
    """The records of an OTLP/JSON line, serialized.

    Raises:
        ValueError: It is none; the message says why.
    """
    try:
        document = json.loads(line)
    except RecursionError:
        msg = "is nested too deeply"
        raise ValueError(msg) from None
    signal = next(
        (s for s, keys in KEYS.items() if isinstance(document, dict) and keys[0] in document), None
    )
    if signal is None:
        msg = "holds no resourceLogs, resourceSpans or resourceMetrics"
        raise ValueError(msg)
    message = _DOCUMENTS[signal]()
    try:
        _change_ids(document, lambda text: base64.b64encode(binascii.unhexlify(text)).decode())
        json_format.ParseDict(document, message, ignore_unknown_fields=True)
    except (json_format.ParseError, binascii.Error, UnicodeEncodeError) as error:
        raise ValueError(str(error)) from None
    outer, middle, inner = _FIELDS[signal]
    for resource in getattr(message, outer):
        for scope in getattr(resource, middle):
            envelope = Envelope(
                resource.resource.SerializeToString(),
                scope.scope.SerializeToString(),
                scope.schema_url,
            )
            for record in getattr(scope, inner):
                yield signal, envelope, record.SerializeToString()
