"""Every name that is sent, in one table, with the version it was taken from.

The `gen_ai.evaluation.*` names are the OpenTelemetry GenAI semantic conventions, repository
open-telemetry/semantic-conventions-genai, commit 0387091, stability Development. They were
first published with semantic conventions 1.38, and 1.41.1 is the last schema of the core
repository that holds them without a deprecation. `test.*` and `error.type` are the core
registry, checked at 1.44. The names are written out here because no Python package publishes
them without one; a test compares them with `opentelemetry-semantic-conventions`.

Everything that the conventions have no name for stands under `fullcount.*`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ANNOTATIONS",
    "AZURE_NAME",
    "BRAINTRUST_SCORES",
    "CONDITIONS",
    "CONVENTION",
    "ERROR",
    "EVALUATION_RESULT",
    "EVALUATOR",
    "EVALUATOR_EVENT",
    "FINDING",
    "FINDING_EVENT",
    "GATES",
    "GAUGE_LOWER",
    "GAUGE_MEAN",
    "GAUGE_UPPER",
    "METRIC",
    "MODEL_USAGE",
    "POINT",
    "RECORD_ID",
    "REPORTED",
    "REPORTED_EVENT",
    "RESOURCE",
    "RUN",
    "RUN_SPAN",
    "RUN_SPAN_ATTRIBUTES",
    "SCHEMA_URL",
    "SCOPE",
    "SCORE",
    "SUM_SCORES",
    "SUM_TRIALS",
    "TRIAL",
    "TRIAL_RESULT",
    "TRIAL_SPAN",
    "USAGE",
    "USAGE_EVENT",
    "key_part",
    "scores_key",
]

CONVENTION = "semantic-conventions-genai@0387091"
"""The pinned text of the convention."""
SCHEMA_URL = "https://opentelemetry.io/schemas/1.41.1"
SCOPE = "fullcount.otel"
"""Instrumentation scope of everything that is sent."""

EVALUATION_RESULT = "gen_ai.evaluation.result"
"""Event: one metric of one trial."""
TRIAL_RESULT = "fullcount.trial.result"
"""Event: one trial of a run that declares no metric, so that no trial is without an event."""
RUN_SPAN = "test_suite_run"
TRIAL_SPAN = "test_case_run"
EVALUATOR = "fullcount.evaluator"
"""Event on the run's span: an evaluator, with what its events do not repeat."""
FINDING = "fullcount.finding"
"""Event on the run's span: something that the reader of a number must know."""
REPORTED = "fullcount.reported"
"""Event on the run's span: a headline number as the harness reports it."""
MODEL_USAGE = "fullcount.usage"
"""Event on the run's span: what one model took over the whole run."""

SUM_TRIALS = "fullcount.trials"
SUM_SCORES = "fullcount.scores"
GAUGE_MEAN = "fullcount.score.mean"
GAUGE_LOWER = "fullcount.score.mean_lower_bound"
GAUGE_UPPER = "fullcount.score.mean_upper_bound"


def _table(**names: str) -> Mapping[str, str]:
    return MappingProxyType(names)


RESOURCE = _table(
    service_name="service.name",
    run_id="fullcount.run.id",
    harness="fullcount.harness.name",
    harness_version="fullcount.harness.version",
    subject="fullcount.subject.id",
    subject_version="fullcount.subject.version",
    suite="test.suite.name",
)
"""Attributes of the resource: what is true of everything a run sends."""

RUN = _table(run_id="fullcount.run.id", suite="test.suite.name")
"""Attributes that every event of a run repeats, for stores that lose the resource."""

METRIC = _table(
    evaluation_name="gen_ai.evaluation.name",
    evaluator="fullcount.evaluator.name",
    evaluator_version="fullcount.evaluator.version",
    evaluator_kind="fullcount.evaluator.kind",
    evaluator_model="fullcount.evaluator.model",
    metric="fullcount.metric.name",
    minimum="fullcount.metric.minimum",
    maximum="fullcount.metric.maximum",
    lower_is_better="fullcount.metric.lower_is_better",
    unit="fullcount.metric.unit",
    threshold="fullcount.metric.threshold",
    categorical="fullcount.metric.categorical",
)
"""Attributes of one metric of one evaluator, and of its scale."""

TRIAL = _table(
    case_name="test.case.name",
    case_result="test.case.result.status",
    case_id="fullcount.case.id",
    case_id_type="fullcount.case.id_type",
    attempt="fullcount.trial.attempt",
    status="fullcount.trial.status",
    status_reason="fullcount.trial.status_reason",
    verdict="fullcount.trial.verdict",
    verdict_basis="fullcount.trial.verdict_basis",
    judge_verdict="fullcount.trial.judge_verdict",
    self_report="fullcount.trial.self_report",
    retry="fullcount.trial.retry",
    measurement_failure="fullcount.trial.measurement_failure",
    limit="fullcount.trial.limit",
    invalidated="fullcount.trial.invalidated",
    time_basis="fullcount.trial.time_basis",
    started_at="fullcount.trial.started_at",
    duration="fullcount.trial.duration",
    working_time="fullcount.trial.working_time",
    response_id="gen_ai.response.id",
    evaluated_trace_id="fullcount.evaluated.trace_id",
    evaluated_span_id="fullcount.evaluated.span_id",
    source_record_id="fullcount.source.record_id",
    pointer="fullcount.source.pointer",
    sample_hash="fullcount.case.sample_hash",
)
"""Attributes of one trial."""

GATES = _table(
    all="fullcount.trial.gates",
    fired="fullcount.trial.gates_fired",
    not_evaluated="fullcount.trial.gates_not_evaluated",
    invalidating="fullcount.trial.gates_invalidating",
)
"""Attributes of a trial's gates: lists of their names."""

ERROR = _table(
    type="fullcount.trial.error_type",
    message="fullcount.trial.error_message",
    message_sha256="fullcount.trial.error_message_sha256",
    retries="fullcount.trial.error_retries",
)
"""Attributes of what stopped a trial."""

CONDITIONS = _table(
    control="fullcount.trial.control",
    pressure_round="fullcount.trial.pressure_round",
    order="fullcount.trial.order",
    seed="fullcount.trial.seed",
)
"""Attributes of the conditions of a trial."""

USAGE = _table(
    input_tokens="fullcount.usage.input_tokens",
    output_tokens="fullcount.usage.output_tokens",
    total_tokens="fullcount.usage.total_tokens",
    cache_read_tokens="fullcount.usage.cache_read_tokens",
    cache_write_tokens="fullcount.usage.cache_write_tokens",
    reasoning_tokens="fullcount.usage.reasoning_tokens",
    cost="fullcount.usage.cost",
)
"""Attributes of what a trial or a model took."""

SCORE = _table(
    value="gen_ai.evaluation.score.value",
    label="gen_ai.evaluation.score.label",
    explanation="gen_ai.evaluation.explanation",
    error_type="error.type",
    state="fullcount.score.state",
    standing="fullcount.score.class",
    passed="fullcount.score.passed",
    evaluator_label="fullcount.score.label",
    raw="fullcount.score.raw",
    raw_type="fullcount.score.raw_type",
    reason="fullcount.score.reason",
    answer="fullcount.score.answer",
    answer_sha256="fullcount.score.answer_sha256",
    explanation_sha256="fullcount.score.explanation_sha256",
    edited="fullcount.score.edited",
)
"""Attributes of one score."""

RECORD_ID = "fullcount.record.id"
"""Of every event: the same whenever and however often it is sent."""
AZURE_NAME = "microsoft.custom_event.name"
"""Repeats the event's name for Azure Monitor."""
ANNOTATIONS = "annotations"
"""Prefix of OpenInference's annotations on a span."""
BRAINTRUST_SCORES = "braintrust.scores"
"""Braintrust's scores of a span, as JSON."""

POINT = _table(
    run_id=RUN["run_id"],
    suite=RUN["suite"],
    subject=RESOURCE["subject"],
    evaluation_name=METRIC["evaluation_name"],
    evaluator=METRIC["evaluator"],
    metric=METRIC["metric"],
    state=SCORE["state"],
    standing=SCORE["standing"],
    status=TRIAL["status"],
    verdict=TRIAL["verdict"],
    n="fullcount.score.n",
    sought="fullcount.score.sought",
)
"""Attributes of a data point."""

RUN_SPAN_ATTRIBUTES = _table(
    run_id=RUN["run_id"],
    suite=RUN["suite"],
    suite_status="test.suite.run.status",
    error_type="error.type",
    status="fullcount.run.status",
    error_message="fullcount.run.error_message",
    error_message_sha256="fullcount.run.error_message_sha256",
    error_retries="fullcount.run.error_retries",
    created_at="fullcount.run.created_at",
    started_at="fullcount.run.started_at",
    completed_at="fullcount.run.completed_at",
    time_basis="fullcount.run.time_basis",
    invalidated="fullcount.run.invalidated",
    tags="fullcount.run.tags",
    environment="fullcount.environment",
    source_format="fullcount.source.format",
    source_format_version="fullcount.source.format_version",
    source_path="fullcount.source.path",
    source_sha256="fullcount.source.sha256",
    source_size="fullcount.source.size",
    harness=RESOURCE["harness"],
    harness_version=RESOURCE["harness_version"],
    packages="fullcount.harness.package",
    subject=RESOURCE["subject"],
    subject_version=RESOURCE["subject_version"],
    subject_name="fullcount.subject.name",
    subject_provider="fullcount.subject.provider",
    subject_draft="fullcount.subject.draft",
    subject_modified_at="fullcount.subject.modified_at",
    suite_version="fullcount.suite.version",
    suite_dataset="fullcount.suite.dataset",
    suite_dataset_location="fullcount.suite.dataset_location",
    suite_dataset_revision="fullcount.suite.dataset_revision",
    suite_split="fullcount.suite.split",
    suite_cases="fullcount.suite.cases",
    generation="fullcount.generation",
    plan="fullcount.plan",
    reported_counts="fullcount.reported_count",
    trials="fullcount.run.trials",
    statuses="fullcount.run.status_count",
    verdicts="fullcount.run.verdict_count",
    no_verdict="fullcount.run.no_verdict",
    measurement_failures="fullcount.run.measurement_failures",
    limited="fullcount.run.limited",
    scored_and_errored="fullcount.run.scored_and_errored",
    invalidated_trials="fullcount.run.invalidated_trials",
    unverified_scores="fullcount.run.unverified_scores",
)
"""Attributes of the run's span.

`environment`, `packages`, `generation`, `plan`, `reported_counts`, `statuses` and `verdicts`
are prefixes: a name follows. Counts of scores are named by `scores_key`.
"""

EVALUATOR_EVENT = _table(
    name=METRIC["evaluator"],
    version=METRIC["evaluator_version"],
    kind=METRIC["evaluator_kind"],
    model=METRIC["evaluator_model"],
    rubric_revision="fullcount.evaluator.rubric_revision",
    independence="fullcount.evaluator.independence",
    calibration="fullcount.evaluator.calibration",
    limits="fullcount.evaluator.limits",
)
"""Attributes of an evaluator's event on the run's span."""

REPORTED_EVENT = _table(
    evaluator=METRIC["evaluator"],
    metric=METRIC["metric"],
    statistic="fullcount.reported.statistic",
    value="fullcount.reported.value",
    nonfinite="fullcount.reported.nonfinite",
    reducer="fullcount.reported.reducer",
    group="fullcount.reported.group",
    scored="fullcount.reported.scored",
    unscored="fullcount.reported.unscored",
)
"""Attributes of a reported number's event on the run's span."""

FINDING_EVENT = _table(
    code="fullcount.finding.code",
    severity="fullcount.finding.severity",
    message="fullcount.finding.message",
    evaluator=METRIC["evaluator"],
    metric=METRIC["metric"],
    count="fullcount.finding.count",
)
"""Attributes of a finding's event on the run's span."""

USAGE_EVENT = _table(model="fullcount.usage.model", **USAGE)
"""Attributes of a model's usage event on the run's span."""


def key_part(name: str) -> str:
    """A name from a log as one part of a dotted attribute key."""
    return name.replace("%", "%25").replace(".", "%2E")


def scores_key(evaluator: str, metric: str, what: str) -> str:
    """Key of an int attribute of the run's span: how many scores of a metric are what."""
    parts = [evaluator] if evaluator == metric else [evaluator, metric]
    return ".".join([SUM_SCORES, *map(key_part, parts), what])
