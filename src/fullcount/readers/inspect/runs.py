"""From a log's header to a run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt
from fullcount.readers._fields import (
    as_count,
    as_dict,
    as_list,
    as_number,
    as_time,
    as_word,
    error_type,
    nonfinite,
    present,
)
from fullcount.readers.inspect.evaluators import evaluators
from fullcount.readers.inspect.header import bare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fullcount.plugin import ContentPolicy
    from fullcount.readers.inspect.header import Header
    from fullcount.sources import Source

__all__ = ["exception_name", "run_fields", "usage_fields"]

_PUBLIC_URL = re.compile(r"https?://[^\s@]+")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_FILE = re.compile(
    r".*\.(?:csv|tsv|jsonl?|ndjson|ya?ml|txt|md|parquet|arrow|xlsx?|db|sqlite|pkl|py|gz|zip|tar)",
    re.IGNORECASE,
)
_LIMITS = ("message_limit", "token_limit", "time_limit")
_EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*)\((?=['\")]|$)")
_USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "total_tokens": "total_tokens",
    "input_tokens_cache_read": "cache_read_tokens",
    "input_tokens_cache_write": "cache_write_tokens",
    "reasoning_tokens": "reasoning_tokens",
}


def run_fields(
    header: Header, metrics: dict[str, list[str]], policy: ContentPolicy, source: Source
) -> dict[str, Any]:
    """The fields of the `Run`.

    Args:
        header: The header of the log.
        metrics: Every metric of each scorer.
        policy: How much text leaves.
        source: For an id, where the log has none.
    """
    document, spec = header.document, header.eval
    stats = as_dict(document.get("stats"))
    model = str(spec["model"])
    packages = as_dict(spec.get("packages"))
    return {
        "id": _run_id(spec, source),
        "source": {"format": "inspect", "format_version": str(header.version)},
        "harness": {
            "name": "inspect_ai",
            "version": as_word(packages.get("inspect_ai")),
            "packages": {
                str(name): str(version)
                for name, version in packages.items()
                if name != "inspect_ai"
            },
        },
        "subject": {
            "id": model,
            "provider": model.partition("/")[0] or None if "/" in model else None,
        },
        "suite": {
            "name": str(spec["task"]),
            "version": as_word(spec.get("task_version")),
            "dataset": as_word(header.dataset.get("name")),
            "dataset_location": _public(header.dataset.get("location")),
            "cases": as_count(header.dataset.get("samples")),
        },
        "evaluators": evaluators(header, metrics),
        "environment": present(commit=as_word(as_dict(spec.get("revision")).get("commit"))),
        "generation": _generation(header),
        "status": header.status,
        "error": _error(document.get("error"), policy),
        "created_at": as_time(spec.get("created")),
        "started_at": as_time(stats.get("started_at")),
        "completed_at": as_time(stats.get("completed_at")),
        "plan": {
            "cases": len(header.sample_ids) or None,
            "attempts": header.epochs,
            "trials": header.planned,
        },
        "reported": list(_reported(header)),
        "reported_counts": {
            name: value
            for name, given in header.results.items()
            if name.endswith("_samples") and (value := as_count(given)) is not None
        },
        "usage": {
            str(name): fields
            for name, usage in as_dict(stats.get("model_usage")).items()
            if (fields := usage_fields([usage]))
        },
        "tags": list(map(str, as_list(document.get("tags", spec.get("tags"))))),
        "invalidated": header.invalidated,
    }


def usage_fields(usages: Iterable[Any]) -> dict[str, Any]:
    """The sum of Inspect usages, as far as each is given."""
    found: dict[str, Any] = {}
    for usage in usages:
        if isinstance(usage, dict):
            for name, value in usage.items():
                field = _USAGE.get(name)
                if field is not None and type(value) is int and 0 <= value < 2**53:
                    found[field] = found.get(field, 0) + value
            if "total_cost" in usage:
                cost = as_number(usage["total_cost"])
                if cost is not None and cost >= 0:
                    found["cost"] = found.get("cost", 0.0) + cost
    return found


def exception_name(message: str) -> str | None:
    """The class of an exception, as its `repr` begins with it: `ValueError('…')`."""
    match = _EXCEPTION.match(message)
    return match[1] if match else error_type(message)


def _run_id(spec: dict[str, Any], source: Source) -> str:
    """The eval's id; old logs have only those of the invocation and of the task in it."""
    older = [word for name in ("run_id", "task_id") if (word := as_word(spec.get(name)))]
    return as_word(spec.get("eval_id")) or ".".join(older) or f"inspect-{source.sha256[:16]}"


def _public(location: Any) -> str | None:
    """Where everybody finds the dataset: a repository or a URL, not a path on a machine."""
    if not isinstance(location, str):
        return None
    if _PUBLIC_URL.fullmatch(location):
        return location
    return location if _REPOSITORY.fullmatch(location) and not _FILE.fullmatch(location) else None


def _error(error: Any, policy: ContentPolicy) -> dict[str, Any] | None:
    message = error if isinstance(error, str) else as_dict(error).get("message")
    if not isinstance(message, str):
        return {} if isinstance(error, dict) else None
    return {"type": exception_name(message), "message": excerpt(message, policy)}


def _reported(header: Header) -> Iterator[dict[str, Any]]:
    for score in header.scores:
        for key, metric in as_dict(score.get("metrics")).items():
            entry = metric if isinstance(metric, dict) else {"value": metric}
            value = entry.get("value")
            yield {
                "evaluator": score["scorer"],
                "metric": score["name"],
                "statistic": bare(key),
                "value": as_number(value),
                "nonfinite": nonfinite(value),
                "reducer": as_word(score.get("reducer")),
                "group": as_word(entry.get("group")),
                "scored": as_count(score.get("scored_samples")),
                "unscored": as_count(score.get("unscored_samples")),
            }


def _generation(header: Header) -> dict[str, Any]:
    """How the model was sampled; what the eval sets stands above what the model came with."""
    plan = as_dict(header.document.get("plan"))
    config = as_dict(header.eval.get("model_generate_config")) | as_dict(plan.get("config"))
    steps = (as_word(as_dict(step).get("solver")) for step in as_list(plan.get("steps")))
    sandbox = header.eval.get("sandbox")
    if isinstance(sandbox, list) and sandbox:
        sandbox = sandbox[0]
    elif isinstance(sandbox, dict):
        sandbox = sandbox.get("type")
    limits = {name: as_count(header.config.get(name)) for name in _LIMITS}
    if limits["message_limit"] is None:
        limits["message_limit"] = as_count(header.config.get("max_messages"))
    return limits | {
        "temperature": as_number(config.get("temperature")),
        "top_p": as_number(config.get("top_p")),
        "top_k": as_number(config.get("top_k")),
        "max_tokens": as_count(config.get("max_tokens")),
        "seed": as_count(config.get("seed")),
        "reasoning_effort": as_word(config.get("reasoning_effort")),
        "sandbox": as_word(sandbox),
        "solver": as_word(header.eval.get("solver"))
        or ", ".join(bare(step) for step in steps if step)
        or None,
    }
