"""Counts read back from the typed fields of OTLP/JSON files.

Three things are read: the events (state, verdict and status of each), the int data points of
the metrics, and the int attributes of the run's span. Where an artifact has all three they
must agree; with an endpoint the events are at the receiver, and the others remain.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from fullcount.errors import DamagedInputError, VerificationError, one_line, quoted
from fullcount.model import Counts, MetricCounts, ScoreState, TrialStatus, Verdict
from fullcount_otel import names
from fullcount_otel.spool import SPOOL

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["recount"]

_Key = tuple[str, str]


class _Found:
    """What the files say of one run."""

    def __init__(self) -> None:
        self.points: Counter[tuple[_Key, str]] = Counter()
        self.metrics: dict[_Key, None] = {}
        self.pairs: Counter[tuple[str, str | None]] = Counter()
        self.span: dict[str, int] = {}
        self.events: Counter[tuple[_Key, str]] = Counter()
        self.event_pairs: dict[_Key | None, Counter[tuple[str, str | None]]] = {}


def recount(files: tuple[Path, ...]) -> tuple[Counts, ...]:
    """The counts of every run in an artifact's files.

    Raises:
        DamagedInputError: A line is no OTLP/JSON.
        VerificationError: The events, data points and attributes of a run do not agree.
    """
    runs: dict[str, _Found] = {}
    with_events = False
    for path in files:
        if path.parent.name == SPOOL:
            continue
        with_events = with_events or path.name.endswith(".logs.jsonl")
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    _add_line(runs, json.loads(line))
                except (
                    ValueError,
                    LookupError,
                    TypeError,
                    AttributeError,
                    RecursionError,
                ) as error:
                    shown = one_line(f"{type(error).__name__} {error}", 120)
                    problem = f"is not OTLP/JSON as this exporter writes it: {shown}"
                    raise DamagedInputError(problem, source=path.name, line=number) from error
    return tuple(_counts(run_id, found, with_events) for run_id, found in runs.items())


def _add_line(runs: dict[str, _Found], document: dict[str, Any]) -> None:
    for key in ("resourceLogs", "resourceSpans", "resourceMetrics"):
        for resource in document.get(key, ()):
            run_id = _attributes(resource["resource"])[names.RESOURCE["run_id"]]
            found = runs.setdefault(run_id, _Found())
            for scope in resource.get("scopeMetrics", ()):
                for metric in scope["metrics"]:
                    _add_metric(found, metric)
            for scope in resource.get("scopeSpans", ()):
                for span in scope["spans"]:
                    if span["name"] == names.RUN_SPAN:
                        found.span = _integers(span)
            for scope in resource.get("scopeLogs", ()):
                for record in scope["logRecords"]:
                    _add_event(found, record)


def _attributes(record: dict[str, Any]) -> dict[str, Any]:
    """Attributes by name: texts, and integers as such."""
    found: dict[str, Any] = {}
    for pair in record["attributes"]:
        value = pair["value"]
        if "stringValue" in value:
            found[pair["key"]] = value["stringValue"]
        elif "intValue" in value:
            found[pair["key"]] = int(value["intValue"])
    return found


def _integers(span: dict[str, Any]) -> dict[str, int]:
    return {key: value for key, value in _attributes(span).items() if isinstance(value, int)}


def _key(attributes: dict[str, Any]) -> _Key:
    return attributes[names.METRIC["evaluator"]], attributes[names.METRIC["metric"]]


def _add_metric(found: _Found, metric: dict[str, Any]) -> None:
    if metric["name"] not in (names.SUM_TRIALS, names.SUM_SCORES):
        return
    for point in metric["sum"]["dataPoints"]:
        value = int(point["asInt"])
        attributes = _attributes(point)
        if metric["name"] == names.SUM_SCORES:
            key = _key(attributes)
            found.metrics[key] = None
            found.points[key, attributes[names.SCORE["state"]]] += value
        else:
            pair = (attributes[names.TRIAL["status"]], attributes.get(names.TRIAL["verdict"]))
            found.pairs[pair] += value


def _add_event(found: _Found, record: dict[str, Any]) -> None:
    attributes = _attributes(record)
    key = None
    if record["eventName"] == names.EVALUATION_RESULT:
        key = _key(attributes)
        found.events[key, attributes[names.SCORE["state"]]] += 1
    pair = (attributes[names.TRIAL["status"]], attributes.get(names.TRIAL["verdict"]))
    found.event_pairs.setdefault(key, Counter())[pair] += 1


def _counts(run_id: str, found: _Found, with_events: bool) -> Counts:  # noqa: FBT001 - private
    points, pairs = found.points, found.pairs
    if with_events:
        points = found.events
        _agree(run_id, "scores", +points, +found.points)
        # Every metric has one event for each trial, so any one of them counts all trials.
        for key in found.metrics or (None,):
            pairs = found.event_pairs.get(key, Counter())
            _agree(run_id, "trials", +pairs, +found.pairs)
    counts = Counts(
        run_id=run_id,
        total=pairs.total(),
        statuses={s: sum(n for (at, _), n in pairs.items() if at == s) for s in TrialStatus},
        verdicts={v: sum(n for (_, at), n in pairs.items() if at == v) for v in Verdict},
        no_verdict=sum(n for (_, at), n in pairs.items() if at is None),
        metrics=tuple(
            MetricCounts(
                evaluator=key[0],
                metric=key[1],
                states={state: points[key, state] for state in ScoreState},
            )
            for key in found.metrics
        ),
    )
    _check_span(counts, found.span)
    return counts


def _agree(run_id: str, what: str, events: Counter[Any], points: Counter[Any]) -> None:
    if events != points:
        key = next(k for k in events | points if events[k] != points[k])
        msg = (
            f"run {run_id}: {events[key]} {what} of {quoted(key)} in the events, "
            f"{points[key]} in the data points"
        )
        raise VerificationError(msg)


def _check_span(counts: Counts, span: dict[str, int]) -> None:
    table = names.RUN_SPAN_ATTRIBUTES
    expected = {table["trials"]: counts.total, table["no_verdict"]: counts.no_verdict}
    expected |= {f"{table['statuses']}.{s.value}": n for s, n in counts.statuses.items()}
    expected |= {f"{table['verdicts']}.{v.value}": n for v, n in counts.verdicts.items()}
    for metric in counts.metrics:
        for state, number in metric.states.items():
            expected[names.scores_key(metric.evaluator, metric.metric, state.value)] = number
    for key, number in expected.items():
        if span.get(key) != number:
            msg = (
                f"run {counts.run_id}: {key} of the run's span is {span.get(key)}, "
                f"and {number} are counted"
            )
            raise VerificationError(msg)
