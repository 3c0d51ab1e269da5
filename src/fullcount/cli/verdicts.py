"""`fullcount verdicts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fullcount.cli._console import emit, emit_json
from fullcount.cli._runs import reading_options, tallied
from fullcount.cli._table import Column, emit_table
from fullcount.decide.verdicts import Summary, summarize
from fullcount.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["command"]

_COLUMNS = (
    Column("subject"),
    Column("version"),
    Column("verdict"),
    Column("tests", number=True),
    Column("passed", number=True),
    Column("unverified", number=True),
    Column("evaluations", number=True),
    Column("newest run"),
    Column(""),
)
_FAILED, _UNKNOWN = 1, 3


@click.command(name="verdicts", short_help="Say of each subject and version whether it holds up.")
@click.argument("sources", metavar="SRC...", nargs=-1, required=True)
@click.option(
    "--subject",
    "subjects",
    metavar="ID[@VERSION]",
    multiple=True,
    help="Report this one, whether or not a run covers it; version latest is what the newest run "
    "resolved.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each subject.")
@reading_options
def command(
    *,
    sources: Sequence[str],
    subjects: Sequence[str],
    as_json: bool,
    reader: str | None,
    reading: Sequence[str],
) -> int:
    """Say of each subject and exact version: pass, partial, fail, or none.

    The latest completed run of each evaluation counts; running again replaces. Unverified trials
    stay in the total, so a subject that has any is at best partial. The exit code is 0 when every
    subject passes, 1 when one has a test that failed, and 3 when only what is unknown stands in
    the way.
    """
    runs = ((run, tally) for _, run, tally in tallied(sources, reader, reading))
    summaries = summarize(runs, subjects)
    if as_json:
        for summary in summaries:
            emit_json(_record(summary))
    else:
        emit_table(_COLUMNS, map(_row, summaries))
        for summary in summaries:
            name = (
                summary.subject
                if summary.version is None
                else f"{summary.subject}@{summary.version}"
            )
            emit(f"  {one_line(name)}: {one_line(summary.sentence)}")
    if any(summary.failed for summary in summaries):
        return _FAILED
    return 0 if summaries and all(s.word == "pass" for s in summaries) else _UNKNOWN


def _row(summary: Summary) -> list[str]:
    newest = summary.newest
    return [
        summary.subject,
        summary.version or "",
        summary.word,
        str(summary.tests),
        str(summary.passed),
        str(summary.unverified),
        str(len(summary.evaluations)),
        "" if newest is None else newest.isoformat(timespec="seconds"),
        "stale" if summary.stale else "",
    ]


def _record(summary: Summary) -> dict[str, Any]:
    return {
        "subject": summary.subject,
        "version": summary.version,
        "verdict": summary.word,
        "tests": summary.tests,
        "passed": summary.passed,
        "failed": summary.failed,
        "unverified": summary.unverified,
        "newest_run": None if summary.newest is None else summary.newest.isoformat(),
        "stale": summary.stale,
        "summary": summary.sentence,
        "evaluations": [
            {
                "name": each.name,
                "run_id": each.run_id,
                "time": None if each.time is None else each.time.isoformat(),
                "tests": each.tests,
                "passed": each.passed,
                "failed": each.failed,
                "unverified": each.unverified,
            }
            for each in summary.evaluations
        ],
    }
