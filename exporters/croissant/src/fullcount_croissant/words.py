"""Says in plain words what was evaluated, what was counted and what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.model import UNVERIFIED, MetricTally, Run, RunTally, ScoreState, TrialStatus
from fullcount.plugin import ContentPolicy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fullcount.model import Evaluator, Rate

__all__ = [
    "IMPUTATION",
    "Counted",
    "between",
    "content_words",
    "dataset_name",
    "describe",
    "limitations",
    "missing_data",
    "missing_lines",
    "number",
    "run_title",
    "subjects",
    "suites",
    "technique",
]

Counted = tuple[Run, RunTally]
"""A run and what its trials add up to."""

LONGEST = 50
"""Runs that prose lists one by one; the tables hold them all."""

IMPUTATION = (
    "Nothing is imputed: a score that is not there is null beside the state that says why, and "
    "counts in no mean. Bounds state what each mean would be if every such score were the worst, "
    "and the best, that the scale allows. Values are neither clamped nor rescaled."
)


_MISSING = (
    "A trial or score that is not there is a row with its status or state, never left out. Null "
    "in a value, verdict or rate means that it is not known; it is neither 0 nor failed."
)


def number(value: float | None) -> str:
    """A number for people; `none` where there is none."""
    return "none" if value is None else f"{value:.6g}"


def between(rate: Rate) -> str:
    """The bounds of a rate for people."""
    if rate.lower is None and rate.upper is None:
        return "unbounded"
    low = "unbounded" if rate.lower is None else number(rate.lower)
    high = "unbounded" if rate.upper is None else number(rate.upper)
    return f"{low} to {high}"


def subjects(runs: Iterable[Counted]) -> list[str]:
    """The distinct subjects, in order."""
    return list(dict.fromkeys(run.subject.id for run, _ in runs))


def suites(runs: Iterable[Counted]) -> list[str]:
    """The distinct suites, in order."""
    return list(dict.fromkeys(run.suite.name for run, _ in runs))


def run_title(run: Run) -> str:
    """A run for people."""
    return f"{run.subject.id} on {run.suite.name}"


def dataset_name(runs: Sequence[Counted]) -> str:
    """A name made of what was evaluated on what."""
    what, where = subjects(runs), suites(runs)
    subject = what[0] if len(what) == 1 else f"{len(what)} subjects"
    suite = where[0] if len(where) == 1 else f"{len(where)} suites"
    return f"Evaluation of {subject} on {suite}"


def describe(runs: Sequence[Counted], policy: ContentPolicy) -> str:
    """What the dataset is."""
    total = sum(tally.counts.total for _, tally in runs)
    harnesses = dict.fromkeys(
        " ".join(filter(None, (run.harness.name, run.harness.version))) for run, _ in runs
    )
    shown = ", ".join(_listed(harnesses, "harnesses"))
    return (
        f"Results of {_many(len(runs), 'evaluation run')} with {_many(total, 'trial')}, as "
        f"recorded by {shown}: one row for each trial and one for each score, the missing ones "
        f"included. {content_words(policy)}"
    )


def content_words(policy: ContentPolicy) -> str:
    """What became of prompts and outputs."""
    if policy is ContentPolicy.INCLUDE:
        return "Prompts, outputs and messages are included as text."
    if policy is ContentPolicy.DIGEST:
        return "Prompts, outputs and messages are left out; their SHA-256 digests stand in."
    return "Prompts, outputs and messages are left out."


def missing_lines(run: Run, tally: RunTally) -> Iterator[str]:
    """What is missing from a run, one thing a line."""
    counts = tally.counts
    ended = [
        f"{count} {status.value}"
        for status, count in counts.statuses.items()
        if count and status is not TrialStatus.COMPLETED
    ]
    if ended:
        completed = counts.statuses[TrialStatus.COMPLETED]
        yield f"{completed} of {_many(counts.total, 'trial')} completed ({', '.join(ended)})."
    if counts.no_verdict:
        yield f"{_many(counts.no_verdict, 'trial')} of {counts.total} carry no verdict."
    for metric in tally.metrics:
        yield from _metric(metric)
    unmeasured = [evaluator.name for evaluator in run.evaluators if not evaluator.metrics]
    if unmeasured:
        yield f"No metric is known of {', '.join(unmeasured)}."


def _metric(metric: MetricTally) -> Iterator[str]:
    rate = metric.rate
    if metric.unverified:
        states = _states(metric, UNVERIFIED)
        yield (
            f"{metric.name}: {metric.scored} of {metric.sought} trials sought have a score; "
            f"{metric.unverified} have none ({states}). {_mean(metric)}"
        )
    if metric.excluded:
        states = _states(metric, frozenset(ScoreState) - UNVERIFIED)
        yield f"{metric.name}: {metric.excluded} of {metric.total} were not sought ({states})."
    labels = metric.scored - rate.n
    if labels and rate.n:
        yield f"{metric.name}: {labels} of {metric.scored} scores are a label without a number."


def _mean(metric: MetricTally) -> str:
    rate = metric.rate
    if rate.value is not None:
        return (
            f"The mean {number(rate.value)} covers {rate.n} of {rate.sought}; over all of them "
            f"it lies within {between(rate)}."
        )
    if metric.scored:
        return "Its scores are labels, so there is no mean."
    return f"There is no mean; over all of them it lies within {between(rate)}."


def _states(metric: MetricTally, kinds: frozenset[ScoreState]) -> str:
    return ", ".join(
        f"{count} {state.value}"
        for state, count in metric.states.items()
        if count and state in kinds and state is not ScoreState.SCORED
    )


def missing_data(runs: Sequence[Counted]) -> str:
    """What is missing from the dataset."""
    parts = [_MISSING]
    told = [
        (run, list(missing_lines(run, tally)))
        for run, tally in runs
        if next(missing_lines(run, tally), None)
    ]
    if not told:
        parts.append("Every trial completed, and every score that was sought is there.")
    for run, lines in told[:LONGEST]:
        head = f"{run_title(run)} ({run.id}): " if len(runs) > 1 else ""
        parts.append(head + " ".join(lines))
    if len(told) > LONGEST:
        parts.append(f"{len(told) - LONGEST} more runs miss something: see summary.parquet.")
    return " ".join(parts)


def limitations(runs: Sequence[Counted], first: str | None) -> tuple[str, ...]:
    """What a reader of the numbers must know: the publisher's words, then the findings."""
    said = [first] if first else []
    failures = sum(tally.measurement_failures for _, tally in runs)
    total = sum(tally.counts.total for _, tally in runs)
    said.append(
        "A mean covers only the trials that have a value; read it with its bounds and counts."
    )
    if failures:
        said.append(
            f"The environment kept {failures} of {_many(total, 'trial')} from being measured; "
            "they say nothing of the subject."
        )
    findings = [
        (f"{run_title(run)}: " if len(runs) > 1 else "") + finding.message
        for run, tally in runs
        for finding in tally.findings
        if finding.severity == "warning"
    ]
    said += findings[:LONGEST]
    if len(findings) > LONGEST:
        said.append(f"{len(findings) - LONGEST} more findings are in findings.parquet.")
    return tuple(said)


def technique(evaluator: Evaluator) -> str:
    """How an evaluator measures."""
    model = f" {evaluator.model}" if evaluator.model else ""
    kind = "" if evaluator.kind == "unknown" else f" ({evaluator.kind}{model})"
    return f"evaluator {evaluator.name}{kind}"


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}" + ("" if count == 1 else "s")


def _listed(names: Iterable[str], what: str) -> list[str]:
    every = list(names)
    if len(every) <= LONGEST:
        return every
    return [*every[:LONGEST], f"{len(every) - LONGEST} more {what}"]
