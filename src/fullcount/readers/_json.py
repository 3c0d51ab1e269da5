"""JSON as harnesses write it, whole or as a stream.

Beyond the standard, `NaN`, `Infinity` and `-Infinity` are read, as is a lone surrogate escape,
since Python's own writer makes them. Integers are exact, `1e999` is infinite, and of a key that
an object repeats the last value wins. Whatever cannot be read raises `DamagedInputError`, which
names the line, the byte and what stands there; nothing here raises another kind of error.

A text larger than memory is read by `iter_array` or `walk_object`, through a window that moves
over it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from fullcount.errors import one_line
from fullcount.readers._json_text import LARGEST, WINDOW, Readable, Text
from fullcount.readers._json_value import loads

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["Part", "Readable", "iter_array", "loads", "walk_object"]


class Part(NamedTuple):
    """One part of a large object.

    Attributes:
        kind: `value`: a key with its whole value. `item`: one element of a named array.
            `end`: a named array ended.
        key: The key that it stands under; `outer/inner` inside an object that is walked too.
        value: The value or the element; for `end`, how many elements there were.
    """

    kind: Literal["value", "item", "end"]
    key: str
    value: Any


def iter_array(
    stream: Readable,
    *,
    source: str | None = None,
    member: str | None = None,
    window: int = WINDOW,
    largest: int = LARGEST,
) -> Iterator[Any]:
    """Yield each element of a text that is one array.

    Memory is that of the window or of the largest single element, not of the array.

    Args:
        stream: Where the text comes from.
        source: The file, as messages name it.
        member: Member of an archive, as messages name it.
        window: Bytes read at a time.
        largest: An element of more bytes is refused.

    Raises:
        DamagedInputError: It is no JSON array, ends too early, or more follows it.
        UnsupportedInputError: An element is too large.
    """
    text = Text(stream, source, member, window, largest)
    text.open(b"[")
    yield from text.elements("")
    text.finish()


def walk_object(  # noqa: PLR0913 - where it reads, what it gives, how it names and bounds it
    stream: Readable,
    arrays: Collection[str],
    *,
    inside: Collection[str] = (),
    passed_over: Collection[str] = (),
    source: str | None = None,
    member: str | None = None,
    window: int = WINDOW,
    largest: int = LARGEST,
) -> Iterator[Part]:
    """Yield the parts of a text that is one object, in the order of the text.

    A key in `arrays` whose value is an array gives an `item` for each element, and an `end`. Any
    other value, `null` under such a key among them, is parsed whole and gives one `value`. The
    iteration stops without an error only after the object has ended and nothing follows it.

    Args:
        stream: Where the text comes from.
        arrays: Keys whose arrays are given element by element.
        inside: Keys whose objects are walked like the text's own. What stands in them has a key
            like `results/stats`, also in `arrays` and here.
        passed_over: Keys whose values are read in pieces and not given: an array there may hold
            objects that hold long arrays of their own.
        source: The file, as messages name it.
        member: Member of an archive, as messages name it.
        window: Bytes read at a time.
        largest: A value or element of more bytes is refused.

    Raises:
        DamagedInputError: It is no JSON object, ends too early, repeats a key at its top, or
            more follows it.
        UnsupportedInputError: A value or element is too large, or there are too many keys.
    """
    text = Text(stream, source, member, window, largest)
    text.open(b"{")
    yield from _parts(text, arrays, inside, passed_over, "")
    text.finish()


def _parts(
    text: Text,
    arrays: Collection[str],
    inside: Collection[str],
    passed_over: Collection[str],
    above: str,
) -> Iterator[Part]:
    for name in text.fields():
        key = above + name
        pointer = "/" + one_line(key, 80)
        # A name with a slash of its own is not taken for a path.
        path = None if "/" in name else key
        if path in arrays and text.peek() == b"[":
            count = 0
            for element in text.elements(pointer):
                yield Part("item", key, element)
                count += 1
            yield Part("end", key, count)
        elif path in inside and text.peek() == b"{":
            yield from _parts(text, arrays, inside, passed_over, key + "/")
        elif path in passed_over:
            text.pass_over()
        else:
            yield Part("value", key, text.value(pointer))
