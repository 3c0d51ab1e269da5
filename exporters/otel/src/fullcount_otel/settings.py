"""Where each signal goes and how: from options and the OTEL_EXPORTER_OTLP_* variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fullcount.errors import OptionError, quoted
from fullcount_otel.options import parse_headers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fullcount_otel.model import Signal
    from fullcount_otel.options import TransportOptions

__all__ = ["Destination", "destinations"]

_PREFIX = "OTEL_EXPORTER_OTLP_"
_DEFAULT = "http://localhost:4318"
_TIMEOUT = 10.0


@dataclass(frozen=True)
class Destination:
    """Where one signal goes.

    Attributes:
        signal: The signal.
        secure: Whether to speak TLS.
        host: Name or address.
        port: Port.
        path: Path and query.
        headers: Headers of every request.
        gzip: Whether requests are compressed.
        timeout: Seconds that a request may take.
        certificate: File of trusted certificates; None for the system's.
        client_certificate: File of our own certificate.
        client_key: File of its key.
    """

    signal: Signal
    secure: bool
    host: str
    port: int
    path: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    gzip: bool = False
    timeout: float = _TIMEOUT
    certificate: str | None = None
    client_certificate: str | None = None
    client_key: str | None = field(default=None, repr=False)


def destinations(
    options: TransportOptions, environ: Mapping[str, str]
) -> dict[Signal, Destination]:
    """The destination of every signal that is to be sent.

    An endpoint given as option is a base URL, to which `v1/traces`, `v1/logs` or `v1/metrics`
    is added, as to `OTEL_EXPORTER_OTLP_ENDPOINT`; `OTEL_EXPORTER_OTLP_LOGS_ENDPOINT` and its
    like are taken as they are, and only with the endpoint `env`. The other variables hold
    either way; one for a signal comes before the general one, and an option before both.

    Raises:
        OptionError: A value does not fit; nothing secret is shown.
    """
    return {signal: _destination(signal, options, environ) for signal in options.signals}


def _destination(
    signal: Signal, options: TransportOptions, environ: Mapping[str, str]
) -> Destination:
    def variable(name: str) -> tuple[str, str | None]:
        for full in (f"{_PREFIX}{signal.upper()}_{name}", f"{_PREFIX}{name}"):
            # The specification has an empty variable mean the same as none.
            if environ.get(full, "").strip():
                return full, environ[full].strip()
        return name, None

    url, shown = _url(signal, options, environ)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise OptionError(f"{shown} is no URL that can be used") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise OptionError(f"{shown} must be a URL that starts with http:// or https://")
    if parts.username is not None:
        raise OptionError(f"{shown} holds a credential; give it as a header")
    if any(not 32 < ord(char) < 127 for char in url):
        raise OptionError(f"{shown} holds characters that must be percent-encoded")
    name, compression = variable("COMPRESSION")
    if options.compression is not None:
        compression = options.compression
    elif compression not in (None, "gzip", "none"):
        raise OptionError(f"{name} is {quoted(compression)}; known: gzip, none")
    return Destination(
        signal=signal,
        secure=parts.scheme == "https",
        host=parts.hostname,
        port=port or (443 if parts.scheme == "https" else 80),
        path=(parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
        headers=_headers(variable("HEADERS"), options),
        gzip=compression == "gzip",
        timeout=_timeout(variable("TIMEOUT"), options),
        certificate=variable("CERTIFICATE")[1],
        client_certificate=variable("CLIENT_CERTIFICATE")[1],
        client_key=variable("CLIENT_KEY")[1],
    )


def _url(signal: Signal, options: TransportOptions, environ: Mapping[str, str]) -> tuple[str, str]:
    given = "" if options.endpoint is None else options.endpoint.get_secret_value().strip()
    if given != "env":
        return _below(given, signal), "option 'endpoint'"
    for name in (f"{_PREFIX}{signal.upper()}_PROTOCOL", f"{_PREFIX}PROTOCOL"):
        protocol = environ.get(name, "").strip()
        if protocol:
            if protocol != "http/protobuf":
                raise OptionError(f"{name} is {quoted(protocol)}; only http/protobuf is spoken")
            break
    own = f"{_PREFIX}{signal.upper()}_ENDPOINT"
    if environ.get(own, "").strip():
        return environ[own].strip(), own
    base = environ.get(f"{_PREFIX}ENDPOINT", "").strip() or _DEFAULT
    return _below(base, signal), f"{_PREFIX}ENDPOINT"


def _below(base: str, signal: Signal) -> str:
    return f"{base.rstrip('/')}/v1/{signal}"


def _headers(variable: tuple[str, str | None], options: TransportOptions) -> dict[str, str]:
    name, text = variable
    try:
        headers = parse_headers(text or "")
    except ValueError as error:
        raise OptionError(f"{name}: {error}") from None
    return headers | parse_headers(options.headers.get_secret_value())


def _timeout(variable: tuple[str, str | None], options: TransportOptions) -> float:
    if options.timeout is not None:
        return options.timeout
    name, text = variable
    if text is None:
        return _TIMEOUT
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:12]) <= 3_600_000:
        raise OptionError(f"{name} is {quoted(text)}, not a number of milliseconds up to 3600000")
    return int(text) / 1000
