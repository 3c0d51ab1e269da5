"""Through a program's own SDK: the same records, and its providers alone."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry import trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from fullcount.notices import Report
from fullcount.plugin import Context, RunStream
from fullcount_otel.emit import emit
from fullcount_otel.events import RunEvents, event_attributes
from fullcount_otel.options import OtelOptions


def stream(kit: Any, count: int = 8) -> RunStream:
    return RunStream(kit.run(), iter(kit.trials(count)))


def test_events_are_those_of_a_conversion(kit: Any) -> None:
    exporter = InMemoryLogRecordExporter()
    provider = LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    context = Context()
    tally = emit(stream(kit), logger_provider=provider, context=context)
    made = RunEvents(kit.run(), context, OtelOptions(), Report())
    expected = [event for trial in kit.trials(8) for event in made.trial(trial)]
    found = [data.log_record for data in exporter.get_finished_logs()]
    assert tally.counts.total == len(found) == 8
    for record, event in zip(found, expected, strict=True):
        assert dict(record.attributes) == event_attributes(event)
        assert (record.event_name, record.timestamp) == (event.event_name, event.time)
        assert f"{record.trace_id:032x}" == event.trace_id
        assert f"{record.span_id:016x}" == event.span_id


def test_spans_have_the_counts_and_historical_times(kit: Any) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    emit(stream(kit), tracer_provider=provider, options=OtelOptions(trial_spans=True))
    *trials, run = exporter.get_finished_spans()
    assert (run.name, len(trials)) == ("test_suite_run", 8)
    assert run.attributes["fullcount.run.trials"] == 8
    assert run.attributes["fullcount.scores.judge.nan"] == 2
    assert run.start_time == 1_772_442_000 * 10**9
    assert {span.parent.span_id for span in trials} == {run.context.span_id}


def test_metrics_count_every_state(kit: Any) -> None:
    reader = InMemoryMetricReader()
    emit(stream(kit), meter_provider=MeterProvider([reader], shutdown_on_exit=False))
    data = reader.get_metrics_data()
    metrics = {
        metric.name: [(dict(point.attributes), point.value) for point in metric.data.data_points]
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    states = {about["fullcount.score.state"]: value for about, value in metrics["fullcount.scores"]}
    assert {state: value for state, value in states.items() if value} == {"scored": 6, "nan": 2}
    ((about, mean),) = metrics["fullcount.score.mean"]
    assert (mean, about["fullcount.score.n"]) == (1.0, 6)


def test_global_providers_are_left_alone(kit: Any) -> None:
    before = trace.get_tracer_provider()
    tally = emit(stream(kit))
    assert tally.counts.total == 8
    assert trace.get_tracer_provider() is before
