"""What both encoders share: fragments of an encoded event, kept where they repeat."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Generic, TypeVar

from fullcount.model import Model, Usage
from fullcount_otel import names
from fullcount_otel.model import (
    ConditionsPart,
    ErrorPart,
    GatesPart,
    MetricPart,
    RunPart,
    ScorePart,
    TrialPart,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fullcount_otel.model import EvaluationEvent, Value

__all__ = ["TABLES", "Fragments", "attributes"]

_Encoded = TypeVar("_Encoded", str, bytes)
_REMEMBERED = 4096
TABLES: Mapping[type[Model], Mapping[str, str]] = {
    RunPart: names.RUN,
    MetricPart: names.METRIC,
    TrialPart: names.TRIAL,
    GatesPart: names.GATES,
    ErrorPart: names.ERROR,
    ConditionsPart: names.CONDITIONS,
    Usage: names.USAGE,
    ScorePart: names.SCORE,
}
"""The attribute names of the fields of each part."""
_VARIED = frozenset(
    {
        *names.METRIC,
        "answer",
        "answer_sha256",
        "case_id",
        "case_name",
        "cost",
        "duration",
        "message",
        "message_sha256",
        "evaluated_span_id",
        "evaluated_trace_id",
        "explanation",
        "explanation_sha256",
        "pointer",
        "response_id",
        "sample_hash",
        "source_record_id",
        "started_at",
        "value",
        "working_time",
    }
)
"""Fields that hardly ever say the same twice, or that are encoded once anyway."""


def attributes(*parts: Model | None) -> dict[str, Value]:
    """Attributes of parts of an event, under the names that are sent."""
    found: dict[str, Value] = {}
    for part in parts:
        if part is not None:
            table = TABLES[type(part)]
            for field, value in part.__dict__.items():
                if value is None:
                    continue
                name = table.get(field)
                if name is None:
                    found |= attributes(value)
                else:
                    found[name] = str(value) if isinstance(value, str) else value
    return found


class Fragments(Generic[_Encoded]):
    """Encoded attributes of an event's parts.

    Args:
        encoder: Gives for an attribute's name what encodes its values.
        join: Puts encoded attributes one after the other.
    """

    def __init__(
        self,
        encoder: Callable[[str], Callable[[Value], _Encoded]],
        join: Callable[[list[_Encoded]], _Encoded],
    ) -> None:
        self._join: Callable[[list[_Encoded]], _Encoded] = join
        self._tables: dict[
            type, dict[str, tuple[Callable[[Value], _Encoded], dict[Value, _Encoded] | None]]
        ] = {
            kind: {
                field: (encoder(name), None if field in _VARIED else {})
                for field, name in table.items()
            }
            for kind, table in TABLES.items()
        }
        self._record_id: Callable[[Value], _Encoded] = encoder(names.RECORD_ID)
        self._extra: Callable[[str], Callable[[Value], _Encoded]] = cache(encoder)
        self._run: tuple[RunPart | None, _Encoded | None] = (None, None)
        self._trial: tuple[TrialPart | None, _Encoded | None] = (None, None)
        self._metrics: dict[int, tuple[MetricPart, _Encoded]] = {}

    def of(self, event: EvaluationEvent) -> list[_Encoded]:
        """The event's attributes, in as many pieces as there are parts."""
        found = [self._record_id(event.record_id), self._shared(event)]
        found.extend(self._extra(key)(value) for key, value in event.extra.items())
        metric, score = event.metric, event.score
        if metric is not None and score is not None:
            known = self._metrics.get(id(metric))
            if known is None or known[0] is not metric:
                if len(self._metrics) >= _REMEMBERED:
                    self._metrics.clear()
                # Holding the part keeps its id from being given to another.
                known = self._metrics[id(metric)] = (metric, self._join(self._pieces(metric)))
            found.append(known[1])
            found += self._pieces(score)
        return found

    def _shared(self, event: EvaluationEvent) -> _Encoded:
        run, run_fragment = self._run
        if run is not event.run or run_fragment is None:
            run_fragment = self._join(self._pieces(event.run))
            self._run = (event.run, run_fragment)
            self._trial = (None, None)
        trial, fragment = self._trial
        if trial is not event.trial or fragment is None:
            pieces: list[_Encoded] = self._pieces(event.trial)
            pieces.insert(0, run_fragment)
            fragment = self._join(pieces)
            self._trial = (event.trial, fragment)
        return fragment

    def _pieces(self, part: Model) -> list[_Encoded]:
        table = self._tables[type(part)]
        found = []
        for field, value in part.__dict__.items():
            if value is None:
                continue
            row = table.get(field)
            if row is None:
                # A part within a part.
                found += self._pieces(value)
                continue
            encode, known = row
            if known is None:
                found.append(encode(value))
                continue
            piece = known.get(value)
            if piece is None:
                piece = encode(value)
                if len(known) >= _REMEMBERED:
                    known.clear()
                known[value] = piece
            found.append(piece)
        return found
