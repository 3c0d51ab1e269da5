"""What is sent, as pure types: events, spans and metrics, before any encoding.

An event is kept in parts, because most of it repeats: the run's part is one object for all
events, the metric's one for all trials, the trial's one for all its metrics. An encoder may
keep what it made of a part.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fullcount.model import (
    Model,
    RetryClass,
    ScoreState,
    TrialStatus,
    Usage,
    Verdict,
    VerdictBasis,
)

__all__ = [
    "ConditionsPart",
    "ErrorPart",
    "EvaluationEvent",
    "GatesPart",
    "Label",
    "Link",
    "MetricPart",
    "MetricRecord",
    "Point",
    "Resource",
    "RunPart",
    "ScorePart",
    "Signal",
    "SpanEvent",
    "SpanRecord",
    "Standing",
    "TimeBasis",
    "TrialPart",
    "Value",
]

# The bound makes pydantic read a string as UTF-8, which refuses a lone surrogate.
Text = Annotated[str, Field(max_length=2**31)]
Double = Annotated[float, Field(allow_inf_nan=False)]
Int64 = Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)]
Nanoseconds = Annotated[int, Field(ge=0, lt=2**64)]
"""Since 1970, as OTLP counts them."""
TraceId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
SpanId = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
Texts = tuple[Text, ...]
Value = Annotated[bool, Field(strict=True)] | Int64 | Double | Text | Texts
"""An attribute's value; a number keeps its type on the wire."""

Signal = Literal["logs", "traces", "metrics"]
Standing = Literal["scored", "unverified", "excluded"]
"""What a state comes to: measured, sought and not there, or not sought."""
TimeBasis = Literal["run", "unknown"]
"""Whose time an event bears that has none of its trial."""
Label = Literal[
    "pass",
    "partial",
    "fail",
    "scored",
    "null",
    "nan",
    "error",
    "missing",
    "not_measured",
    "skipped",
    "not_applicable",
]
"""Vocabulary of `gen_ai.evaluation.score.label`.

`pass`, `partial` and `fail` stand against the evaluator's own threshold; `scored` is a value
without one. The others say why there is no value, in the words of `ScoreState`.
"""


class RunPart(Model):
    """What every event of a run says."""

    run_id: Text
    suite: Text


class MetricPart(Model):
    """What every event of one metric says."""

    evaluation_name: Text
    evaluator: Text
    evaluator_version: Text | None = None
    evaluator_kind: Text | None = None
    """None where it is not known."""
    evaluator_model: Text | None = None
    metric: Text
    minimum: Double | None = None
    maximum: Double | None = None
    lower_is_better: bool
    unit: Text | None = None
    threshold: Double | None = None
    categorical: bool | None = None


class GatesPart(Model):
    """The gates of a trial, by name."""

    all: Texts
    fired: Texts | None = None
    not_evaluated: Texts | None = None
    invalidating: Texts | None = None


class ErrorPart(Model):
    """What stopped a trial."""

    type: Text | None = None
    message: Text | None = None
    message_sha256: Text | None = None
    retries: Int64 | None = None


class ConditionsPart(Model):
    """Under what conditions a trial was made."""

    control: Text | None = None
    pressure_round: Int64 | None = None
    order: Int64 | None = None
    seed: Int64 | Text | None = None
    """As text where it does not fit 64 bits."""


class TrialPart(Model):
    """What every event of one trial says."""

    case_name: Text
    case_result: Literal["pass", "fail"] | None = None
    """The verdict, where the conventions have a word for it."""
    case_id: Text
    case_id_type: Text | None = None
    """Only where the id is no text in the source."""
    attempt: Int64
    status: TrialStatus
    status_reason: Text | None = None
    verdict: Verdict | None = None
    verdict_basis: VerdictBasis | None = None
    judge_verdict: Verdict | None = None
    self_report: bool | None = None
    retry: RetryClass | None = None
    """Only where something can be done."""
    measurement_failure: bool | None = None
    """True or absent."""
    gates: GatesPart | None = None
    error: ErrorPart | None = None
    limit: Text | None = None
    invalidated: bool | None = None
    conditions: ConditionsPart | None = None
    time_basis: TimeBasis | None = None
    """Only where it is not the trial."""
    started_at: Int64 | None = None
    """Nanoseconds since 1970."""
    duration: Double | None = None
    """Seconds."""
    working_time: Double | None = None
    """Seconds."""
    usage: Usage | None = None
    response_id: Text | None = None
    evaluated_trace_id: Text | None = None
    """Only where the span id is not known, else it is the event's own."""
    evaluated_span_id: Text | None = None
    """Only where the trace id is not known, else it is the event's own."""
    source_record_id: Text | None = None
    pointer: Text | None = None
    sample_hash: Text | None = None


class ScorePart(Model):
    """What one event says of its score."""

    value: Double | None = None
    """Only where the state is `scored`; never a stand-in."""
    label: Label
    explanation: Text | None = None
    error_type: Text | None = None
    """Only where the evaluation itself failed."""
    state: ScoreState
    standing: Standing
    passed: bool | None = None
    """Against the evaluator's threshold; None for partial credit and where it has none."""
    evaluator_label: Text | None = None
    """The evaluator's own word."""
    raw: Text | None = None
    raw_type: Text | None = None
    reason: Text | None = None
    answer: Text | None = None
    answer_sha256: Text | None = None
    explanation_sha256: Text | None = None
    edited: bool | None = None


class EvaluationEvent(Model):
    """One log event: a metric of a trial, or a trial of a run without metrics."""

    event_name: Text
    time: Nanoseconds | None
    """None where the source states no time that OTLP can hold."""
    observed: Nanoseconds
    trace_id: TraceId
    span_id: SpanId | None
    run: RunPart
    metric: MetricPart | None
    trial: TrialPart
    score: ScorePart | None
    record_id: Text
    extra: dict[Text, Text] = {}
    """Attributes that one back end asks for."""


class Link(Model):
    """A span that another one is about."""

    trace_id: TraceId
    span_id: SpanId


class SpanEvent(Model):
    """Something that a span says besides its attributes."""

    name: Text
    time: Nanoseconds
    attributes: dict[Text, Value]


class SpanRecord(Model):
    """A span with the times of the source."""

    name: Text
    trace_id: TraceId
    span_id: SpanId
    parent_span_id: SpanId | None = None
    start: Nanoseconds
    end: Nanoseconds
    attributes: dict[Text, Value]
    events: tuple[SpanEvent, ...] = ()
    links: tuple[Link, ...] = ()
    failed: bool = False
    """Whether the run or the trial itself broke off."""


class Point(Model):
    """One number of a metric."""

    attributes: dict[Text, Value]
    value: Int64 | Double


class MetricRecord(Model):
    """A metric and its points.

    A sum is cumulative and not monotonic: the total of one finished run.
    """

    name: Text
    description: Text
    unit: Text
    kind: Literal["sum", "gauge"]
    start: Nanoseconds
    time: Nanoseconds
    points: tuple[Point, ...]


class Resource(Model):
    """What sends: attributes that hold for everything of one run."""

    attributes: dict[Text, Value]
    scope_version: Text
