"""Holds what a harness reports against our recount, and names every difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fullcount.model import UNVERIFIED, Finding, TrialStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.model import MetricTally, ReportedMetric, Run, RunTally

__all__ = ["MEANS", "STANDARD_ERRORS", "Comparison", "compare", "reconcile"]

MEANS = frozenset({"accuracy", "mean"})
"""Statistics that are a mean of the values, or a mean over cases of their mean."""
STANDARD_ERRORS = frozenset({"stderr", "standard_error"})
"""Statistics that are the standard error of such a mean."""

_TOLERANCE = 1e-9


def reconcile(run: Run, tally: RunTally) -> tuple[Finding, ...]:
    """Findings of the reader, then those of our own count, in the order of the metrics."""
    metrics = {(metric.evaluator, metric.metric): metric for metric in tally.metrics}
    findings = list(run.findings)
    for metric in tally.metrics:
        findings += _coverage(run, metric)
    for reported in run.reported:
        metric_tally = metrics.get((reported.evaluator, reported.metric))
        if metric_tally is not None:
            findings += _against(reported, metric_tally)
        else:
            findings.append(_untried(reported))
    findings += _plan(run, tally)
    return tuple(findings)


def _coverage(run: Run, metric: MetricTally) -> Iterator[Finding]:
    rate = metric.rate
    about = {"evaluator": metric.evaluator, "metric": metric.metric}
    if rate.sought and not rate.n and not metric.scored:
        yield Finding(
            code="coverage.nothing_scored",
            message=f"{metric.name}: none of the {rate.sought} trials has a score, so there is "
            f"no mean ({_states(metric)})",
            count=rate.sought,
            **about,
        )
    elif metric.unverified:
        yield Finding(
            code="coverage.partial",
            message=f"{metric.name}: {_covering(metric)} of {rate.sought} "
            f"trials{_bounds(metric)} ({_states(metric)})",
            count=metric.unverified,
            **about,
        )
    labels = metric.scored - rate.n
    if labels and rate.n:
        yield Finding(
            code="coverage.labels",
            message=f"{metric.name}: {labels} of {metric.scored} scored trials have only a "
            "label, which no mean can cover",
            count=labels,
            **about,
        )
    scale = next(
        m
        for evaluator in run.evaluators
        if evaluator.name == metric.evaluator
        for m in evaluator.metrics
        if m.name == metric.metric
    )
    lowest, highest = metric.minimum, metric.maximum
    low = scale.minimum is not None and lowest is not None and lowest < scale.minimum
    high = scale.maximum is not None and highest is not None and highest > scale.maximum
    if low or high:
        sides = " and ".join(
            side
            for side, left in (("lower", low), ("upper", high))
            if left and rate.n < rate.sought
        )
        yield Finding(
            code="scale.exceeded",
            message=f"{metric.name}: values from {lowest!r} to {highest!r} leave the scale "
            f"{scale.minimum!r} to {scale.maximum!r}; nothing was clamped"
            + (
                f", and there is no {sides} bound: what is not there may leave it too" * bool(sides)
            ),
            **about,
        )


@dataclass(frozen=True)
class Comparison:
    """A number that the harness reports, beside the one that its trials give.

    Attributes:
        recounted: Whether it is a statistic that the trials can give.
        ours: What they give; None where they give no value.
        same: Whether the two agree.
    """

    recounted: bool
    ours: float | None = None
    same: bool = True


def compare(reported: ReportedMetric, metric: MetricTally) -> Comparison:
    """Hold one reported number against the trials."""
    rate = metric.rate
    if _of_its_own(reported):
        return Comparison(recounted=False)
    if reported.statistic in MEANS:
        ours = rate.value if metric.case_mean is None else metric.case_mean
        same = _same(reported.value, ours) or _same(reported.value, rate.value)
        return Comparison(recounted=True, ours=ours, same=same)
    if reported.statistic in STANDARD_ERRORS and rate.standard_error is not None:
        ours = rate.standard_error
        return Comparison(recounted=True, ours=ours, same=_same(reported.value, ours))
    return Comparison(recounted=False)


def _against(reported: ReportedMetric, metric: MetricTally) -> Iterator[Finding]:
    about = {"evaluator": metric.evaluator, "metric": metric.metric}
    name = f"{metric.name}: {reported.statistic}"
    rate = metric.rate
    found = compare(reported, metric)
    if not found.recounted:
        if reported.statistic in STANDARD_ERRORS and not _of_its_own(reported):
            return
        how = f" with reducer {reported.reducer}" if reported.reducer else ""
        how += f" for group {reported.group}" if reported.group else ""
        yield Finding(
            code="reported.not_recounted",
            severity="info",
            message=f"{name} {_reported(reported)}{how} is kept as reported; it is not a mean "
            "that can be recounted from the trials",
            **about,
        )
        return
    if not found.same:
        by_case = metric.case_mean is not None and metric.cases not in (None, rate.n)
        over = f"{metric.cases} cases, {rate.n}" if by_case else f"{rate.n}"
        yield Finding(
            code="reported.differs",
            message=f"{name}: the harness reports {_reported(reported)}, the trials give "
            f"{_mean(found.ours)} over {over} of {rate.sought} trials",
            **about,
        )
    claimed = reported.scored
    if (
        claimed is not None
        and reported.statistic in MEANS
        and claimed not in (rate.n, metric.cases)
    ):
        yield Finding(
            code="reported.count_differs",
            message=f"{name}: the harness counts {claimed} scored, the trials hold {rate.n} "
            f"values{_of_cases(metric)}",
            count=abs(claimed - rate.n),
            **about,
        )


def _of_its_own(reported: ReportedMetric) -> bool:
    """Whether it is over something else than all trials as they are."""
    return reported.reducer not in (None, "mean") or reported.group is not None


def _untried(reported: ReportedMetric) -> Finding:
    name = reported.evaluator
    if reported.metric != name:
        name += f".{reported.metric}"
    return Finding(
        code="reported.not_recounted",
        severity="info",
        message=f"{name}: {reported.statistic} "
        f"{_reported(reported)} is kept as reported; no trial holds a score of it",
        evaluator=reported.evaluator,
        metric=reported.metric,
    )


def _plan(run: Run, tally: RunTally) -> Iterator[Finding]:
    total, planned = tally.counts.total, run.plan.trials
    if planned is not None and planned != total:
        yield Finding(
            code="plan.differs",
            message=f"the source plans {planned} trials and gives {total}",
            count=abs(planned - total),
        )
    absent = tally.counts.statuses[TrialStatus.NOT_RUN]
    if absent:
        yield Finding(
            code="plan.absent",
            message=f"{absent} of {total} planned trials have no record in the source",
            count=absent,
        )


def _same(reported: float | None, ours: float | None) -> bool:
    if reported is None or ours is None:
        return reported is ours
    return math.isclose(reported, ours, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def _mean(value: float | None) -> str:
    return "no value" if value is None else f"{value:.4g}"


def _covering(metric: MetricTally) -> str:
    rate = metric.rate
    if rate.value is None:
        return f"labels cover {metric.scored}"
    return f"{_mean(rate.value)} covers {rate.n}"


def _reported(reported: ReportedMetric) -> str:
    return reported.nonfinite or _mean(reported.value)


def _bounds(metric: MetricTally) -> str:
    lower, upper = metric.rate.lower, metric.rate.upper
    if lower is None:
        return "" if upper is None else f" and is at most {upper:.4g} over all of them"
    if upper is None:
        return f" and is at least {lower:.4g} over all of them"
    return f" and lies between {lower:.4g} and {upper:.4g} over all of them"


def _of_cases(metric: MetricTally) -> str:
    return f" of {metric.cases} cases" if metric.cases not in (None, metric.rate.n) else ""


def _states(metric: MetricTally) -> str:
    return ", ".join(
        f"{count} {state.value}"
        for state, count in metric.states.items()
        if count and state in UNVERIFIED
    )
