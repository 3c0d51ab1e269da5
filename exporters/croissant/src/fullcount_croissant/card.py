"""Writes the dataset card: what was evaluated, the counts first, then what is missing."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from fullcount.model import TrialStatus, Verdict
from fullcount_croissant import words
from fullcount_croissant.words import LONGEST, between, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fullcount.plugin import Context
    from fullcount_croissant.describe import Facts
    from fullcount_croissant.tables import TableWriter
    from fullcount_croissant.words import Counted

__all__ = ["card"]

_MEANS = (
    "A mean covers only the trials with a value. Bounds: what it would be over every trial sought "
    "if each without a value were the worst, and the best, that the scale allows."
)
_NULLS = (
    "`croissant.json` says what every column means and what its null means. In every table null "
    "is unknown, not 0 and not failed; `state`, `status` and `verdict_basis` are never null and "
    "say why."
)


def card(
    runs: Sequence[Counted], tables: Sequence[TableWriter], facts: Facts, context: Context
) -> str:
    """The card as Markdown; its head lets a dataset host show each table on its own."""
    lines = [
        *_head(tables, facts),
        f"# {_inline(facts.name)}",
        "",
        _inline(facts.description),
        "",
        "## Counts",
        "",
        *_trials(runs),
        "",
        *_scores(runs),
        "",
        _MEANS,
        "",
        "## What is missing",
        "",
        *_missing(runs),
        "",
        "## What to know",
        "",
        *_findings(runs),
        "",
        "## Files",
        "",
        *_files(runs, tables),
        "",
        _NULLS,
        "",
        "## Licence and citation",
        "",
        f"Licence: {_inline(facts.license)}",
        "",
        f"Cite as: {_inline(facts.citation)}",
        "",
        f"Written by {_inline(context.tool)} {_inline(context.tool_version)}.",
    ]
    return "\n".join(lines) + "\n"


def _head(tables: Sequence[TableWriter], facts: Facts) -> Iterator[str]:
    # JSON is YAML; names from a log need no other care.
    yield "---"
    yield f"pretty_name: {json.dumps(facts.name)}"
    yield "configs:"
    for table in tables:
        files = [part.path for part in table.parts]
        yield f"- config_name: {table.table.name}"
        yield f"  data_files: {json.dumps(files)}"
    yield "---"
    yield ""


def _trials(runs: Sequence[Counted]) -> Iterator[str]:
    statuses, verdicts = list(TrialStatus), list(Verdict)
    yield from _table(
        [
            "subject",
            "suite",
            "run",
            "trials",
            *(status.value for status in statuses),
            *(verdict.value for verdict in verdicts),
            "no verdict",
            "pass rate",
            "bounds",
        ],
        [
            [
                run.subject.id,
                run.suite.name,
                run.id,
                tally.counts.total,
                *(tally.counts.statuses[status] for status in statuses),
                *(tally.counts.verdicts[verdict] for verdict in verdicts),
                tally.counts.no_verdict,
                number(tally.pass_rate.value),
                between(tally.pass_rate),
            ]
            for run, tally in runs
        ],
        "runs.parquet",
    )


def _scores(runs: Sequence[Counted]) -> Iterator[str]:
    rows: list[list[object]] = [
        [
            run.subject.id,
            run.suite.name,
            metric.name,
            metric.total,
            metric.sought,
            metric.scored,
            metric.unverified,
            metric.excluded,
            number(metric.rate.value),
            between(metric.rate),
            number(metric.rate.standard_error),
        ]
        for run, tally in runs
        for metric in tally.metrics
    ]
    if not rows:
        yield "No metric is known of any run."
        return
    titles = ["subject", "suite", "metric", "trials", "sought", "scored", "unverified"]
    titles += ["excluded", "mean", "bounds", "standard error"]
    yield from _table(titles, rows, "summary.parquet")


def _missing(runs: Sequence[Counted]) -> Iterator[str]:
    told = [(run, list(words.missing_lines(run, tally))) for run, tally in runs]
    told = [(run, lines) for run, lines in told if lines]
    if not told:
        yield "Nothing: every trial completed, and every score that was sought is there."
    for run, lines in told[:LONGEST]:
        yield f"- {_inline(words.run_title(run))} (run {_inline(run.id)})"
        for line in lines:
            yield f"  - {_inline(line)}"
    if len(told) > LONGEST:
        yield f"- {len(told) - LONGEST} more runs miss something: see `summary.parquet`."


def _findings(runs: Sequence[Counted]) -> Iterator[str]:
    found = [(run, finding) for run, tally in runs for finding in tally.findings]
    if not found:
        yield "Nothing was found that does not add up."
    for run, finding in found[:LONGEST]:
        where = f"{_inline(words.run_title(run))}: " if len(runs) > 1 else ""
        yield f"- {where}{_inline(finding.message)}"
    if len(found) > LONGEST:
        yield f"- {len(found) - LONGEST} more are in `findings.parquet`."


def _files(runs: Sequence[Counted], tables: Sequence[TableWriter]) -> Iterator[str]:
    yield from _table(
        ["file", "rows", "runs", "SHA-256"],
        [
            [part.path, part.rows, len(part.runs) or len(runs), part.sha256]
            for table in tables
            for part in table.parts
        ],
        "croissant.json",
        longest=4 * LONGEST,
    )


def _table(
    titles: list[str], rows: list[list[object]], where: str, longest: int = LONGEST
) -> Iterator[str]:
    yield "| " + " | ".join(titles) + " |"
    yield "|" + " --- |" * len(titles)
    for row in rows[:longest]:
        yield "| " + " | ".join(_inline(str(cell)) for cell in row) + " |"
    if len(rows) > longest:
        yield ""
        yield f"{len(rows) - longest} more rows are in `{where}`."


def _inline(text: str) -> str:
    """Text from a log, unable to be anything but text in one line of Markdown."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return re.sub(r"([\\`*_{}\[\]<>|#~])", r"\\\1", flat)
