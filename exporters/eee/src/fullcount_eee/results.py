"""`evaluation_results`: the means, and beside each of them the counts it must be read with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fullcount.model import ScoreState, Verdict
from fullcount_eee import quantities as q
from fullcount_eee.names import (
    INPUT_PROMPT_ABSENT,
    LEVELS,
    UNKNOWN,
    UNKNOWN_LEVEL,
)
from fullcount_eee.provenance import generation_config, source_data
from fullcount_eee.strings import present, strings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fullcount.model import (
        Evaluator,
        Metric,
        MetricTally,
        Rate,
        Run,
        RunTally,
    )

__all__ = ["Results", "result_id"]

_OURS = "fullcount"
"""Namespace of the metric ids that are of the whole run and of no harness's making."""


def result_id(*parts: str) -> str:
    """An id that is unique in its file: the parts, with `/` between them.

    The parts are scope, evaluator and metric where there are any, and quantity.
    """
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)


_Scale = tuple[float | None, float | None]


@dataclass(frozen=True)
class _Group:
    """Results that belong together: what they are about, and the name they share.

    Attributes:
        about: Scope, and evaluator and metric where there are any, in that order.
        namespace: First part of their metric ids.
        name: Their common name; the `headline` has no other.
        headline: The quantity that the others explain.
        unit: Unit of quantities that have none of their own.
    """

    about: dict[str, str]
    namespace: str
    name: str
    headline: q.Quantity | None = None
    unit: str | None = None


class Results:
    """Builds the results of one run, in an order that depends on the run alone."""

    def __init__(self, run: Run, tally: RunTally) -> None:
        self._run = run
        self._tally = tally
        self._source = source_data(run.suite)
        self._findings: dict[tuple[str | None, str | None], list[str]] = {}
        for finding in tally.findings:
            about = (finding.evaluator, finding.metric)
            self._findings.setdefault(about, []).append(finding.message)
        self._generation = generation_config(run.generation, run.plan.attempts)

    def build(self) -> list[dict[str, Any]]:
        """Every result: those of each metric, then the verdicts, then the trials."""
        results = []
        scales = {
            (evaluator.name, metric.name): (evaluator, metric)
            for evaluator in self._run.evaluators
            for metric in evaluator.metrics
        }
        for tally in self._tally.metrics:
            results += self._of_metric(tally, *scales[tally.evaluator, tally.metric])
        return [*results, *self._of_verdicts(), *self._of_trials()]

    def _of_metric(
        self, tally: MetricTally, evaluator: Evaluator, metric: Metric
    ) -> list[dict[str, Any]]:
        group = _Group(
            {"scope": "metric", "evaluator": tally.evaluator, "metric": tally.metric},
            self._run.harness.name,
            tally.name,
            q.MEAN,
            metric.unit,
        )
        rate, total = tally.rate, (0, tally.total)
        counts = q.metric_counts(tally, rate.n)

        def on_scale(
            quantity: q.Quantity, score: float, uncertainty: dict[str, Any] | None = None
        ) -> dict[str, Any]:
            scale = (metric.minimum, metric.maximum)
            return self._result(
                group,
                quantity,
                score,
                scale,
                uncertainty,
                lower_is_better=metric.lower_is_better,
            )

        results = []
        if rate.value is not None:
            results.append(on_scale(q.MEAN, rate.value, _uncertainty(tally)))
        for name, count in counts.items():
            results.append(self._result(group, q.METRIC_COUNTS[name], count, total))
        if tally.sought:
            share = tally.unverified / tally.sought
            results.append(self._result(group, q.UNVERIFIED_RATE, share, (0, 1)))
        for name, bound in (("lower_bound", rate.lower), ("upper_bound", rate.upper)):
            if bound is not None:
                results.append(on_scale(q.METRIC_BOUNDS[name], bound))
        self._explain(results[0], self._words(tally, counts), _evaluator(evaluator, metric))
        judge = _llm_scoring(evaluator)
        if judge is not None:
            results[0]["metric_config"]["llm_scoring"] = judge
        return results

    def _words(self, tally: MetricTally, counts: Mapping[str, int]) -> dict[str, str]:
        rate = tally.rate
        return strings(
            {
                **counts,
                "n_passed": tally.passed,
                "n_partial": tally.partial,
                "n_failed": tally.failed,
                "n_without_threshold": tally.scored - tally.passed - tally.partial - tally.failed,
                "denominator": _denominator(tally),
                "mean_lower_bound": rate.lower,
                "mean_upper_bound": rate.upper,
                "unverified_rate": tally.unverified / tally.sought if tally.sought else None,
                "smallest_value": tally.minimum,
                "largest_value": tally.maximum,
                "n_cases": tally.cases,
                "case_mean": tally.case_mean,
                "labels": tally.labels or None,
                "findings": self._findings.get((tally.evaluator, tally.metric)),
            }
        )

    def _of_verdicts(self) -> list[dict[str, Any]]:
        tally = self._tally
        group = _Group({"scope": "verdict"}, _OURS, "verdict", q.VERDICT_LEVEL)
        counts = q.verdict_counts(tally)
        total = (0, tally.counts.total)
        verdicts = tally.counts.verdicts
        results = []
        if any(verdicts.values()):
            results.append(self._levels(group))
        for name, count in counts.items():
            results.append(self._result(group, q.VERDICT_COUNTS[name], count, total))
        rate = tally.pass_rate
        if rate.value is not None:
            share = self._result(group, q.PASS_RATE, rate.value, (0, 1), _of_rate(rate))
            results.append(share)
        for name, bound in (
            ("pass_rate_lower_bound", rate.lower),
            ("pass_rate_upper_bound", rate.upper),
        ):
            if bound is not None:
                results.append(self._result(group, q.PASS_RATE_BOUNDS[name], bound, (0, 1)))
        asked, unverified = sum(verdicts.values()), verdicts[Verdict.UNVERIFIED]
        denominator = (
            f"{asked - unverified} of {asked} trials with a verdict have a known one; "
            f"{unverified} are unverified and in no mean; "
            f"on {tally.counts.no_verdict} nobody was asked"
        )
        self._explain(results[0], strings({**counts, "denominator": denominator}), {})
        return results

    def _levels(self, group: _Group) -> dict[str, Any]:
        verdicts = self._tally.counts.verdicts
        known = {level: verdicts[Verdict(name)] for name, (level, _) in LEVELS.items()}
        n = sum(known.values())
        level = sum(level * count for level, count in known.items()) / n if n else UNKNOWN_LEVEL
        result = self._result(group, q.VERDICT_LEVEL, level, uncertainty={"num_samples": n})
        result["metric_config"] |= {
            "score_type": "levels",
            "level_names": list(LEVELS),
            "level_metadata": [meaning for _, meaning in LEVELS.values()],
            "has_unknown_level": True,
        }
        return result

    def _of_trials(self) -> list[dict[str, Any]]:
        group = _Group({"scope": "trials"}, _OURS, "trials")
        counts = q.trial_counts(self._tally)
        total = (0, self._tally.counts.total)
        results = [
            self._result(group, q.TRIAL_COUNTS[name], count, total)
            for name, count in counts.items()
        ]
        self._explain(results[0], strings(counts), {})
        return results

    def _result(
        self,
        group: _Group,
        quantity: q.Quantity,
        score: float,
        scale: _Scale = (None, None),
        uncertainty: dict[str, Any] | None = None,
        *,
        lower_is_better: bool | None = None,
    ) -> dict[str, Any]:
        name = group.name if quantity is group.headline else f"{group.name}.{quantity.name}"
        better = quantity.lower_is_better if lower_is_better is None else lower_is_better
        return {
            "evaluation_result_id": result_id(*group.about.values(), quantity.name),
            "evaluation_name": self._run.suite.name,
            "source_data": self._source,
            "metric_config": present(
                {
                    "evaluation_description": quantity.description,
                    "metric_id": f"{group.namespace}.{name}",
                    "metric_name": name,
                    "metric_kind": quantity.kind,
                    "metric_unit": quantity.unit or group.unit,
                    "lower_is_better": better,
                    **_score_type(score, scale),
                    "additional_details": {**group.about, "quantity": quantity.name},
                }
            ),
            "score_details": present({"score": score, "uncertainty": uncertainty}),
        }

    def _explain(
        self, result: dict[str, Any], words: dict[str, str], evaluator: dict[str, str]
    ) -> None:
        """Give the first result of a group what is true of the whole group."""
        result["score_details"]["details"] = words
        result["metric_config"]["additional_details"] |= words | evaluator
        if self._generation:
            result["generation_config"] = self._generation


def _score_type(score: float, scale: _Scale) -> dict[str, Any]:
    """Bounds as far as they are known, and none at all around a score outside of them.

    The validator refuses a score outside its bounds, and we do not clamp; the scale then still
    stands in `additional_details`.
    """
    lower, upper = scale
    if (lower is not None and score < lower) or (upper is not None and score > upper):
        return {}
    bounds = present({"min_score": lower, "max_score": upper})
    return {"score_type": "continuous", **bounds} if len(bounds) == 2 else bounds


def _uncertainty(tally: MetricTally) -> dict[str, Any]:
    return present({**_of_rate(tally.rate), "standard_deviation": tally.standard_deviation})


def _of_rate(rate: Rate) -> dict[str, Any]:
    error = rate.standard_error
    return present(
        {
            "standard_error": None
            if error is None
            else present({"value": error, "method": rate.method}),
            "num_samples": rate.n,
        }
    )


def _denominator(tally: MetricTally) -> str:
    """What the mean covers and what it does not, in words."""
    states = ", ".join(
        f"{count} {state}"
        for state, count in tally.states.items()
        if count and state is not ScoreState.SCORED
    )
    covers = f"the mean covers {tally.rate.n} of {tally.sought} trials that were to be scored"
    if not tally.rate.n:
        covers = f"no mean: none of {tally.sought} trials that were to be scored has a number"
    labels = tally.scored - tally.rate.n
    return "; ".join(
        (
            covers,
            *([f"{labels} have only a label"] if labels else []),
            *([f"not scored: {states}, none of them counted as 0"] if states else []),
        )
    )


def _evaluator(evaluator: Evaluator, metric: Metric) -> dict[str, str]:
    return strings(
        {
            "evaluator_kind": evaluator.kind,
            "evaluator_model": evaluator.model,
            "evaluator_version": evaluator.version,
            "rubric_revision": evaluator.rubric_revision,
            "independence": evaluator.independence,
            "calibration": evaluator.calibration,
            "limits": evaluator.limits,
            "scale_minimum": metric.minimum,
            "scale_maximum": metric.maximum,
            "unit": metric.unit,
            "threshold": metric.threshold,
            "categorical": metric.categorical or None,
        }
    )


def _llm_scoring(evaluator: Evaluator) -> dict[str, Any] | None:
    """The judge, where it is a model that is named; its prompt is required and not known."""
    if evaluator.kind != "model" or evaluator.model is None:
        return None
    return {
        "judges": [
            {
                "model_info": {
                    "name": evaluator.model,
                    "id": evaluator.model,
                    "additional_details": {
                        "deployment_type": UNKNOWN,
                        "model_availability": UNKNOWN,
                    },
                }
            }
        ],
        "input_prompt": INPUT_PROMPT_ABSENT,
    }
