"""The results file: what was run, what was planned, what the harness reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fullcount.readers._fields import as_count, as_dict, as_number, as_word, present
from fullcount.readers.lm_eval.values import BYPASS, reported, scale

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Task", "evaluator_of", "run_fields", "tasks_of"]

_STDERR = "_stderr"
_NO_METRICS = frozenset({"alias", "name", "sample_len", "sample_count", "samples", " "})
_ENVIRONMENT = ("git_hash", "transformers_version", "model_dtype", "batch_size", "device")
_SENTINEL = 999


@dataclass
class Task:
    """One task of a results file.

    Attributes:
        name: The task.
        row: Its row of the results table.
        documents: How many documents it sought; None when the file does not say.
        numbered: Whether those are the documents 0 to `documents - 1`.
        metrics: Its (filter, metric) pairs, in the order of the file.
        groups: Rows of the groups it belongs to, by group.
    """

    name: str
    row: dict[str, Any]
    documents: int | None = None
    numbered: bool = False
    metrics: list[tuple[str, str]] = field(default_factory=list)
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)


def tasks_of(document: dict[str, Any]) -> list[Task]:
    """The tasks of a results file; rows of groups are given with each of their tasks."""
    table = as_dict(document.get("results"))
    subtasks = as_dict(document.get("group_subtasks"))
    groups = {name for name, children in subtasks.items() if children}
    found = []
    for name, row in table.items():
        if name in groups or not isinstance(row, dict):
            continue
        counts = as_dict(as_dict(document.get("n-samples")).get(name))
        original, effective = counts.get("original"), counts.get("effective")
        documents = (
            as_count(effective) or as_count(row.get("sample_len")) or as_count(row.get("samples"))
        )
        task = Task(
            name,
            row,
            documents=documents,
            numbered=documents is not None and documents in (original, effective),
            metrics=[key for key, stderr in map(_key, _columns(row)) if not stderr],
            groups={
                group: as_dict(table.get(group))
                for group, children in subtasks.items()
                if isinstance(children, list) and name in children
            },
        )
        found.append(task)
    return found


def evaluator_of(filter_name: str, metric: str) -> str:
    """The evaluator of a score: its filter, or the metric itself where nothing is filtered."""
    return metric if filter_name == "none" else filter_name


def run_fields(
    document: dict[str, Any], task: Task, metrics: Iterable[tuple[str, str]]
) -> dict[str, Any]:
    """The fields of the task's `Run`, but for id and source."""
    config = as_dict(document.get("config"))
    settings = as_dict(as_dict(document.get("configs")).get(task.name))
    model = document.get("model_name") or config.get("model") or "unknown"
    version = as_dict(document.get("versions")).get(task.name)
    counts = as_dict(as_dict(document.get("n-samples")).get(task.name))
    fields: dict[str, Any] = {
        "harness": present(name="lm_eval", version=as_word(document.get("lm_eval_version"))),
        "subject": present(
            id=str(model),
            version=as_word(config.get("model_sha")) or as_word(config.get("model_revision")),
            provider=as_word(document.get("model_source")),
        ),
        "suite": present(
            name=task.name,
            version=None if version is None else str(version),
            dataset=as_word(settings.get("dataset_path")),
            split=as_word(settings.get("test_split")) or as_word(settings.get("validation_split")),
            dataset_revision=as_word(as_dict(document.get("task_hashes")).get(task.name)),
            cases=as_count(counts.get("original")),
        ),
        "evaluators": _evaluators(document, task.name, metrics),
        "generation": _generation(config, settings),
        "status": "success",
        "plan": present(cases=task.documents, attempts=1, trials=task.documents),
        "reported": _reported(task, settings),
        "reported_counts": present(
            original=as_count(counts.get("original")),
            effective=as_count(counts.get("effective")),
            sample_len=as_count(task.row.get("sample_len")),
        ),
        "environment": {
            name: str(value)
            for name in _ENVIRONMENT
            if (value := document.get(name, config.get(name))) is not None
        },
        "findings": _findings(task),
    }
    date = document.get("date")
    if isinstance(date, (int, float)) and 0 < date < 2**33:
        fields["created_at"] = datetime.fromtimestamp(date, UTC)
    return fields


def _evaluators(
    document: dict[str, Any], task: str, metrics: Iterable[tuple[str, str]]
) -> list[dict[str, Any]]:
    better = as_dict(as_dict(document.get("higher_is_better")).get(task))
    evaluators: dict[str, dict[str, Any]] = {}
    for filter_name, metric in metrics:
        name = evaluator_of(filter_name, metric)
        entry = evaluators.setdefault(name, {"name": name, "kind": "rule", "metrics": []})
        low, high = scale(metric)
        entry["metrics"].append(
            present(
                name=metric,
                minimum=low,
                maximum=high,
                lower_is_better=better.get(metric) is False,
            )
        )
    return list(evaluators.values())


def _generation(config: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    generation = as_dict(settings.get("generation_kwargs"))
    overriding = config.get("gen_kwargs")
    generation = generation | (overriding if isinstance(overriding, dict) else {})
    return present(
        temperature=as_number(generation.get("temperature")),
        top_p=as_number(generation.get("top_p")),
        top_k=as_number(generation.get("top_k")),
        max_tokens=as_count(generation.get("max_gen_toks")),
        seed=as_count(config.get("random_seed")),
    )


def _reported(task: Task, settings: dict[str, Any]) -> list[dict[str, Any]]:
    listed = settings.get("metric_list")
    folding = {
        entry["metric"]: entry.get("aggregation")
        for entry in (listed if isinstance(listed, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("metric"), str)
    }
    rows: list[tuple[str | None, dict[str, Any]]] = [(None, task.row), *task.groups.items()]
    found = []
    for group, row in rows:
        for column in _columns(row):
            (filter_name, metric), stderr = _key(column)
            if (filter_name, metric) not in task.metrics:
                continue
            sentinel = metric == BYPASS and row[column] == _SENTINEL
            value, nonfinite = (None, "null") if sentinel else reported(row[column])
            statistic = folding.get(metric)
            found.append(
                present(
                    evaluator=evaluator_of(filter_name, metric),
                    metric=metric,
                    statistic="stderr" if stderr else as_word(statistic) or "mean",
                    value=value,
                    nonfinite=nonfinite,
                    group=group,
                )
            )
    return found


def _findings(task: Task) -> list[dict[str, Any]]:
    if any(metric == BYPASS for _, metric in task.metrics):
        message = f"{task.name}: run with predict_only; the 999 it reports is no score"
        return [{"code": "reported.sentinel", "message": message}]
    return []


def _columns(row: dict[str, Any]) -> list[str]:
    return [key for key in row if key not in _NO_METRICS and not isinstance(row[key], dict)]


def _key(column: str) -> tuple[tuple[str, str], bool]:
    """((filter, metric), whether it is the standard error) of a column such as `acc,none`."""
    metric, _, filter_name = column.partition(",")
    stderr = metric.endswith(_STDERR)
    return (filter_name or "none", metric.removesuffix(_STDERR)), stderr
