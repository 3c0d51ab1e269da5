"""What is true of a whole run."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from fullcount.model._base import Count, Finite, Model, Sha256, Text, Timestamp, Word
from fullcount.model.trial import Error, Usage

__all__ = [
    "Evaluator",
    "Finding",
    "Generation",
    "Harness",
    "Metric",
    "Plan",
    "ReportedMetric",
    "Run",
    "Source",
    "Subject",
    "Suite",
]


class Source(Model):
    """The file or folder a run was read from."""

    format: Word
    format_version: Word | None = None
    path: Text | None = None
    """Relative to the folder the conversion was started for; never absolute."""
    sha256: Sha256 | None = None
    size: Count | None = None
    """Bytes."""


class Harness(Model):
    """The program that ran the evaluation."""

    name: Word
    version: Word | None = None
    packages: dict[Text, Text] = {}


class Subject(Model):
    """What was evaluated: a model or an agent, in one exact version."""

    id: Word
    """As the harness names it, such as `openai/gpt-4o`."""
    name: Word | None = None
    version: Word | None = None
    """The version that a selector such as `latest` was resolved to."""
    provider: Word | None = None
    draft: bool | None = None
    modified_at: Timestamp | None = None


class Suite(Model):
    """The task or test suite, and the dataset its cases come from."""

    name: Word
    version: Word | None = None
    dataset: Word | None = None
    dataset_location: Text | None = None
    """A public repository or URL; never a path on a machine."""
    dataset_revision: Word | None = None
    split: Word | None = None
    cases: Count | None = None
    """Cases in the whole dataset, whether or not the run sought them."""


class Metric(Model):
    """One quantity that an evaluator gives for each trial, and its scale."""

    name: Word
    minimum: Finite | None = None
    maximum: Finite | None = None
    lower_is_better: bool = False
    unit: Word | None = None
    threshold: Finite | None = None
    """A value that is at least this good passes."""
    categorical: bool = False
    """Whether it gives labels and no numbers."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            msg = "minimum is above maximum"
            raise ValueError(msg)
        return self


class Evaluator(Model):
    """A grader: a rule, a judge model, a person."""

    name: Word
    kind: Literal["rule", "model", "human", "composite", "unknown"] = "unknown"
    model: Word | None = None
    version: Word | None = None
    rubric_revision: Word | None = None
    independence: Word | None = None
    """How it is independent of the subject, in the source's words."""
    calibration: Word | None = None
    limits: Word | None = None
    metrics: tuple[Metric, ...] = ()

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [metric.name for metric in self.metrics]
        if len(set(names)) < len(names):
            msg = "two metrics of one name"
            raise ValueError(msg)
        return self


class Generation(Model):
    """How the subject was sampled; None: not stated."""

    temperature: Finite | None = None
    top_p: Finite | None = None
    top_k: Finite | None = None
    max_tokens: Count | None = None
    seed: int | None = None
    reasoning_effort: Word | None = None
    time_limit: Count | None = None
    """Seconds a trial may take."""
    message_limit: Count | None = None
    token_limit: Count | None = None
    sandbox: Word | None = None
    solver: Word | None = None
    tools: tuple[Word, ...] = ()


class Plan(Model):
    """How many trials were sought; None: the source does not say."""

    cases: Count | None = None
    attempts: Count | None = None
    """Attempts for each case."""
    trials: Count | None = None


class ReportedMetric(Model):
    """A headline number as the harness itself reports it."""

    evaluator: Word
    metric: Word
    statistic: Word
    """The harness's name for it, such as `accuracy` or `stderr`."""
    value: Finite | None = None
    """None where the harness reports null, NaN or an infinity; see `nonfinite`."""
    nonfinite: Literal["null", "nan", "inf", "-inf"] | None = None
    reducer: Word | None = None
    """How attempts at one case were folded; None: not at all, or by their mean."""
    group: Word | None = None
    scored: Count | None = None
    """How many values the harness says this covers."""
    unscored: Count | None = None


class Finding(Model):
    """Something that the reader of a number must know, in words and in numbers."""

    code: Word
    severity: Literal["info", "warning"] = "warning"
    message: Word
    evaluator: Word | None = None
    metric: Word | None = None
    count: Count | None = None
    """Trials concerned."""


class Run(Model):
    """One evaluation of one subject on one suite."""

    id: Word
    """Stable: the source's own id, else derived from its content."""
    source: Source
    harness: Harness
    subject: Subject
    suite: Suite
    evaluators: tuple[Evaluator, ...] = ()
    """Every metric that any trial of the run is scored on."""
    environment: dict[Text, Text] = {}
    generation: Generation = Generation()
    status: Literal["success", "error", "cancelled", "started", "unknown"] = "unknown"
    """As the harness states it; `success` says only that it was not aborted."""
    error: Error | None = None
    created_at: Timestamp | None = None
    started_at: Timestamp | None = None
    completed_at: Timestamp | None = None
    plan: Plan = Plan()
    reported: tuple[ReportedMetric, ...] = ()
    reported_counts: dict[Text, Count] = {}
    """Trial counts as the harness states them, by its own names."""
    usage: dict[Text, Usage] = {}
    """By model."""
    tags: tuple[Text, ...] = ()
    invalidated: bool = False
    findings: tuple[Finding, ...] = ()
    """What the reader noticed."""

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [evaluator.name for evaluator in self.evaluators]
        if len(set(names)) < len(names):
            msg = "two evaluators of one name"
            raise ValueError(msg)
        return self

    @property
    def metric_keys(self) -> tuple[tuple[str, str], ...]:
        """Every (evaluator, metric) of the run, in order."""
        return tuple(
            (evaluator.name, metric.name)
            for evaluator in self.evaluators
            for metric in evaluator.metrics
        )
