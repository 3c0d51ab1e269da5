"""From a run folder to runs."""

from __future__ import annotations

import hashlib
import math
import re
from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt
from fullcount.errors import DamagedInputError, quoted
from fullcount.model import Run, Trial
from fullcount.plugin import Confidence, ReadRequest, RunStream
from fullcount.readers._fields import (
    as_count,
    as_dict,
    as_number,
    present,
    raw_fields,
    validated,
)
from fullcount.readers._folders import object_of
from fullcount.readers._json import iter_array
from fullcount.readers.helm.states import (
    STATES,
    Jury,
    Requests,
    content_fields,
    juries,
    requests,
)
from fullcount.readers.helm.statistics import (
    BINARY,
    Group,
    Table,
    is_score,
    key_of,
    scale,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fullcount.plugin import Options
    from fullcount.readers.helm.statistics import Key
    from fullcount.sources import Source

__all__ = ["read", "sniff"]

_SPEC = "run_spec.json"
_INSTANCES = "per_instance_stats.json"
_STATISTICS = "stats.json"
_MODEL = re.compile(r",?\b(?:model|model_deployment)=[^,]*")


def sniff(source: Source) -> Confidence:
    """A folder with HELM's own files."""
    if not source.is_folder:
        return Confidence(0)
    if (source.path / _SPEC).is_file() and (source.path / _INSTANCES).is_file():
        return Confidence(95, "run_spec.json and per_instance_stats.json")
    return Confidence(0)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """One run for each split and perturbation.

    Raises:
        DamagedInputError: A file is missing or not what it must be.
    """
    spec = object_of(source, _SPEC, required=True)
    found = juries(spec)
    states = source.path / STATES
    known = Requests(source, states, found) if states.is_file() else None
    table = _table(source, known.splits if known else {})
    everything = bool(getattr(options, "all_statistics", False))
    metrics = [name for name in table.names() if everything or is_score(name)]
    reported = _reported(source)
    for number, group in enumerate(table.groups):
        run = _run(source, spec, group, metrics, found, reported.get(group, {}))
        yield RunStream(run, _trials(source, request, table, number, metrics, known))


def _table(source: Source, splits: Mapping[Key, str]) -> Table:
    table = Table(splits)
    with _open(source, _INSTANCES) as file:
        for index, record in enumerate(iter_array(file, source=source.shown, member=_INSTANCES)):
            try:
                key = key_of(
                    record["instance_id"], record.get("perturbation"), record["train_trial_index"]
                )
                if not isinstance(record["stats"], list):
                    raise TypeError(record["stats"])  # noqa: TRY301 - as where one has no name
                table.add(key, record["stats"])
            except (TypeError, KeyError, AttributeError, ValueError) as error:
                raise DamagedInputError(
                    f"is no record of statistics of an instance: {quoted(error)}",
                    source=source.shown,
                    member=_INSTANCES,
                    pointer=f"/{index}",
                ) from error
    table.complete()
    return table


def _reported(source: Source) -> dict[Group, dict[str, Any]]:
    """The harness's own statistics; for a perturbation those computed on the perturbed alone."""
    found: dict[Group, dict[str, Any]] = {}
    if not (source.path / _STATISTICS).is_file():
        return found
    with _open(source, _STATISTICS) as file:
        for statistic in iter_array(file, source=source.shown, member=_STATISTICS):
            name = statistic.get("name") if isinstance(statistic, dict) else None
            if not isinstance(name, dict) or name.get("sub_split"):
                continue
            perturbation = as_dict(name.get("perturbation"))
            if perturbation.get("computed_on", "perturbed") != "perturbed":
                continue
            group = Group(str(name.get("split") or ""), str(perturbation.get("name", "")))
            found.setdefault(group, {})[str(name.get("name"))] = statistic
    return found


def _run(
    source: Source,
    spec: dict[str, Any],
    group: Group,
    metrics: list[str],
    found: list[Jury],
    reported: dict[str, Any],
) -> Run:
    adapter = spec.get("adapter_spec")
    if not isinstance(adapter, dict) or not isinstance(adapter.get("model"), str):
        raise DamagedInputError(
            "must name the model", source=source.shown, member=_SPEC, pointer="/adapter_spec/model"
        )
    name = str(spec.get("name") or source.path.name)
    suite = _MODEL.sub("", name).rstrip(":") or name
    model = adapter["model"]
    judges = {jury.metric: jury.models for jury in found}
    evaluators, findings, numbers = [], [], []
    for metric in metrics:
        low, high = scale(metric)
        entry = {"name": metric, "minimum": low, "maximum": high}
        evaluator: dict[str, Any] = {"name": metric, "kind": "rule", "metrics": [entry]}
        if metric in judges:
            evaluator |= {"kind": "model", "model": ", ".join(judges[metric]) or None}
        evaluators.append(evaluator)
        if metric in reported:
            numbers.append(_headline(metric, reported[metric]))
        elif reported:
            findings.append(
                {
                    "code": "reported.absent",
                    "evaluator": metric,
                    "metric": metric,
                    "message": f"{metric}: the harness reports no number for it; it deletes "
                    "those that are NaN",
                }
            )
    count = as_count(reported.get("num_instances", {}).get("mean"))
    identity = hashlib.sha256(f"helm:{source.sha256}:{group!r}".encode()).hexdigest()[:16]
    return validated(
        Run,
        {
            "id": identity,
            "source": {"format": "helm"},
            "harness": {"name": "helm"},
            "subject": {
                "id": model,
                "provider": model.partition("/")[0] if "/" in model else None,
                "version": adapter.get("model_deployment") or None,
            },
            "suite": {
                "name": suite + (f"+{group.perturbation}" if group.perturbation else ""),
                "dataset": _MODEL.sub("", name).partition(":")[0] or None,
                "split": group.split or None,
            },
            "evaluators": evaluators,
            "generation": {
                "temperature": as_number(adapter.get("temperature")),
                "max_tokens": adapter.get("max_tokens"),
            },
            "status": "success",
            "plan": {"attempts": adapter.get("num_train_trials")},
            "reported": numbers,
            "reported_counts": present(num_instances=count),
            "findings": findings,
        },
    )


def _headline(metric: str, statistic: dict[str, Any]) -> dict[str, Any]:
    value = as_number(statistic.get("mean")) if statistic.get("count") else None
    return {
        "evaluator": metric,
        "metric": metric,
        "statistic": "mean",
        "value": value,
        "nonfinite": "null" if value is None else None,
    }


def _trials(
    source: Source,
    request: ReadRequest,
    table: Table,
    group: int,
    metrics: list[str],
    known: Requests | None,
) -> Iterator[Trial]:
    rest = {key: row for key, row in table.rows.items() if table.group(row) == group}
    if known is not None:
        for key, state in requests(source, source.path / STATES):
            row = rest.pop(key, None)
            if row is not None:
                fields = _trial(table, key, row, metrics, known, request)
                yield validated(Trial, fields | content_fields(state, request.content))
    for key, row in rest.items():
        yield validated(Trial, _trial(table, key, row, metrics, known, request))


def _trial(
    table: Table,
    key: Key,
    row: int,
    metrics: list[str],
    known: Requests | None,
    request: ReadRequest,
) -> dict[str, Any]:
    failure = known.failures.get(key) if known else None
    lost = known.lost.get(key, ()) if known else ()
    scores = []
    for metric in metrics:
        value = table.get(metric, row)
        score = _score(metric, value, failed=failure is not None, lost=metric in lost)
        scores.append({"evaluator": metric, "metric": metric} | score)
    fields: dict[str, Any] = {
        "case_id": key.instance,
        "attempt": key.trial + 1,
        "scores": scores,
        "pointer": f"{_INSTANCES}#{key.instance}",
    }
    tokens = {
        field: int(value)
        for field, name in (
            ("input_tokens", "num_prompt_tokens"),
            ("output_tokens", "num_output_tokens"),
        )
        if isinstance(value := table.get(name, row), float) and 0 <= value < 2**53
    }
    if tokens:
        fields["usage"] = tokens
    if failure is not None:
        fields |= {"status": "harness_error", "status_reason": "request_failed"}
        fields["error"] = {"message": excerpt(failure, request.content)} if failure else {}
    return fields


def _score(metric: str, value: float | str | None, *, failed: bool, lost: bool) -> dict[str, Any]:
    if value is None:
        return (
            {"state": "not_measured", "reason": "request_failed"}
            if failed
            else {"state": "missing"}
        )
    if isinstance(value, str):
        return {"state": "null"} | raw_fields(None)
    raw = raw_fields(value)
    if failed:
        return raw | {"state": "not_measured", "reason": "request_failed"}
    if lost:
        return raw | {"state": "error", "reason": "judge_failed"}
    if not math.isfinite(value):
        return raw | {"state": "nan"}
    fields = raw | {"state": "scored", "value": value}
    if metric.partition("@")[0] in BINARY and value in (0.0, 1.0):
        fields["outcome"] = "passed" if value else "failed"
    return fields


def _open(source: Source, name: str) -> Any:
    path = source.path / name
    try:
        return path.open("rb")
    except OSError as error:
        raise DamagedInputError(
            f"cannot be read: {error.strerror}; a complete run has it",
            source=source.shown,
            member=name,
        ) from error
