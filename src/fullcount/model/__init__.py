"""The normalized model of evaluation results: pure types, no I/O."""

from __future__ import annotations

from fullcount.model._base import Model
from fullcount.model.content import Content, Excerpt, Message, ToolCall, digest_text
from fullcount.model.outcome import (
    EXCLUDED,
    UNVERIFIED,
    Outcome,
    RetryClass,
    ScoreState,
    TrialStatus,
    Verdict,
    VerdictBasis,
    derive_verdict,
)
from fullcount.model.run import (
    Evaluator,
    Finding,
    Generation,
    Harness,
    Metric,
    Plan,
    ReportedMetric,
    Run,
    Source,
    Subject,
    Suite,
)
from fullcount.model.tally import Counts, MetricCounts, MetricTally, Rate, RunTally
from fullcount.model.trial import Error, Gate, Score, TraceRef, Trial, Usage

__all__ = [
    "EXCLUDED",
    "UNVERIFIED",
    "Content",
    "Counts",
    "Error",
    "Evaluator",
    "Excerpt",
    "Finding",
    "Gate",
    "Generation",
    "Harness",
    "Message",
    "Metric",
    "MetricCounts",
    "MetricTally",
    "Model",
    "Outcome",
    "Plan",
    "Rate",
    "ReportedMetric",
    "RetryClass",
    "Run",
    "RunTally",
    "Score",
    "ScoreState",
    "Source",
    "Subject",
    "Suite",
    "ToolCall",
    "TraceRef",
    "Trial",
    "TrialStatus",
    "Usage",
    "Verdict",
    "VerdictBasis",
    "derive_verdict",
    "digest_text",
]
