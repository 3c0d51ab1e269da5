"""One attempt at one case, and what evaluators made of it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fullcount.model._base import Count, Finite, Model, NonNegative, Sha256, Text, Timestamp, Word
from fullcount.model.content import Content, Excerpt
from fullcount.model.outcome import (
    UNVERIFIED,
    Outcome,
    RetryClass,
    ScoreState,
    TrialStatus,
    Verdict,
    VerdictBasis,
    derive_verdict,
)

__all__ = ["Error", "Gate", "Score", "TraceRef", "Trial", "Usage"]

RawType = Literal["absent", "null", "boolean", "number", "string", "array", "object"]


class Error(Model):
    """What stopped a run, a trial or an evaluator."""

    type: Word | None = None
    """Low-cardinality class, such as `TimeoutError`; None when the source gives only prose."""
    message: Excerpt | None = None
    retries: Count | None = None
    """Attempts that the harness made and threw away before this record."""


class Usage(Model):
    """Tokens, money and working time that a trial or a run took."""

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    total_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    cache_write_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    cost: NonNegative | None = None
    """US dollars."""


class TraceRef(Model):
    """Where the evaluated work can be found in a trace or at the provider."""

    trace_id: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")] | None = None
    span_id: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")] | None = None
    response_id: Word | None = None
    record_id: Word | None = None
    """The source's own unique id of this record (Inspect: the sample's uuid)."""


class Gate(Model):
    """A constraint that can overrule a verdict."""

    name: Word
    fired: bool | None = None
    """None: the gate could not be evaluated."""
    invalidates: bool = False
    """Whether firing makes the measurement void."""


class Score(Model):
    """What one evaluator measured on one trial, for one of its metrics.

    `value` is set only where the state is `scored`, and is never clamped or rescaled. A scored
    result without a number has a `label`. `raw` is the JSON text of what the file held.
    """

    evaluator: Word
    metric: Word
    state: ScoreState
    value: Finite | None = None
    """In the unit and on the scale of the evaluator's metric."""
    label: Text | None = None
    """A categorical result, in the evaluator's own vocabulary."""
    outcome: Outcome | None = None
    """Against the evaluator's threshold or vocabulary; None where it has none."""
    raw: Text | None = None
    """JSON text of the value in the source; `NaN` and `Infinity` as Python writes them."""
    raw_type: RawType = "absent"
    reason: Word | None = None
    """Low-cardinality cause of a state other than `scored`."""
    answer: Excerpt | None = None
    explanation: Excerpt | None = None
    edited: bool = False
    """Whether somebody changed the value after the evaluator gave it."""

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.state is ScoreState.SCORED:
            if self.value is None and self.label is None:
                msg = "a scored result needs a value or a label"
                raise ValueError(msg)
        elif self.value is not None or self.outcome is not None:
            msg = f"state {self.state.value!r} excludes a value and an outcome"
            raise ValueError(msg)
        return self

    @property
    def unverified(self) -> bool:
        """Whether this score was sought and is not there."""
        return self.state in UNVERIFIED


class Trial(Model):
    """One attempt at one case."""

    case_id: Text
    """The case in the suite, as text; a number is written in decimal."""
    case_id_type: Literal["string", "number", "synthetic"] = "string"
    """Type of the id in the source; `synthetic` when the source gives none."""
    attempt: Annotated[int, Field(ge=1, lt=2**63)] = 1
    status: TrialStatus = TrialStatus.COMPLETED
    status_reason: Word | None = None
    """Low-cardinality cause, such as `timeout` or `message_limit`."""
    scores: tuple[Score, ...] = ()
    """One per metric that the run declares, in the run's order."""
    declared_verdict: Verdict | None = None
    """The verdict after gates, as the source states it."""
    judge_verdict: Verdict | None = None
    """The judge's own verdict before gates."""
    self_report: bool | None = None
    """The subject's claim of success: an output under test, never a verdict."""
    gates: tuple[Gate, ...] = ()
    error: Error | None = None
    limit: Word | None = None
    """Kind of the limit that ended the trial."""
    invalidated: bool = False
    """Whether somebody declared this record void."""
    control: Literal["positive", "negative", "trap"] | None = None
    pressure_round: Count | None = None
    order: Count | None = None
    seed: int | None = None
    started_at: Timestamp | None = None
    completed_at: Timestamp | None = None
    duration: NonNegative | None = None
    """Seconds from start to end."""
    working_time: NonNegative | None = None
    """Seconds without waits for rate limits, retries and shared resources."""
    usage: Usage | None = None
    trace: TraceRef | None = None
    content: Content | None = None
    sample_hash: Sha256 | None = None
    """Join key over the real input and references; see `fullcount.content.sample_hash`."""
    pointer: Text | None = None
    """Where in the source the record stands: member or line, and JSON pointer."""

    @model_validator(mode="after")
    def _agree(self) -> Self:
        scores = self.scores
        if len(scores) > 1 and len({(s.evaluator, s.metric) for s in scores}) < len(scores):
            msg = "two scores for one metric of one evaluator"
            raise ValueError(msg)
        if self.status is TrialStatus.NOT_RUN and any(
            score.state is ScoreState.SCORED for score in scores
        ):
            msg = "a trial that was not run cannot be scored"
            raise ValueError(msg)
        return self

    @property
    def verdict(self) -> Verdict | None:
        """Declared by the source, else derived from the scores; None: nobody was asked."""
        return self.declared_verdict or derive_verdict(self.scores)

    @property
    def verdict_basis(self) -> VerdictBasis | None:
        """Where `verdict` comes from."""
        if self.declared_verdict is not None:
            return VerdictBasis.DECLARED
        return None if derive_verdict(self.scores) is None else VerdictBasis.DERIVED

    @property
    def measurement_failure(self) -> bool:
        """Whether the environment, not the subject, kept this trial from being measured."""
        return self.status in _ENVIRONMENTAL or (
            self.status is TrialStatus.SUBJECT_ERROR and self.status_reason == "timeout"
        )

    @property
    def retry(self) -> RetryClass:
        """What it takes to get the measurements that are not there."""
        unmeasured = any(score.unverified for score in self.scores)
        if not unmeasured and self.verdict is not Verdict.UNVERIFIED:
            return RetryClass.NONE
        if self.status in (TrialStatus.NOT_RUN, TrialStatus.BLOCKED):
            return RetryClass.RERUN
        if unmeasured and self.status in (TrialStatus.COMPLETED, TrialStatus.EVALUATOR_ERROR):
            return RetryClass.REGRADE
        return RetryClass.RECONCILE_FIRST


_ENVIRONMENTAL = frozenset(
    {TrialStatus.HARNESS_ERROR, TrialStatus.EVALUATOR_ERROR, TrialStatus.BLOCKED}
)
