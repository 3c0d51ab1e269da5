"""An OTLP/HTTP receiver for tests, which behaves as badly as it is told to.

Needs the extra `otel`.
"""

from __future__ import annotations

import base64
import gzip
import json
import socket
import threading
import zlib
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Literal, Self

from google.protobuf import json_format
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["Received", "Receiver", "Reply"]

Signal = Literal["logs", "traces", "metrics"]

_KINDS: dict[str, tuple[Signal, Any, Any, str]] = {
    "/v1/logs": (
        "logs",
        logs_service_pb2.ExportLogsServiceRequest,
        logs_service_pb2.ExportLogsServiceResponse,
        "rejected_log_records",
    ),
    "/v1/traces": (
        "traces",
        trace_service_pb2.ExportTraceServiceRequest,
        trace_service_pb2.ExportTraceServiceResponse,
        "rejected_spans",
    ),
    "/v1/metrics": (
        "metrics",
        metrics_service_pb2.ExportMetricsServiceRequest,
        metrics_service_pb2.ExportMetricsServiceResponse,
        "rejected_data_points",
    ),
}
_IDS = frozenset({"traceId", "spanId", "parentSpanId"})


@dataclass(frozen=True)
class Reply:
    """How one request is answered.

    Attributes:
        status: Status code; records are kept only with 200.
        rejected: With status 200, so many records are not kept and called rejected.
        message: What a partial success says.
        headers: Headers of the answer.
        body: The answer itself, instead of OTLP.
        media: Its content type.
        delay: Seconds to wait before the answer.
        cut: Close the connection before reading the request's body to its end, before
            answering, or after half of the answer; the last two have kept the records.
        hang: Never answer.
    """

    status: int = 200
    rejected: int = 0
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    media: str | None = None
    delay: float = 0.0
    cut: Literal["", "request", "before_answer", "answer"] = ""
    hang: bool = False


@dataclass(frozen=True)
class Received:
    """One request.

    Attributes:
        signal: What it carries.
        headers: Its headers, names in lower case.
        size: Bytes of the body as it came.
        message: The decoded request; None where it was not read to its end.
    """

    signal: Signal
    headers: Mapping[str, str]
    size: int
    message: Any


class Receiver:
    """Listens on a free port of the loopback interface, in a thread of its own.

    Use it as a context manager.

    Args:
        replies: Answers to the first requests, in order; all others are accepted.
        answer: Called with each request after those; gives the answer.
        port: Port to listen on; 0 takes a free one.
    """

    def __init__(
        self,
        replies: Iterable[Reply] = (),
        answer: Callable[[Received], Reply] | None = None,
        port: int = 0,
    ) -> None:
        self.requests: list[Received] = []
        self._replies = deque(replies)
        self._answer = answer
        self._kept: dict[str, list[tuple[Any, Any, Any]]] = {
            "logs": [],
            "traces": [],
            "metrics": [],
        }
        self._lock = threading.Lock()
        self._closing = threading.Event()
        handler = type("Handler", (_Handler,), {"receiver": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def records(self, signal: Signal) -> list[Any]:
        """The log records, spans or metrics kept so far, in the order they came in."""
        with self._lock:
            return [record for _, _, record in self._kept[signal]]

    def resources(self, signal: Signal) -> list[dict[str, Any]]:
        """Attributes of the resource of each of these records."""
        with self._lock:
            return [values(resource.attributes) for resource, _, _ in self._kept[signal]]

    def attributes(self, signal: Signal) -> list[dict[str, Any]]:
        """Attributes of each of these log records or spans."""
        return [values(record.attributes) for record in self.records(signal)]

    def forget(self) -> None:
        """Drop everything received so far."""
        with self._lock:
            self.requests.clear()
            for kept in self._kept.values():
                kept.clear()

    def _reply(self, received: Received) -> Reply:
        with self._lock:
            self.requests.append(received)
            if self._replies:
                return self._replies.popleft()
        return Reply() if self._answer is None else self._answer(received)

    def _keep(self, received: Received, rejected: int) -> None:
        found = [
            (resource.resource, scope.scope, record)
            for resource in _inner(received.message)
            for scope in _inner(resource)
            for record in _inner(scope)
        ]
        with self._lock:
            self._kept[received.signal].extend(found[: len(found) - rejected])


def values(attributes: Iterable[Any]) -> dict[str, Any]:
    """OTLP attributes as Python values by name."""
    return {pair.key: _value(pair.value) for pair in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(part) for part in value.array_value.values]
    return None if kind is None else getattr(value, kind)


def _inner(message: Any) -> Any:
    """The repeated messages below a request, a resource or a scope."""
    for name in ("resource_logs", "resource_spans", "resource_metrics"):
        if hasattr(message, name):
            return getattr(message, name)
    for name in ("scope_logs", "scope_spans", "scope_metrics"):
        if hasattr(message, name):
            return getattr(message, name)
    for name in ("log_records", "spans", "metrics"):
        if hasattr(message, name):
            return getattr(message, name)
    raise TypeError


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    receiver: Receiver

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        """Say nothing."""

    def do_POST(self) -> None:
        """Take a request and answer as told."""
        kind = _KINDS.get(self.path)
        size = int(self.headers.get("Content-Length", 0))
        if kind is None:
            self.rfile.read(size)
            self._send(Reply(404), b"", "text/plain")
            return
        signal, request, response, rejected = kind
        headers = {name.lower(): text for name, text in self.headers.items()}
        receiver = self.receiver
        reply = receiver._reply(Received(signal, headers, size, None))  # noqa: SLF001 - one unit
        if reply.cut == "request":
            self.rfile.read(size // 2)
            self._drop()
            return
        body = self.rfile.read(size)
        if reply.hang or reply.delay:
            receiver._closing.wait(None if reply.hang else reply.delay)  # noqa: SLF001 - one unit
        if reply.hang:
            self._drop()
            return
        try:
            message = _decoded(request(), body, headers)
        except (DecodeError, ValueError, zlib.error, OSError, EOFError):
            self._send(Reply(400), b"", "text/plain")
            return
        if reply.status == 200:
            receiver._keep(Received(signal, headers, size, message), reply.rejected)  # noqa: SLF001 - one unit
        answer = response()
        if reply.rejected or reply.message:
            setattr(answer.partial_success, rejected, reply.rejected)
            answer.partial_success.error_message = reply.message
        if "json" in headers.get("content-type", ""):
            content, media = json_format.MessageToJson(answer).encode(), "application/json"
        else:
            content, media = answer.SerializeToString(), "application/x-protobuf"
        if reply.cut == "before_answer":
            self._drop()
            return
        self._send(reply, content if reply.body is None else reply.body, reply.media or media)

    def _send(self, reply: Reply, content: bytes, media: str) -> None:
        if reply.status != 200 and reply.body is None:
            content = b""
        if reply.cut == "answer":
            content += b"\0" * 100
        try:
            self.send_response(reply.status)
            for name, text in reply.headers.items():
                self.send_header(name, text)
            self.send_header("Content-Type", media)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if reply.cut == "answer" else content)
            self.wfile.flush()
        except OSError:
            self.close_connection = True
        if reply.cut == "answer":
            self._drop()

    def _drop(self) -> None:
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


def _decoded(message: Any, body: bytes, headers: Mapping[str, str]) -> Any:
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    if "json" in headers.get("content-type", ""):
        document = json.loads(body)
        _to_base64(document)
        json_format.ParseDict(document, message, ignore_unknown_fields=True)
    else:
        message.ParseFromString(body)
    return message


def _to_base64(value: Any) -> None:
    """OTLP/JSON writes ids in hexadecimal, protobuf's JSON in base64."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in _IDS:
                value[key] = base64.b64encode(bytes.fromhex(item)).decode()
            else:
                _to_base64(item)
    elif isinstance(value, list):
        for item in value:
            _to_base64(item)
