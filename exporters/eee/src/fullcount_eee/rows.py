"""The rows of the samples file: one for each number and one for each verdict.

This is the hot path, so a row is joined from JSON fragments: those of the run and of each
metric are made once, those of a trial are shared by its rows.
"""

from __future__ import annotations

from json.encoder import encode_basestring_ascii as quote
from math import isfinite
from typing import TYPE_CHECKING

from fullcount.model import (
    Outcome,
    ScoreState,
    TrialStatus,
    Verdict,
    derive_verdict,
)
from fullcount_eee.names import LEVELS, SCHEMA_VERSION, UNKNOWN_LEVEL
from fullcount_eee.quantities import MEAN, VERDICT_LEVEL
from fullcount_eee.results import result_id
from fullcount_eee.strings import compact, present, shown
from fullcount_eee.transcripts import EMPTY, Transcript, transcript

if TYPE_CHECKING:
    from fullcount.model import Error, Run, Score, TraceRef, Trial, Usage
    from fullcount_eee.identity import Identity

__all__ = ["RowBuilder"]

_NO_THRESHOLD = ',"is_correct_basis":"no threshold: false does not mean wrong"'
_UNSETTLED = {
    verdict: f',"is_correct_basis":"verdict {verdict}: false does not mean wrong"'
    for verdict in (Verdict.UNVERIFIED, Verdict.DISPUTED)
}
"""Verdicts that say neither right nor wrong, where the format wants one of the two."""
_PARTIAL = ',"outcome":"partial"'
_VERDICTS = {
    (verdict, declared): f',"verdict":"{verdict}","verdict_basis":"{basis}"'
    for verdict in Verdict
    for declared, basis in ((True, "declared"), (False, "derived"))
}
_LEVELS = {
    verdict: f'{LEVELS[verdict][0] if verdict in LEVELS else UNKNOWN_LEVEL},"is_correct":'
    f"{'true' if verdict is Verdict.PASSED else 'false'}"
    for verdict in Verdict
}
_STATUSES = {status: f',"status":"{status}"' for status in TrialStatus}
_COMMON = frozenset(
    {
        "attempt",
        "case_id",
        "case_id_type",
        "completed_at",
        "content",
        "declared_verdict",
        "duration",
        "error",
        "pointer",
        "sample_hash",
        "scores",
        "started_at",
        "status",
        "status_reason",
        "trace",
        "usage",
        "working_time",
    }
)
"""Fields that are looked at in every trial; the others only where one of them is set."""

_BARE = frozenset({"evaluator", "metric", "state", "value"})
"""A score with no other field set has nothing more to tell."""


class RowBuilder:
    """Turns trials into lines of JSON, and counts what has no line.

    Attributes:
        trials_without_row: Trials with neither a number nor a verdict.
        scores_without_row: Scores without a number.
        without_threshold: Rows whose `is_correct` means nothing, since there is no threshold.
        unsettled: Rows whose `is_correct` means nothing, since the verdict leaves it open.
        messages_left_out: Trials with a message that a single turn has no place for.
    """

    def __init__(self, run: Run, identity: Identity) -> None:
        head = (
            f'{{"schema_version":{quote(SCHEMA_VERSION)},'
            f'"evaluation_id":{quote(identity.evaluation_id)},'
            f'"model_id":{quote(identity.model_id)},'
            f'"evaluation_name":{quote(run.suite.name)},"evaluation_result_id":'
        )
        metadata = f',"metadata":{{"run_id":{quote(run.id)}'
        scored = f',"state":"{ScoreState.SCORED}"'
        self._metrics = {
            (evaluator, metric): (
                f"{head}{quote(result_id('metric', evaluator, metric, MEAN.name))},",
                f'{metadata},"evaluator":{quote(evaluator)},"metric":{quote(metric)}{scored}',
            )
            for evaluator, metric in run.metric_keys
        }
        self._verdict = (
            f"{head}{quote(result_id('verdict', VERDICT_LEVEL.name))},",
            f'{metadata},"quantity":"verdict"',
        )
        self._bare = {
            (evaluator, metric, state): compact(
                {"evaluator": evaluator, "metric": metric, "state": state}
            )
            for evaluator, metric in run.metric_keys
            for state in ScoreState
        }
        self.trials_without_row = 0
        self.scores_without_row = 0
        self.without_threshold = 0
        self.unsettled = 0
        self.messages_left_out = 0

    def lines(self, trial: Trial) -> list[str]:
        """The trial's rows, each with its line end."""
        scores = trial.scores
        valued = [score for score in scores if score.value is not None]
        declared = trial.declared_verdict
        verdict = derive_verdict(scores) if declared is None else declared
        self.scores_without_row += len(scores) - len(valued)
        if verdict is None and not valued:
            self.trials_without_row += 1
            return []
        content = trial.content
        told = EMPTY if content is None else transcript(content)
        if told.left_out:
            self.messages_left_out += 1
        sample = f'"sample_id":{quote(trial.case_id)}'
        if trial.sample_hash is not None:
            sample += f',"sample_hash":"{trial.sample_hash}"'
        sample += told.fragment
        after = f"{told.counts}}}{_measures(trial)}"
        about = _about(trial, told)
        if verdict is not None:
            about = f"{_VERDICTS[verdict, declared is not None]}{about}"
        if len(valued) < len(scores):
            about += f',"scores_without_row":{self._without_row(scores)}'
        lines = [self._line(score, sample, after, about, told) for score in valued]
        if verdict is not None:
            start, metadata = self._verdict
            own = _UNSETTLED.get(verdict, "")
            if own:
                self.unsettled += 1
            lines.append(
                f'{start}{sample},"answer_attribution":[],"evaluation":{{"score":'
                f"{_LEVELS[verdict]}{after}{metadata}{about}{own}}}}}\n"
            )
        return lines

    def _line(self, score: Score, sample: str, after: str, about: str, told: Transcript) -> str:
        start, metadata = self._metrics[score.evaluator, score.metric]
        outcome, value = score.outcome, repr(score.value)
        attribution = ',"answer_attribution":[]'
        if outcome is None:
            self.without_threshold += 1
            own = _NO_THRESHOLD
        else:
            own = _PARTIAL if outcome is Outcome.PARTIAL else ""
        if score.label is not None:
            own += f',"label":{quote(score.label)}'
        if score.raw is not None and score.raw != value:
            own += f',"raw":{quote(score.raw)}'
        if score.reason is not None:
            own += f',"reason":{quote(score.reason)}'
        if score.edited:
            own += ',"edited":"true"'
        answer = score.answer
        if answer is not None:
            if told.answered and answer.text is not None:
                attribution = (
                    ',"answer_attribution":[{"turn_idx":0,"source":"output.raw",'
                    f'"extracted_value":{quote(answer.text)},'
                    f'"extraction_method":{quote(score.evaluator)},"is_terminal":true}}]'
                )
            else:
                own += f',"answer":{quote(shown(answer))}'
        if score.explanation is not None:
            own += f',"explanation":{quote(shown(score.explanation))}'
        correct = "true" if outcome is Outcome.PASSED else "false"
        return (
            f'{start}{sample}{attribution},"evaluation":{{"score":{value},'
            f'"is_correct":{correct}{after}{metadata}{about}{own}}}}}\n'
        )

    def _without_row(self, scores: tuple[Score, ...]) -> str:
        """JSON of the scores that have no row, as a string of JSON."""
        bare = self._bare
        told = []
        for score in scores:
            if score.value is None:
                if score.model_fields_set <= _BARE:
                    told.append(bare[score.evaluator, score.metric, score.state])
                else:
                    told.append(_told(score))
        return quote(f"[{','.join(told)}]")


def _measures(trial: Trial) -> str:
    """`token_usage`, `performance` and `error`, as far as there is something to say."""
    measures = ""
    usage = trial.usage
    if usage is not None:
        measures = _tokens(usage)
    duration, working = trial.duration, trial.working_time
    if duration is not None or working is not None:
        parts = []
        if duration is not None and isfinite(duration * 1000):
            parts.append(f'"latency_ms":{duration * 1000!r}')
        if working is not None:
            parts.append(f'"additional_details":{{"working_time_seconds":"{working!r}"}}')
        if parts:
            measures += f',"performance":{{{",".join(parts)}}}'
    if trial.error is not None or trial.status is not TrialStatus.COMPLETED:
        measures += f',"error":{quote(_error(trial))}'
    return measures


def _tokens(usage: Usage) -> str:
    """All three counts or nothing, as the schema wants it."""
    taken, given, total = usage.input_tokens, usage.output_tokens, usage.total_tokens
    if taken is None or given is None or total is None:
        return ""
    tokens = (
        f',"token_usage":{{"input_tokens":{taken},"output_tokens":{given},"total_tokens":{total}'
    )
    if usage.cache_write_tokens is not None:
        tokens += f',"input_tokens_cache_write":{usage.cache_write_tokens}'
    if usage.cache_read_tokens is not None:
        tokens += f',"input_tokens_cache_read":{usage.cache_read_tokens}'
    if usage.reasoning_tokens is not None:
        tokens += f',"reasoning_tokens":{usage.reasoning_tokens}'
    return tokens + "}"


def _error(trial: Trial) -> str:
    """Status, reason, class and message, as far as they are known."""
    error = trial.error
    message = None if error is None or error.message is None else error.message.text
    parts = (
        None if trial.status is TrialStatus.COMPLETED else trial.status.value,
        trial.status_reason,
        None if error is None else error.type,
        message,
    )
    return ": ".join(part for part in parts if part) or "error"


def _about(trial: Trial, told: Transcript) -> str:
    """What goes into the metadata of every row of the trial."""
    about = f',"attempt":"{trial.attempt}"{_STATUSES[trial.status]}'
    if trial.status_reason is not None:
        about += f',"status_reason":{quote(trial.status_reason)}'
    if trial.error is not None:
        about += _error_details(trial.error)
    about += _times(trial)
    if trial.trace is not None:
        about += _trace(trial.trace)
    if trial.pointer is not None:
        about += f',"pointer":{quote(trial.pointer)}'
    if trial.usage is not None:
        about += _usage_details(trial.usage)
    about += told.details
    if trial.case_id_type != "string":
        about += f',"case_id_type":"{trial.case_id_type}"'
    if not trial.model_fields_set <= _COMMON:
        about += _rare(trial)
    return about


def _trace(trace: TraceRef) -> str:
    return "".join(
        f',"{name}":{quote(value)}' for name, value in trace.__dict__.items() if value is not None
    )


def _times(trial: Trial) -> str:
    times = ""
    if trial.started_at is not None:
        times += f',"started_at":"{trial.started_at.isoformat()}"'
    if trial.completed_at is not None:
        times += f',"completed_at":"{trial.completed_at.isoformat()}"'
    if trial.duration is not None and not isfinite(trial.duration * 1000):
        times += f',"duration_seconds":"{trial.duration!r}"'
    return times


def _error_details(error: Error) -> str:
    about = ""
    if error.type is not None:
        about += f',"error_type":{quote(error.type)}'
    if error.message is not None and error.message.text is None:
        about += f',"error_message":{quote(shown(error.message))}'
    if error.retries is not None:
        about += f',"error_retries":"{error.retries}"'
    return about


def _usage_details(usage: Usage) -> str:
    """The cost, and counts that `token_usage` cannot take without the others."""
    about = ""
    if usage.cost is not None:
        about += f',"cost_usd":"{usage.cost!r}"'
    if None in (usage.input_tokens, usage.output_tokens, usage.total_tokens):
        known = usage.model_dump(exclude_none=True, exclude={"cost"})
        if known:
            about += f',"usage":{quote(compact(known))}'
    return about


def _rare(trial: Trial) -> str:
    values = {
        "judge_verdict": trial.judge_verdict,
        "self_report": None if trial.self_report is None else compact(trial.self_report),
        "gates": compact(trial.gates) if trial.gates else None,
        "limit": trial.limit,
        "invalidated": "true" if trial.invalidated else None,
        "control": trial.control,
        "pressure_round": trial.pressure_round,
        "order": trial.order,
        "seed": trial.seed,
    }
    return "".join(
        f',"{name}":{quote(str(value))}' for name, value in values.items() if value is not None
    )


def _told(score: Score) -> str:
    """All that is known of a score that has no row."""
    return compact(
        present(
            {
                "evaluator": score.evaluator,
                "metric": score.metric,
                "state": score.state,
                "label": score.label,
                "outcome": score.outcome,
                "raw": score.raw,
                "reason": score.reason,
                "edited": score.edited or None,
                "answer": score.answer and shown(score.answer),
                "explanation": score.explanation and shown(score.explanation),
            }
        )
    )
