"""Tallies and notices in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.notices import Report, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fullcount.model import Finding, MetricCounts, Run, RunTally
    from fullcount.notices import Notice

__all__ = ["error_record", "findings", "input_lines", "notice_lines", "number", "plural", "states"]

_METRICS = 3
_RUNS = 5
_FINDINGS = 3
_PATHS = 6


def plural(count: int, noun: str) -> str:
    """A count and its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def number(value: float | None) -> str:
    """A number for people, in four digits."""
    return "-" if value is None else f"{value:.4g}"


def states(metric: MetricCounts, *, only: Iterable[Any]) -> str:
    """The counts of some states that are not zero, such as `1 nan, 2 missing`."""
    wanted = set(only)
    return ", ".join(
        f"{count} {state.value}"
        for state, count in metric.states.items()
        if count and state in wanted
    )


def findings(tally: RunTally) -> tuple[Finding, ...]:
    """The findings that are more than a remark."""
    return tuple(finding for finding in tally.findings if finding.severity == "warning")


def input_lines(shown: str, runs: Sequence[tuple[Run, RunTally]]) -> Iterator[str]:
    """What an input holds: a line for each run, or one for all of many."""
    serious = [finding for _, tally in runs for finding in findings(tally)]
    end = f"; {plural(len(serious), 'finding')}" if serious else ""
    if len(runs) > _RUNS:
        trials = sum(tally.counts.total for _, tally in runs)
        yield f"{shown}: {plural(len(runs), 'run')}, {plural(trials, 'trial')}{end}"
    else:
        for run, tally in runs:
            name = f"{shown}: {run.suite.name}" if len(runs) > 1 else shown
            own = findings(tally)
            end = f"; {plural(len(own), 'finding')}" if own else ""
            yield f"{name}: {plural(tally.counts.total, 'trial')}{_metrics(tally)}{end}"
    for finding in serious[:_FINDINGS]:
        yield f"  {finding.message}"
    if len(serious) > _FINDINGS:
        yield f"  and {len(serious) - _FINDINGS} more; see 'fullcount show'"


def _metrics(tally: RunTally) -> str:
    parts = [
        f"{metric.name} {metric.scored} scored, {metric.unverified} unverified"
        + (f", {metric.excluded} excluded" if metric.excluded else "")
        for metric in tally.metrics[:_METRICS]
    ]
    rest = len(tally.metrics) - _METRICS
    if rest > 0:
        parts.append(f"{plural(rest, 'more metric')}")
    return "".join(f"; {part}" for part in parts)


def notice_lines(notices: Iterable[Notice]) -> Iterator[str]:
    """Every kind of notice on a line: fields that a target loses together, others in words."""
    merged = Report(limit=1_000_000)
    merged.extend(tuple(notices))
    lost: dict[tuple[str, str], list[str]] = {}
    for notice in merged.notices():
        start = f"{notice.plugin}: " if notice.plugin else ""
        if notice.code in ("field.dropped", "field.approximated"):
            lost.setdefault((start, notice.code.partition(".")[2]), []).append(notice.path)
        elif notice.severity is Severity.INFO:
            yield f"  {start}{notice.message} ({notice.count})"
        else:
            yield f"  {start}{notice.severity.value}: {notice.message} ({notice.count})"
    for (start, what), paths in sorted(lost.items()):
        some = ", ".join(paths[:_PATHS])
        more = f" and {len(paths) - _PATHS} more" if len(paths) > _PATHS else ""
        yield f"  {start}loss: {plural(len(paths), 'field')} {what}: {some}{more}"


def error_record(error: Exception | None) -> dict[str, Any] | None:
    """An error as data."""
    if error is None:
        return None
    code = getattr(error, "exit_code", 70)
    return {"type": type(error).__name__, "message": str(error), "exit_code": code}
