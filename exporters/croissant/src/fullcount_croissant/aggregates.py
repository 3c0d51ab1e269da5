"""The tables of what was counted, and of what is true of a whole run."""

from __future__ import annotations

from fullcount.model import ScoreState, TrialStatus, Verdict
from fullcount_croissant.columns import (
    METRIC,
    NOT_STATED,
    RUN,
    SCORES,
    TRIALS,
    Column,
    Table,
    private,
)

__all__ = ["TABLES"]


def _rate(name: str, what: str) -> tuple[Column, ...]:
    """A rate that is never a bare number."""
    return (
        Column(name, "float", f"{what}, over the trials that have one.", "no trial has a value"),
        Column(
            f"{name}_lower",
            "float",
            f"{what}, over all sought trials, if each without a value were the worst that the "
            "scale allows.",
            "the scale is open below, or nothing was sought",
        ),
        Column(
            f"{name}_upper",
            "float",
            f"{what}, over all sought trials, if each without a value were the best that the "
            "scale allows.",
            "the scale is open above, or nothing was sought",
        ),
        Column(f"{name}_n", "integer", f"Trials that {name} covers."),
        Column(f"{name}_sought", "integer", "Trials that were sought: what it should cover."),
        Column(
            f"{name}_standard_error",
            "float",
            f"Standard error of {name}.",
            "fewer than two cases have a value",
        ),
        Column(f"{name}_method", "enum", "How the standard error was computed.", "there is none"),
    )


_WORST = "no trial has a value"

SUMMARY = Table(
    "summary",
    "One row for each run, evaluator and metric: its scale, its counts and its mean.",
    ("run_id", "evaluator", "metric"),
    (
        *RUN,
        *METRIC,
        Column("n_total", "integer", "Trials: n_scored + n_unverified + n_excluded."),
        Column("n_sought", "integer", "Trials that were to be scored: n_total - n_excluded."),
        Column("n_unverified", "integer", "Trials sought and not scored."),
        Column("n_excluded", "integer", "Trials that nobody sought to score."),
        *(
            Column(f"n_{state.value}", "integer", f"Trials in state {state.value}.")
            for state in ScoreState
        ),
        Column("n_passed", "integer", "Trials that meet the evaluator's threshold."),
        Column("n_partial", "integer", "Trials with partial credit."),
        Column("n_failed", "integer", "Trials that miss the threshold."),
        Column(
            "mean_state",
            "enum",
            "measured: there is a mean; nothing_scored: no trial has a score; labels_only: "
            "scores are labels, which have no mean.",
        ),
        *_rate("mean", "Mean of the values"),
        Column(
            "standard_deviation", "float", "Of the values; sample form.", "fewer than two values"
        ),
        Column("lowest", "float", "Smallest value.", _WORST),
        Column("highest", "float", "Largest value.", _WORST),
        Column("cases", "integer", "Distinct cases with a value.", "too many to keep apart"),
        Column(
            "case_mean", "float", "Mean over cases of each case's mean.", _WORST + ", or too many"
        ),
        Column("labels", "texts", "Labels seen, the first 64."),
        Column("label_counts", "integers", "Trials with each of the labels."),
        Column("evaluator_kind", "enum", "rule, model, human, composite or unknown."),
        Column("evaluator_model", "enum", "Model of a judge.", NOT_STATED),
        Column("evaluator_version", "enum", "Version of the evaluator.", NOT_STATED),
        Column("rubric_revision", "text", "Revision of the rubric.", NOT_STATED),
        Column("independence", "text", "How it is independent of the subject.", NOT_STATED),
        Column("calibration", "text", "How it was calibrated.", NOT_STATED),
        Column("limits", "text", "Its limits.", NOT_STATED),
        Column("scale_minimum", "float", "Lowest value of the scale.", "the scale is open below"),
        Column("scale_maximum", "float", "Highest value of the scale.", "the scale is open above"),
        Column("lower_is_better", "flag", "Whether a lower value is better."),
        Column("unit", "enum", "Unit of the values.", "the source states none"),
        Column("threshold", "float", "A value at least this good passes.", "there is none"),
        Column("categorical", "flag", "Whether the metric gives labels and no numbers."),
    ),
)

RUNS = Table(
    "runs",
    "One row for each run: what was evaluated and how, and the counts of its trials.",
    ("run_id",),
    (
        Column("run_id", "text", "Id of the run."),
        *RUN[1:],
        Column("n_trials", "integer", "Trials: the sum of all status counts."),
        *(
            Column(f"status_{status.value}", "integer", f"Trials of status {status.value}.")
            for status in TrialStatus
        ),
        *(
            Column(f"verdict_{verdict.value}", "integer", f"Trials of verdict {verdict.value}.")
            for verdict in Verdict
        ),
        Column("verdict_none", "integer", "Trials on which nobody was asked for a verdict."),
        Column("n_measurement_failures", "integer", "Trials that the environment kept from it."),
        Column("n_limited", "integer", "Trials that a limit ended, scored or not."),
        Column("n_scored_and_errored", "integer", "Trials with an error and a score."),
        Column("n_invalidated", "integer", "Trials declared void."),
        Column(
            "pass_rate_state",
            "enum",
            "measured: there is a pass rate; undecided: no verdict is passed, partial, failed or "
            "contradicted.",
        ),
        *_rate("pass_rate", "Share of passed among decided verdicts"),
        Column("run_status", "enum", "As the harness states it: success says only: not aborted."),
        Column("run_invalidated", "flag", "Whether somebody declared the run void."),
        Column("errored", "flag", "Whether an error stopped the run."),
        Column("error_type", "enum", "Class of the error.", "there is none, or only prose"),
        Column("error_retries", "integer", "Attempts thrown away before.", NOT_STATED),
        *private("error_message", "the error's message", "there is none"),
        Column("created_at", "time", "Created, in UTC.", NOT_STATED),
        Column("started_at", "time", "Start, in UTC.", NOT_STATED),
        Column("completed_at", "time", "End, in UTC.", NOT_STATED),
        Column("planned_cases", "integer", "Cases planned.", NOT_STATED),
        Column("planned_attempts", "integer", "Attempts planned for each case.", NOT_STATED),
        Column("planned_trials", "integer", "Trials planned.", NOT_STATED),
        Column("subject_name", "enum", "Name of the subject.", NOT_STATED),
        Column("subject_version", "enum", "Version its selector was resolved to.", NOT_STATED),
        Column("subject_provider", "enum", "Its provider.", NOT_STATED),
        Column("subject_stage", "enum", "draft or final.", NOT_STATED),
        Column("subject_modified_at", "time", "When it was last changed, in UTC.", NOT_STATED),
        Column("suite_version", "enum", "Version of the suite.", NOT_STATED),
        Column("dataset", "enum", "Dataset of the cases.", NOT_STATED),
        Column("dataset_location", "text", "Its public place.", NOT_STATED),
        Column("dataset_revision", "text", "Its revision.", NOT_STATED),
        Column("dataset_split", "enum", "Its split.", NOT_STATED),
        Column("dataset_cases", "integer", "Cases in it, sought or not.", NOT_STATED),
        Column("harness", "enum", "Program that ran the evaluation."),
        Column("harness_version", "enum", "Its version.", NOT_STATED),
        Column("harness_packages", "text", "JSON object: packages and versions."),
        Column("temperature", "float", "Sampling temperature.", NOT_STATED),
        Column("top_p", "float", "Nucleus sampling.", NOT_STATED),
        Column("top_k", "float", "Top-k sampling.", NOT_STATED),
        Column("max_tokens", "integer", "Tokens that a reply may take.", NOT_STATED),
        Column("seed", "text", "Seed, in decimal.", NOT_STATED),
        Column("reasoning_effort", "enum", "Effort of reasoning.", NOT_STATED),
        Column("time_limit", "integer", "Seconds that a trial may take.", NOT_STATED),
        Column("message_limit", "integer", "Messages that a trial may take.", NOT_STATED),
        Column("token_limit", "integer", "Tokens that a trial may take.", NOT_STATED),
        Column("sandbox", "text", "Sandbox of the trials.", NOT_STATED),
        Column("solver", "text", "Solver or agent.", NOT_STATED),
        Column("tools", "texts", "Tools of the subject."),
        Column("tags", "texts", "Tags of the run."),
        Column("environment", "text", "JSON object: the environment."),
        Column("usage", "text", "JSON object: tokens and cost by model."),
        Column("reported_counts", "text", "JSON object: trial counts by the harness's own names."),
        Column("evaluators_without_metrics", "text", "JSON array; every other one is in summary."),
        Column("source_format", "enum", "Format that the run was read from."),
        Column("source_format_version", "enum", "Its version.", NOT_STATED),
        Column("source_path", "text", "Relative path of the source.", NOT_STATED),
        Column("source_sha256", "text", "SHA-256 of the source.", NOT_STATED),
        Column("source_size", "integer", "Bytes of the source.", NOT_STATED),
    ),
)

REPORTED = Table(
    "reported",
    "One row for each headline number, as the harness itself reports it; compare with summary.",
    ("run_id", "position"),
    (
        *RUN,
        Column("position", "integer", "Position in the run, from 0."),
        *METRIC,
        Column("statistic", "enum", "The harness's name for it, such as accuracy."),
        Column("value_state", "enum", "finite, null, nan, inf, -inf, or absent."),
        Column("value", "float", "The number.", "not finite: value_state says what it is"),
        Column(
            "reducer", "enum", "How attempts at a case were folded.", "not at all, or by the mean"
        ),
        Column("metric_group", "enum", "Group of trials that it covers.", "all"),
        Column("scored", "integer", "Values that the harness says it covers.", NOT_STATED),
        Column("unscored", "integer", "Values that it says are not there.", NOT_STATED),
    ),
    optional=True,
)

FINDINGS = Table(
    "findings",
    "One row for each thing that the reader of a number must know.",
    ("run_id", "position"),
    (
        *RUN,
        Column("position", "integer", "Position in the run, from 0."),
        Column("code", "enum", "Stable name of the kind of finding."),
        Column("severity", "enum", "info or warning."),
        Column("message", "text", "In words."),
        Column("evaluator", "enum", "Evaluator concerned.", "the whole run"),
        Column("metric", "enum", "Metric concerned.", "the whole run"),
        Column("count", "integer", "Trials concerned.", "not a matter of trials"),
    ),
    optional=True,
)

TABLES = (TRIALS, SCORES, SUMMARY, RUNS, REPORTED, FINDINGS)
"""Every table."""
