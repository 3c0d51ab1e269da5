"""What single back ends ask for beyond the convention; each is an option and off by default."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fullcount_otel import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount_otel.model import EvaluationEvent, MetricPart, ScorePart, Value

__all__ = ["braintrust", "openinference"]

_ANNOTATORS = {"model": "LLM", "rule": "CODE", "human": "HUMAN"}


def _measured(
    events: list[EvaluationEvent],
) -> Iterator[tuple[MetricPart, ScorePart, EvaluationEvent]]:
    for event in events:
        if event.metric is not None and event.score is not None:
            yield event.metric, event.score, event


def openinference(events: list[EvaluationEvent]) -> dict[str, Value]:
    """OpenInference `annotations.<i>.annotation.*` of a trial's span.

    Fields that have no value are left out, as its specification wants; the label is always
    there, so an unverified score stays an annotation.
    """
    found: dict[str, Value] = {}
    for index, (metric, score, event) in enumerate(_measured(events)):
        values = {
            "name": metric.evaluation_name,
            "label": score.label,
            "annotator_kind": _ANNOTATORS.get(metric.evaluator_kind or ""),
            "score": score.value,
            "explanation": score.explanation,
            "identifier": event.record_id,
        }
        for field, value in values.items():
            if value is not None:
                found[f"{names.ANNOTATIONS}.{index}.annotation.{field}"] = value
    return found


def braintrust(events: list[EvaluationEvent]) -> tuple[dict[str, Value], int]:
    """`braintrust.scores` of a trial's span, and how many scores it cannot take.

    Braintrust takes numbers from 0 to 1; others, and those that are not there, stay out.
    """
    scores = {
        metric.evaluation_name: score.value
        for metric, score, _ in _measured(events)
        if score.value is not None
    }
    fit = {name: value for name, value in scores.items() if 0 <= value <= 1}
    found: dict[str, Value] = {}
    if fit:
        found[names.BRAINTRUST_SCORES] = json.dumps(fit, ensure_ascii=False)
    return found, len(scores) - len(fit)
