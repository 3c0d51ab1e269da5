"""Reads Harbor jobs: a folder with a `result.json` for the job and one for each trial.

A trial may have an exception and a reward: both are kept. A reward of null is null, where
Harbor's own mean counts it as 0. Trials are numbered by task in the order of their names, since
they carry no attempt.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt
from fullcount.errors import DamagedInputError, quoted
from fullcount.model import Run, Score, ScoreState, Trial, TrialStatus
from fullcount.notices import Severity
from fullcount.plugin import Confidence, ReaderSpec, RunStream
from fullcount.readers._fields import (
    as_count,
    as_dict,
    as_list,
    as_number,
    as_time,
    as_word,
    check_absent,
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
    name="harbor",
    title="Harbor jobs and their trials",
    sniff="fullcount.readers.harbor:sniff",
    reader="fullcount.readers.harbor:read",
)

_RESULT = "result.json"
_MARKS = {"trial_name", "exception_info"}

# Status and reason by the name of an exception; the first that fits decides.
_EXCEPTIONS = (
    ("AgentTimeout", "subject_error", "timeout"),
    ("VerifierTimeout", "evaluator_error", "verifier_timeout"),
    ("Verifier", "evaluator_error", "verifier_error"),
    ("Reward", "evaluator_error", "verifier_error"),
    ("Cancelled", "cancelled", "cancelled"),
    ("Agent", "subject_error", "agent_error"),
    ("NonZeroAgent", "subject_error", "agent_error"),
    ("", "harness_error", "environment_error"),
)


def sniff(source: Source) -> Confidence:
    """A folder of trials, or the result of one."""
    if source.is_folder:
        if any(_is_trial(name, source) for name in _members(source)):
            return Confidence(90, "folders with results of trials")
        return Confidence(0)
    if _marked(source.head):
        return Confidence(85, "trial_name and exception_info")
    return Confidence(0)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """One run for each agent, model and dataset.

    Raises:
        DamagedInputError: A result is not what it must be.
    """
    del options
    job = object_of(source, _RESULT) if source.is_folder else {}
    members = _members(source) if source.is_folder else [""]
    groups: dict[tuple[str, str, str], list[str]] = {}
    metrics: dict[tuple[str, str, str], dict[str, None]] = {}
    for member in members:
        trial = object_of(source, member, required=True)
        if not trial.keys() >= _MARKS:
            # Passed over, it would be a trial that nobody misses.
            raise DamagedInputError(
                "must be the result of a trial, with trial_name and exception_info",
                source=source.shown,
                member=member or None,
            )
        if not isinstance(trial["exception_info"], (dict, type(None))):
            raise DamagedInputError(
                f"must be null or an object, not {quoted(trial['exception_info'])}",
                source=source.shown,
                member=member or None,
                pointer="/exception_info",
            )
        if as_word(trial.get("task_name")) is None:
            raise DamagedInputError(
                "must name its task", source=source.shown, member=member, pointer="/task_name"
            )
        key = _group(trial)
        groups.setdefault(key, []).append(member)
        metrics.setdefault(key, {}).update(dict.fromkeys(_rewards(trial)))
    absent = (as_count(job.get("n_total_trials")) or 0) - len(members)
    if absent > 0 and len(groups) > 1:
        request.report.add(
            "input.unrecorded",
            Severity.WARNING,
            "planned trials left no record; the job does not say of which run they are",
            path=_RESULT,
            count=absent,
            plugin="harbor",
        )
    for key, names in groups.items():
        run = _run(source, job if len(groups) == 1 else {}, key, list(metrics[key]))
        yield RunStream(run, _trials(source, run, names, request.content))


def _run(source: Source, job: dict[str, Any], key: tuple[str, str, str], metrics: list[str]) -> Run:
    agent, model, dataset = key
    stats = as_dict(job.get("stats"))
    return validated(
        Run,
        {
            "id": f"{as_word(job.get('id')) or source.sha256[:16]}/{agent}/{model}/{dataset}",
            "source": {"format": "harbor"},
            "harness": {"name": "harbor"},
            "subject": {"id": f"{agent}+{model}" if model else agent},
            "suite": {"name": dataset or source.path.name},
            "evaluators": [
                {
                    "name": "verifier",
                    "kind": "rule",
                    "metrics": [{"name": name} for name in metrics or ["reward"]],
                }
            ],
            "started_at": as_time(job.get("started_at")),
            "completed_at": as_time(job.get("finished_at")),
            "plan": present(trials=as_count(job.get("n_total_trials"))),
            "reported": [
                {
                    "evaluator": "verifier",
                    "metric": metrics[0],
                    "statistic": "mean",
                    "value": as_number(entry["mean"]),
                    "nonfinite": None if as_number(entry["mean"]) is not None else "null",
                }
                for evaluation in as_dict(stats.get("evals")).values()
                for entry in as_list(as_dict(evaluation).get("metrics"))
                if isinstance(entry, dict) and "mean" in entry and len(metrics) == 1
            ],
            "reported_counts": {
                name: count
                for name, value in stats.items()
                if name.startswith("n_") and (count := as_count(value)) is not None
            },
        },
    )


def _trials(source: Source, run: Run, names: list[str], policy: ContentPolicy) -> Iterator[Trial]:
    metrics = [metric.name for metric in run.evaluators[0].metrics]
    attempts: Counter[str] = Counter()
    for member in names:
        trial = object_of(source, member, required=True)
        case = str(trial["task_name"])
        attempts[case] += 1
        yield validated(
            Trial,
            {"case_id": case, "attempt": attempts[case], "pointer": f"{member}#"}
            | _fields(trial, metrics, policy),
        )
    planned = run.plan.trials or 0
    check_absent(planned - len(names), source, "/n_total_trials")
    for number in range(1, planned - len(names) + 1):
        yield Trial(
            case_id=f"unrecorded-{number}",
            case_id_type="synthetic",
            status=TrialStatus.NOT_RUN,
            status_reason="no_record",
            scores=tuple(
                Score(evaluator="verifier", metric=metric, state=ScoreState.NOT_MEASURED)
                for metric in metrics
            ),
        )


def _fields(trial: dict[str, Any], metrics: list[str], policy: ContentPolicy) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    error = trial.get("exception_info")
    if isinstance(error, dict):
        name = str(error.get("exception_type") or "")
        fields["status"], fields["status_reason"] = next(
            (status, reason) for start, status, reason in _EXCEPTIONS if name.startswith(start)
        )
        message = error.get("exception_message")
        fields["error"] = present(
            type=as_word(name),
            message=excerpt(message, policy) if isinstance(message, str) else None,
        )
    rewards = _rewards(trial)
    absent = {
        "completed": "missing",
        "evaluator_error": "error",
    }.get(fields.get("status", "completed"), "not_measured")
    if "rewards" in as_dict(trial.get("verifier_result")) and not rewards:
        absent = "null"
    fields["scores"] = [
        {"evaluator": "verifier", "metric": metric}
        | (_score(rewards[metric]) if metric in rewards else {"state": absent})
        for metric in metrics
    ]
    result = as_dict(trial.get("agent_result"))
    started, ended = as_time(trial.get("started_at")), as_time(trial.get("finished_at"))
    return fields | present(
        started_at=started,
        completed_at=ended,
        duration=(ended - started).total_seconds()
        if started and ended and ended >= started
        else None,
        usage=present(
            input_tokens=as_count(result.get("n_input_tokens")),
            output_tokens=as_count(result.get("n_output_tokens")),
            cache_read_tokens=as_count(result.get("n_cache_tokens")),
            cost=as_number(result.get("cost_usd")),
        )
        or None,
        trace=present(record_id=as_word(trial.get("id"))) or None,
    )


def _score(value: Any) -> dict[str, Any]:
    fields = measured(value)
    if fields.get("value") in (0.0, 1.0):
        fields["outcome"] = "passed" if fields["value"] else "failed"
    return fields


def _rewards(trial: dict[str, Any]) -> dict[str, Any]:
    return as_dict(as_dict(trial.get("verifier_result")).get("rewards"))


def _group(trial: dict[str, Any]) -> tuple[str, str, str]:
    agent = as_dict(trial.get("agent_info"))
    model = as_dict(agent.get("model_info"))
    return (
        as_word(agent.get("name")) or "unknown",
        "/".join(filter(None, (as_word(model.get("provider")), as_word(model.get("name"))))),
        as_word(trial.get("source")) or "",
    )


def _members(source: Source) -> list[str]:
    return [
        f"{path.name}/{_RESULT}"
        for path in sorted(source.path.iterdir())
        if path.is_dir() and not path.is_symlink() and (path / _RESULT).is_file()
    ]


def _is_trial(member: str, source: Source) -> bool:
    with (source.path / member).open("rb") as file:
        return _marked(file.read(1 << 20))


def _marked(head: bytes) -> bool:
    return all(f'"{mark}"'.encode() in head for mark in _MARKS)
