"""Writes runs as OpenTelemetry events, spans and metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.notices import Severity
from fullcount_otel.counting import WrittenCounts
from fullcount_otel.events import RunEvents
from fullcount_otel.outputs import FileOutput, SendOutput
from fullcount_otel.summary import metric_records, run_resource, run_span

if TYPE_CHECKING:
    from fullcount.model import Run, RunTally, Trial
    from fullcount.notices import Report
    from fullcount.plugin import Context, Interrupts, Sink
    from fullcount_otel.model import Resource
    from fullcount_otel.options import OtelOptions

__all__ = ["OtelWriter"]


class OtelWriter:
    """Files of one artifact: `<id>.logs.jsonl`, `<id>.traces.jsonl`, `<id>.metrics.jsonl`.

    With an endpoint the events are sent and not written; the run's span and metrics are both,
    so that the counts can always be read back from the artifact. Records are staged and sent
    when the whole input has been read and counted.
    """

    def __init__(self, sink: Sink, options: OtelOptions, report: Report, context: Context) -> None:
        self._sink = sink
        self._options = options
        self._report = report
        self._context = context
        self._sending = (
            None if options.endpoint is None else SendOutput(sink, options, context, report)
        )
        self._stem = ""
        self._files: FileOutput | None = None
        self._run: Run | None = None
        self._events: RunEvents | None = None
        self._counts = WrittenCounts(())
        self.receipt_details: dict[str, Any] = {}

    def begin(self, run: Run) -> None:
        """Open the files, and prepare what every event of the run repeats."""
        if self._files is None:
            self._stem = str(self._context.uuid("otel", run.source.sha256 or "", run.id))
            self._files = FileOutput(
                self._sink,
                self._stem,
                ("logs", "traces", "metrics") if self._sending is None else ("traces", "metrics"),
            )
        resource = self._resource(run)
        self._files.begin(resource)
        if self._sending is not None:
            self._sending.begin(resource)
        self._run = run
        self._events = RunEvents(run, self._context, self._options, self._report)
        self._counts = WrittenCounts(self._events.metrics)

    def _resource(self, run: Run) -> Resource:
        return run_resource(run, self._options.service_name, self._context.tool_version)

    def add(self, trial: Trial) -> None:
        """Write the trial's events, and its span if asked for."""
        made, output = self._events, self._sending or self._files
        if made is None or output is None:
            return
        events = made.trial(trial)
        self._counts.add(events)
        for event in events:
            output.log(event)
        if self._options.with_trial_spans:
            output.span(made.span(trial, events))

    def end(self, tally: RunTally) -> None:
        """Write the run's span and its metrics."""
        run, events, files = self._run, self._events, self._files
        if run is None or events is None or files is None:
            return
        span = run_span(run, tally, events)
        metrics = metric_records(run, tally, self._counts, events)
        for output in (files, self._sending):
            if output is not None:
                output.span(span)
                for metric in metrics:
                    output.metric(metric)

    def close(self) -> None:
        """Complete the files."""
        if self._files is None:
            return
        self._files.close()
        if self._files.too_long:
            self._report.add(
                "otel.long_line",
                Severity.WARNING,
                "records make lines of more than 1 MiB: raise max_log_size of the Collector's "
                "otlpjsonfile receiver",
                count=self._files.too_long,
                plugin="otel",
            )

    def deliver(self, interrupts: Interrupts) -> None:
        """Send what was staged, and keep what is not accepted."""
        if self._sending is not None:
            self.receipt_details = {"delivery": self._sending.send(self._stem, interrupts)}
