"""Turns records of the model into rows, in the order of the columns of each table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fullcount.model import ScoreState, TrialStatus, Usage, Verdict, derive_verdict, digest_text
from fullcount.plugin import ContentPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fullcount.model import (
        Content,
        Error,
        Excerpt,
        Gate,
        MetricTally,
        Rate,
        Run,
        RunTally,
        Score,
        Trial,
    )

__all__ = ["Rows"]

Row = tuple[Any, ...]
Private = tuple[Any, ...]
"""The columns that hold one private text under the content policy."""

_NO_USAGE = Usage()
_NO_TRACE = (None, None, None, None)
_NO_GATES: Row = ((), (), ())
_GATE_STATES = {True: "fired", False: "not_fired", None: "not_evaluated"}
_SELF_REPORTS = {True: "success", False: "failure", None: None}
_STAGES = {True: "draft", False: "final", None: None}


class Rows:
    """Rows of one run.

    Args:
        run: The run.
        policy: Which of the private columns there are; trials are already reduced to it.
    """

    def __init__(self, run: Run, policy: ContentPolicy) -> None:
        self._run = run
        self._head = (run.id, run.subject.id, run.suite.name)
        self._private, self._privates, self._messages = _PRIVATE[policy]
        self._trials = 0

    def trial(self, trial: Trial) -> tuple[Row, list[Row]]:
        """The row of the next trial, and those of its scores."""
        index = self._trials
        self._trials += 1
        head = (*self._head, index, trial.case_id, trial.attempt)
        return self._trial(head, trial), [self._score(head, score) for score in trial.scores]

    def _trial(self, head: Row, trial: Trial) -> Row:
        verdict, basis = trial.declared_verdict, "declared"
        if verdict is None:
            verdict = derive_verdict(trial.scores)
            basis = "none" if verdict is None else "derived"
        usage = trial.usage or _NO_USAGE
        trace, content = trial.trace, trial.content
        return (
            *head,
            trial.case_id_type,
            trial.status,
            trial.status_reason,
            verdict,
            basis,
            trial.judge_verdict,
            _SELF_REPORTS[trial.self_report],
            trial.measurement_failure,
            trial.retry,
            trial.invalidated,
            trial.limit,
            *self._error(trial.error),
            *(_gates(trial.gates) if trial.gates else _NO_GATES),
            trial.control,
            trial.pressure_round,
            trial.order,
            _decimal(trial.seed),
            trial.started_at,
            trial.completed_at,
            trial.duration,
            trial.working_time,
            usage.input_tokens,
            usage.output_tokens,
            usage.total_tokens,
            usage.cache_read_tokens,
            usage.cache_write_tokens,
            usage.reasoning_tokens,
            usage.cost,
            *(
                _NO_TRACE
                if trace is None
                else (trace.trace_id, trace.span_id, trace.response_id, trace.record_id)
            ),
            trial.pointer,
            trial.sample_hash,
            content and content.turns,
            *self._content(content),
        )

    def _score(self, head: Row, score: Score) -> Row:
        return (
            *head,
            score.evaluator,
            score.metric,
            score.state,
            score.value,
            score.label,
            score.outcome,
            score.raw,
            score.raw_type,
            score.reason,
            score.edited,
            *self._private(score.answer),
            *self._private(score.explanation),
        )

    def _error(self, error: Error | None) -> Row:
        if error is None:
            return (False, None, None, *self._private(None))
        return (True, error.type, error.retries, *self._private(error.message))

    def _content(self, content: Content | None) -> Row:
        if content is None:
            nothing = self._privates(())
            return (*self._private(None), *nothing, *nothing, *nothing, *self._messages(None))
        return (
            *self._private(content.input),
            *self._privates(content.references),
            *self._privates(content.choices),
            *self._privates(content.outputs),
            *self._messages(content),
        )

    def summary(self, tally: RunTally) -> Iterator[Row]:
        """The rows of the run's metrics."""
        metrics = {
            (evaluator.name, metric.name): (evaluator, metric)
            for evaluator in self._run.evaluators
            for metric in evaluator.metrics
        }
        for counted in tally.metrics:
            evaluator, metric = metrics[counted.evaluator, counted.metric]
            yield (
                *self._head,
                counted.evaluator,
                counted.metric,
                counted.total,
                counted.sought,
                counted.unverified,
                counted.excluded,
                *(counted.states[state] for state in ScoreState),
                counted.passed,
                counted.partial,
                counted.failed,
                _mean_state(counted),
                *_rate(counted.rate),
                counted.standard_deviation,
                counted.minimum,
                counted.maximum,
                counted.cases,
                counted.case_mean,
                list(counted.labels),
                list(counted.labels.values()),
                evaluator.kind,
                evaluator.model,
                evaluator.version,
                evaluator.rubric_revision,
                evaluator.independence,
                evaluator.calibration,
                evaluator.limits,
                metric.minimum,
                metric.maximum,
                metric.lower_is_better,
                metric.unit,
                metric.threshold,
                metric.categorical,
            )

    def run(self, tally: RunTally) -> Row:
        """The row of the run."""
        run, counts = self._run, tally.counts
        subject, suite, plan = run.subject, run.suite, run.plan
        generation, source = run.generation, run.source
        return (
            *self._head,
            counts.total,
            *(counts.statuses[status] for status in TrialStatus),
            *(counts.verdicts[verdict] for verdict in Verdict),
            counts.no_verdict,
            tally.measurement_failures,
            tally.limited,
            tally.scored_and_errored,
            tally.invalidated,
            "undecided" if tally.pass_rate.value is None else "measured",
            *_rate(tally.pass_rate),
            run.status,
            run.invalidated,
            *self._error(run.error),
            run.created_at,
            run.started_at,
            run.completed_at,
            plan.cases,
            plan.attempts,
            plan.trials,
            subject.name,
            subject.version,
            subject.provider,
            _STAGES[subject.draft],
            subject.modified_at,
            suite.version,
            suite.dataset,
            suite.dataset_location,
            suite.dataset_revision,
            suite.split,
            suite.cases,
            run.harness.name,
            run.harness.version,
            _json(run.harness.packages),
            generation.temperature,
            generation.top_p,
            generation.top_k,
            generation.max_tokens,
            _decimal(generation.seed),
            generation.reasoning_effort,
            generation.time_limit,
            generation.message_limit,
            generation.token_limit,
            generation.sandbox,
            generation.solver,
            list(generation.tools),
            list(run.tags),
            _json(run.environment),
            _json(
                {
                    model: usage.model_dump(mode="json", exclude_none=True)
                    for model, usage in run.usage.items()
                }
            ),
            _json(run.reported_counts),
            _json(
                [
                    evaluator.model_dump(mode="json", exclude_defaults=True)
                    for evaluator in run.evaluators
                    if not evaluator.metrics
                ]
            ),
            source.format,
            source.format_version,
            source.path,
            source.sha256,
            source.size,
        )

    def reported(self) -> Iterator[Row]:
        """The rows of the harness's own headline numbers."""
        for position, reported in enumerate(self._run.reported):
            state = reported.nonfinite or ("absent" if reported.value is None else "finite")
            yield (
                *self._head,
                position,
                reported.evaluator,
                reported.metric,
                reported.statistic,
                state,
                reported.value,
                reported.reducer,
                reported.group,
                reported.scored,
                reported.unscored,
            )

    def findings(self, tally: RunTally) -> Iterator[Row]:
        """The rows of everything that the reader or the count noticed."""
        for position, finding in enumerate(tally.findings):
            yield (
                *self._head,
                position,
                finding.code,
                finding.severity,
                finding.message,
                finding.evaluator,
                finding.metric,
                finding.count,
            )


def _gates(gates: tuple[Gate, ...]) -> Row:
    return (
        [gate.name for gate in gates],
        [_GATE_STATES[gate.fired] for gate in gates],
        [gate.invalidates for gate in gates],
    )


def _decimal(value: int | None) -> str | None:
    return None if value is None else str(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _rate(rate: Rate) -> Row:
    return (
        rate.value,
        rate.lower,
        rate.upper,
        rate.n,
        rate.sought,
        rate.standard_error,
        rate.method,
    )


def _mean_state(metric: MetricTally) -> str:
    if metric.rate.value is not None:
        return "measured"
    return "labels_only" if metric.scored else "nothing_scored"


def _digest(excerpt: Excerpt) -> str:
    return excerpt.sha256 or digest_text(excerpt.text or "")


def _omit(_: object) -> Private:
    return ()


def _digest_one(excerpt: Excerpt | None) -> Private:
    return (None if excerpt is None else _digest(excerpt),)


def _digest_many(excerpts: tuple[Excerpt, ...]) -> Private:
    return ([_digest(excerpt) for excerpt in excerpts] if excerpts else (),)


def _include_one(excerpt: Excerpt | None) -> Private:
    return (None, None) if excerpt is None else (excerpt.sha256, excerpt.text)


def _include_many(excerpts: tuple[Excerpt, ...]) -> Private:
    return (
        [excerpt.sha256 for excerpt in excerpts],
        [excerpt.text for excerpt in excerpts],
    )


def _messages(content: Content | None) -> Private:
    if content is None or content.messages is None:
        return (None,)
    messages = [
        message.model_dump(mode="json", exclude_defaults=True) for message in content.messages
    ]
    return (_json(messages),)


_PRIVATE: dict[
    ContentPolicy,
    tuple[
        Callable[[Excerpt | None], Private],
        Callable[[tuple[Excerpt, ...]], Private],
        Callable[[Content | None], Private],
    ],
] = {
    ContentPolicy.OMIT: (_omit, _omit, _omit),
    ContentPolicy.DIGEST: (_digest_one, _digest_many, _messages),
    ContentPolicy.INCLUDE: (_include_one, _include_many, _messages),
}
