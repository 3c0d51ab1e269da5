"""Lines of JSON objects, with the place of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from fullcount.errors import DamagedInputError
from fullcount.readers._json import loads

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LONGEST_LINE", "object_at", "objects"]

LONGEST_LINE = 512 << 20
"""Bytes; a longer line is refused rather than held."""


def objects(
    file: BinaryIO, *, source: str, member: str | None = None
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Each object with its line, from 1, and the byte it starts at; blank lines are passed over.

    Raises:
        DamagedInputError: A line is no JSON object, or longer than `LONGEST_LINE`.
    """
    offset = 0
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise DamagedInputError(
                f"is longer than {LONGEST_LINE >> 20} MiB",
                source=source,
                member=member,
                line=number,
            )
        if not line.isspace():
            yield number, offset, _object(line, source, member, number)
        offset += len(line)


def object_at(
    file: BinaryIO, offset: int, *, source: str, member: str | None = None, line: int = 0
) -> dict[str, Any]:
    """The object of the line that starts at this byte."""
    file.seek(offset)
    return _object(file.readline(LONGEST_LINE), source, member, line)


def _object(line: bytes, source: str, member: str | None, number: int) -> dict[str, Any]:
    value = loads(line, source=source, member=member, line=number)
    if not isinstance(value, dict):
        raise DamagedInputError(
            f"must be a JSON object, not {type(value).__name__}",
            source=source,
            member=member,
            line=number,
        )
    return value
