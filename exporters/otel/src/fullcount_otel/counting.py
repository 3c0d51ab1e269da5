"""Counts what is written, as it is written."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fullcount.model import ScoreState, TrialStatus, Verdict
    from fullcount_otel.model import EvaluationEvent

__all__ = ["WrittenCounts"]


class WrittenCounts:
    """Trials by status and verdict, and scores by metric and state.

    Args:
        metrics: Every (evaluator, metric) of the run, in its order.
    """

    def __init__(self, metrics: Iterable[tuple[str, str]]) -> None:
        self.trials: Counter[tuple[TrialStatus, Verdict | None]] = Counter()
        self.scores: dict[tuple[str, str], Counter[ScoreState]] = {
            key: Counter() for key in metrics
        }

    def add(self, events: list[EvaluationEvent]) -> None:
        """Count the events of one trial."""
        trial = events[0].trial
        self.trials[trial.status, trial.verdict] += 1
        for event in events:
            metric, score = event.metric, event.score
            if metric is not None and score is not None:
                self.scores[metric.evaluator, metric.metric][score.state] += 1
