"""One JSON value that is at hand as bytes, and what to say when it is none."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from fullcount.errors import DamagedInputError, InputError

__all__ = ["AGAIN", "BOM", "CUT", "DEEPEST", "Ends", "Where", "load_slowly", "loads"]

DEEPEST = 500
"""Deeper nesting is refused. The interpreter's own limit differs between versions."""

BOM = b"\xef\xbb\xbf"
CUT = "it was cut short or is still being written; read it when the run has finished"
AGAIN = "write the file again, or leave it out"

_PARTIAL_TOKEN = len("-Infinity")
_BRACKET = re.compile(rb"[\[\]{}]")


def loads(
    data: bytes,
    *,
    source: str | None = None,
    member: str | None = None,
    line: int = 1,
    pointer: str | None = None,
) -> Any:
    """The value of a JSON text in UTF-8, with or without a byte order mark.

    Args:
        data: The text.
        source: The file, as messages name it.
        member: Member of an archive, as messages name it.
        line: Line of the file at which the text starts.
        pointer: Where the text belongs, as messages name it.

    Raises:
        DamagedInputError: It is no JSON.
    """
    try:
        return from_json(data, cache_strings="all")
    except ValueError:
        where = Where(source, member, line, 0, pointer)
        if data.startswith(BOM):
            where = Where(source, member, line, len(BOM), pointer)
            data = data[len(BOM) :]
        return load_slowly(data, where)


class Ends:
    """Finds the end of a string, array or object that comes in pieces."""

    def __init__(self, first: bytes) -> None:
        self._in_string = first == b'"'
        self._depth = 0 if self._in_string else 1
        self._escaped = False
        self.deepest = self._depth

    def feed(self, data: bytes) -> int | None:
        """Where the value ends in this piece, if it does."""
        if self._escaped:
            data = b"\0" + data[1:]
        if b"\\" in data:
            data = data.replace(b"\\\\", b"\0\0").replace(b'\\"', b"\0\0")
        self._escaped = data.endswith(b"\\")
        if self._depth == 0:
            return data.find(b'"') + 1 or None
        parts = data.split(b'"')
        strings = slice(0 if self._in_string else 1, None, 2)
        parts[strings] = map(bytes, map(len, parts[strings]))  # as many zero bytes
        self._in_string ^= len(parts) % 2 == 0
        for match in _BRACKET.finditer(b'"'.join(parts)):
            if match.group() in b"[{":
                self._depth += 1
                self.deepest = max(self.deepest, self._depth)
            else:
                self._depth -= 1
                if self._depth == 0:
                    return match.end()
        return None


@dataclass(frozen=True, slots=True)
class Where:
    """Where a piece of text starts: line from 1, offset in bytes from 0."""

    source: str | None
    member: str | None
    line: int
    offset: int
    pointer: str | None

    def damaged(self, problem: str) -> InputError:
        return DamagedInputError(
            problem,
            source=self.source,
            member=self.member,
            line=self.line,
            pointer=self.pointer,
        )

    def no_json(self, problem: str) -> InputError:
        return self.damaged(f"is no JSON at byte {self.offset}: {problem}; {AGAIN}")

    def too_deep(self) -> InputError:
        return self.damaged(f"is nested more than {DEEPEST} deep; leave it out")

    def further(self, before: bytes) -> Where:
        """The place after these bytes."""
        line = self.line + before.count(b"\n")
        return Where(self.source, self.member, line, self.offset + len(before), self.pointer)


def load_slowly(data: bytes, where: Where) -> Any:
    """Read what the fast parser refuses: surrogates and deep nesting; explain all else."""
    body = data.lstrip(b" \t\r\n")
    if not body:
        raise where.damaged(f"is empty: {CUT}")
    complete = True
    if body[:1] in b'"[{':
        ends = Ends(body[:1])
        complete = ends.feed(body[1:]) is not None
        if ends.deepest > DEEPEST:
            raise where.too_deep()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        place = where.further(data[: error.start])
        if not complete and error.reason == "unexpected end of data":
            raise where.damaged(f"ends too early: {CUT}") from error
        raise place.no_json(f"0x{data[error.start]:02x} is not UTF-8 here") from error
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        missing = error.msg.startswith("Unterminated string")
        if not complete and (missing or len(text) - error.pos < _PARTIAL_TOKEN):
            raise where.damaged(f"ends too early: {CUT}") from error
        place = where.further(text[: error.pos].encode())
        raise place.no_json(error.msg[0].lower() + error.msg[1:]) from error
    except RecursionError as error:
        raise where.too_deep() from error
    except ValueError as error:  # the interpreter's limit on the digits of an integer
        raise where.damaged(f"holds an integer that is too long; {AGAIN}") from error
