"""One request to a receiver, and what it answers.

Over `http.client`: one connection is kept open, redirections are not followed, because they
would carry the headers elsewhere, and an answer is read up to a bound in size and time. The
proxies of the environment are used as `urllib.request` finds them.
"""

from __future__ import annotations

import base64
import gzip
import http.client
import json
import ssl
import time
import urllib.request
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import SplitResult, unquote, urlsplit

from google.protobuf import json_format
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from fullcount.content import scrub
from fullcount.errors import OptionError, one_line

if TYPE_CHECKING:
    from fullcount_otel.model import Signal
    from fullcount_otel.settings import Destination

__all__ = ["Answer", "Connection"]

_RETRYABLE = frozenset({429, 502, 503, 504})
_DIVISIBLE = frozenset({400, 413})
_HOPELESS = frozenset({401, 403, 404, 405, 407, 415})
_LONGEST_ANSWER = 1 << 20
_RESPONSES: dict[Signal, tuple[Any, str]] = {
    "logs": (ExportLogsServiceResponse, "rejected_log_records"),
    "traces": (ExportTraceServiceResponse, "rejected_spans"),
    "metrics": (ExportMetricsServiceResponse, "rejected_data_points"),
}


@dataclass(frozen=True)
class Answer:
    """What became of a request.

    Attributes:
        kind: `taken`: the receiver took it, but for `rejected` records. `away`: no answer, try
            again. `retry`: busy, try again. `divisible`: refused, and smaller parts may fare
            better. `refused`: this request will not be taken. `hopeless`: nor will any other.
        reason: Why, in words that name no host and no credential.
        rejected: Records that the receiver says it will not keep.
        wait: Seconds that it asks to wait.
    """

    kind: Literal["taken", "away", "retry", "divisible", "refused", "hopeless"]
    reason: str = ""
    rejected: int = 0
    wait: float | None = None


class Connection:
    """A connection to the destination of one signal, opened when it is needed.

    Args:
        destination: Where to.
        agent: The User-Agent.

    Raises:
        OptionError: A certificate cannot be used.
    """

    def __init__(self, destination: Destination, agent: str) -> None:
        self.to = destination
        self._headers = {
            **destination.headers,
            "Content-Type": "application/x-protobuf",
            "User-Agent": agent,
        }
        if destination.gzip:
            self._headers["Content-Encoding"] = "gzip"
        self._target = destination.path
        self._tls = _tls(destination) if destination.secure else None
        self._open: http.client.HTTPConnection | None = None

    def post(self, body: bytes) -> Answer:
        """Send a serialized request; never raises for what the network or receiver does."""
        if self.to.gzip:
            body = gzip.compress(body, 6, mtime=0)
        reused = self._open is not None
        answer = self._post(body)
        if answer is None and reused:
            # An idle connection may have been closed meanwhile: that is no failure yet.
            answer = self._post(body)
        return answer or Answer("away", "the connection was closed without an answer")

    def close(self) -> None:
        """Close the connection."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _post(self, body: bytes) -> Answer | None:
        deadline = time.monotonic() + self.to.timeout
        try:
            if self._open is None:
                self._open = self._connection()
            self._open.request("POST", self._target, body, self._headers)
            response = self._open.getresponse()
            content = _read(response, deadline)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            self.close()
            return None
        except TimeoutError:
            self.close()
            return Answer("away", f"no answer within {self.to.timeout:g} s")
        except ssl.SSLCertVerificationError as error:
            self.close()
            return Answer("hopeless", f"certificate: {one_line(error.verify_message, 200)}")
        except (OSError, http.client.HTTPException) as error:
            self.close()
            text = getattr(error, "strerror", None) or type(error).__name__
            return Answer("away", one_line(str(text), 200))
        except BaseException:
            # Half of an exchange is of no use to the next request.
            self.close()
            raise
        if response.will_close:
            self.close()
        return _judge(self.to.signal, response, content)

    def _connection(self) -> http.client.HTTPConnection:
        to = self.to
        proxy = _proxy(to)
        host, port = (proxy.hostname or "", proxy.port or 80) if proxy else (to.host, to.port)
        if self._tls is not None:
            made: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, port, timeout=to.timeout, context=self._tls
            )
        else:
            made = http.client.HTTPConnection(host, port, timeout=to.timeout)
        if proxy is not None:
            credential = {}
            if proxy.username is not None:
                pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
                token = base64.b64encode(pair.encode()).decode()
                credential = {"Proxy-Authorization": f"Basic {token}"}
            if self._tls is not None:
                made.set_tunnel(to.host, to.port, credential)
            else:
                self._target = f"http://{_authority(to)}{to.path}"
                self._headers |= credential
        return made


def _authority(to: Destination) -> str:
    host = f"[{to.host}]" if ":" in to.host else to.host
    return f"{host}:{to.port}"


def _proxy(to: Destination) -> SplitResult | None:
    scheme = "https" if to.secure else "http"
    found = urllib.request.getproxies().get(scheme)
    if not found or urllib.request.proxy_bypass(_authority(to)):
        return None
    return urlsplit(found if "://" in found else f"http://{found}")


def _tls(to: Destination) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=to.certificate)
        if to.client_certificate is not None:
            context.load_cert_chain(to.client_certificate, to.client_key)
    except (OSError, ssl.SSLError) as error:
        what = getattr(error, "strerror", None) or "is no certificate"
        raise OptionError(f"a certificate for {to.signal} cannot be used: {what}") from None
    return context


def _read(response: http.client.HTTPResponse, deadline: float) -> bytes:
    content = bytearray()
    while part := response.read1(65_536):
        content += part
        if len(content) > _LONGEST_ANSWER:
            raise http.client.HTTPException
        if time.monotonic() > deadline:
            raise TimeoutError
    # `read1` does not mind a body that ends early, and does not notice that one is complete.
    if response.length:
        raise http.client.IncompleteRead(bytes(content), response.length)
    response.close()
    return bytes(content)


def _judge(signal: Signal, response: http.client.HTTPResponse, content: bytes) -> Answer:
    status = response.status
    if 200 <= status < 300:
        return _taken(signal, response, content)
    reason = f"HTTP {status} {one_line(response.reason, 60)}".rstrip()
    said = _said(response, content)
    if said:
        reason += f": {said}"
    if status in _RETRYABLE:
        return Answer("retry", reason, wait=_wait(response))
    if status in _DIVISIBLE:
        return Answer("divisible", reason)
    if status in _HOPELESS or 300 <= status < 400:
        return Answer("hopeless", reason)
    return Answer("refused", reason)


def _taken(signal: Signal, response: http.client.HTTPResponse, content: bytes) -> Answer:
    """A success, if it is one in OTLP's terms: a login page also comes with status 200."""
    kind, field = _RESPONSES[signal]
    message = kind()
    media = response.headers.get_content_type()
    try:
        if not content:
            pass
        elif media == "application/json":
            json_format.Parse(content, message, ignore_unknown_fields=True)
        elif media.startswith("text/"):
            return Answer("refused", f"the answer is {one_line(media, 40)}, not OTLP")
        else:
            message.ParseFromString(content)
    except (DecodeError, json_format.ParseError, UnicodeDecodeError):
        return Answer("refused", "the answer is not OTLP")
    partial = message.partial_success
    reason = one_line(scrub(partial.error_message), 200)
    return Answer("taken", reason, rejected=getattr(partial, field))


def _said(response: http.client.HTTPResponse, content: bytes) -> str:
    """What the receiver says of an error."""
    media = response.headers.get_content_type()
    text = ""
    try:
        if media == "application/x-protobuf":
            # The message of a google.rpc.Status is field 2, as it is in OTLP's own Status.
            text = Status.FromString(content).message
        elif media == "application/json":
            found = json.loads(content)
            text = str(found.get("message", "")) if isinstance(found, dict) else ""
        elif media == "text/plain":
            text = content.decode()
    except (ValueError, DecodeError, RecursionError):
        return ""
    return one_line(scrub(text.strip()), 200)


def _wait(response: http.client.HTTPResponse) -> float | None:
    """Seconds of `Retry-After`, which may be a number or a date."""
    text = response.headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        until = parsedate_to_datetime(text)
        now = parsedate_to_datetime(response.headers.get("Date", ""))
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None
