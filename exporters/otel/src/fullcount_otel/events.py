"""From trials to events and spans: this is the path that every trial takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from fullcount.model import Model, TrialStatus
from fullcount.notices import Severity
from fullcount_otel import fields, names
from fullcount_otel.compatibility import braintrust, openinference
from fullcount_otel.ids import TrialIds, metric_id, nanoseconds, run_span_id, run_trace_id
from fullcount_otel.model import (
    ConditionsPart,
    ErrorPart,
    EvaluationEvent,
    GatesPart,
    Link,
    MetricPart,
    RunPart,
    ScorePart,
    SpanEvent,
    SpanRecord,
    TrialPart,
    Value,
)
from fullcount_otel.parts import attributes

if TYPE_CHECKING:
    from datetime import datetime

    from fullcount.model import Run, Trial
    from fullcount.notices import Report
    from fullcount.plugin import Context
    from fullcount_otel.options import OtelOptions

__all__ = ["RunEvents", "event_attributes"]

_Part = TypeVar("_Part", bound=Model)
_NO_ID = frozenset({"0" * 32, "0" * 16})


def event_attributes(event: EvaluationEvent) -> dict[str, Value]:
    """All attributes of an event."""
    found: dict[str, Value] = {**event.extra, names.RECORD_ID: event.record_id}
    return found | attributes(event.trial, event.run, event.metric, event.score)


class RunEvents:
    """Makes the events and spans of one run.

    Args:
        run: The run.
        context: Clock of the conversion, for times that the source does not state.
        options: Options of the exporter.
        report: Where values that OTLP cannot hold are noted.
    """

    def __init__(self, run: Run, context: Context, options: OtelOptions, report: Report) -> None:
        self._run_id = run.id
        self._options = options
        self._report = report
        self.observed = nanoseconds(context.now) or 0
        self.trace_id = run_trace_id(run)
        self.span_id = run_span_id(run)
        self.start = self._nanoseconds(run.started_at) or self._nanoseconds(run.created_at)
        self.end = self._nanoseconds(run.completed_at)
        self.earliest: int | None = None
        self.latest: int | None = None
        self._time = self.end or self.start
        self._number = 0
        self._part = self._make(RunPart, {"run_id": run.id, "suite": run.suite.name})
        self.metrics = {
            (evaluator.name, metric.name): self._make(
                MetricPart, fields.metric_values(evaluator, metric)
            )
            for evaluator in run.evaluators
            for metric in evaluator.metrics
        }
        self._metric_ids = {key: metric_id(*key) for key in self.metrics}
        self._extra: dict[str, dict[str, str]] = {
            name: {names.AZURE_NAME: name} if options.azure_event_name else {}
            for name in (names.EVALUATION_RESULT, names.TRIAL_RESULT)
        }

    def trial(self, trial: Trial) -> list[EvaluationEvent]:
        """One event for each of the trial's scores; without any, one for the trial."""
        ids = TrialIds(self._run_id, trial, self._number)
        self._number += 1
        values = fields.trial_values(trial)
        time = self._timed(trial, values)
        trace_id, span_id = self._parent(trial, ids, values)
        self._add_parts(trial, values)
        common: dict[str, Any] = {
            "event_name": names.EVALUATION_RESULT,
            "time": time,
            "observed": self.observed,
            "trace_id": trace_id,
            "span_id": span_id,
            "run": self._part,
            "trial": self._make(TrialPart, values),
            "extra": self._extra[names.EVALUATION_RESULT],
        }
        if not trial.scores:
            common |= {
                "event_name": names.TRIAL_RESULT,
                "metric": None,
                "score": None,
                "record_id": ids.record_id(),
                "extra": self._extra[names.TRIAL_RESULT],
            }
            return [_event(common)]
        events = []
        for score in trial.scores:
            key = (score.evaluator, score.metric)
            common["metric"] = self.metrics[key]
            common["score"] = self._make(ScorePart, fields.score_values(score, trial))
            common["record_id"] = ids.record_id(self._metric_ids[key])
            events.append(_event(common))
        return events

    def span(self, trial: Trial, events: list[EvaluationEvent]) -> SpanRecord:
        """The span of the trial that these events were just made of.

        Its times are the trial's; where one is not known it follows from the other and the
        duration, else both are the event's.
        """
        own = TrialIds(self._run_id, trial, self._number - 1).span_id
        first = events[0]
        start, end = self._span_times(trial, first.time)
        found = attributes(first.run, first.trial)
        if self._options.openinference_annotations:
            found |= openinference(events)
        if self._options.braintrust_scores:
            scores, left_out = braintrust(events)
            found |= scores
            if left_out:
                self._note(
                    "otel.braintrust_score_left_out",
                    "braintrust.scores takes numbers from 0 to 1; others are on the events alone",
                    left_out,
                )
        failed = trial.status not in (TrialStatus.COMPLETED, TrialStatus.NOT_RUN)
        if failed:
            error = trial.error
            found["error.type"] = fields.error_class(
                error.type if error is not None and error.type else trial.status_reason
            )
        links: tuple[Link, ...] = ()
        if first.span_id is not None and (first.trace_id, first.span_id) != (self.trace_id, own):
            links = (Link(trace_id=first.trace_id, span_id=first.span_id),)
        return SpanRecord(
            name=names.TRIAL_SPAN,
            trace_id=self.trace_id,
            span_id=own,
            parent_span_id=self.span_id,
            start=start,
            end=end,
            attributes=found,
            events=tuple(_span_event(event, end) for event in events)
            if self._options.span_events
            else (),
            links=links,
            failed=failed,
        )

    def _timed(self, trial: Trial, values: dict[str, Any]) -> int | None:
        """When the trial was evaluated, as far as the source says."""
        started = self._nanoseconds(trial.started_at)
        time = self._nanoseconds(trial.completed_at) or started
        if started is not None:
            values["started_at"] = started
        if time is None:
            values["time_basis"] = "unknown" if self._time is None else "run"
            return self._time
        if self.earliest is None or (started or time) < self.earliest:
            self.earliest = started or time
        if self.latest is None or time > self.latest:
            self.latest = time
        return time

    def _span_times(self, trial: Trial, known: int | None) -> tuple[int, int]:
        start, end = nanoseconds(trial.started_at), nanoseconds(trial.completed_at)
        seconds = trial.duration
        if seconds is not None and seconds < 1e9:
            length = round(seconds * 1e9)
            if start is None and end is not None and end > length:
                start = end - length
            elif end is None and start is not None:
                end = start + length
        if start is None:
            start = end if end is not None else self.observed if known is None else known
        return start, start if end is None else end

    def _parent(
        self, trial: Trial, ids: TrialIds, values: dict[str, Any]
    ) -> tuple[str, str | None]:
        """Trace and span that were evaluated, else those of the run and the trial."""
        trace = trial.trace
        if trace is not None:
            trace_id = None if trace.trace_id in _NO_ID else trace.trace_id
            span_id = None if trace.span_id in _NO_ID else trace.span_id
            if trace_id is not None and span_id is not None:
                return trace_id, span_id
            if trace_id is not None:
                values["evaluated_trace_id"] = trace_id
            elif span_id is not None:
                values["evaluated_span_id"] = span_id
        return self.trace_id, ids.span_id

    def _add_parts(self, trial: Trial, values: dict[str, Any]) -> None:
        if trial.gates:
            values["gates"] = self._make(GatesPart, fields.gate_values(trial.gates))
        if trial.error is not None:
            values["error"] = self._make(ErrorPart, fields.error_values(trial.error))
        conditions = fields.condition_values(trial)
        if conditions:
            values["conditions"] = self._make(ConditionsPart, conditions)

    def _nanoseconds(self, instant: datetime | None) -> int | None:
        value = nanoseconds(instant)
        if value is None and instant is not None:
            self._note("otel.time_left_out", "a time before 1970 or after 2554 was left out")
        return value

    def _make(self, kind: type[_Part], values: dict[str, Any]) -> _Part:
        try:
            # `model_validate` comes to the same, after a look at arguments that are not given.
            made: _Part = kind.__pydantic_validator__.validate_python(values)
        except ValidationError:
            # Only a record that bypassed the model's own checks gets here.
            self._note("otel.value_changed", "values that OTLP cannot hold were replaced")
            return kind.model_validate({key: fields.clean(value) for key, value in values.items()})
        return made

    def _note(self, code: str, message: str, count: int = 1) -> None:
        self._report.add(code, Severity.WARNING, message, count=count, plugin="otel")


def _event(values: dict[str, Any]) -> EvaluationEvent:
    made: EvaluationEvent = EvaluationEvent.__pydantic_validator__.validate_python(values)
    return made


def _span_event(event: EvaluationEvent, time: int) -> SpanEvent:
    """An evaluation as an event on its trial's span, which has the rest as attributes."""
    return SpanEvent(
        name=event.event_name,
        time=time,
        attributes={names.RECORD_ID: event.record_id} | attributes(event.metric, event.score),
    )
