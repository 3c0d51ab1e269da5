"""`fullcount compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fullcount.cli._console import emit, emit_json, say
from fullcount.cli._inputs import each_input
from fullcount.cli._options import pairs, reader_options
from fullcount.cli._runs import reading_options
from fullcount.cli._summary import number
from fullcount.cli._table import Column, emit_table
from fullcount.decide.compare import compare, differences, measure
from fullcount.decide.intervals import rate_interval
from fullcount.errors import DamagedInputError, FullcountError, UsageError, one_line, quoted
from fullcount.notices import Report
from fullcount.pipeline import open_runs
from fullcount.plugin import ContentPolicy, ReadRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fullcount.decide.compare import Difference, Measured
    from fullcount.model import MetricTally

__all__ = ["command"]

_METRICS = (
    Column("metric"),
    Column("run"),
    Column("mean", number=True),
    Column("95 % interval"),
    Column("bounds"),
    Column("scored", number=True),
    Column("unverified", number=True),
    Column("sought", number=True),
)
_DIFFERENCES = (
    Column("metric"),
    Column("runs"),
    Column("difference", number=True),
    Column("95 % interval"),
    Column("pairs", number=True),
    Column("only first", number=True),
    Column("only second", number=True),
    Column("McNemar p", number=True),
    Column("over all sought"),
)


@click.command(name="compare", short_help="Hold runs against each other, case by case.")
@click.argument("sources", metavar="A B [C...]", nargs=-1, required=True)
@click.option(
    "--suite", metavar="NAME", help="In sources with several runs, the one of this suite."
)
@click.option(
    "--anyway", is_flag=True, help="Compare what is not comparable, and say why it is not."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each pair.")
@reading_options
def command(
    *,
    sources: Sequence[str],
    suite: str | None,
    anyway: bool,
    as_json: bool,
    reader: str | None,
    reading: Sequence[str],
) -> int:
    """Compare the run of A with that of B, and of C...: differences paired by case.

    The conclusion says three things: what was measured, and whether its confidence interval leaves
    out 0; whether the sign holds whatever the unverified are; and which run more often leaves you
    unable to tell. Without an interval that leaves out 0 it is "could not tell". Runs of another
    suite, rubric, evaluator or scale are refused.
    """
    if len(sources) < 2:
        msg = "name at least two sources"
        raise UsageError(msg)
    runs = [_measured(source, suite, reader, reading) for source in sources]
    first = runs[0]
    for source, other in zip(sources[1:], runs[1:], strict=True):
        reasons = list(differences(first.run, other.run))
        if reasons and not anyway:
            msg = f"{sources[0]} and {source} are not comparable: {reasons[0]}; --anyway does it"
            raise UsageError(msg)
        for reason in reasons:
            say(f"not comparable: {one_line(reason)}")
    pairs_of = [
        (n, found) for n, other in enumerate(runs[1:], 2) for found in compare(first, other)
    ]
    if not pairs_of:
        msg = "the runs have no metric in common"
        raise UsageError(msg)
    if as_json:
        for n, found in pairs_of:
            record = _record(first, runs[n - 1], found)
            emit_json({"first": sources[0], "second": sources[n - 1], **record})
        return 0
    _print(sources, runs, pairs_of)
    return 0


def _measured(
    source: str, suite: str | None, reader: str | None, reading: Sequence[str]
) -> Measured:
    found = []
    request = ReadRequest(ContentPolicy.OMIT, Report(), survey=True)
    for item in each_input([source], request.report, reader, reader_options(pairs(reading, "-R"))):
        if isinstance(item, FullcountError):
            raise item
        for stream in open_runs(item, request):
            if suite is None or stream.run.suite.name == suite:
                found.append(measure(stream.run, stream.trials))
            else:
                for _ in stream.trials:
                    pass
    if len(found) != 1:
        names = ", ".join(sorted({quoted(each.run.suite.name) for each in found}))
        hint = f"; choose with --suite, of {names}" if found else ""
        raise DamagedInputError(f"holds {len(found)} runs to compare, not one{hint}", source=source)
    return found[0]


def _print(
    sources: Sequence[str], runs: Sequence[Measured], found: Sequence[tuple[int, Difference]]
) -> None:
    for n, (source, measured) in enumerate(zip(sources, runs, strict=True), 1):
        about = f"{source}: {measured.run.subject.id}"
        version = measured.run.subject.version
        emit(f"{n}  {one_line(about if version is None else f'{about} {version}')}")
    emit()
    names = dict.fromkeys(difference.metric for _, difference in found)
    rows = [
        _metric_row(metric, measured, n)
        for name in names
        for n, measured in enumerate(runs, 1)
        for metric in measured.tally.metrics
        if metric.name == name
    ]
    emit_table(_METRICS, rows)
    emit()
    emit_table(_DIFFERENCES, [_difference_row(n, difference) for n, difference in found])
    for n, difference in found:
        first, *others = difference.statements
        emit(f"  {one_line(difference.metric)}, 1 and {n}: {first}")
        for statement in others:
            emit(f"    {statement}")


def _metric_row(metric: MetricTally, measured: Measured, n: int) -> list[str]:
    rate = metric.rate
    ends = rate_interval(metric, measured.metric(metric))
    return [
        metric.name,
        str(n),
        number(rate.value),
        _range(*ends) if ends else "-",
        _range(rate.lower, rate.upper),
        str(metric.scored),
        str(metric.unverified),
        str(metric.sought),
    ]


def _difference_row(n: int, found: Difference) -> list[str]:
    ends = found.interval
    return [
        found.metric,
        f"1, {n}",
        number(found.difference),
        _range(*ends) if ends else "-",
        str(found.pairs),
        "-" if found.p_value is None else str(found.only_first),
        "-" if found.p_value is None else str(found.only_second),
        number(found.p_value),
        _range(found.lower, found.upper),
    ]


def _range(lower: float | None, upper: float | None) -> str:
    if lower is None and upper is None:
        return "-"
    return f"[{number(lower)}, {number(upper)}]"


def _record(first: Measured, second: Measured, found: Difference) -> dict[str, Any]:
    before, after = found.unverified_rates
    return {
        "metric": found.metric,
        "means": [found.first.rate.value, found.second.rate.value],
        "confidence_intervals": [
            rate_interval(found.first, first.metric(found.first)),
            rate_interval(found.second, second.metric(found.second)),
        ],
        "bounds": [[tally.rate.lower, tally.rate.upper] for tally in (found.first, found.second)],
        "n": [found.first.rate.n, found.second.rate.n],
        "sought": [found.first.sought, found.second.sought],
        "unverified": [found.first.unverified, found.second.unverified],
        "unverified_rates": [before, after],
        "unverified_rate_difference": after - before,
        "pairs": found.pairs,
        "difference": found.difference,
        "standard_error": found.standard_error,
        "confidence_interval": found.interval,
        "tested": found.tested,
        "only_first": found.only_first,
        "only_second": found.only_second,
        "mcnemar_p": found.p_value,
        "difference_bounds": [found.lower, found.upper],
        "direction": found.direction,
        "robust": found.robust,
        "conclusion": found.conclusion,
    }
