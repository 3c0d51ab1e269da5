"""Where every field of the model goes."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from fullcount.losses import support_keys
from fullcount.plugin import Support
from fullcount_otel import names

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SUPPORT"]

_CONVERSATION = (
    "an evaluation event carries results, not conversations; the sample hash, the case id and the "
    "evaluated span lead to them"
)


def _below(model: str, prefix: str, *fields: str) -> dict[str, Support]:
    return {f"{model}.{field}": Support("renamed", f"{prefix}.{field}") for field in fields}


def _table(model: str, table: Mapping[str, str], *fields: str) -> dict[str, Support]:
    return {f"{model}.{field}": Support("renamed", table[field]) for field in fields}


def _mapped(model: str, **targets: str) -> dict[str, Support]:
    return {f"{model}.{field}": Support("renamed", target) for field, target in targets.items()}


_R, _M, _T, _S = names.RUN_SPAN_ATTRIBUTES, names.METRIC, names.TRIAL, names.SCORE

_FOUND: dict[str, Support] = {
    **_mapped(
        "run",
        id=_R["run_id"],
        source="span test_suite_run",
        harness="resource, span test_suite_run",
        subject="resource, span test_suite_run",
        suite="resource, span test_suite_run",
        evaluators=f"events, and {names.EVALUATOR} on span test_suite_run",
        environment=_R["environment"],
        generation=_R["generation"],
        status=f"{_R['status']}, {_R['suite_status']}",
        error=f"{_R['error_type']}, {_R['error_message']}",
        created_at=_R["created_at"],
        started_at=f"{_R['started_at']}, start of span test_suite_run",
        completed_at=f"{_R['completed_at']}, end of span test_suite_run",
        plan=_R["plan"],
        reported=f"{names.REPORTED} on span test_suite_run",
        reported_counts=_R["reported_counts"],
        usage=f"{names.MODEL_USAGE} on span test_suite_run",
        tags=_R["tags"],
        invalidated=_R["invalidated"],
        findings=f"{names.FINDING} on span test_suite_run",
    ),
    **_mapped(
        "source",
        format=_R["source_format"],
        format_version=_R["source_format_version"],
        path=_R["source_path"],
        sha256=_R["source_sha256"],
        size=_R["source_size"],
    ),
    **_mapped(
        "harness", name=_R["harness"], version=_R["harness_version"], packages=_R["packages"]
    ),
    **_mapped(
        "subject",
        id=_R["subject"],
        name=_R["subject_name"],
        version=_R["subject_version"],
        provider=_R["subject_provider"],
        draft=_R["subject_draft"],
        modified_at=_R["subject_modified_at"],
    ),
    **_mapped(
        "suite",
        name=_R["suite"],
        version=_R["suite_version"],
        dataset=_R["suite_dataset"],
        dataset_location=_R["suite_dataset_location"],
        dataset_revision=_R["suite_dataset_revision"],
        split=_R["suite_split"],
        cases=_R["suite_cases"],
    ),
    **_table(
        "evaluator",
        names.EVALUATOR_EVENT,
        "name",
        "kind",
        "model",
        "version",
        "rubric_revision",
        "independence",
        "calibration",
        "limits",
    ),
    "evaluator.metrics": Support("renamed", "events and data points"),
    **_table(
        "metric", _M, "minimum", "maximum", "lower_is_better", "unit", "threshold", "categorical"
    ),
    "metric.name": Support("renamed", _M["metric"]),
    **_below(
        "generation",
        _R["generation"],
        "temperature",
        "top_p",
        "top_k",
        "max_tokens",
        "seed",
        "reasoning_effort",
        "time_limit",
        "message_limit",
        "token_limit",
        "sandbox",
        "solver",
        "tools",
    ),
    **_below("plan", _R["plan"], "cases", "attempts", "trials"),
    **_table("reportedmetric", names.REPORTED_EVENT, *names.REPORTED_EVENT),
    **_table("finding", names.FINDING_EVENT, *names.FINDING_EVENT),
    **_mapped(
        "error",
        type=f"{names.ERROR['type']}, error.type",
        message=f"{names.ERROR['message']} or {names.ERROR['message_sha256']}",
        retries=names.ERROR["retries"],
    ),
    **_table("usage", names.USAGE, *names.USAGE),
    **_mapped(
        "traceref",
        trace_id="the event's trace id",
        span_id="the event's span id",
        response_id=_T["response_id"],
        record_id=_T["source_record_id"],
    ),
    **_mapped(
        "gate",
        name=names.GATES["all"],
        fired=f"{names.GATES['fired']}, {names.GATES['not_evaluated']}",
        invalidates=names.GATES["invalidating"],
    ),
    **_table(
        "trial",
        _T,
        "case_id",
        "case_id_type",
        "attempt",
        "status",
        "status_reason",
        "judge_verdict",
        "self_report",
        "limit",
        "invalidated",
        "started_at",
        "duration",
        "working_time",
        "sample_hash",
        "pointer",
    ),
    **_mapped(
        "trial",
        scores="one event for each",
        gates="lists of their names",
        declared_verdict=f"{_T['verdict']} with {_T['verdict_basis']} = declared",
        error="fullcount.trial.error_*",
        completed_at="the event's time",
        usage="fullcount.usage.*",
        trace="trace and span id of the event, or its attributes",
    ),
    "trial.content": Support("dropped", reason=_CONVERSATION),
    **_table("trial", names.CONDITIONS, *names.CONDITIONS),
    **_mapped(
        "score",
        evaluator=_M["evaluator"],
        metric=_M["metric"],
        state=_S["state"],
        value=_S["value"],
        label=_S["evaluator_label"],
        outcome=f"{_S['label']}, {_S['passed']}",
        raw=_S["raw"],
        raw_type=_S["raw_type"],
        reason=_S["reason"],
        answer=f"{_S['answer']} or {_S['answer_sha256']}",
        explanation=f"{_S['explanation']} or {_S['explanation_sha256']}",
        edited=_S["edited"],
    ),
    **{
        key: Support("dropped", reason=_CONVERSATION)
        for key in support_keys()
        if key.startswith(("content.", "message."))
    },
}

SUPPORT: Mapping[str, Support] = MappingProxyType(_FOUND)
"""The support table of the exporter."""
