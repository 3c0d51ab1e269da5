"""The two files that promptfoo writes, and their rows."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, NamedTuple

from fullcount.errors import DamagedInputError, InputError, UnsupportedInputError, quoted
from fullcount.plugin import Confidence
from fullcount.readers._json import walk_object
from fullcount.readers._jsonl import objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.sources import Source

__all__ = ["Row", "is_lines", "rows", "sniff"]

_VERSIONS = (1, 2, 3)
_ROWS = "results/results"
_OF_A_DOCUMENT = frozenset({"config", "evalId", "metadata", "results", "shareableUrl"})
_OF_A_ROW = frozenset(
    {"failureReason", "gradingResult", "namedScores", "promptIdx", "provider", "testCase", "vars"}
)
_MARKS = (b'"promptIdx"', b'"testIdx"', b'"namedScores"', b'"success"')
_FURTHER = 8 << 20
"""Bytes in which a first line that is longer than the head must hold its marks."""
_PASSED_OVER = frozenset({"config/tests", "config/scenarios", "config/redteam", "traces"})
"""What a document may hold that is as long as its results, and says nothing that they do not."""


class Row(NamedTuple):
    """One result, and where it stands.

    Attributes:
        number: Counted from 0.
        line: Line of a JSONL file, from 1.
        value: The result.
    """

    number: int
    line: int | None
    value: dict[str, Any]

    def pointer(self, field: str = "") -> str:
        """Where the row, or a field of it, stands."""
        return field if self.line is not None else f"/{_ROWS}/{self.number}{field}"

    def damaged(self, problem: str, field: str, source: Source) -> DamagedInputError:
        """An error about a field of the row."""
        pointer = self.pointer(field) or None
        return DamagedInputError(problem, source=source.shown, line=self.line, pointer=pointer)


def sniff(source: Source) -> Confidence:
    """A document with an `evalId` and results, or lines with the places of a test and a prompt."""
    head = source.head
    kind = _kind(head)
    if kind == "document" and b'"evalId"' in head and b'"results"' in head:
        return Confidence(85, "evalId and results")
    if kind == "row" and b"\n" not in head and source.size > len(head):
        # The output of the subject stands before the places.
        with source.open() as file:
            head = file.readline(_FURTHER)
    if kind == "row" and all(mark in head for mark in _MARKS):
        return Confidence(85, "promptIdx, testIdx and namedScores")
    return Confidence(0)


def is_lines(source: Source) -> bool:
    """Whether the file holds one row in each line."""
    return _kind(source.head) == "row"


def rows(source: Source, head: dict[str, Any]) -> Iterator[Row]:
    """Every row of a file; whatever else a document holds goes to `head`.

    Raises:
        DamagedInputError: It is no file of promptfoo's.
        UnsupportedInputError: The document has another version.
    """
    number = 0
    with source.open() as file:
        if is_lines(source):
            for line, _, value in objects(file, source=source.shown):
                yield Row(number, line, value)
                number += 1
            return
        found = False
        for part in walk_object(
            file,
            {_ROWS, "results/table/body"},
            inside={"results", "results/table", "config"},
            passed_over=_PASSED_OVER,
            source=source.shown,
        ):
            if part.kind == "value":
                head[part.key] = part.value
            elif part.key == _ROWS:
                found = found or part.kind == "end"
                if part.kind == "item":
                    row = Row(number, None, part.value)
                    if not isinstance(part.value, dict):
                        raise row.damaged(
                            f"must be an object, not {quoted(part.value)}", "", source
                        )
                    yield row
                    number += 1
    if not found:
        raise DamagedInputError("must be an array", source=source.shown, pointer=f"/{_ROWS}")
    version = head.get("results/version")
    if version not in _VERSIONS:
        raise UnsupportedInputError(
            f"version {quoted(version)} is not read; only 1, 2 and 3",
            source=source.shown,
            pointer="/results/version",
        )


def _kind(head: bytes) -> str | None:
    """What the first known key of the text belongs to."""
    try:
        for part in walk_object(io.BytesIO(head), {"results"}, inside={"results"}):
            key = part.key.partition("/")[0]
            if key in _OF_A_DOCUMENT:
                return "document"
            if key in _OF_A_ROW:
                return "row"
    except InputError:
        return None
    return None
