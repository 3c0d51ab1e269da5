"""Results of an aggregate file: which metrics they are, and which runs they make."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from fullcount.errors import DamagedInputError
from fullcount.readers._fields import (
    as_count,
    as_dict,
    as_list,
    as_number,
    as_time,
    as_word,
    nonfinite,
    present,
)

__all__ = ["UNKNOWN_LEVEL", "Group", "groups", "run_fields"]

UNKNOWN_LEVEL = -1
"""Of a metric with `has_unknown_level`, and what HELM writes where it could not score."""

_MEANS = frozenset({"accuracy", "mean"})


@dataclass
class Group:
    """The results of one evaluation name, which are one run.

    Attributes:
        name: The evaluation name.
        results: Every result as it stands in the file.
        metrics: (evaluator, metric) of each result that rows may belong to, by its id.
        verdicts: Ids of results that tell verdicts and no number.
        described: The configuration of each metric, by (evaluator, metric).
    """

    name: str
    results: list[dict[str, Any]] = field(default_factory=list)
    metrics: dict[str, tuple[str, str]] = field(default_factory=dict)
    verdicts: set[str] = field(default_factory=set)
    described: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Every metric, those of one evaluator side by side."""
        evaluators = list(dict.fromkeys(evaluator for evaluator, _ in self.described))
        return sorted(self.described, key=lambda key: evaluators.index(key[0]))

    def add(self, result: dict[str, Any]) -> None:
        """Take a result of this evaluation name."""
        self.results.append(result)
        config = as_dict(result.get("metric_config"))
        details = as_dict(config.get("additional_details"))
        identity = as_word(result.get("evaluation_result_id"))
        if "scope" in details and "quantity" in details:
            if details["scope"] == "verdict" and identity:
                self.verdicts.add(identity)
            if details["scope"] != "metric":
                return
            key = (str(details.get("evaluator")), str(details.get("metric")))
            if details["quantity"] == "mean":
                self.described[key] = config
                if identity:
                    self.metrics[identity] = key
            self.described.setdefault(key, {})
            return
        metric = as_word(config.get("metric_name")) or as_word(config.get("metric_id")) or "score"
        key = (metric, metric)
        if key in self.described and identity:
            key = (identity, metric)
        if key in self.described:
            key = (metric, f"{metric} {len(self.results)}")
        self.described[key] = config
        if identity:
            self.metrics[identity] = key

    def of_row(self, row: dict[str, Any]) -> tuple[str, str] | None:
        """The metric that a row belongs to; None: the row names no result with one."""
        return self.metrics.get(str(row.get("evaluation_result_id")))


def groups(document: dict[str, Any], source: str) -> list[Group]:
    """The results by evaluation name, in the order of the file.

    Raises:
        DamagedInputError: A result is not what it must be.
    """
    found: dict[str, Group] = {}
    results = document.get("evaluation_results")
    if not isinstance(results, list):
        raise DamagedInputError(
            "must be an array of results", source=source, pointer="/evaluation_results"
        )
    for index, result in enumerate(results):
        name = as_word(result.get("evaluation_name")) if isinstance(result, dict) else None
        if name is None:
            raise DamagedInputError(
                "must be a result with a name",
                source=source,
                pointer=f"/evaluation_results/{index}/evaluation_name",
            )
        found.setdefault(name, Group(name)).add(result)
    return list(found.values())


def run_fields(document: dict[str, Any], group: Group, *, alone: bool) -> dict[str, Any]:
    """The fields of a `Run` for one evaluation name."""
    origin = as_dict(document.get("source_metadata"))
    details = as_dict(origin.get("additional_details"))
    identity = as_word(document.get("evaluation_id")) or "unknown"
    model = as_dict(document.get("model_info"))
    library = as_dict(document.get("eval_library"))
    dataset = as_dict(group.results[0].get("source_data")) if group.results else {}
    return present(
        id=as_word(details.get("run_id")) or (identity if alone else f"{identity}/{group.name}"),
        harness=present(
            name=as_word(library.get("name")) or "unknown",
            version=_known(library.get("version")),
        ),
        subject=present(
            id=as_word(model.get("id")) or as_word(model.get("name")) or "unknown",
            name=as_word(model.get("name")),
            provider=as_word(model.get("inference_platform")) or as_word(model.get("developer")),
        ),
        suite=present(
            name=group.name,
            version=as_word(as_dict(dataset.get("additional_details")).get("suite_version")),
            dataset=as_word(dataset.get("dataset_name")),
            dataset_location=as_word(dataset.get("hf_repo")),
            split=as_word(dataset.get("hf_split")),
            cases=as_count(dataset.get("samples_number")),
        ),
        evaluators=_evaluators(group),
        status=details.get("run_status")
        if details.get("run_status") in ("success", "error", "cancelled", "started")
        else "unknown",
        created_at=_moment(details.get("created_at"))
        or _moment(document.get("evaluation_timestamp")),
        started_at=_moment(details.get("started_at")),
        completed_at=_moment(details.get("completed_at")),
        plan=_plan(details, dataset),
        reported=_reported(details, group),
        reported_counts={
            name: count
            for name, given in details.items()
            if name.startswith(("n_", "verdict.n_")) and (count := _counted(given)) is not None
        },
        findings=_findings(group),
    )


def _evaluators(group: Group) -> list[dict[str, Any]]:
    evaluators: dict[str, dict[str, Any]] = {}
    for evaluator, metric in group.keys:
        config = group.described[evaluator, metric]
        details = as_dict(config.get("additional_details"))
        judges = as_list(as_dict(config.get("llm_scoring")).get("judges"))
        model = as_dict(as_dict(judges[0]).get("model_info")).get("id") if judges else None
        kind = details.get("evaluator_kind")
        known = kind if kind in ("rule", "model", "human", "composite") else "unknown"
        low, high = as_number(config.get("min_score")), as_number(config.get("max_score"))
        entry = evaluators.setdefault(
            evaluator,
            present(
                name=evaluator,
                kind="model" if judges else known,
                model=as_word(model),
                metrics=[],
            ),
        )
        entry["metrics"].append(
            present(
                name=metric,
                minimum=low if low is None or high is None or low <= high else None,
                maximum=high,
                lower_is_better=config.get("lower_is_better") is True,
                unit=as_word(config.get("metric_unit")),
            )
        )
    return list(evaluators.values())


def _reported(details: dict[str, Any], group: Group) -> list[dict[str, Any]]:
    """What the harness said, as far as the record tells it, and the record's own scores."""
    told = _json(details.get("reported"))
    reported = [
        entry
        for entry in as_list(told)
        if isinstance(entry, dict) and (entry.get("evaluator"), entry.get("metric")) in group.keys
    ]
    for result in group.results:
        config = as_dict(result.get("metric_config"))
        if "quantity" in as_dict(config.get("additional_details")):
            continue  # our own recount, which comes again from the rows
        key = group.metrics.get(str(result.get("evaluation_result_id"))) or _unnamed(
            result, config, group
        )
        if key is None:
            continue
        given = as_dict(result.get("score_details"))
        uncertainty = as_dict(given.get("uncertainty"))
        kind = as_word(config.get("metric_kind")) or "score"
        if kind in _MEANS and config.get("metric_unit") == "percent":
            kind = f"{kind} in percent"
        about = {"evaluator": key[0], "metric": key[1]}
        scored = as_count(uncertainty.get("num_samples"))
        score = given.get("score")
        if _is_sentinel(score, config):
            score = None
        reported.append(
            about
            | present(
                statistic=kind, value=as_number(score), nonfinite=nonfinite(score), scored=scored
            )
        )
        error = as_dict(uncertainty.get("standard_error"))
        if "value" in error:
            reported.append(
                about
                | present(
                    statistic="stderr" if kind in _MEANS else f"standard error of {kind}",
                    value=as_number(error["value"]),
                    nonfinite=nonfinite(error["value"]),
                    scored=scored,
                )
            )
    return reported


def _unnamed(
    result: dict[str, Any], config: dict[str, Any], group: Group
) -> tuple[str, str] | None:
    """The metric of a result without an id."""
    if result.get("evaluation_result_id") is not None:
        return None
    return next((key for key, known in group.described.items() if known is config), None)


def _is_sentinel(score: Any, config: dict[str, Any]) -> bool:
    """Whether -1 stands for no score: on a scale that does not reach it, or by declaration."""
    if isinstance(score, bool) or score != UNKNOWN_LEVEL:
        return False
    low = as_number(config.get("min_score"))
    return config.get("has_unknown_level") is True or (low is not None and low > UNKNOWN_LEVEL)


def _findings(group: Group) -> list[dict[str, Any]]:
    found = []
    for result in group.results:
        config = as_dict(result.get("metric_config"))
        if _is_sentinel(as_dict(result.get("score_details")).get("score"), config):
            name = as_word(config.get("metric_name")) or group.name
            message = f"{name}: the record's score is -1, which stands for no score"
            found.append({"code": "reported.sentinel", "message": message})
    return found


def _plan(details: dict[str, Any], dataset: dict[str, Any]) -> dict[str, Any]:
    ids = dataset.get("sample_ids")
    return present(
        cases=_counted(details.get("planned_cases"))
        or (len(ids) if isinstance(ids, list) and ids else None),
        attempts=_counted(details.get("planned_attempts")),
        trials=_counted(details.get("planned_trials")),
    )


def _counted(text: Any) -> int | None:
    """A count, which the maps of the format hold as text."""
    if isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) < 20:
        return as_count(int(text))
    return None


def _json(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _known(value: Any) -> str | None:
    word = as_word(value)
    return None if word == "unknown" else word


def _moment(value: Any) -> Any:
    """An instant from ISO 8601 or, as the format has it, seconds since 1970 as text."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return as_time(value)
    return as_time(value)
