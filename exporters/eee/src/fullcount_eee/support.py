"""How Every Eval Ever carries each field of the model.

Nothing is dropped as such: what has no field of its own goes, as a string, to one of the
format's maps. What a single run's data can lose is told in notices of the writer.
"""

from __future__ import annotations

from fullcount.plugin import Support

__all__ = ["SUPPORT"]

_RUN = "source_metadata.additional_details"
_METRIC = "metric_config.additional_details"
_ROW = "metadata"


def _renamed(targets: dict[str, str]) -> dict[str, Support]:
    return {key: Support("renamed", target) for key, target in targets.items()}


def _same(prefix: str, target: str, names: str) -> dict[str, str]:
    return {f"{prefix}.{name}": f"{target}.{name}" for name in names.split()}


SUPPORT: dict[str, Support] = _renamed(
    {
        "run.id": f"{_RUN}.run_id",
        "run.source": _RUN,
        "run.harness": "eval_library",
        "run.subject": "model_info",
        "run.suite": "evaluation_name, source_data",
        "run.evaluators": "evaluation_results[].metric_config",
        "run.environment": f"{_RUN}.environment",
        "run.generation": "generation_config",
        "run.status": f"{_RUN}.run_status",
        "run.error": f"{_RUN}.run_error",
        "run.created_at": f"{_RUN}.created_at",
        "run.started_at": f"evaluation_timestamp, {_RUN}.started_at",
        "run.completed_at": f"{_RUN}.completed_at",
        "run.plan": _RUN,
        "run.reported": f"{_RUN}.reported",
        "run.reported_counts": f"{_RUN}.reported_counts",
        "run.usage": f"{_RUN}.usage",
        "run.tags": f"{_RUN}.tags",
        "run.invalidated": f"{_RUN}.run_invalidated",
        "run.findings": f"{_RUN}.findings, score_details.details.findings",
        "source.format": f"{_RUN}.source_format",
        "source.format_version": f"{_RUN}.source_format_version",
        "source.path": f"{_RUN}.source_path",
        "source.sha256": f"{_RUN}.source_sha256",
        "source.size": f"{_RUN}.source_size",
        "harness.name": "eval_library.name",
        "harness.version": "eval_library.version",
        "harness.packages": "eval_library.additional_details.packages",
        "subject.id": "model_info.id, model_info.additional_details.subject_id",
        "subject.name": "model_info.name",
        "subject.provider": "model_info.inference_platform; developer of an id without one",
        **_same("subject", "model_info.additional_details", "version draft modified_at"),
        "suite.name": "evaluation_name",
        "suite.version": "source_data.additional_details.suite_version",
        "suite.dataset": "source_data.dataset_name",
        "suite.dataset_location": "source_data.hf_repo, .url or .additional_details.location",
        "suite.dataset_revision": "source_data.additional_details.dataset_revision",
        "suite.split": "source_data.hf_split or .additional_details.split",
        "suite.cases": "source_data.samples_number or .additional_details.samples_number",
        "evaluator.name": f"metric_config.metric_name, {_METRIC}.evaluator",
        "evaluator.kind": f"metric_config.llm_scoring, {_METRIC}.evaluator_kind",
        "evaluator.model": f"llm_scoring.judges[], {_METRIC}.evaluator_model",
        "evaluator.version": f"{_METRIC}.evaluator_version",
        **_same("evaluator", _METRIC, "rubric_revision independence calibration limits"),
        "evaluator.metrics": "evaluation_results[]",
        "metric.name": f"metric_config.metric_name, {_METRIC}.metric",
        "metric.minimum": f"metric_config.min_score, {_METRIC}.scale_minimum",
        "metric.maximum": f"metric_config.max_score, {_METRIC}.scale_maximum",
        "metric.lower_is_better": "metric_config.lower_is_better",
        "metric.unit": f"metric_config.metric_unit, {_METRIC}.unit",
        **_same("metric", _METRIC, "threshold categorical"),
        **_same("generation", "generation_args", "temperature top_p top_k max_tokens"),
        **_same("generation", "generation_config.additional_details", "seed reasoning_effort"),
        **_same(
            "generation", "generation_args.eval_limits", "time_limit message_limit token_limit"
        ),
        "generation.sandbox": "generation_args.sandbox.type",
        "generation.solver": "generation_args.eval_plan.name",
        "generation.tools": "generation_args.agentic_eval_config.available_tools[].name",
        "plan.cases": f"{_RUN}.planned_cases",
        "plan.attempts": f"{_RUN}.planned_attempts, generation_config.additional_details",
        "plan.trials": f"{_RUN}.planned_trials",
        **_same(
            "reportedmetric",
            f"{_RUN}.reported",
            "evaluator metric statistic value nonfinite reducer group scored unscored",
        ),
        **_same("finding", f"{_RUN}.findings", "code severity message evaluator metric count"),
        "trial.case_id": "sample_id",
        "trial.attempt": f"{_ROW}.attempt",
        "trial.status": f"{_ROW}.status; trials.n_status_*",
        "trial.scores": "one row each where there is a number, else metadata.scores_without_row",
        "trial.declared_verdict": f"row of the result 'verdict'; {_ROW}.verdict, .verdict_basis",
        "trial.error": "error",
        "trial.duration": "performance.latency_ms",
        "trial.working_time": "performance.additional_details.working_time_seconds",
        "trial.usage": "token_usage",
        "trial.trace": _ROW,
        "trial.content": "input, output, messages",
        "trial.sample_hash": "sample_hash",
        **_same(
            "trial",
            _ROW,
            "case_id_type status_reason judge_verdict self_report gates limit invalidated control "
            "pressure_round order seed started_at completed_at pointer",
        ),
        "score.evaluator": f"evaluation_result_id, {_ROW}.evaluator",
        "score.metric": f"evaluation_result_id, {_ROW}.metric",
        "score.state": f"{_ROW}.state, .scores_without_row; <metric>.n_state_*",
        "score.value": "evaluation.score",
        "score.outcome": f"evaluation.is_correct, {_ROW}.outcome",
        "score.raw": f"{_ROW}.raw; left out where it is the number itself",
        "score.raw_type": f"the type of the JSON text in {_ROW}.raw",
        "score.answer": f"answer_attribution[].extracted_value, else {_ROW}.answer",
        **_same("score", _ROW, "label reason explanation edited"),
        "error.type": f"error, {_ROW}.error_type",
        "error.message": f"error, or its digest in {_ROW}.error_message",
        "error.retries": f"{_ROW}.error_retries",
        **_same("usage", "token_usage", "input_tokens output_tokens total_tokens reasoning_tokens"),
        "usage.cache_read_tokens": "token_usage.input_tokens_cache_read",
        "usage.cache_write_tokens": "token_usage.input_tokens_cache_write",
        "usage.cost": f"{_ROW}.cost_usd",
        **_same("traceref", _ROW, "trace_id span_id response_id record_id"),
        **_same("gate", f"{_ROW}.gates", "name fired invalidates"),
        "content.input": "input.raw",
        "content.references": "input.reference",
        "content.choices": "input.choices",
        "content.outputs": f"output.raw, or {_ROW}.outputs beside messages",
        "content.messages": "messages; input.formatted and output.raw of a single turn",
        "content.turns": "evaluation.num_turns",
        "message.role": "messages[].role",
        "message.content": "messages[].content",
        "message.reasoning": "messages[].reasoning_trace, output.reasoning_trace",
        "message.tool_calls": "messages[].tool_calls",
        "message.tool_call_id": "messages[].tool_call_id",
    }
)
