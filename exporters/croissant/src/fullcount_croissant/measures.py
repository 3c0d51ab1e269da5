"""States the counts and rates once more inside the description itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.model import ScoreState
from fullcount.notices import Report, Severity
from fullcount_croissant import vocabulary, words
from fullcount_croissant.jsonld import Annotation, PropertyValue, identifier

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fullcount.model import MetricTally, Run, RunTally
    from fullcount_croissant.words import Counted

__all__ = ["count_annotations", "variables"]

_ANNOTATED = 24
"""Metrics whose counts are annotations: mlcroissant takes 8 ms for each."""
_VARIABLES = 100
"""Metrics that `variableMeasured` lists: a search engine does not parse a page of any length."""


def variables(runs: Sequence[Counted], report: Report) -> Iterator[PropertyValue]:
    """Every mean with its bounds, and the counts it belongs to."""
    listed = 0
    for run, tally in runs:
        prefix = f"{words.run_title(run)}: " if len(runs) > 1 else ""
        if listed < _VARIABLES and tally.pass_rate.sought:
            yield PropertyValue(
                name=f"{prefix}pass rate",
                description=f"Share of passed among {tally.pass_rate.n} decided of "
                f"{tally.pass_rate.sought} trials; minValue and maxValue: if every undecided one "
                "had failed, and passed.",
                value=tally.pass_rate.value,
                min_value=tally.pass_rate.lower,
                max_value=tally.pass_rate.upper,
            )
        for metric in tally.metrics:
            listed += 1
            if listed <= _VARIABLES:
                yield from _variable(run, metric, prefix)
    if listed > _VARIABLES:
        report.add(
            "croissant.variables_capped",
            Severity.INFO,
            f"variableMeasured lists {_VARIABLES} metrics; summary.parquet holds all",
            count=listed - _VARIABLES,
            plugin="croissant",
        )


def _variable(run: Run, counted: MetricTally, prefix: str) -> Iterator[PropertyValue]:
    evaluator = next(e for e in run.evaluators if e.name == counted.evaluator)
    metric = next(m for m in evaluator.metrics if m.name == counted.metric)
    rate = counted.rate
    yield PropertyValue(
        name=f"{prefix}{counted.name}",
        description=f"Mean over {rate.n} of {rate.sought} trials sought; minValue and maxValue: "
        "if every other one were the worst, and the best, that the scale allows.",
        value=rate.value,
        min_value=rate.lower,
        max_value=rate.upper,
        unit_text=metric.unit,
        measurement_technique=words.technique(evaluator),
    )
    for name, value, what in _counts(counted):
        yield PropertyValue(
            name=f"{prefix}{counted.name}.{name}",
            description=what,
            value=value,
            min_value=0,
            max_value=counted.total,
            unit_text="trials",
        )


def _counts(counted: MetricTally) -> Iterator[tuple[str, int, str]]:
    yield "n_sought", counted.sought, "Trials that were to be scored."
    yield "n_scored", counted.scored, "Trials with a number or a label."
    yield "n_unverified", counted.unverified, "Trials sought and not scored."
    yield "n_excluded", counted.excluded, "Trials that nobody sought to score."


def count_annotations(table: str, runs: Sequence[Counted], report: Report) -> Iterator[Annotation]:
    """The counts that describe a table, zeros included."""
    tallies = [tally for _, tally in runs]
    if table == "trials":
        yield from _trial_annotations(tallies)
    elif table == "scores":
        yield from _score_annotations(tallies)
    elif table == "summary":
        counted = [(run, metric) for run, tally in runs for metric in tally.metrics]
        for run, metric in counted[:_ANNOTATED]:
            title = f"{words.run_title(run)}, {metric.name}"
            for name, value, what in _counts(metric):
                yield Annotation(
                    id=identifier(table, "count", run.id, metric.evaluator, metric.metric, name),
                    name=f"{title}: {name}",
                    description=what,
                    value=value,
                )
        if len(counted) > _ANNOTATED:
            report.add(
                "croissant.annotations_capped",
                Severity.INFO,
                f"the counts of {_ANNOTATED} metrics are annotations; summary.parquet holds all",
                count=len(counted) - _ANNOTATED,
                plugin="croissant",
            )


def _trial_annotations(tallies: Sequence[RunTally]) -> Iterator[Annotation]:
    every = [tally.counts for tally in tallies]
    yield _annotation("trials", "total", "Trials.", sum(counts.total for counts in every))
    statuses = vocabulary.ENUMERATIONS["statuses"][1]
    for status in every[0].statuses:
        what = f"Trials of this status. {statuses[status.value][1]}"
        total = sum(counts.statuses[status] for counts in every)
        yield _annotation("trials", f"status_{status.value}", what, total)
    verdicts = vocabulary.ENUMERATIONS["verdicts"][1]
    for verdict in every[0].verdicts:
        what = f"Trials of this verdict. {verdicts[verdict.value][1]}"
        total = sum(counts.verdicts[verdict] for counts in every)
        yield _annotation("trials", f"verdict_{verdict.value}", what, total)
    what = "Trials on which nobody was asked for a verdict."
    yield _annotation("trials", "verdict_none", what, sum(c.no_verdict for c in every))


def _score_annotations(tallies: Sequence[RunTally]) -> Iterator[Annotation]:
    metrics = [metric for tally in tallies for metric in tally.metrics]
    total = sum(metric.total for metric in metrics)
    yield _annotation("scores", "total", "Trials times metrics.", total)
    for state, (_, what) in vocabulary.ENUMERATIONS["states"][1].items():
        count = sum(metric.states[ScoreState(state)] for metric in metrics)
        yield _annotation("scores", f"state_{state}", f"Scores of this state. {what}", count)


def _annotation(table: str, name: str, description: str, value: int) -> Annotation:
    return Annotation(
        id=identifier(table, "count", name), name=name, description=description, value=value
    )
