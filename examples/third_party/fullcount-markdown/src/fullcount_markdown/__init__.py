"""Runs as Markdown tables of counts.

What changes form: each trial's status, verdict and score states become counts. What is
dropped: everything else about single trials, and of a run everything but its id, suite and
subject.
"""

from __future__ import annotations

from fullcount.losses import support_keys
from fullcount.plugin import ExporterSpec, Options, Support

__all__ = ["SPEC", "MarkdownOptions"]

_KEPT = {
    "run.id": Support("carried", "a line under the title"),
    "run.suite": Support("carried", "title"),
    "run.subject": Support("carried", "title"),
    "run.evaluators": Support("renamed", "rows of the table Scores"),
    "suite.name": Support("carried", "title"),
    "subject.id": Support("carried", "title"),
    "evaluator.name": Support("carried", "column evaluator"),
    "evaluator.metrics": Support("renamed", "rows of the table Scores"),
    "metric.name": Support("carried", "column metric"),
    "trial.status": Support("approximated", "table Trials", "trials are counted by status"),
    "trial.declared_verdict": Support(
        "approximated", "table Verdicts", "trials are counted by verdict"
    ),
    "trial.scores": Support("approximated", "table Scores", "scores are counted by state"),
    "score.evaluator": Support("carried", "column evaluator"),
    "score.metric": Support("carried", "column metric"),
    "score.state": Support("approximated", "table Scores", "scores are counted by state"),
    "score.value": Support("approximated", "column mean", "only the mean is kept"),
}


class MarkdownOptions(Options):
    """Options of the exporter."""

    digits: int = 4
    """Significant digits of a mean."""


SPEC = ExporterSpec(
    name="markdown",
    title="Markdown tables of counts",
    writer="fullcount_markdown.writer:MarkdownWriter",
    recount="fullcount_markdown.writer:recount",
    options=MarkdownOptions,
    support={
        key: _KEPT.get(key, Support("dropped", reason="a table of counts has no place for it"))
        for key in support_keys()
    },
    versions="1",
)
