"""The bytes of one member of a ZIP archive, unpacked as they are asked for."""

from __future__ import annotations

import io
import zlib
from struct import Struct
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast

import zstandard

from fullcount.errors import InputError, UnsupportedInputError, one_line
from fullcount.readers._zip_directory import Member, member_error

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["MemberStream"]

_LOCAL = Struct("<4s5H3I2H")
_LOCAL_MARK = b"PK\x03\x04"
_ENCRYPTED = 0x1 | 0x40 | 0x2000
"""Flag bits: encrypted, strongly encrypted, directory encrypted."""
_STORED, _DEFLATED, _ZSTD = 0, 8, 93
_CHUNK = 1 << 16
_MOST_AT_ONCE = 1 << 20
_LARGEST_WINDOW = 128 << 20


class MemberStream(io.RawIOBase):
    """A member, read from its start.

    Args:
        file: The archive, which other streams may read too.
        member: Where the member is.
        end: Where the members end in the file.
        shown: The archive, as messages name it.

    Raises:
        DamagedInputError: There is no such member at that place.
        UnsupportedInputError: It is encrypted, or packed by a method that is not read.
    """

    def __init__(self, file: BinaryIO, member: Member, end: int, shown: str) -> None:
        super().__init__()
        self._member = member
        self._shown = shown
        self._left = member.size
        self._crc = 0
        self._finished = False
        if member.flags & _ENCRYPTED:
            raise self._unsupported("is encrypted; pack it again without a password")
        section = _Section(file, self._start(file, end), member.compressed)
        if member.method == _STORED:
            self._packed: _Packed = section
        elif member.method == _DEFLATED:
            self._packed = _Deflated(section)
        elif member.method == _ZSTD:
            unpacker = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
            self._packed = unpacker.stream_reader(
                cast("BinaryIO", section),  # it only ever reads
                read_size=_CHUNK,
                read_across_frames=True,
            )
        else:
            raise self._unsupported(
                f"is packed by method {member.method}; only 0 (stored), 8 (deflate) and 93 "
                "(zstd) are read; pack it again by one of them"
            )

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill the buffer, or its beginning; 0 at the end.

        Raises:
            DamagedInputError: The member is damaged.
            UnsupportedInputError: It needs too much memory.
        """
        view = memoryview(buffer).cast("B")
        data = self.take(len(view))
        view[: len(data)] = data
        return len(data)

    def take(self, most: int = _MOST_AT_ONCE) -> bytes:
        """The next bytes; none at the end. The last are verified before they are given.

        Raises:
            DamagedInputError: The member is damaged.
            UnsupportedInputError: It needs too much memory.
        """
        if self._finished or most == 0:
            return b""
        data = self._unpack(min(most, self._left, _MOST_AT_ONCE)) if self._left else b""
        if self._left and not data:
            held = self._member.size - self._left
            raise self._damaged(f"ends after {held:,} of the {self._member.size:,} bytes declared")
        self._left -= len(data)
        self._crc = zlib.crc32(data, self._crc)
        if self._left == 0:
            if self._unpack(1):
                raise self._damaged(f"holds more than the {self._member.size:,} bytes declared")
            if self._crc != self._member.crc:
                raise self._damaged("its checksum does not match: the bytes have changed")
            self._finished = True
        return data

    def _unpack(self, most: int) -> bytes:
        try:
            return self._packed.read(most)
        except (zlib.error, zstandard.ZstdError) as error:
            if "too much memory" in str(error):
                raise self._unsupported(
                    f"needs a zstd window of more than {_LARGEST_WINDOW >> 20} MiB; pack it "
                    "again with a smaller one"
                ) from error
            raise self._damaged(f"cannot be unpacked: {one_line(str(error), 120)}") from error

    def _start(self, file: BinaryIO, end: int) -> int:
        """Where the packed bytes start, after a local header that agrees with the directory."""
        member = self._member
        file.seek(member.offset)
        header = file.read(_LOCAL.size)
        if len(header) < _LOCAL.size or not header.startswith(_LOCAL_MARK):
            raise self._damaged("is not where the directory says")
        _, _, _, method, _, _, _, _, _, length, extra = _LOCAL.unpack(header)
        name = file.read(length)
        if name != member.raw_name:
            found = name.decode("utf-8", "backslashreplace")
            raise self._damaged(f"is called {one_line(repr(found), 80)} in its own header")
        if method != member.method:
            raise self._damaged(
                f"is packed by method {member.method} in the directory and by {method} in its "
                "own header"
            )
        start: int = member.offset + _LOCAL.size + length + extra
        if start + member.compressed > end:
            raise self._damaged("reaches into the directory")
        return start

    def _damaged(self, problem: str) -> InputError:
        return member_error(problem, self._member.name, self._shown)

    def _unsupported(self, problem: str) -> InputError:
        return UnsupportedInputError(
            problem, source=self._shown, member=one_line(self._member.name, 120)
        )


class _Packed(Protocol):
    """Where unpacked bytes come from."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at the end."""


class _Section:
    """A part of a file; it minds nothing that others read of the file."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        self._file = file
        self._at = start
        self._left = size

    def read(self, size: int, /) -> bytes:
        self._file.seek(self._at)
        data = self._file.read(min(size, self._left))
        self._at += len(data)
        self._left -= len(data)
        return data


class _Deflated:
    """Inflates a section, never more than is asked for."""

    def __init__(self, section: _Section) -> None:
        self._section = section
        self._zlib = zlib.decompressobj(-zlib.MAX_WBITS)

    def read(self, size: int, /) -> bytes:
        while not self._zlib.eof:
            packed = self._zlib.unconsumed_tail or self._section.read(_CHUNK)
            data = self._zlib.decompress(packed, size)
            if data or not packed:
                return data
        return b""
