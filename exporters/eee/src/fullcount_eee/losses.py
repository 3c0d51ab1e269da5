"""What a run's own data loses in the format, and what the format wants stated and nobody did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.notices import Severity
from fullcount_eee.identity import UNSTATED_DEVELOPER
from fullcount_eee.names import UNKNOWN

if TYPE_CHECKING:
    from fullcount.model import Run
    from fullcount.notices import Report
    from fullcount_eee.identity import Identity
    from fullcount_eee.options import EeeOptions
    from fullcount_eee.rows import RowBuilder

__all__ = ["report_rows", "report_unstated"]

_PLUGIN = "eee"


def report_rows(report: Report, rows: RowBuilder) -> None:
    """Tell of every trial, score and message that has no place of its own in a row."""

    def tell(code: str, severity: Severity, path: str, count: int, message: str) -> None:
        if count:
            report.add(code, severity, message, path=path, count=count, plugin=_PLUGIN)

    tell(
        "eee.trial_without_row",
        Severity.LOSS,
        "trial.scores",
        rows.trials_without_row,
        "trials have neither a number nor a verdict; the format has no row for them, and they are "
        "only counted",
    )
    tell(
        "eee.score_without_row",
        Severity.INFO,
        "score.value",
        rows.scores_without_row,
        "scores have no number; the format has no row for them, so they are counted and stand in "
        "metadata.scores_without_row of their trial's rows",
    )
    tell(
        "eee.correct_without_threshold",
        Severity.LOSS,
        "score.outcome",
        rows.without_threshold,
        "the format wants is_correct in every row; where the evaluator has no threshold it is "
        "false, and metadata.is_correct_basis says so",
    )
    tell(
        "eee.correct_unsettled",
        Severity.INFO,
        "trial.verdict",
        rows.unsettled,
        "the format wants is_correct in every row; where the verdict is unverified or disputed it "
        "is false, and metadata.is_correct_basis says so",
    )
    tell(
        "eee.message_without_place",
        Severity.LOSS,
        "content.messages",
        rows.messages_left_out,
        "trials of a single turn have a reply that is no output, or a message after it; the format "
        "has no place for them",
    )


def report_unstated(report: Report, run: Run, identity: Identity, options: EeeOptions) -> None:
    """Tell of what the format wants stated, and of what stands there instead."""
    if not options.samples:
        report.add(
            "eee.no_samples",
            Severity.LOSS,
            "the samples file is left out, as option 'samples' asks",
            path="trial",
            plugin=_PLUGIN,
        )
    if not identity.developer_stated:
        report.add(
            "eee.developer_unstated",
            Severity.WARNING,
            f"nobody states who made the model, so it is filed under {UNSTATED_DEVELOPER!r}; "
            "option 'developer' names its folder",
            path="subject.provider",
            plugin=_PLUGIN,
        )
    if identity.model_id != (options.model_id or run.subject.id):
        report.add(
            "eee.model_id_changed",
            Severity.WARNING,
            "the model's id cannot be a folder and is filed under another spelling; the harness's "
            "own is kept as subject_id; option 'model_id' sets it",
            path="subject.id",
            plugin=_PLUGIN,
        )
    unset = {"organization", "relationship"} - options.model_fields_set
    if unset:
        report.add(
            "eee.unstated",
            Severity.INFO,
            f"no option states {' and '.join(sorted(unset))}; the format requires both, and has "
            f"{UNKNOWN!r} and 'other' for what is not known",
            path="run",
            plugin=_PLUGIN,
        )
