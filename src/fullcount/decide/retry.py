"""Which trials to run or grade again, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.model import RetryClass

if TYPE_CHECKING:
    from fullcount.model import Run, Trial

__all__ = ["retry_record"]

_WHY = {
    RetryClass.NONE: "nothing to do",
    RetryClass.RERUN: "it never started: run it again",
    RetryClass.REGRADE: "only the evaluation failed: grade the retained output again",
    RetryClass.RECONCILE_FIRST: "it may have had effects: look before it is run again",
}


def retry_record(run: Run, trial: Trial) -> dict[str, Any]:
    """One trial as a harness needs it to act: what it is, what to do, what is not there.

    Keys: `run_id`, `subject`, `suite`, `case_id`, `case_id_type`, `attempt`, `retry`, `why`,
    `status`, `status_reason`, `verdict`, `record_id`, `pointer`, and `unverified`, a list of
    `evaluator`, `metric`, `state` and `reason` of every sought score that is not there. A key
    without a value has None.
    """
    retry = trial.retry
    return {
        "run_id": run.id,
        "subject": run.subject.id,
        "suite": run.suite.name,
        "case_id": trial.case_id,
        "case_id_type": trial.case_id_type,
        "attempt": trial.attempt,
        "retry": retry.value,
        "why": _WHY[retry],
        "status": trial.status.value,
        "status_reason": trial.status_reason,
        "verdict": None if trial.verdict is None else trial.verdict.value,
        "record_id": None if trial.trace is None else trial.trace.record_id,
        "pointer": trial.pointer,
        "unverified": [
            {
                "evaluator": score.evaluator,
                "metric": score.metric,
                "state": score.state.value,
                "reason": score.reason,
            }
            for score in trial.scores
            if score.unverified
        ],
    }
