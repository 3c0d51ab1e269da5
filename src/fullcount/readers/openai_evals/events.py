"""The first look at a log: its spec and report, its metrics, and where its samples stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.errors import DamagedInputError, quoted
from fullcount.readers._fields import as_dict, as_word, one_of
from fullcount.readers._jsonl import objects
from fullcount.readers._seen import Places, Seen

if TYPE_CHECKING:
    from fullcount.sources import Source

__all__ = ["CHOICE", "COUNTS", "INVALID", "MATCH", "METASCORE", "Index", "sample_of"]

INVALID = "__invalid__"
"""Choice of a model-graded eval whose judge gave none."""
MATCH = "match"
CHOICE = "choice"
METASCORE = "_metascore"
"""How the name of the metric ends that says whether the judge chose as a person did."""
COUNTS = "counts/"
"""How the names start under which the report counts choices."""

_WHOLE = frozenset({"match", "metrics", "error", "sampling"})
"""Kinds of event that say something of an outcome, and so must be whole."""


class Index:
    """What a log holds, and where each sample's events stand.

    Attributes:
        spec: What was run.
        report: The final report; None: there is none.
        metrics: Whether each gives choices and no numbers.
        passed_over: How many keys of `metrics` are neither.
    """

    def __init__(self, source: Source) -> None:
        self.spec: dict[str, Any] = {}
        self.report: dict[str, Any] | None = None
        self.metrics: dict[str, bool] = {}
        self.passed_over = 0
        self._kinds: dict[str, set[str]] = {}
        blocks = Seen()
        self._places = Places()
        last: str | None = None
        with source.open() as file:
            for line, _, record in objects(file, source=source.shown):
                sample = self._take(record, source, line)
                if sample is not None:
                    if sample != last:
                        blocks.add(Seen.key(sample))
                    last = sample
        if not self.spec:
            raise DamagedInputError("holds no spec", source=source.shown, line=1, pointer="/spec")
        self._declare()
        if blocks.any_repeated():
            self._place(source, blocks)

    def starts(self, sample: str, first: int) -> list[int]:
        """Where events of a sample that follow each other start.

        Samples run side by side, so one may have several places, and those of samples with the
        same hash are among them.

        Args:
            sample: The sample.
            first: One of its places.
        """
        return self._places.of(Seen.key(sample)) or [first]

    def _place(self, source: Source, blocks: Seen) -> None:
        last: str | None = None
        with source.open() as file:
            for _, offset, record in objects(file, source=source.shown):
                sample = sample_of(record)
                if sample is None or sample == last:
                    continue
                last = sample
                if blocks.is_repeated(Seen.key(sample)):
                    self._places.add(Seen.key(sample), offset)

    def _declare(self) -> None:
        """A metric of texts is one where they are choices, and may be private where not."""
        counted = {
            name.removeprefix(COUNTS).rpartition("/")[0]
            for name in self.report or {}
            if name.startswith(COUNTS)
        }
        for name, kinds in self._kinds.items():
            if name == CHOICE or "number" in kinds or kinds == {"null"}:
                self.metrics[name] = name == CHOICE
            elif "invalid" in kinds or name in counted:
                self.metrics[name] = True
            else:
                self.passed_over += 1

    def _take(self, record: dict[str, Any], source: Source, line: int) -> str | None:
        """Note what a line says, and give its sample."""
        if "spec" in record:
            if not isinstance(record["spec"], dict):
                problem = f"must be an object, not {quoted(record['spec'])}"
                raise _damaged(problem, "/spec", source, line)
            if self.spec:
                raise _damaged("holds the spec of a second run", "/spec", source, line)
            self.spec = record["spec"]
            return None
        if "final_report" in record:
            self.report = as_dict(record["final_report"])
            return None
        kind = one_of(record.get("type"), _WHOLE)
        if kind is not None:
            self._note(kind, record, source, line)
        return sample_of(record)

    def _note(self, kind: str, record: dict[str, Any], source: Source, line: int) -> None:
        """Note which metrics an event has."""
        data = record.get("data")
        missing = sample_of(record) is None
        if missing or not isinstance(data, dict):
            problem = "must be an event of a sample, with its data"
            raise _damaged(problem, "/sample_id" if missing else "/data", source, line)
        if kind == "match":
            if _kind(data.get("correct")) not in ("number", "null"):
                problem = f"must be true or false, not {quoted(data['correct'])}"
                raise _damaged(problem, "/data/correct", source, line)
            self._kinds.setdefault(MATCH, set()).add("number")
        elif kind == "metrics":
            for name, value in data.items():
                if name:
                    self._kinds.setdefault(name, set()).add(_kind(value))


def sample_of(record: dict[str, Any]) -> str | None:
    """The sample of an event."""
    if "spec" in record or "final_report" in record or not isinstance(record.get("type"), str):
        return None
    return as_word(record.get("sample_id"))


def _kind(value: Any) -> str:
    if isinstance(value, (bool, int, float)):
        return "number"
    if value is None:
        return "null"
    return "invalid" if value == INVALID else "text"


def _damaged(problem: str, pointer: str, source: Source, line: int) -> DamagedInputError:
    return DamagedInputError(problem, source=source.shown, line=line, pointer=pointer)
