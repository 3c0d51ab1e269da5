"""`fullcount show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fullcount.cli._console import emit, emit_json, fail, say
from fullcount.cli._inputs import each_input
from fullcount.cli._options import pairs, reader_options
from fullcount.cli._summary import notice_lines, number, plural, states
from fullcount.cli._table import Column, emit_table
from fullcount.errors import DamagedInputError, FullcountError, one_line
from fullcount.model import EXCLUDED, UNVERIFIED, TrialStatus, Verdict
from fullcount.notices import Report
from fullcount.pipeline import tally_runs
from fullcount.reconcile import compare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fullcount.model import MetricTally, Rate, ReportedMetric, Run, RunTally

__all__ = ["command"]

_METRICS = (
    Column("evaluator"),
    Column("metric"),
    Column("total", number=True),
    Column("scored", number=True),
    Column("unverified"),
    Column("excluded"),
    Column("mean", number=True),
    Column("bounds"),
    Column("std error", number=True),
)
_REPORTED = (
    Column("reported by the harness"),
    Column("metric"),
    Column("says", number=True),
    Column("trials give", number=True),
    Column(""),
)


@click.command(
    name="show",
    short_help="Show what a result holds, with everything unverified in sight.",
)
@click.argument("sources", metavar="SRC...", nargs=-1, required=True)
@click.option("--from", "reader", metavar="NAME", help="Format to read, where it is not obvious.")
@click.option(
    "-R",
    "--reader-option",
    "reading",
    metavar="KEY=VALUE",
    multiple=True,
    help="Option of the reader.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each run.")
def command(
    *, sources: Sequence[str], reader: str | None, reading: Sequence[str], as_json: bool
) -> int:
    """Show every run in SRC (files, folders, patterns): what was counted, and what was not.

    A mean is over the scored trials. Its bounds are the means over all sought trials if every
    unverified one were the worst, and the best, that the scale allows. What the harness itself
    reports stands below, with every difference marked.
    """
    exit_code = 0
    report = Report()
    first = True
    for item in each_input(sources, report, reader, reader_options(pairs(reading, "-R"))):
        if isinstance(item, FullcountError):
            exit_code = exit_code or fail(item)
            continue
        shown = item.source.shown
        try:
            runs = tally_runs(item, report)
            if not runs:
                raise DamagedInputError("holds no run", source=shown)
        except FullcountError as error:
            exit_code = exit_code or fail(error, shown)
            continue
        for run, tally in runs:
            if as_json:
                record = {
                    "input": shown,
                    "run": run.model_dump(mode="json"),
                    "tally": tally.model_dump(mode="json"),
                }
                emit_json(record)
                continue
            if not first:
                emit()
            first = False
            _show(shown, run, tally)
    for line in notice_lines(report.notices()):
        say(one_line(line.strip()))
    return exit_code


def _show(shown: str, run: Run, tally: RunTally) -> None:
    emit(one_line(shown))
    for name, value in _facts(run):
        emit(f"  {name:<8} {one_line(value)}")
    if tally.metrics:
        emit()
        emit_table(_METRICS, map(_metric_row, tally.metrics))
        for metric in tally.metrics:
            if metric.labels:
                labels = ", ".join(f"{label} {count}" for label, count in metric.labels.items())
                emit(f"  labels of {one_line(metric.name)}: {one_line(labels, 200)}")
    if run.reported:
        emit()
        emit_table(_REPORTED, [_reported_row(reported, tally) for reported in run.reported])
    emit()
    emit(f"  trials    {_of_statuses(tally)}")
    emit(f"  verdicts  {_of_verdicts(tally)}")
    for finding in tally.findings:
        kind = "note" if finding.severity == "info" else "finding"
        emit(f"  {kind:<8}  {one_line(finding.message)}")


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    yield "run", run.id
    yield "harness", _joined(run.harness.name, run.harness.version)
    yield "subject", _joined(run.subject.id, run.subject.version)
    dataset = run.suite.dataset
    yield "suite", _joined(run.suite.name, run.suite.version, dataset and f"(dataset {dataset})")
    void = "; invalidated" if run.invalidated else ""
    error = f"; {run.error.type}" if run.error is not None and run.error.type else ""
    yield "status", f"{run.status}{error}{void}"
    source = run.source
    digest = source.sha256 and f"sha256 {source.sha256[:12]}"
    yield "source", _joined(source.format, source.format_version, digest)


def _joined(*parts: str | None) -> str:
    return " ".join(part for part in parts if part)


def _metric_row(metric: MetricTally) -> list[str]:
    return [
        metric.evaluator,
        metric.metric,
        str(metric.total),
        str(metric.scored),
        _with_states(metric.unverified, states(metric, only=UNVERIFIED)),
        _with_states(metric.excluded, states(metric, only=EXCLUDED)),
        number(metric.rate.value),
        _bounds(metric.rate),
        number(metric.rate.standard_error),
    ]


def _with_states(count: int, parts: str) -> str:
    return f"{count} ({parts})" if parts else str(count)


def _bounds(rate: Rate) -> str:
    if rate.lower is None and rate.upper is None:
        return "-"
    return f"[{number(rate.lower)}, {number(rate.upper)}]"


def _reported_row(reported: ReportedMetric, tally: RunTally) -> list[str]:
    metric = next(
        (
            metric
            for metric in tally.metrics
            if (metric.evaluator, metric.metric) == (reported.evaluator, reported.metric)
        ),
        None,
    )
    name = _joined(
        reported.statistic,
        reported.reducer and f"reducer {reported.reducer}",
        reported.group and f"group {reported.group}",
    )
    where = (
        reported.evaluator
        if reported.metric == reported.evaluator
        else f"{reported.evaluator}.{reported.metric}"
    )
    says = reported.nonfinite or number(reported.value)
    if metric is None:
        return [name, where, says, "-", "no trial is scored on it"]
    found = compare(reported, metric)
    if not found.recounted:
        return [name, where, says, "-", "not a mean that trials can give"]
    if not found.same:
        return [name, where, says, number(found.ours), "DIFFERS"]
    rate = metric.rate
    partial = f"covers {rate.n} of {rate.sought}" if rate.n < rate.sought else ""
    return [name, where, says, number(found.ours), partial]


def _of_statuses(tally: RunTally) -> str:
    statuses = tally.counts.statuses
    parts = [f"{statuses[status]} {status.value}" for status in TrialStatus if statuses[status]]
    extra = [
        (tally.measurement_failures, "measurement failure"),
        (tally.limited, "ended by a limit"),
        (tally.scored_and_errored, "scored in spite of an error"),
        (tally.invalidated, "invalidated"),
    ]
    parts += [
        plural(count, text) if text == "measurement failure" else f"{count} {text}"
        for count, text in extra
        if count
    ]
    return f"{tally.counts.total}" + (f": {', '.join(parts)}" if parts else "")


def _of_verdicts(tally: RunTally) -> str:
    verdicts = tally.counts.verdicts
    parts = [f"{verdicts[verdict]} {verdict.value}" for verdict in Verdict if verdicts[verdict]]
    if tally.counts.no_verdict:
        parts.append(f"{tally.counts.no_verdict} without a verdict")
    rate = tally.pass_rate
    if rate.value is not None:
        parts.append(f"pass rate {number(rate.value)} over {rate.n}, bounds {_bounds(rate)}")
    return ", ".join(parts) or "none"
