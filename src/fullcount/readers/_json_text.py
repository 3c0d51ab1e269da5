"""A window that moves over a JSON text larger than memory.

Most elements end where the text between the first two of them comes up again; whether they
really do is settled by parsing, since no JSON array or object is the beginning of another one.
Where that guess does not hold, the end is found by counting brackets outside strings.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from pydantic_core import from_json

from fullcount.errors import InputError, UnsupportedInputError, quoted
from fullcount.readers._json_value import AGAIN, BOM, CUT, DEEPEST, Ends, Where, load_slowly

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LARGEST", "WINDOW", "Readable", "Text"]

WINDOW = 1 << 20
LARGEST = 512 << 20
MOST_KEYS = 100_000

_LARGEST_READ = 16 << 20
_DEEPEST_IN_PIECES = 2
"""Objects nested deeper than this are read whole, where a value is passed over."""
_PIECES = (256, 262_144)
_AHEAD = 16_384
"""So many bytes of small elements are parsed together."""
_CANDIDATES = 64
_TRUST = 16
"""How many more guesses may fail than hold before it is no longer worth trying."""

_SPACE = re.compile(rb"[ \t\r\n]*")
_SCALAR = re.compile(rb'[^ \t\r\n,:"\[\]{}]*')
_HEAD = re.compile(rb'\{[ \t\r\n]*"[^"\\]{1,64}"|[\[{]')


class Readable(Protocol):
    """What a text is read from."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at the end."""


class Text:
    """A window on a JSON text that moves over it.

    `_at` is how far the text has been read, inside the buffer.
    """

    def __init__(
        self, stream: Readable, source: str | None, member: str | None, window: int, largest: int
    ) -> None:
        self._stream = stream
        self._source = source
        self._member = member
        self._window = window
        self._largest = largest
        self._buffer = b""
        self._at = 0
        self._offset = 0  # of the buffer in the text
        self._lines = 0  # before the buffer
        self._usual = 0  # size of a value

    def open(self, bracket: bytes) -> None:
        """Go to the bracket that the text starts with."""
        while len(self._buffer) < len(BOM) and self._more():
            pass
        if self._buffer.startswith(BOM):
            self._at = len(BOM)
        if self.peek() != bracket:
            kind = "array" if bracket == b"[" else "object"
            raise self._unexpected(f"a JSON {kind}")

    def finish(self) -> None:
        """Nothing but white space may follow.

        Raises:
            DamagedInputError: Something does.
        """
        if self._skip_space():
            raise self._unexpected("the end of the text")

    def fields(self, *, once: bool = True) -> Iterator[str]:
        """Go to each value of the object at this place in turn, and give its key.

        With `once` a key that comes twice is refused, and so are too many keys.
        """
        seen: set[str] = set()
        self._at += 1
        if self.peek() == b"}":
            self._at += 1
            return
        while True:
            if self.peek() != b'"':
                raise self._unexpected("a key")
            key = self.value(None)
            if once:
                if key in seen:
                    raise self._where(None).damaged(f"key {quoted(key)} comes twice; {AGAIN}")
                if len(seen) == MOST_KEYS:
                    raise self._unsupported(f"holds more than {MOST_KEYS:,} keys at its top", None)
                seen.add(key)
            self._mark(b":")
            self.peek()
            yield key
            if self._mark(b",}") == b"}":
                return

    def elements(self, pointer: str) -> Iterator[Any]:
        """Each element of the array at this place, and go past it."""
        self._at += 1
        if self.peek() == b"]":
            self._at += 1
            return
        index = 0
        between: bytes | None = None
        trust = _TRUST
        while True:
            values = self._guess(between) if between else None
            if values is not None:
                trust = min(trust + 1, _TRUST)
            else:
                if between:
                    trust -= 1
                    between = None
                values = [self.value(f"{pointer}/{index}")]
            yield from values
            index += len(values)
            ended = self._offset + self._at
            if self._mark(b",]") == b"]":
                return
            self.peek()
            if between is None and trust:
                between = self._between(ended - self._offset)

    def pass_over(self, depth: int = 0) -> None:
        """Go past the value at this place, holding no more than an element of an inner array."""
        first = self.peek()
        if first == b"{" and depth < _DEEPEST_IN_PIECES:
            for _ in self.fields(once=False):
                self.pass_over(depth + 1)
        elif first == b"[" and depth:
            for _ in self.elements(""):
                pass
        elif first == b"[":
            self._at += 1
            if self.peek() == b"]":
                self._at += 1
                return
            while True:
                self.pass_over(depth + 1)
                if self._mark(b",]") == b"]":
                    return
        else:
            self.value(None)

    def value(self, pointer: str | None) -> Any:
        """The value at this place, and go past it."""
        first = self._buffer[self._at : self._at + 1]
        size = self._size(first, pointer) if first in b'"[{' else self._scalar(pointer)
        data = self._buffer[self._at : self._at + size]
        try:
            value = from_json(data, cache_strings="all")
        except ValueError:
            value = load_slowly(data, self._where(pointer))
        self._at += size
        return value

    def peek(self) -> bytes:
        """Go to the next byte that is no white space, and give it."""
        if not self._skip_space():
            raise self._where(None).damaged(f"ends too early: {CUT}")
        return self._buffer[self._at : self._at + 1]

    def _mark(self, marks: bytes) -> bytes:
        mark = self.peek()
        if mark not in marks:
            raise self._unexpected(" or ".join(repr(chr(mark)) for mark in marks))
        self._at += 1
        return mark

    def _between(self, ended: int) -> bytes | None:
        """What tells where elements end: the last byte of one, the gap, the start of the next.

        With line breaks the indentation makes it certain, since a string cannot hold one.
        """
        head = _HEAD.match(self._buffer, self._at)
        if head is None or ended < 1 or self._buffer[ended - 1] not in b"]}":
            return None
        last, gap = self._buffer[ended - 1 : ended], self._buffer[ended : self._at]
        if b"\n" in gap:
            return last + gap + head.group()[:1]
        return last + gap + head.group()

    def _guess(self, between: bytes) -> list[Any] | None:
        """The elements at this place, as far as one ends where it seems to."""
        while self._buffer.find(between, self._at) < 0:
            if len(self._buffer) - self._at > self._window or not self._more():
                return None
        for ahead in (_AHEAD, 0):
            end = self._buffer.find(between, self._at + ahead) + 1
            if end and b"\n" not in between:
                end = self._balanced(between, end)
            if not end:
                continue
            try:
                values: list[Any] = from_json(
                    b"[" + self._buffer[self._at : end] + b"]", cache_strings="all"
                )
            except ValueError:
                continue
            self._at = end
            return values
        return None

    def _balanced(self, between: bytes, end: int) -> int:
        """The first of these ends before which as many brackets close as open, or 0.

        Brackets in strings are counted too, so it may be wrong or missed.
        """
        closing = between[:1]
        opening = b"{" if closing == b"}" else b"["
        start = self._at
        depth = 0
        for _ in range(_CANDIDATES):
            depth += self._buffer.count(opening, start, end)
            depth -= self._buffer.count(closing, start, end)
            if depth == 0:
                return end
            start = end
            end = self._buffer.find(between, start) + 1
            if end == 0:
                break
        return 0

    def _size(self, first: bytes, pointer: str | None) -> int:
        """Bytes of the string, array or object at this place."""
        ends = Ends(first)
        shortest, longest = _PIECES
        piece = min(max(self._usual, shortest), longest)
        size = 1
        while True:
            start = self._at + size
            data = self._buffer[start : start + piece]
            if not data:
                if self._more():
                    continue
                load_slowly(self._buffer[self._at :], self._where(pointer))
                raise self._where(pointer).damaged(f"ends too early: {CUT}")
            end = ends.feed(data)
            if ends.deepest > DEEPEST:
                raise self._where(pointer).too_deep()
            size += len(data) if end is None else end
            if size > self._largest:
                raise self._too_large(pointer)
            if end is not None:
                self._usual = size
                return size
            piece = min(piece * 2, longest)

    def _scalar(self, pointer: str | None) -> int:
        """Bytes of the number or literal at this place."""
        size = 0
        while True:
            token = _SCALAR.match(self._buffer, self._at + size)
            size = token.end() - self._at if token else size
            if size > self._largest:
                raise self._too_large(pointer)
            if self._at + size < len(self._buffer):
                break
            if not self._more():
                raise self._where(pointer).damaged(f"ends too early: {CUT}")
        if size == 0:
            raise self._unexpected("a value")
        return size

    def _skip_space(self) -> bool:
        """Whether anything follows."""
        while True:
            space = _SPACE.match(self._buffer, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._buffer):
                return True
            if not self._more():
                return False

    def _more(self) -> bool:
        """Read on, and let go of what has been read; false at the end.

        A long element doubles what is read at a time, so that it is not copied too often.
        """
        wanted = max(self._window, min(len(self._buffer) - self._at, _LARGEST_READ))
        chunks = [self._buffer[self._at :]]
        while wanted > 0 and (chunk := self._stream.read(wanted)):
            chunks.append(chunk)
            wanted -= len(chunk)
        if len(chunks) == 1:
            return False
        self._lines += self._buffer.count(b"\n", 0, self._at)
        self._offset += self._at
        self._at = 0
        self._buffer = b"".join(chunks)
        return True

    def _where(self, pointer: str | None) -> Where:
        line = self._lines + self._buffer.count(b"\n", 0, self._at) + 1
        offset = self._offset + self._at
        return Where(self._source, self._member, line, offset, pointer)

    def _unexpected(self, wanted: str) -> InputError:
        found = self._buffer[self._at : self._at + 1].decode("utf-8", "backslashreplace")
        return self._where(None).no_json(f"{wanted} must stand here, not {quoted(found)}")

    def _unsupported(self, problem: str, pointer: str | None) -> InputError:
        line = self._where(pointer).line
        return UnsupportedInputError(
            problem, source=self._source, member=self._member, line=line, pointer=pointer
        )

    def _too_large(self, pointer: str | None) -> InputError:
        return self._unsupported(
            f"a value of more than {self._largest:,} bytes is not read; leave it out", pointer
        )
