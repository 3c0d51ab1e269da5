"""Where the members of a ZIP archive are: the end record and the central directory.

Follows PKWARE's APPNOTE 6.3.10, sections 4.3.12 to 4.3.16 and 4.5.3 (zip64).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, BinaryIO

from fullcount.errors import DamagedInputError, InputError, UnsupportedInputError, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Directory",
    "Member",
    "check_name",
    "find_directory",
    "member_error",
    "parse",
    "records",
]

_END = Struct("<4s4H2IH")
_END_MARK = b"PK\x05\x06"
_LOCATOR = Struct("<4sIQI")
_LOCATOR_MARK = b"PK\x06\x07"
_END_64 = Struct("<4sQ2H2I4Q")
_END_64_MARK = b"PK\x06\x06"
_ENTRY = Struct("<4s6H3I5H2I")
_ENTRY_MARK = b"PK\x01\x02"
_NAME = Struct("<4s4xH18x3H")
_LONGEST_COMMENT = 0xFFFF
_FULL = 0xFFFFFFFF
_UTF8 = 0x800
_WINDOW = 1 << 18
_UNSAFE = re.compile(r"^/|^[A-Za-z]:|[\\\0]|(?:^|/)\.\.(?:/|$)")


@dataclass(frozen=True, slots=True)
class Member:
    """One file in an archive.

    Attributes:
        name: Its path, with `/` between the parts.
        offset: Where its local header starts in the file.
        compressed: Bytes that it takes in the archive.
        size: Bytes that it holds, as the directory declares.
        method: 0 stored, 8 deflate, 93 zstd.
        crc: CRC-32 of what it holds.
        flags: General purpose flags.
    """

    name: str
    offset: int
    compressed: int
    size: int
    method: int
    crc: int
    flags: int

    @property
    def raw_name(self) -> bytes:
        """The name as the archive writes it."""
        return self.name.encode(_encoding(self.flags))


@dataclass(frozen=True, slots=True)
class Directory:
    """The central directory.

    Attributes:
        start: Where it starts in the file; the members come before it.
        size: Its bytes.
        shift: Bytes before the archive, which its own offsets do not count.
        entries: How many entries the end record declares.
        modulo: The end record counts modulo this number.
    """

    start: int
    size: int
    shift: int
    entries: int
    modulo: int


def find_directory(file: BinaryIO, shown: str) -> Directory:
    """The directory that the end record points to.

    Raises:
        DamagedInputError: There is none.
        UnsupportedInputError: The archive is split over several files.
    """
    size = file.seek(0, os.SEEK_END)
    start = file.seek(max(0, size - _END.size - _LONGEST_COMMENT))
    tail = file.read()
    if _END_MARK not in tail:
        raise DamagedInputError(
            "has no end record as a ZIP archive must: it was cut short or is still being "
            "written; read it when the run has finished",
            source=shown,
        )
    at = len(tail)
    while (at := tail.rfind(_END_MARK, 0, at + len(_END_MARK) - 1)) >= 0:
        if at + _END.size <= len(tail):
            directory = _directory(file, start + at, _END.unpack_from(tail, at), size, shown)
            if directory is not None:
                return directory
    raise DamagedInputError(
        "the end record of the ZIP archive does not fit the file: part of it is missing; "
        "copy it again, or leave it out",
        source=shown,
    )


def records(
    file: BinaryIO, directory: Directory, shown: str, start: int = 0, window: int = _WINDOW
) -> Iterator[tuple[int, str, bytes]]:
    """Yield each entry: where it starts in the directory, its name, and its bytes for `parse`.

    Args:
        file: The archive.
        directory: Where its directory is.
        shown: The archive, as messages name it.
        start: Where in the directory an entry starts, the first to be given.
        window: Bytes read at a time.

    Raises:
        DamagedInputError: The directory breaks off or is no directory.
    """
    buffer = b""
    at = 0  # in the buffer, which starts at `start`
    while start + at < directory.size:
        end = at + _ENTRY.size
        if end <= len(buffer):
            mark, flags, name, extra, comment = _NAME.unpack_from(buffer, at)
            if mark != _ENTRY_MARK:
                raise _broken(shown, start + at)
            end += name + extra + comment
        if end > len(buffer):
            read = start + len(buffer)
            file.seek(directory.start + read)
            wanted = max(window, end - len(buffer))
            data = file.read(min(wanted, directory.size - read))
            if end > len(buffer) + len(data):
                raise _broken(shown, start + at)
            buffer, start, at = buffer[at:] + data, start + at, 0
            continue
        raw = buffer[at + _ENTRY.size : at + _ENTRY.size + name]
        yield start + at, raw.decode(_encoding(flags), "replace"), buffer[at:end]
        at = end


def parse(record: bytes, directory: Directory, shown: str) -> Member:
    """The member that an entry describes.

    Raises:
        DamagedInputError: Its name is not safe, or it does not lie within the archive.
    """
    _, _, _, flags, method, _, _, crc, compressed, size, length, extra, _, _, _, _, offset = (
        _ENTRY.unpack_from(record)
    )
    name = record[_ENTRY.size : _ENTRY.size + length].decode(_encoding(flags), "replace")
    check_name(name, record, shown)
    if _FULL in (size, compressed, offset):
        fields = _zip64(record[_ENTRY.size + length : _ENTRY.size + length + extra])
        try:
            size = next(fields) if size == _FULL else size
            compressed = next(fields) if compressed == _FULL else compressed
            offset = next(fields) if offset == _FULL else offset
        except StopIteration:
            raise member_error("lacks its zip64 sizes", name, shown) from None
    offset += directory.shift
    if offset + compressed > directory.start:
        raise member_error("lies outside the archive", name, shown)
    return Member(name, offset, compressed, size, method, crc, flags)


def check_name(name: str, record: bytes, shown: str) -> None:
    """Refuse a name that leads elsewhere, or is not what it seems.

    Raises:
        DamagedInputError: It is such a name.
    """
    if _UNSAFE.search(name):
        raise member_error(
            "an absolute path, a drive, '..', a backslash or a NUL is not allowed in a name",
            name,
            shown,
        )
    if "\ufffd" in name and not record.startswith(name.encode(), _ENTRY.size):
        raise member_error("the name is not UTF-8 as it claims", name, shown)


def member_error(problem: str, name: str, shown: str) -> InputError:
    """A damage of one member."""
    return DamagedInputError(
        f"{problem}; write the archive again, or leave it out",
        source=shown,
        member=one_line(name, 120),
    )


def _directory(
    file: BinaryIO, at: int, end: tuple[int, ...], file_size: int, shown: str
) -> Directory | None:
    """What an end record points to, if a directory is there."""
    _, disk, first_disk, _, entries, size, offset, comment = end
    if at + _END.size + comment > file_size:
        return None
    modulo = 1 << 16
    after = at
    larger = _end_64(file, at)
    if larger is not None:
        after, disk, first_disk, entries, size, offset = larger
        modulo = 1 << 64
    starts = {after - size: after - size - offset, offset: 0}
    for start, shift in starts.items():
        if start < 0 or shift < 0 or start + size > after:
            continue
        file.seek(start)
        if file.read(4) == _ENTRY_MARK or size == 0:
            if disk or first_disk:
                raise UnsupportedInputError(
                    "is one part of a split ZIP archive; join the parts first", source=shown
                )
            return Directory(start, size, shift, entries, modulo)
    return None


def _end_64(file: BinaryIO, end: int) -> tuple[int, ...] | None:
    """The zip64 end record before an end record: its place, disks, entries, size and offset."""
    if end < _LOCATOR.size:
        return None
    file.seek(end - _LOCATOR.size)
    mark, _, stated, _ = _LOCATOR.unpack(file.read(_LOCATOR.size))
    if mark != _LOCATOR_MARK:
        return None
    # Bytes before the archive move the record away from where it says that it is.
    for place in (stated, end - _LOCATOR.size - _END_64.size):
        if 0 <= place <= end - _LOCATOR.size - _END_64.size:
            file.seek(place)
            record = _END_64.unpack(file.read(_END_64.size))
            if record[0] == _END_64_MARK:
                return (place, record[4], record[5], record[7], record[8], record[9])
    return None


def _zip64(extra: bytes) -> Iterator[int]:
    """The values of the zip64 extra field."""
    at = 0
    while at + 4 <= len(extra):
        kind = int.from_bytes(extra[at : at + 2], "little")
        length = int.from_bytes(extra[at + 2 : at + 4], "little")
        if kind == 1:
            field = extra[at + 4 : at + 4 + length]
            for start in range(0, len(field) - 7, 8):
                yield int.from_bytes(field[start : start + 8], "little")
            return
        at += 4 + length


def _encoding(flags: int) -> str:
    return "utf-8" if flags & _UTF8 else "cp437"


def _broken(shown: str, at: int) -> InputError:
    return DamagedInputError(
        f"the directory of the ZIP archive breaks off at its byte {at}: part of it is missing; "
        "copy it again, or leave it out",
        source=shown,
    )
