"""What is said of a whole run: its resource, its span and its metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.model import (
    Finding,
    Model,
    ScoreState,
    TrialStatus,
    Verdict,
)
from fullcount_otel import names
from fullcount_otel.fields import error_class, standing
from fullcount_otel.model import (
    MetricRecord,
    Point,
    Resource,
    SpanEvent,
    SpanRecord,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fullcount.model import Run, RunTally
    from fullcount_otel.counting import WrittenCounts
    from fullcount_otel.events import RunEvents

__all__ = ["metric_records", "run_attributes", "run_events", "run_resource", "run_span"]

_SUITE_STATUS = {"success": "success", "error": "failure", "cancelled": "aborted"} | {
    "started": "in_progress"
}
_POINTS = 500
"""Points of one metric that are kept together."""


def run_resource(run: Run, service_name: str, version: str) -> Resource:
    """The resource that everything of a run is sent under."""
    values = {
        "service_name": service_name,
        "run_id": run.id,
        "harness": run.harness.name,
        "harness_version": run.harness.version,
        "subject": run.subject.id,
        "subject_version": run.subject.version,
        "suite": run.suite.name,
    }
    return Resource(attributes=_named(names.RESOURCE, values), scope_version=version)


def run_span(run: Run, tally: RunTally, events: RunEvents) -> SpanRecord:
    """The run's span, with every count as an int attribute.

    Where the source does not say when the run began or ended, the first and last time of its
    trials stand in, else that of the conversion; `fullcount.run.time_basis` says which.
    """
    start, end, _ = _times(events)
    return SpanRecord(
        name=names.RUN_SPAN,
        trace_id=events.trace_id,
        span_id=events.span_id,
        start=start,
        end=end,
        attributes=run_attributes(run, events) | _counts(tally),
        events=run_events(run, tally, end),
        failed=run.status == "error",
    )


def _times(events: RunEvents) -> tuple[int, int, str]:
    start = events.start or events.earliest
    end = events.end or events.latest
    if events.start and events.end:
        basis = "run"
    elif start is not None or end is not None:
        basis = "trial" if events.latest is not None else "run"
    else:
        basis = "unknown"
    start = start or end or events.observed
    return start, end or start, basis


def run_attributes(run: Run, events: RunEvents) -> dict[str, Value]:
    """What the source says of the run, without any count of ours."""
    source, subject, suite = run.source, run.subject, run.suite
    values: dict[str, Any] = {
        "run_id": run.id,
        "suite": suite.name,
        "suite_status": _SUITE_STATUS.get(run.status),
        "status": run.status,
        "created_at": _iso(run.created_at),
        "started_at": _iso(run.started_at),
        "completed_at": _iso(run.completed_at),
        "time_basis": _times(events)[2],
        "invalidated": run.invalidated or None,
        "tags": run.tags or None,
        "source_format": source.format,
        "source_format_version": source.format_version,
        "source_path": source.path,
        "source_sha256": source.sha256,
        "source_size": source.size,
        "harness": run.harness.name,
        "harness_version": run.harness.version,
        "subject": subject.id,
        "subject_version": subject.version,
        "subject_name": subject.name,
        "subject_provider": subject.provider,
        "subject_draft": subject.draft,
        "subject_modified_at": _iso(subject.modified_at),
        "suite_version": suite.version,
        "suite_dataset": suite.dataset,
        "suite_dataset_location": suite.dataset_location,
        "suite_dataset_revision": suite.dataset_revision,
        "suite_split": suite.split,
        "suite_cases": suite.cases,
    }
    error = run.error
    if error is not None:
        values["error_type"] = error_class(error.type)
        values["error_retries"] = error.retries
        if error.message is not None:
            values["error_message"] = error.message.text
            values["error_message_sha256"] = error.message.sha256
    elif run.status == "error":
        values["error_type"] = error_class(None)
    found = _named(names.RUN_SPAN_ATTRIBUTES, values)
    found |= _prefixed("environment", run.environment)
    found |= _prefixed("packages", run.harness.packages)
    found |= _prefixed("generation", dict(run.generation))
    found |= _prefixed("plan", dict(run.plan))
    return found | _prefixed("reported_counts", run.reported_counts)


def _counts(tally: RunTally) -> dict[str, Value]:
    counts = tally.counts
    table = names.RUN_SPAN_ATTRIBUTES
    found: dict[str, Value] = {
        table["trials"]: counts.total,
        table["no_verdict"]: counts.no_verdict,
        table["measurement_failures"]: tally.measurement_failures,
        table["limited"]: tally.limited,
        table["scored_and_errored"]: tally.scored_and_errored,
        table["invalidated_trials"]: tally.invalidated,
        table["unverified_scores"]: sum(metric.unverified for metric in counts.metrics),
    }
    found |= _prefixed("statuses", {s.value: counts.statuses[s] for s in TrialStatus})
    found |= _prefixed("verdicts", {v.value: counts.verdicts[v] for v in Verdict})
    for metric in counts.metrics:
        for state in ScoreState:
            key = names.scores_key(metric.evaluator, metric.metric, state.value)
            found[key] = metric.states[state]
        key = names.scores_key(metric.evaluator, metric.metric, "unverified")
        found[key] = metric.unverified
    return found


def run_events(run: Run, tally: RunTally, time: int) -> tuple[SpanEvent, ...]:
    """Evaluators, reported numbers, findings and usage, as events on the run's span."""

    def event(name: str, table: Mapping[str, str], values: Mapping[str, Any]) -> SpanEvent:
        return SpanEvent(name=name, time=time, attributes=_named(table, values))

    def plain(record: Model) -> dict[str, Any]:
        return dict(record)

    findings: tuple[Finding, ...] = (*run.findings, *tally.findings)
    unique = {finding.model_dump_json(): finding for finding in findings}
    return (
        *(
            event(
                names.EVALUATOR,
                names.EVALUATOR_EVENT,
                {k: v for k, v in plain(evaluator).items() if k != "metrics"},
            )
            for evaluator in run.evaluators
        ),
        *(event(names.REPORTED, names.REPORTED_EVENT, plain(r)) for r in run.reported),
        *(event(names.FINDING, names.FINDING_EVENT, plain(f)) for f in unique.values()),
        *(
            event(names.MODEL_USAGE, names.USAGE_EVENT, {"model": model, **plain(usage)})
            for model, usage in run.usage.items()
        ),
    )


def metric_records(
    run: Run, tally: RunTally, counts: WrittenCounts, events: RunEvents
) -> tuple[MetricRecord, ...]:
    """Counts as sums, means and their bounds as gauges.

    `fullcount.scores` has a point for every state of every metric, zeros included, so that a
    dashboard never divides by a series that is not there. `fullcount.trials` has the pairs of
    status and verdict that occur, and every verdict with status `completed`. A metric
    without any value has no mean, though it may have bounds.
    """
    start, end, _ = _times(events)
    run_values = {"run_id": run.id, "suite": run.suite.name, "subject": run.subject.id}
    pairs = dict.fromkeys((TrialStatus.COMPLETED, verdict) for verdict in [*Verdict, None])
    trials = [
        Point(
            attributes=_named(names.POINT, {**run_values, "status": status, "verdict": verdict}),
            value=counts.trials[status, verdict],
        )
        for status, verdict in sorted(
            pairs | dict.fromkeys(counts.trials), key=lambda p: (p[0], p[1] or "")
        )
    ]
    scores: list[Point] = []
    gauges: dict[str, list[Point]] = {
        names.GAUGE_MEAN: [],
        names.GAUGE_LOWER: [],
        names.GAUGE_UPPER: [],
    }
    for metric in tally.metrics:
        part = events.metrics[metric.evaluator, metric.metric]
        metric_values = {
            **run_values,
            "evaluation_name": part.evaluation_name,
            "evaluator": part.evaluator,
            "metric": part.metric,
        }
        states = counts.scores[metric.evaluator, metric.metric]
        for state in ScoreState:
            values = {**metric_values, "state": state, "standing": standing(state)}
            scores.append(Point(attributes=_named(names.POINT, values), value=states[state]))
        rate = metric.rate
        over: dict[str, Any] = {**metric_values, "n": rate.n, "sought": rate.sought}
        for name, number in zip(gauges, (rate.value, rate.lower, rate.upper), strict=True):
            if number is not None:
                gauges[name].append(Point(attributes=_named(names.POINT, over), value=number))
    found: list[MetricRecord] = []

    def record(kind: Any, name: str, unit: str, description: str, points: list[Point]) -> None:
        found.extend(
            MetricRecord(
                name=name,
                description=description,
                unit=unit,
                kind=kind,
                start=start,
                time=end,
                points=tuple(points[at : at + _POINTS]),
            )
            for at in range(0, len(points), _POINTS)
        )

    record("sum", names.SUM_TRIALS, "{trial}", "Trials by status and verdict", trials)
    record("sum", names.SUM_SCORES, "{score}", "Scores by metric and state", scores)
    for name, description in (
        (names.GAUGE_MEAN, "Mean over the scored trials"),
        (names.GAUGE_LOWER, "Mean if every unverified trial had the lowest score"),
        (names.GAUGE_UPPER, "Mean if every unverified trial had the highest score"),
    ):
        record("gauge", name, "{score}", description, gauges[name])
    return tuple(found)


def _named(table: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, Value]:
    return {table[field]: _value(value) for field, value in values.items() if value is not None}


def _prefixed(field: str, values: Mapping[str, Any]) -> dict[str, Value]:
    prefix = names.RUN_SPAN_ATTRIBUTES[field]
    return {
        f"{prefix}.{names.key_part(name)}": _value(value)
        for name, value in values.items()
        if value is not None and value != ()
    }


def _value(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    return str(value) if isinstance(value, str) else value


def _iso(instant: Any) -> str | None:
    return None if instant is None else instant.isoformat()
