"""Where in the dataset each field of the model stands."""

from __future__ import annotations

from fullcount.losses import support_keys
from fullcount.plugin import Support
from fullcount_croissant.aggregates import TABLES

__all__ = ["SUPPORT"]

_TABLES = {
    "run": "runs",
    "source": "runs",
    "harness": "runs",
    "subject": "runs",
    "suite": "runs",
    "generation": "runs",
    "plan": "runs",
    "evaluator": "summary",
    "metric": "summary",
    "reportedmetric": "reported",
    "finding": "findings",
    "trial": "trials",
    "error": "trials",
    "usage": "trials",
    "traceref": "trials",
    "gate": "trials",
    "content": "trials",
    "message": "trials",
    "score": "scores",
}

# What does not stand in the column of its own name, in the table of its model.
_PLACES = {
    "run.error": "runs.errored, runs.error_*",
    "run.evaluators": "summary; those without a metric in runs.evaluators_without_metrics",
    "run.findings": "findings",
    "run.generation": "runs",
    "run.harness": "runs.harness*",
    "run.id": "run_id of every table",
    "run.invalidated": "runs.run_invalidated",
    "run.plan": "runs.planned_*",
    "run.reported": "reported",
    "run.source": "runs.source_*",
    "run.status": "runs.run_status",
    "run.subject": "runs.subject*",
    "run.suite": "runs.suite*, runs.dataset*",
    "harness.name": "runs.harness",
    "subject.draft": "runs.subject_stage",
    "subject.id": "subject of every table",
    "suite.name": "suite of every table",
    "suite.dataset": "runs.dataset",
    "suite.dataset_location": "runs.dataset_location",
    "suite.dataset_revision": "runs.dataset_revision",
    "suite.split": "runs.dataset_split",
    "suite.cases": "runs.dataset_cases",
    "evaluator.metrics": "summary, a row for each",
    "evaluator.name": "summary.evaluator",
    "metric.maximum": "summary.scale_maximum",
    "metric.minimum": "summary.scale_minimum",
    "metric.name": "summary.metric",
    "reportedmetric.group": "reported.metric_group",
    "reportedmetric.nonfinite": "reported.value_state",
    "trial.content": "trials",
    "trial.declared_verdict": "trials.verdict, where trials.verdict_basis is declared",
    "trial.error": "trials.errored, trials.error_*",
    "trial.gates": "trials.gates, trials.gate_states, trials.gate_invalidates",
    "trial.limit": "trials.limit_kind",
    "trial.order": "trials.presentation_order",
    "trial.scores": "scores, a row for each",
    "trial.trace": "trials.trace_id, trials.span_id, trials.response_id, trials.record_id",
    "trial.seed": "trials.seed, in decimal",
    "trial.self_report": "trials.self_report, in words",
    "trial.usage": "trials.*_tokens, trials.cost; by model as JSON in runs.usage",
    "generation.seed": "runs.seed, in decimal",
    "gate.fired": "trials.gate_states",
    "gate.name": "trials.gates",
    "content.references": "trials.reference_answers",
}
_PREFIXES = {
    "source": "source_",
    "harness": "harness_",
    "subject": "subject_",
    "suite": "suite_",
    "plan": "planned_",
    "evaluator": "evaluator_",
    "error": "error_",
    "gate": "gate_",
}
_JSON = frozenset({"run.environment", "run.reported_counts", "run.usage", "harness.packages"})


def _support() -> dict[str, Support]:
    kinds = {table.name: {column.name: column.kind for column in table.columns} for table in TABLES}
    found = {}
    for key in support_keys():
        model, _, field = key.partition(".")
        table, prefixed = _TABLES[model], f"{_PREFIXES.get(model, '')}{field}"
        if key in _PLACES:
            found[key] = Support("renamed", _PLACES[key])
        elif model == "message":
            found[key] = Support("renamed", "trials.messages, as JSON")
        elif key in _JSON:
            found[key] = Support("renamed", f"{table}.{prefixed}, as JSON")
        else:
            name = field if field in kinds[table] else prefixed
            place = f"{table}.{name}"
            if f"{name}_sha256" in kinds[table]:
                found[key] = Support("renamed", f"{place}, or {place}_sha256")
            elif kinds[table][name] == "time":
                found[key] = Support("renamed", f"{place}, in UTC")
            else:
                found[key] = Support("carried" if name == field else "renamed", place)
    return found


SUPPORT = _support()
"""Nothing is lost: what has no column of its own is JSON text in one."""
