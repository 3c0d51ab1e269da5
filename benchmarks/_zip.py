"""A ZIP file written in one pass, with deflate or with Zstandard (method 93).

The standard library writes method 93 only from Python 3.14 on.
"""

from __future__ import annotations

import struct
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Literal

import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["METHODS", "Compression", "ZipWriter"]

Compression = Literal["deflate", "zstd"]
METHODS: dict[Compression, int] = {"deflate": 8, "zstd": 93}

_LOCAL = struct.Struct("<4s5H3L2H")
_SIZES = struct.Struct("<3L")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_DATE = (2026 - 1980) << 9 | 3 << 5 | 2
_FULL16, _FULL32 = 0xFFFF, 0xFFFFFFFF
_MODE = 0o600 << 16
_UNIX = 3 << 8


class ZipWriter:
    """Writes members one after the other.

    Args:
        file: Where to; must be seekable.
        compression: How every member is compressed.
    """

    def __init__(self, file: BinaryIO, compression: Compression) -> None:
        self._file = file
        self._method = METHODS[compression]
        self._version = 20 if compression == "deflate" else 63
        # One context for all members: making it anew costs more than a small member.
        self._zstd = zstandard.ZstdCompressor()
        self._directory = bytearray()
        self._count = 0

    @contextmanager
    def member(self, name: str) -> Iterator[Callable[[bytes], None]]:
        """Open the next member; gives the function that takes its bytes."""
        encoded = name.encode()
        start = self._file.tell()
        common = (self._version, 0, self._method, 0, _DATE)
        self._file.write(_LOCAL.pack(b"PK\3\4", *common, 0, 0, 0, len(encoded), 0) + encoded)
        packer = (
            self._zstd.compressobj()
            if self._method == METHODS["zstd"]
            else zlib.compressobj(wbits=-zlib.MAX_WBITS)
        )
        crc = size = packed = 0

        def write(data: bytes) -> None:
            nonlocal crc, size, packed
            crc = zlib.crc32(data, crc)
            size += len(data)
            packed += self._file.write(packer.compress(data))

        yield write
        packed += self._file.write(packer.flush())
        sizes = (crc, packed, size)
        self._file.seek(start + 14)
        self._file.write(_SIZES.pack(*sizes))
        self._file.seek(0, 2)
        extra = b"" if start < _FULL32 else struct.pack("<HHQ", 1, 8, start)
        self._directory += (
            _CENTRAL.pack(
                b"PK\1\2",
                self._version | _UNIX,
                *common,
                *sizes,
                len(encoded),
                len(extra),
                0,
                0,
                0,
                _MODE,
                min(start, _FULL32),
            )
            + encoded
            + extra
        )
        self._count += 1

    def add(self, name: str, data: bytes) -> None:
        """Write a whole member."""
        with self.member(name) as write:
            write(data)

    def close(self) -> None:
        """Write the directory; the file itself stays open."""
        start, size, count = self._file.tell(), len(self._directory), self._count
        self._file.write(self._directory)
        if count >= _FULL16 or start >= _FULL32:
            where = self._file.tell()
            self._file.write(
                _END64.pack(b"PK\6\6", 44, 63, 63, 0, 0, count, count, size, start)
                + _LOCATOR.pack(b"PK\6\7", 0, where, 1)
            )
        few = min(count, _FULL16)
        self._file.write(
            _END.pack(b"PK\5\6", 0, 0, few, few, min(size, _FULL32), min(start, _FULL32), 0)
        )
