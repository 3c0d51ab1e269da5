"""Which value of the model fills which field of an event's part."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from fullcount.model import (
    UNVERIFIED,
    Outcome,
    ScoreState,
    TrialStatus,
    Verdict,
    VerdictBasis,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fullcount.model import Error, Evaluator, Gate, Metric, Score, Trial

__all__ = [
    "clean",
    "condition_values",
    "error_class",
    "error_values",
    "gate_values",
    "metric_values",
    "score_values",
    "standing",
    "trial_values",
]

_CLASS = re.compile(r"[\w.:/-]{1,100}", re.ASCII)
_OTHER = "_OTHER"
_INT64 = 2**63
_LABELS = {
    Outcome.PASSED: "pass",
    Outcome.PARTIAL: "partial",
    Outcome.FAILED: "fail",
    None: "scored",
}
_PASSED = {Outcome.PASSED: True, Outcome.PARTIAL: None, Outcome.FAILED: False, None: None}
_CASE_RESULTS = {Verdict.PASSED: "pass", Verdict.FAILED: "fail"}
_PLAIN = (
    "status_reason",
    "judge_verdict",
    "self_report",
    "limit",
    "duration",
    "working_time",
    "usage",
    "pointer",
    "sample_hash",
)
"""Fields that a trial and its part have in common, where the trial has anything in them."""
_CONDITIONS = ("control", "pressure_round", "order", "seed")


def standing(state: ScoreState) -> str:
    """What a state comes to: `scored`, `unverified` or `excluded`."""
    return _STANDINGS[state]


_STANDINGS = {
    state: "scored"
    if state is ScoreState.SCORED
    else "unverified"
    if state in UNVERIFIED
    else "excluded"
    for state in ScoreState
}


def error_class(text: str | None) -> str:
    """A value for `error.type`: a class or code, never prose."""
    return text if text is not None and _CLASS.fullmatch(text) else _OTHER


def metric_values(evaluator: Evaluator, metric: Metric) -> dict[str, Any]:
    """Fields of a `MetricPart`."""
    same = metric.name == evaluator.name
    return {
        "evaluation_name": metric.name if same else f"{evaluator.name}.{metric.name}",
        "evaluator": evaluator.name,
        "evaluator_version": evaluator.version,
        "evaluator_kind": None if evaluator.kind == "unknown" else evaluator.kind,
        "evaluator_model": evaluator.model,
        "metric": metric.name,
        "minimum": metric.minimum,
        "maximum": metric.maximum,
        "lower_is_better": metric.lower_is_better,
        "unit": metric.unit,
        "threshold": metric.threshold,
        "categorical": metric.categorical or None,
    }


def trial_values(trial: Trial) -> dict[str, Any]:
    """Fields of a `TrialPart` that need no look at its run; parts within it are left out."""
    stated = trial.__dict__
    verdict = trial.verdict
    values: dict[str, Any] = {
        "case_name": stated["case_id"],
        "case_id": stated["case_id"],
        "attempt": stated["attempt"],
        "status": stated["status"],
    }
    if verdict is not None:
        values["verdict"] = verdict
        declared = stated["declared_verdict"] is not None
        values["verdict_basis"] = VerdictBasis.DECLARED if declared else VerdictBasis.DERIVED
        values["case_result"] = _CASE_RESULTS.get(verdict)
    for field in _PLAIN:
        value = stated[field]
        if value is not None:
            values[field] = value
    # What nearly every trial would say alike is left out.
    if trial.case_id_type != "string":
        values["case_id_type"] = trial.case_id_type
    if verdict is Verdict.UNVERIFIED or _any_unverified(trial.scores):
        values["retry"] = trial.retry
    if stated["status"] is not TrialStatus.COMPLETED and trial.measurement_failure:
        values["measurement_failure"] = True
    if trial.invalidated:
        values["invalidated"] = True
    trace = trial.trace
    if trace is not None:
        values["response_id"] = trace.response_id
        values["source_record_id"] = trace.record_id
    return values


def condition_values(trial: Trial) -> dict[str, Any]:
    """Fields of a `ConditionsPart`; empty where the source states no condition."""
    stated = trial.__dict__
    values: dict[str, Any] = {}
    for field in _CONDITIONS:
        if stated[field] is not None:
            values[field] = stated[field]
    seed = stated["seed"]
    if seed is not None and not -_INT64 <= seed < _INT64:
        values["seed"] = str(seed)
    return values


def gate_values(gates: tuple[Gate, ...]) -> dict[str, Any]:
    """Fields of a `GatesPart`."""

    def named(chosen: Iterable[bool]) -> tuple[str, ...] | None:
        found = tuple(gate.name for gate, yes in zip(gates, chosen, strict=True) if yes)
        return found or None

    return {
        "all": tuple(gate.name for gate in gates),
        "fired": named(gate.fired is True for gate in gates),
        "not_evaluated": named(gate.fired is None for gate in gates),
        "invalidating": named(gate.invalidates for gate in gates),
    }


def error_values(error: Error) -> dict[str, Any]:
    """Fields of an `ErrorPart`."""
    message = error.message
    return {
        "type": error.type,
        "message": None if message is None else message.text,
        "message_sha256": None if message is None else message.sha256,
        "retries": error.retries,
    }


def score_values(score: Score, trial: Trial) -> dict[str, Any]:
    """Fields of a `ScorePart`."""
    stated = score.__dict__
    state = stated["state"]
    values: dict[str, Any] = {"state": state, "standing": _STANDINGS[state]}
    if state is ScoreState.SCORED:
        values["value"] = stated["value"]
        values["label"] = _LABELS[stated["outcome"]]
        values["passed"] = _PASSED[stated["outcome"]]
    else:
        values["label"] = state.value
        if state is ScoreState.ERROR:
            values["error_type"] = _error_type(score, trial)
    if stated["label"] is not None:
        values["evaluator_label"] = stated["label"]
    for field in ("raw", "reason"):
        if stated[field] is not None:
            values[field] = stated[field]
    if stated["raw_type"] != "absent":
        values["raw_type"] = stated["raw_type"]
    for field in ("explanation", "answer"):
        excerpt = stated[field]
        if excerpt is not None:
            values[field] = excerpt.text
            values[f"{field}_sha256"] = excerpt.sha256
    if stated["edited"]:
        values["edited"] = True
    return values


def _error_type(score: Score, trial: Trial) -> str:
    """Class of an evaluator's own failure; the trial's, where grading is what failed in it."""
    if score.reason is None and trial.status is TrialStatus.EVALUATOR_ERROR and trial.error:
        return error_class(trial.error.type)
    return error_class(score.reason)


def _any_unverified(scores: tuple[Score, ...]) -> bool:
    for score in scores:  # noqa: SIM110 - half the time of any(), on the path of every trial
        if score.state in UNVERIFIED:
            return True
    return False


def clean(value: Any) -> Any:
    """The value as OTLP can hold it, or None."""
    if isinstance(value, str):
        return str(value).encode("utf-8", "replace").decode()
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -_INT64 <= value < _INT64 else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, tuple):
        return tuple(map(clean, value))
    return value
