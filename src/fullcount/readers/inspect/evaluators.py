"""The scorers of a run: what kind of grader each is, and on which scale it measures."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from fullcount.readers._fields import as_dict, as_list, as_word
from fullcount.readers.inspect.header import bare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.readers.inspect.header import Header

__all__ = ["evaluators"]

# Scorers of inspect_ai 0.3.285 (`scorer/`): kind, and whether they give values from 0 to 1.
_BUILT_IN: dict[str, tuple[str, bool]] = {
    "answer": ("rule", True),
    "cascade": ("composite", False),
    "choice": ("rule", True),
    "exact": ("rule", True),
    "f1": ("rule", True),
    "includes": ("rule", True),
    "match": ("rule", True),
    "math": ("rule", True),
    "model_graded_fact": ("model", True),
    "model_graded_qa": ("model", True),
    "pattern": ("rule", True),
    "perplexity": ("rule", False),
    "target_perplexity": ("rule", False),
}
_JUDGE = "grader"
"""The role whose model grades, where a built-in model-graded scorer names neither."""


def evaluators(header: Header, metrics: dict[str, list[str]]) -> list[dict[str, Any]]:
    """The fields of each `Evaluator`.

    Args:
        header: The header of the log.
        metrics: Every metric of each scorer.
    """
    configured = header.configured()
    return [
        _evaluator(header, name, names, configured.get(name, {})) for name, names in metrics.items()
    ]


def _evaluator(
    header: Header, name: str, metrics: list[str], configured: dict[str, Any]
) -> dict[str, Any]:
    entries = [score for score in header.scores if score["scorer"] == name]
    kind, unit = _BUILT_IN.get(bare(configured.get("name", name)), ("unknown", False))
    options = as_dict(configured.get("options")) or as_dict(
        next((score.get("params") for score in entries), None)
    )
    judge = _judge(header, options, _JUDGE if kind == "model" else None)
    if judge or options.get("model"):
        kind = "model"
    limited = {score["name"] for score in entries if _has_accuracy(score.get("metrics"))}
    patterns: list[str] = []
    for given in (configured.get("metrics"), header.eval.get("metrics")):
        for each in given if isinstance(given, list) else [given]:
            if _is_accuracy(each):
                limited.add(name)
            else:
                patterns += _patterns(each)
    return {
        "name": name,
        "kind": kind,
        "model": judge,
        "metrics": [
            {"name": metric, "minimum": 0.0, "maximum": 1.0}
            if unit or metric in limited or any(fnmatchcase(metric, each) for each in patterns)
            else {"name": metric}
            for metric in metrics
        ],
    }


def _judge(header: Header, options: dict[str, Any], role: str | None) -> str | None:
    """The model that grades, where the log names a single one, itself or by its role."""
    model = options.get("model")
    if model is None:
        role = options.get("model_role", role)
        roles = as_dict(header.eval.get("model_roles"))
        model = roles.get(role) if isinstance(role, str) else None
    return as_word(as_dict(model).get("model", model))


def _has_accuracy(metrics: Any) -> bool:
    """Whether the results have a mean of values from 0 to 1 (`scorer/_metrics/accuracy.py`)."""
    return any(
        bare(as_dict(metric).get("name", key)) == "accuracy"
        for key, metric in as_dict(metrics).items()
    )


def _is_accuracy(definition: Any) -> bool:
    return bare(as_dict(definition).get("name")) == "accuracy"


def _patterns(definitions: Any) -> Iterator[str]:
    """What the keys look like that the configuration makes an accuracy of."""
    for pattern, metrics in as_dict(definitions).items():
        if any(map(_is_accuracy, as_list(metrics))):
            yield pattern
