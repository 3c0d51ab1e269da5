"""Reads the verifier artifacts of Stagehand's evals: folders with `trajectory.json`.

A result that is not graded, or not there, is a failed judge: the agent's own claim of success is
`self_report` and never a verdict. The judge's verdict before gates is kept beside the gated one.
Criteria without sufficient evidence get full credit in `processScore`; how many is a finding.
"""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt
from fullcount.model import Run, Trial
from fullcount.plugin import Confidence, ReaderSpec, RunStream
from fullcount.readers._fields import (
    as_count,
    as_dict,
    as_list,
    as_word,
    measured,
    present,
    validated,
)
from fullcount.readers._folders import object_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.plugin import ContentPolicy, Options, ReadRequest
    from fullcount.sources import Source

__all__ = ["SPEC", "read", "sniff"]

SPEC = ReaderSpec(
    name="stagehand",
    title="Stagehand verifier artifacts",
    sniff="fullcount.readers.stagehand:sniff",
    reader="fullcount.readers.stagehand:read",
    versions="3.7, and results with `graded`",
)

_TRAJECTORY = "trajectory.json"
_RESULT = "scores/result.json"
_GATES = "scores/gates.json"
_DEPTHS = ("", "*/", "*/*/", "*/*/*/")
_NAME = "verifier"
_METRICS = ("outcome", "process_score")
_STATUSES: dict[str, tuple[str, str | None]] = {
    "complete": ("completed", None),
    "aborted": ("cancelled", "aborted"),
    "stalled": ("subject_error", "stalled"),
    "error": ("subject_error", "error"),
}


def sniff(source: Source) -> Confidence:
    """A folder with trajectories in it, at most three folders down."""
    if source.is_folder and any(True for _ in _folders(source)):
        return Confidence(80, _TRAJECTORY)
    return Confidence(0)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """One run for the whole folder.

    Raises:
        DamagedInputError: A file is not what it must be.
    """
    del options
    folders = list(_folders(source))
    credited = criteria = 0
    for folder in folders:
        result = object_of(source, folder + _RESULT)
        for criterion in map(as_dict, as_list(result.get("perCriterion"))):
            criteria += 1
            credited += criterion.get("evidenceInsufficient") is True
    findings = []
    if credited:
        findings.append(
            {
                "code": "reported.credited",
                "message": f"{credited} of {criteria} criteria have full credit in processScore "
                "though their evidence is insufficient",
                "evaluator": _NAME,
                "metric": "process_score",
                "count": credited,
            }
        )
    run = validated(
        Run,
        {
            "id": f"stagehand-{source.sha256[:16]}",
            "source": {"format": "stagehand"},
            "harness": {"name": "stagehand"},
            "subject": {"id": _model(source, folders) or "unknown"},
            "suite": {"name": source.path.name or "stagehand"},
            "evaluators": [
                {
                    "name": _NAME,
                    "kind": "model",
                    "metrics": [
                        {"name": name, "minimum": 0.0, "maximum": 1.0} for name in _METRICS
                    ],
                }
            ],
            "findings": findings,
        },
    )
    yield RunStream(run, _trials(source, folders, request.content))


def _trials(source: Source, folders: list[str], policy: ContentPolicy) -> Iterator[Trial]:
    attempts: Counter[str] = Counter()
    for folder in folders:
        task = object_of(source, folder + "task_data.json")
        parts = PurePosixPath(folder).parts
        case = (
            as_word(task.get("id"))
            or (parts[-2] if len(parts) > 1 else folder.rstrip("/"))
            or "task"
        )
        attempts[case] += 1
        yield validated(
            Trial,
            {"case_id": case, "attempt": attempts[case], "pointer": folder + _TRAJECTORY}
            | _fields(source, folder, policy),
        )


def _fields(source: Source, folder: str, policy: ContentPolicy) -> dict[str, Any]:
    trajectory = object_of(source, folder + _TRAJECTORY, required=True)
    result = object_of(source, folder + _RESULT)
    gates = object_of(source, folder + _GATES)
    status, reason = _STATUSES.get(str(trajectory.get("status")), ("completed", None))
    usage = as_dict(trajectory.get("usage"))
    fields = present(
        status=status,
        status_reason=reason,
        usage=present(
            input_tokens=as_count(usage.get("input_tokens")),
            output_tokens=as_count(usage.get("output_tokens")),
        )
        or None,
    )
    claimed = result.get("agentReportedSuccess", trajectory.get("agentReportedSuccess"))
    if isinstance(claimed, bool):
        fields["self_report"] = claimed
    if not result or result.get("graded") is False:
        return fields | _ungraded(result, fields, policy)
    outcome = result.get("outcomeSuccess")
    judge = as_dict(result.get("judge")).get("outcomeSuccess", gates.get("judgeOutcomeSuccess"))
    fired = [name for name in as_list(gates.get("outcomeGates")) if as_word(name)]
    explanation = result.get("explanation")
    scores = [
        measured(outcome)
        | present(
            explanation=excerpt(explanation, policy) if isinstance(explanation, str) else None
        ),
        measured(result["processScore"]) if "processScore" in result else {"state": "missing"},
    ]
    if as_dict(result.get("taskValidity")).get("isInvalid") is True:
        scores = [{"state": "not_applicable", "reason": "invalid_task"} for _ in scores]
    elif isinstance(outcome, bool):
        fields["declared_verdict"] = "passed" if outcome else "failed"
    if isinstance(judge, bool):
        fields["judge_verdict"] = "passed" if judge else "failed"
    return fields | {
        "scores": _named(scores),
        "gates": [{"name": str(name), "fired": True} for name in fired],
    }


def _ungraded(
    result: dict[str, Any], fields: dict[str, Any], policy: ContentPolicy
) -> dict[str, Any]:
    message = result.get("verifierError")
    found: dict[str, Any] = {
        "scores": _named([{"state": "error", "reason": "judge_failed"} for _ in _METRICS])
    }
    if fields["status"] == "completed":
        found |= {"status": "evaluator_error", "status_reason": "judge_failed"}
    if isinstance(message, str):
        found["error"] = present(message=excerpt(message, policy))
    return found


def _named(scores: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"evaluator": _NAME, "metric": metric} | score
        for metric, score in zip(_METRICS, scores, strict=True)
    ]


def _model(source: Source, folders: list[str]) -> str | None:
    for folder in folders:
        model = as_word(object_of(source, folder + _TRAJECTORY).get("model"))
        if model is not None:
            return model
    return None


def _folders(source: Source) -> Iterator[str]:
    """Folders of trajectories relative to the source, each with a `/` at its end."""
    for depth in _DEPTHS:
        for path in sorted(source.path.glob(depth + _TRAJECTORY)):
            if path.is_file() and not path.is_symlink():
                relative = path.parent.relative_to(source.path).as_posix()
                yield "" if relative == "." else f"{relative}/"
