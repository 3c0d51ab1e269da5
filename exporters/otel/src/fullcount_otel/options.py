"""Options of the exporter."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import unquote

from pydantic import BeforeValidator, Field, SecretStr

from fullcount.plugin import Options

__all__ = ["DEFAULT_SIGNALS", "OtelOptions", "TransportOptions", "parse_headers"]

DEFAULT_SIGNALS: tuple[Literal["traces", "logs", "metrics"], ...] = ("traces", "logs", "metrics")


def parse_headers(text: str) -> dict[str, str]:
    """Headers written as `name=value,name=value`, percent-encoded, as OTLP's variables are.

    Raises:
        ValueError: A part is no pair, or holds what no header can; no value is shown.
    """
    headers: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        name, value = unquote(name).strip().lower(), unquote(value).strip()
        if not equals or not name:
            msg = "headers are written name=value,name=value"
            raise ValueError(msg)
        if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            msg = "a header's name has only letters, digits, - and _"
            raise ValueError(msg)
        if not value.isprintable() or not value.isascii():
            msg = f"the value of header {name} holds what a header cannot"
            raise ValueError(msg)
        headers[name] = value
    return headers


def _checked_headers(value: Any) -> Any:
    if isinstance(value, str):
        parse_headers(value)
    return value


def _parts(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, (list, tuple)):
        return tuple(part for item in value for part in _parts(item))
    return value


class TransportOptions(Options):
    """How records travel to a receiver."""

    endpoint: SecretStr | None = None
    """Send by OTLP/HTTP to this base URL, such as http://localhost:4318; `env` takes it from
    the OTEL_EXPORTER_OTLP_* variables. Without it, files are written and nothing is sent."""
    headers: Annotated[SecretStr, BeforeValidator(_checked_headers)] = SecretStr("")
    """Headers for the receiver, as name=value,name=value; they add to those of the
    OTEL_EXPORTER_OTLP_*HEADERS variables."""
    signals: Annotated[
        tuple[Literal["traces", "logs", "metrics"], ...], BeforeValidator(_parts)
    ] = DEFAULT_SIGNALS
    """Signals to send: of traces, logs, metrics."""
    compression: Literal["none", "gzip"] | None = None
    """Compression of requests; by default as OTEL_EXPORTER_OTLP_COMPRESSION says, else none."""
    timeout: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] | None = None
    """Seconds that a request may take; by default as OTEL_EXPORTER_OTLP_TIMEOUT says, else 10."""
    attempts: Annotated[int, Field(ge=1, le=100)] = 6
    """How often a batch is sent while the receiver is away or busy."""
    batch_bytes: Annotated[int, Field(ge=1_000, le=64_000_000)] = 1_000_000
    """Largest request, before compression; only a single record may be larger."""


class OtelOptions(TransportOptions):
    """Options of the OpenTelemetry exporter."""

    service_name: Annotated[str, Field(min_length=1, max_length=255)] = "fullcount"
    """The resource's `service.name`."""
    trial_spans: bool = False
    """Write a span for each trial, below the run's span."""
    span_events: bool = False
    """Repeat each evaluation as an event on its trial's span, for stores that take only traces
    (Phoenix, Langfuse, Braintrust, Grafana). Brings spans for trials."""
    openinference_annotations: bool = False
    """Repeat each evaluation as OpenInference `annotations.*` on its trial's span (Arize AX,
    tools of OpenInference). Brings spans for trials."""
    braintrust_scores: bool = False
    """Put `braintrust.scores` on each trial's span (Braintrust). Brings spans for trials."""
    azure_event_name: bool = False
    """Repeat the event's name as `microsoft.custom_event.name` (Azure Monitor)."""

    @property
    def with_trial_spans(self) -> bool:
        """Whether any option asks for spans of trials."""
        return (
            self.trial_spans
            or self.span_events
            or self.openinference_annotations
            or self.braintrust_scores
        )
