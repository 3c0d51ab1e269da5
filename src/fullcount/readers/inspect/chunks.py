"""Samples that an archive holds in chunks.

Such a sample is a small shell beside four sequences, of which the messages and the attachments
are read here. A sequence lies in members that are named after their first item, without gaps, so
that the end of one gives the name of the next. (`log/_recorders/chunked/format.py` of inspect_ai
0.3.285; no release writes them unless it is asked to convert a log.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.errors import DamagedInputError, quoted
from fullcount.readers._json import iter_array, loads
from fullcount.readers.inspect.texts import ATTACHMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.readers._zip import Archive

__all__ = ["SHELL", "chunked_sample"]

SHELL = "/sample.json"
_MOST_MESSAGES = 1_000_000


def chunked_sample(archive: Archive, stem: str, shown: str, *, messages: bool) -> Any:
    """The sample as if it were one member, without its events.

    Args:
        archive: The log.
        stem: What the names of its members begin with.
        shown: The log's name in messages.
        messages: Whether its conversation is read too.

    Raises:
        DamagedInputError: Something that it refers to is not there.
    """
    name = stem + SHELL
    sample = loads(archive.read(name), source=shown, member=name)
    if not isinstance(sample, dict):
        raise DamagedInputError("must be an object", source=shown, member=name)
    if messages:
        order = list(_conversation(sample.get("message_refs"), shown, name))
        items = _items(archive, f"{stem}/messages", shown, set(order))
        sample["messages"] = [items[index] for index in order]
    texts = _items(archive, f"{stem}/attachments", shown, set(_attached(sample)))
    sample["attachments"] = {str(index): text for index, text in texts.items()}
    return sample


def _conversation(references: Any, shown: str, member: str) -> Iterator[int]:
    """The messages of the conversation, from half-open ranges."""
    left = _MOST_MESSAGES
    for each in references if isinstance(references, list) else ():
        if not (isinstance(each, list) and len(each) == 2 and all(type(n) is int for n in each)):
            problem = f"must be ranges of messages, not {quoted(each)}"
        elif not 0 <= each[0] <= each[1] <= each[0] + left:
            problem = f"must be ranges of at most {_MOST_MESSAGES:,} messages, not {quoted(each)}"
        else:
            left -= each[1] - each[0]
            yield from range(*each)
            continue
        raise DamagedInputError(problem, source=shown, member=member, pointer="/message_refs")


def _items(archive: Archive, folder: str, shown: str, wanted: set[int]) -> dict[int, Any]:
    """Items of a sequence by their index."""
    found: dict[int, Any] = {}
    last = max(wanted, default=-1)
    start = 0
    while start <= last:
        name = f"{folder}/{start}.json"
        index = start
        with archive.stream(name) as stream:
            for value in iter_array(stream, source=shown, member=name):
                if index in wanted:
                    found[index] = value
                index += 1
        if index == start:
            raise DamagedInputError("holds no items", source=shown, member=name)
        start = index
    return found


def _attached(value: Any) -> Iterator[int]:
    """The numbers of the attachments that a value refers to."""
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, dict):
            stack += found.values()
        elif isinstance(found, list):
            stack += found
        elif isinstance(found, str) and found.startswith(ATTACHMENT):
            number = found.removeprefix(ATTACHMENT)
            if number.isascii() and number.isdigit() and len(number) < 10:
                yield int(number)
