"""The runs as Croissant Tasks 0.1.0: what was asked, what answered, how it was evaluated.

Counts are integers. A rate is a `schema:QuantitativeValue` whose value, minValue and maxValue are
decimals: the mean, and the bounds it has over every trial sought. Where nothing is scored there
is no value, only the bounds and the counts; where the scale is open too, only the counts.

The shapes of the vocabulary take decimals and no doubles, and let a Task be evaluated by an
EvaluationTask only, so the problem names its metrics in words.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from fullcount_croissant import words
from fullcount_croissant.describe import EVALUATION, Facts
from fullcount_croissant.jsonld import Node, Ref
from fullcount_croissant.vocabulary import TASKS_CONTEXT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fullcount.model import Rate, Run, RunTally
    from fullcount.plugin import Context
    from fullcount_croissant.words import Counted

__all__ = ["Tasks", "build_tasks"]


class XsdDecimal(Node):
    """A decimal: every digit that the double has, and no exponent."""

    value: str = Field(alias="@value", pattern=r"^-?\d+(\.\d+)?$")
    type: Literal["xsd:decimal"] = Field("xsd:decimal", alias="@type")


class QuantitativeValue(Node):
    """A rate and its bounds."""

    type: Literal["schema:QuantitativeValue"] = Field("schema:QuantitativeValue", alias="@type")
    value: XsdDecimal | None = Field(None, alias="schema:value")
    min_value: XsdDecimal | None = Field(None, alias="schema:minValue")
    max_value: XsdDecimal | None = Field(None, alias="schema:maxValue")
    unit_text: str | None = Field(None, alias="schema:unitText")
    description: str = Field(alias="schema:description")


class EvaluationResult(Node):
    """One number."""

    type: Literal["croissant:EvaluationResult"] = Field("croissant:EvaluationResult", alias="@type")
    metric: str = Field(alias="croissant:metric")
    value: int | XsdDecimal | QuantitativeValue = Field(alias="croissant:value")


class Software(Node):
    """A program, or a specification of one."""

    type: Literal["schema:SoftwareApplication", "croissant:ImplementationSpec"] = Field(
        alias="@type"
    )
    id: str = Field(alias="@id")
    name: str = Field(alias="schema:name")
    version: str | None = Field(None, alias="schema:softwareVersion")


class Output(Node):
    """The published dataset."""

    type: Literal["schema:Dataset"] = Field("schema:Dataset", alias="@type")
    id: str = Field(alias="@id")
    name: str = Field(alias="schema:name")


class TaskProblem(Node):
    """A suite: its cases are given, what answers them is not."""

    type: Literal["croissant:TaskProblem"] = Field("croissant:TaskProblem", alias="@type")
    id: str = Field(alias="@id")
    name: str = Field(alias="schema:name")
    version: str | None = Field(None, alias="schema:version")
    description: str = Field(alias="schema:description")
    input: Ref | None = Field(None, alias="croissant:input")
    implementation: Software = Field(alias="croissant:implementation")


class TaskSolution(Node):
    """A subject that answered the cases of a suite in one run."""

    type: Literal["croissant:TaskSolution"] = Field("croissant:TaskSolution", alias="@type")
    id: str = Field(alias="@id")
    name: str = Field(alias="schema:name")
    is_based_on: Ref = Field(alias="schema:isBasedOn")
    implementation: Software = Field(alias="croissant:implementation")
    output: Output | Ref = Field(alias="croissant:output")
    evaluation: Ref = Field(alias="croissant:evaluation")


class EvaluationTask(Node):
    """What the evaluators made of the answers."""

    type: Literal["croissant:EvaluationTask"] = Field("croissant:EvaluationTask", alias="@type")
    id: str = Field(alias="@id")
    name: str = Field(alias="schema:name")
    identifier: str = Field(alias="schema:identifier")
    evaluated_solution: Ref = Field(alias="croissant:evaluatedSolution")
    implementation: tuple[Software, ...] = Field(alias="croissant:implementation")
    evaluation_results: tuple[EvaluationResult, ...] = Field(alias="croissant:evaluationResults")


class Tasks(Node):
    """The whole file."""

    context: dict[str, Any] = Field(alias="@context")
    graph: tuple[TaskProblem | TaskSolution | EvaluationTask, ...] = Field(alias="@graph")


def build_tasks(runs: Sequence[Counted], facts: Facts, context: Context) -> Tasks:
    """Problems, solutions and evaluations of all runs."""
    dataset = facts.url or context.uuid("croissant", "dataset", *(r.id for r, _ in runs)).urn
    graph: list[TaskProblem | TaskSolution | EvaluationTask] = []
    problems: set[str] = set()
    output: Output | Ref = Output(id=dataset, name=facts.name)
    for run, tally in runs:
        problem = _problem(run, context)
        if problem.id not in problems:
            problems.add(problem.id)
            graph.append(problem)
        source = run.source.sha256 or ""
        solution = context.uuid("croissant", "solution", source, run.id).urn
        evaluation = context.uuid("croissant", EVALUATION, source, run.id).urn
        title = words.run_title(run)
        graph += [
            TaskSolution(
                id=solution,
                name=title,
                is_based_on=Ref(id=problem.id),
                implementation=_software(context, run.subject.id, run.subject.version),
                output=output,
                evaluation=Ref(id=evaluation),
            ),
            EvaluationTask(
                id=evaluation,
                name=f"Evaluation of {title}",
                identifier=run.id,
                evaluated_solution=Ref(id=solution),
                implementation=tuple(_instruments(run, context)),
                evaluation_results=tuple(_results(run, tally)),
            ),
        ]
        output = Ref(id=dataset)
    return Tasks(context=TASKS_CONTEXT, graph=tuple(graph))


def _problem(run: Run, context: Context) -> TaskProblem:
    suite = run.suite
    metrics = ", ".join(
        evaluator.name if metric.name == evaluator.name else f"{evaluator.name}.{metric.name}"
        for evaluator in run.evaluators
        for metric in evaluator.metrics
    )
    parts = [suite.name, suite.version, suite.dataset, suite.dataset_revision, suite.split]
    key = context.uuid("croissant", "problem", *(part or "" for part in parts), metrics).urn
    location = suite.dataset_location or ""
    public = location.startswith(("https://", "http://")) and not any(map(str.isspace, location))
    measured = f"Measured by: {metrics}." if metrics else "No metric is known."
    return TaskProblem(
        id=key,
        name=suite.name,
        version=suite.version,
        description=f"Suite {suite.name}. {measured}",
        input=Ref(id=location) if public else None,
        implementation=Software(
            type="croissant:ImplementationSpec",
            id=f"{key}#subject",
            name="A subject that answers every case of the suite",
        ),
    )


def _software(context: Context, name: str, version: str | None) -> Software:
    return Software(
        type="schema:SoftwareApplication",
        id=context.uuid("croissant", "software", name, version or "").urn,
        name=name,
        version=version,
    )


def _instruments(run: Run, context: Context) -> Iterator[Software]:
    yield _software(context, run.harness.name, run.harness.version)
    for evaluator in run.evaluators:
        yield _software(context, words.technique(evaluator), evaluator.version)


def _results(run: Run, tally: RunTally) -> Iterator[EvaluationResult]:
    counts = tally.counts
    yield EvaluationResult(metric="trials/total", value=counts.total)
    for status, count in counts.statuses.items():
        yield EvaluationResult(metric=f"trials/status/{status.value}", value=count)
    for verdict, count in counts.verdicts.items():
        yield EvaluationResult(metric=f"trials/verdict/{verdict.value}", value=count)
    yield EvaluationResult(metric="trials/verdict/none", value=counts.no_verdict)
    yield from _rate("trials/pass_rate", tally.pass_rate, None)
    units = {
        (evaluator.name, metric.name): metric.unit
        for evaluator in run.evaluators
        for metric in evaluator.metrics
    }
    for counted in tally.metrics:
        name = counted.name
        unit = units[counted.evaluator, counted.metric]
        yield EvaluationResult(metric=f"{name}/n_total", value=counted.total)
        yield EvaluationResult(metric=f"{name}/n_sought", value=counted.sought)
        yield EvaluationResult(metric=f"{name}/n_unverified", value=counted.unverified)
        yield EvaluationResult(metric=f"{name}/n_excluded", value=counted.excluded)
        for state, count in counted.states.items():
            yield EvaluationResult(metric=f"{name}/n_{state.value}", value=count)
        yield from _rate(f"{name}/mean", counted.rate, unit)


def _rate(metric: str, rate: Rate, unit: str | None) -> Iterator[EvaluationResult]:
    if rate.value is not None or rate.lower is not None or rate.upper is not None:
        yield EvaluationResult(
            metric=metric,
            value=QuantitativeValue(
                value=_decimal(rate.value),
                min_value=_decimal(rate.lower),
                max_value=_decimal(rate.upper),
                unit_text=unit,
                description=f"Over {rate.n} of {rate.sought} trials sought; minValue and "
                "maxValue: if every other one were the worst, and the best, that the scale "
                "allows.",
            ),
        )
    error = _decimal(rate.standard_error)
    if error is not None:
        yield EvaluationResult(metric=f"{metric}/standard_error", value=error)


def _decimal(value: float | None) -> XsdDecimal | None:
    return None if value is None else XsdDecimal(value=f"{Decimal(repr(value)):f}")
