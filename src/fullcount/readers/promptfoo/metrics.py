"""The evaluators of a column: its rows' score, and the metrics that assertions are named for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fullcount.readers.promptfoo.survey import Column, Survey

__all__ = ["NAME", "SCORE", "evaluators"]

NAME = "promptfoo"
SCORE = "score"

_JUDGES = frozenset(
    {
        "agent-rubric",
        "answer-relevance",
        "context-faithfulness",
        "context-recall",
        "context-relevance",
        "conversation-relevance",
        "factuality",
        "g-eval",
        "llm-rubric",
        "model-graded-closedqa",
        "model-graded-factuality",
        "pi",
        "search-rubric",
        "select-best",
    }
)
_RULES = frozenset(
    {
        "bleu",
        "contains",
        "contains-all",
        "contains-any",
        "contains-html",
        "contains-json",
        "contains-sql",
        "contains-xml",
        "cost",
        "equals",
        "finish-reason",
        "gleu",
        "icontains",
        "icontains-all",
        "icontains-any",
        "is-html",
        "is-json",
        "is-refusal",
        "is-sql",
        "is-valid-function-call",
        "is-valid-openai-function-call",
        "is-valid-openai-tools-call",
        "is-xml",
        "latency",
        "levenshtein",
        "meteor",
        "perplexity",
        "regex",
        "rouge-n",
        "starts-with",
        "word-count",
    }
)
_SETS = frozenset({"assert-set"})
_SCALED = _JUDGES | _RULES | _SETS | {"classifier", "guardrails", "moderation"}
"""Types whose scores promptfoo documents to be from 0 to 1; what code returns is not."""


def evaluators(found: Survey, column: Column) -> list[dict[str, Any]]:
    """The row's score first, then each named metric; a metric may be named as its evaluator is."""
    types = {kind for shape in column.shapes for kind, _ in shape}
    metrics = {NAME: [_metric(SCORE, scaled=types <= _SCALED)]}
    kinds = {NAME: "composite"}
    for name in found.metrics(column):
        behind = [
            [kind for kind, metric in shape if metric == name]
            for shape in column.shapes
            if name in found.named[shape]
        ]
        # Up to 0.120 the values of two assertions that share a name are added up.
        single = all(len(each) == 1 for each in behind)
        types = {kind for each in behind for kind in each}
        metrics.setdefault(name, []).append(_metric(name, scaled=single and types <= _SCALED))
        kinds.setdefault(name, _kind(types))
    return [
        {"name": name, "kind": kinds[name], "metrics": listed} for name, listed in metrics.items()
    ]


def _metric(name: str, *, scaled: bool) -> dict[str, Any]:
    return {"name": name, "minimum": 0.0, "maximum": 1.0} if scaled else {"name": name}


def _kind(types: set[str]) -> str:
    """`unknown` where code grades: it may ask a model."""
    if types and types <= _JUDGES:
        return "model"
    if types and types <= _RULES:
        return "rule"
    return "human" if types == {"human"} else "unknown"
