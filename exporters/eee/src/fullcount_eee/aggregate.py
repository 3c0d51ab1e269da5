"""The aggregate file: one JSON object for a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.model import digest_text
from fullcount.plugin import ContentPolicy
from fullcount_eee.identity import unix_seconds
from fullcount_eee.names import SCHEMA_VERSION, UNKNOWN
from fullcount_eee.quantities import trial_counts, verdict_counts
from fullcount_eee.results import Results
from fullcount_eee.strings import present, shown, strings

if TYPE_CHECKING:
    from fullcount.model import Error, Run, RunTally, Subject
    from fullcount.plugin import Context
    from fullcount_eee.identity import Identity
    from fullcount_eee.options import EeeOptions

__all__ = ["document", "samples_reference"]


def document(
    run: Run,
    tally: RunTally,
    identity: Identity,
    options: EeeOptions,
    context: Context,
) -> dict[str, Any]:
    """The object of the schema, but for its reference to the samples file."""
    time = run.started_at or run.created_at or run.completed_at
    return present(
        {
            "schema_version": SCHEMA_VERSION,
            "evaluation_id": identity.evaluation_id,
            "evaluation_timestamp": None if time is None else unix_seconds(time),
            "retrieved_timestamp": unix_seconds(context.now),
            "source_metadata": present(
                {
                    "source_type": "evaluation_run",
                    "source_organization_name": options.organization,
                    "source_organization_url": options.organization_url,
                    "evaluator_relationship": options.relationship,
                    "additional_details": _run_details(run, tally, context),
                }
            ),
            "eval_library": present(
                {
                    "name": run.harness.name,
                    "version": run.harness.version or UNKNOWN,
                    "additional_details": strings({"packages": run.harness.packages or None})
                    or None,
                }
            ),
            "model_info": _model_info(run.subject, identity, options),
            "evaluation_results": Results(run, tally).build(),
        }
    )


def samples_reference(identity: Identity, checksum: str, rows: int) -> dict[str, Any]:
    """`detailed_evaluation_results` of a samples file that has at least one row."""
    return {
        "format": "jsonl",
        "file_path": identity.samples_path,
        "hash_algorithm": "sha256",
        "checksum": checksum,
        "total_rows": rows,
        "additional_details": {
            "rows": "one for each trial and metric with a number, and one for each trial with a "
            "verdict; a score without a number has no row of its own and stands in "
            "metadata.scores_without_row of its trial's rows"
        },
    }


def _run_details(run: Run, tally: RunTally, context: Context) -> dict[str, str]:
    source, plan = run.source, run.plan
    bare = [evaluator for evaluator in run.evaluators if not evaluator.metrics]
    return strings(
        {
            "converter": f"{context.tool} {context.tool_version}",
            "content": context.content.value,
            "run_id": run.id,
            "run_status": run.status,
            "run_error": run.error and _error(run.error, context),
            "run_invalidated": run.invalidated or None,
            "created_at": run.created_at,
            "started_at": run.started_at,
            "completed_at": run.completed_at,
            "source_format": source.format,
            "source_format_version": source.format_version,
            "source_path": source.path,
            "source_sha256": source.sha256,
            "source_size": source.size,
            "planned_cases": plan.cases,
            "planned_attempts": plan.attempts,
            "planned_trials": plan.trials,
            **trial_counts(tally),
            **{f"verdict.{name}": count for name, count in verdict_counts(tally).items()},
            "reported": run.reported or None,
            "reported_counts": run.reported_counts or None,
            "findings": tally.findings or None,
            "usage": run.usage or None,
            "tags": run.tags or None,
            "environment": run.environment or None,
            "evaluators_without_metrics": bare or None,
        }
    )


def _error(error: Error, context: Context) -> dict[str, Any]:
    message = error.message
    if message is None or context.content is ContentPolicy.OMIT:
        text = None
    elif message.text is not None and context.content is ContentPolicy.DIGEST:
        text = f"sha256:{message.sha256 or digest_text(message.text)}"
    else:
        text = shown(message)
    return present({"type": error.type, "message": text, "retries": error.retries})


def _model_info(subject: Subject, identity: Identity, options: EeeOptions) -> dict[str, Any]:
    engine = present(
        {"name": options.inference_engine, "version": options.inference_engine_version}
    )
    return present(
        {
            "name": subject.name or subject.id,
            "id": identity.model_id,
            "developer": identity.developer,
            "inference_platform": options.inference_platform or subject.provider,
            "inference_engine": engine or None,
            "additional_details": strings(
                {
                    "deployment_type": options.deployment_type,
                    "model_availability": options.model_availability,
                    "subject_id": subject.id,
                    "provider": subject.provider,
                    "version": subject.version,
                    "draft": subject.draft,
                    "modified_at": subject.modified_at,
                }
            ),
        }
    )
