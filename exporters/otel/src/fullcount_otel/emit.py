"""For programs that have an OpenTelemetry pipeline: results go through its own providers.

    from fullcount import api
    from fullcount_otel.emit import emit

    for run in api.read("logs/run.eval"):
        emit(run, logger_provider=provider)

What the pipeline does with a record is its own affair: a batch processor whose queue is full
drops records and says so hardly at all. Where every record has to be accounted for, convert
with an endpoint instead.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from opentelemetry._logs import SeverityNumber
from opentelemetry.context import Context as OtelContext
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from fullcount import __version__
from fullcount.notices import Report
from fullcount.plugin import Context
from fullcount.tally import TallyBuilder
from fullcount_otel import names
from fullcount_otel.counting import WrittenCounts
from fullcount_otel.events import RunEvents, event_attributes
from fullcount_otel.options import OtelOptions
from fullcount_otel.summary import metric_records, run_span

if TYPE_CHECKING:
    from opentelemetry._logs import Logger, LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Tracer, TracerProvider

    from fullcount.model import RunTally
    from fullcount.plugin import RunStream
    from fullcount_otel.model import EvaluationEvent, MetricRecord, SpanRecord

__all__ = ["emit"]


def emit(
    run: RunStream,
    *,
    logger_provider: LoggerProvider | None = None,
    tracer_provider: TracerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    options: OtelOptions | None = None,
    context: Context | None = None,
    report: Report | None = None,
) -> RunTally:
    """Send a run through the program's own providers; what has no provider is left out.

    Events carry the times and ids of a conversion. Where a tracer provider is given, it makes
    the ids of the run's spans, and events without an evaluated span are put below them. A
    meter knows no time but now. The global providers are never touched.

    Args:
        run: A run and its trials, as `fullcount.api.read` gives them; the trials are used up.
        logger_provider: Takes the events.
        tracer_provider: Takes the run's span, and those of trials if an option asks for them.
            The SDK keeps 128 attributes and events of a span unless its `SpanLimits` say
            otherwise, and a sampler may drop spans.
        meter_provider: Takes the counts and means.
        options: Options of the exporter; those of the transport have no meaning here.
        context: Clock for times that the source does not state; by default now.
        report: Collects what had to be changed or left out.

    Returns:
        The run's tally.
    """
    context = context or Context(now=datetime.now(UTC), tool_version=__version__)
    made = RunEvents(run.run, context, options or OtelOptions(), report or Report())
    with_trials = (options or OtelOptions()).with_trial_spans
    tally = TallyBuilder(run.run)
    counts = WrittenCounts(made.metrics)
    logger = tracer = root = None
    if logger_provider is not None:
        logger = logger_provider.get_logger(names.SCOPE, __version__, names.SCHEMA_URL)
    if tracer_provider is not None:
        tracer = tracer_provider.get_tracer(names.SCOPE, __version__, schema_url=names.SCHEMA_URL)
        root = tracer.start_span(
            names.RUN_SPAN, context=OtelContext(), start_time=made.start or made.observed
        )
    for trial in run.trials:
        tally.add(trial)
        events = made.trial(trial)
        counts.add(events)
        parent = root
        if tracer and root and with_trials:
            parent = _trial_span(tracer, root, made.span(trial, events))
        if logger:
            for event in events:
                _log(logger, event, parent, made)
    result = tally.build()
    if root:
        _finish(root, run_span(run.run, result, made))
    if meter_provider:
        for metric in metric_records(run.run, result, counts, made):
            _measure(meter_provider, metric)
    return result


def _remote(trace_id: str, span_id: str | None) -> SpanContext:
    return SpanContext(
        int(trace_id, 16),
        int(span_id or "0", 16),
        is_remote=True,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )


def _log(logger: Logger, event: EvaluationEvent, parent: Span | None, made: RunEvents) -> None:
    if parent is None or event.trace_id != made.trace_id:
        parent = NonRecordingSpan(_remote(event.trace_id, event.span_id))
    failed = event.score is not None and event.score.error_type is not None
    logger.emit(
        timestamp=event.time,
        # An empty context is taken for none, so the ambient span would become the parent.
        context=set_span_in_context(parent, OtelContext()),
        severity_number=SeverityNumber.WARN if failed else SeverityNumber.INFO,
        event_name=event.event_name,
        attributes=event_attributes(event),
    )


def _trial_span(tracer: Tracer, root: Span, record: SpanRecord) -> Span:
    span = tracer.start_span(
        record.name,
        context=set_span_in_context(root, OtelContext()),
        start_time=record.start,
        links=[Link(_remote(link.trace_id, link.span_id)) for link in record.links],
    )
    _finish(span, record)
    return span


def _finish(span: Span, record: SpanRecord) -> None:
    span.set_attributes(record.attributes)
    for event in record.events:
        span.add_event(event.name, event.attributes, timestamp=event.time)
    if record.failed:
        span.set_status(Status(StatusCode.ERROR))
    span.end(end_time=record.end)


def _measure(provider: MeterProvider, metric: MetricRecord) -> None:
    meter = provider.get_meter(names.SCOPE, __version__, schema_url=names.SCHEMA_URL)
    if metric.kind == "sum":
        counter = meter.create_up_down_counter(metric.name, metric.unit, metric.description)
        for point in metric.points:
            counter.add(point.value, point.attributes)
    else:
        gauge = meter.create_gauge(metric.name, metric.unit, metric.description)
        for point in metric.points:
            gauge.set(point.value, point.attributes)
