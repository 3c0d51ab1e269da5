"""Whether a run passes: checks against thresholds, and the bucket that they come to.

The buckets are those of brigade's exit codes, for a run of any format: 0 when all is accepted or
unscored, 1 for a deterministic non-pass, 3 for anything that could not be measured, and 3
dominates 1. What was not measured never passes a threshold: neither NaN nor an empty run does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fullcount.decide.intervals import scale
from fullcount.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fullcount.model import Metric, MetricTally, Rate, Run, RunTally

__all__ = [
    "ACCEPTED",
    "NOT_MEASURED",
    "NOT_PASSED",
    "Check",
    "Over",
    "Thresholds",
    "bucket",
    "judge",
]

ACCEPTED, NOT_PASSED, NOT_MEASURED = 0, 1, 3
Over = Literal["lower", "scored", "sought"]
"""What a rate is held against a threshold by: its lower bound, its value over what was scored, or
its value with everything unverified counted as not passed."""


@dataclass(frozen=True)
class Thresholds:
    """What a run must reach. None: not asked.

    Attributes:
        pass_rate: Least pass rate.
        means: Least mean by metric name (greatest where lower is better).
        over: By which number rates and means are judged.
        unverified_rate: Greatest share of unverified among sought, of verdicts and of each metric.
        measurement_failures: Greatest number of trials that the environment kept from being
            measured.
        minimum: Least number of trials with a known verdict, and of values of each metric.
        drop: Greatest loss of pass rate against the baseline.
    """

    pass_rate: float | None = None
    means: Mapping[str, float] | None = None
    over: Over = "lower"
    unverified_rate: float | None = None
    measurement_failures: int | None = None
    minimum: int | None = None
    drop: float | None = None


@dataclass(frozen=True)
class Check:
    """One thing that was asked of a run.

    Attributes:
        name: Short name.
        code: `ACCEPTED`, `NOT_PASSED` or `NOT_MEASURED`.
        message: What was found and what was wanted.
    """

    name: str
    code: int
    message: str


def bucket(checks: list[Check]) -> int:
    """The exit code of checks: what could not be measured dominates what did not pass."""
    codes = {check.code for check in checks}
    return NOT_MEASURED if NOT_MEASURED in codes else max(codes, default=NOT_MEASURED)


def judge(
    run: Run, tally: RunTally, wanted: Thresholds, baseline: RunTally | None = None
) -> list[Check]:
    """Every check of a run; there is at least one.

    Without a threshold on passing, any trial that did not pass fails the run; without one on
    what is unverified or failed to be measured, any such trial does.

    Args:
        run: The run.
        tally: Its tally.
        wanted: What it must reach.
        baseline: Tally of the run to compare with.
    """
    total = tally.counts.total
    if total == 0:
        return [Check("trials", NOT_MEASURED, "the run has no trial")]
    checks = [*_passing(run, tally, wanted), *_measured(tally, wanted)]
    if wanted.drop is not None:
        checks.append(_against(tally, baseline, wanted.drop, wanted.over))
    return checks


def _passing(run: Run, tally: RunTally, wanted: Thresholds) -> Iterator[Check]:
    if wanted.pass_rate is None and not wanted.means:
        verdicts = tally.counts.verdicts
        passed = verdicts[Verdict.PASSED]
        others = sum(
            verdicts[verdict]
            for verdict in (Verdict.FAILED, Verdict.PARTIAL, Verdict.CONTRADICTED, Verdict.DISPUTED)
        )
        code = NOT_PASSED if others else ACCEPTED
        yield Check("verdicts", code, f"{others} did not pass, {passed} passed")
    if wanted.pass_rate is not None:
        value, words = _judged(tally.pass_rate, wanted.over)
        yield _floor("pass rate", value, words, wanted.pass_rate)
    known = {
        (evaluator.name, metric.name): metric
        for evaluator in run.evaluators
        for metric in evaluator.metrics
    }
    for name, least in (wanted.means or {}).items():
        found = [metric for metric in tally.metrics if metric.name == name]
        if not found:
            has = ", ".join(metric.name for metric in tally.metrics) or "none"
            yield Check(name, NOT_MEASURED, f"the run has no metric of this name (has: {has})")
        for metric in found:
            yield _mean(metric, least, wanted.over, known[metric.evaluator, metric.metric])


def _mean(metric: MetricTally, least: float, over: Over, about: Metric) -> Check:
    rate = metric.rate
    if scale(metric, about) != (about.minimum, about.maximum):
        # 85 on a scale up to 1 is above any threshold, and no evidence of anything.
        message = (
            f"values from {metric.minimum:.4g} to {metric.maximum:.4g} leave the declared scale "
            f"{_end(about.minimum)} to {_end(about.maximum)}; correct the scale or the values"
        )
        return Check(metric.name, NOT_MEASURED, message)
    if not about.lower_is_better:
        value, words = _judged(rate, over)
        return _floor(metric.name, value, words, least)
    value = rate.value if over == "scored" else rate.upper
    words = _words(rate, "upper bound" if over != "scored" else "mean over scored")
    if value is None:
        return Check(metric.name, NOT_MEASURED, f"has no value to judge; {words}")
    code = ACCEPTED if value <= least else NOT_PASSED
    return Check(metric.name, code, f"{value:.4g}, wanted at most {least:.4g}; {words}")


def _end(value: float | None) -> str:
    return "open" if value is None else f"{value:.4g}"


def _judged(rate: Rate, over: Over) -> tuple[float | None, str]:
    """The number that a rate is judged by, and what it is."""
    if rate.n == 0:
        return None, _words(rate, "nothing is scored")
    if over == "scored":
        return rate.value, _words(rate, "over scored")
    if over == "sought":
        value = None if rate.value is None else rate.value * rate.n / rate.sought
        return value, _words(rate, "over sought")
    return rate.lower, _words(rate, "lower bound")


def _words(rate: Rate, what: str) -> str:
    return f"{what}, {rate.n} of {rate.sought} known"


def _floor(name: str, value: float | None, words: str, least: float) -> Check:
    # NaN is no number of the model; a comparison that it could slip through is written so that
    # it would not.
    if value is None:
        return Check(name, NOT_MEASURED, f"has no value to judge; {words}")
    code = ACCEPTED if value >= least else NOT_PASSED
    return Check(name, code, f"{value:.4g}, wanted at least {least:.4g}; {words}")


def _measured(tally: RunTally, wanted: Thresholds) -> Iterator[Check]:
    failures = tally.measurement_failures
    most = wanted.measurement_failures or 0
    if failures or wanted.measurement_failures is not None:
        code = ACCEPTED if failures <= most else NOT_MEASURED
        yield Check("measurement failures", code, f"{failures}, wanted at most {most}")
    shares = [
        (
            "verdicts",
            tally.counts.verdicts[Verdict.UNVERIFIED],
            sum(tally.counts.verdicts.values()),
        ),
        *((metric.name, metric.unverified, metric.sought) for metric in tally.metrics),
    ]
    for name, unverified, sought in shares:
        share = unverified / sought if sought else 0.0
        limit = wanted.unverified_rate or 0.0
        if unverified or (wanted.unverified_rate is not None and sought):
            code = ACCEPTED if share <= limit else NOT_MEASURED
            message = f"{unverified} of {sought} ({share:.4g}), wanted at most {limit:.4g}"
            yield Check(f"unverified {name}", code, message)
    if wanted.minimum is not None:
        known = [("verdicts", tally.pass_rate.n)] if tally.pass_rate.sought else []
        known += [(metric.name, metric.scored) for metric in tally.metrics]
        for name, number in known or [("scores", 0)]:
            code = ACCEPTED if number >= wanted.minimum else NOT_MEASURED
            yield Check(f"n of {name}", code, f"{number}, wanted at least {wanted.minimum}")


def _against(tally: RunTally, baseline: RunTally | None, most: float, over: Over) -> Check:
    name = "drop against baseline"
    if baseline is None:
        return Check(name, NOT_MEASURED, "there is no run to compare with")
    now, words = _judged(tally.pass_rate, over)
    before, _ = _judged(baseline.pass_rate, over)
    if now is None or before is None:
        which = "this run" if now is None else "the baseline"
        return Check(name, NOT_MEASURED, f"{which} has no pass rate")
    drop = before - now
    code = ACCEPTED if drop <= most else NOT_PASSED
    return Check(
        name,
        code,
        f"pass rate {before:.4g} to {now:.4g} ({words}), wanted a drop of at most {most:.4g}",
    )
