"""Archives for tests, well-formed and not; and what a reader makes of a file."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from struct import pack
from typing import TYPE_CHECKING, Any

import pytest
import zstandard

from fullcount import registry
from fullcount.notices import Report
from fullcount.pipeline import Input, open_runs, tally_runs
from fullcount.plugin import ContentPolicy, ReadRequest
from fullcount.sources import Source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fullcount.model import Run, RunTally, Trial

STORED, DEFLATED, ZSTD = 0, 8, 93
FULL = 0xFFFFFFFF


@dataclass
class ZipBuilder:
    """Writes a ZIP archive part by part, so that any part of it can be wrong.

    What `zipfile` writes by itself (deflate, data descriptors, zip64) is better made by it; this
    writes zstd members, and archives that contradict themselves.
    """

    prefix: bytes = b""
    body: bytearray = field(default_factory=bytearray)
    directory: bytearray = field(default_factory=bytearray)
    entries: int = 0

    def add(
        self,
        name: str | bytes,
        data: bytes,
        method: int = ZSTD,
        *,
        frame: int | None = None,
        packed: bytes | None = None,
        local_name: bytes | None = None,
        local_method: int | None = None,
        flags: int = 0,
        crc: int | None = None,
        size: int | None = None,
        compressed: int | None = None,
        offset: int | None = None,
        zip64: bool = False,
        extra: bytes = b"",
    ) -> ZipBuilder:
        """One member.

        Args:
            name: Its name; text gets the UTF-8 flag where it must.
            data: What it holds.
            method: 0, 8 or 93; any other packs nothing.
            frame: Bytes of `data` in one zstd frame; all of them if not given.
            packed: What stands in the archive instead of the packed data.
            local_name: Name in the local header, if it differs.
            local_method: Method in the local header, if it differs.
            flags: General purpose flags.
            crc: Checksum in the headers, if wrong.
            size: Unpacked size in the headers, if wrong.
            compressed: Packed size in the headers, if wrong.
            offset: Place of the local header in the directory, if wrong.
            zip64: Whether sizes and place stand in the zip64 field.
            extra: More extra fields of the directory entry.
        """
        if isinstance(name, str):
            flags |= 0 if name.isascii() else 0x800
            name = name.encode()
        if packed is None:
            packed = squeeze(data, method, frame)
        crc = zlib.crc32(data) if crc is None else crc
        size = len(data) if size is None else size
        compressed = len(packed) if compressed is None else compressed
        offset = len(self.body) if offset is None else offset
        local_name = name if local_name is None else local_name
        local_method = method if local_method is None else local_method
        self.body += pack("<4s5H3I2H", b"PK\3\4", 45, flags, local_method, 0, 33, crc,
                          compressed & FULL, size & FULL, len(local_name), 0)  # fmt: skip
        self.body += local_name + packed
        if zip64:
            extra += pack("<2H3Q", 1, 24, size, compressed, offset)
            size = compressed = offset = FULL
        self.directory += pack("<4s6H3I5H2I", b"PK\1\2", 45, 45, flags, method, 0, 33, crc,
                               compressed, size, len(name), len(extra), 0, 0, 0, 0,
                               offset)  # fmt: skip
        self.directory += name + extra
        self.entries += 1
        return self

    def build(
        self,
        *,
        comment: bytes = b"",
        zip64: bool = False,
        entries: int | None = None,
        gap: bytes = b"",
        disk: int = 0,
    ) -> bytes:
        """The archive: prefix, members, directory, a gap, and the end record."""
        entries = self.entries if entries is None else entries
        size, offset = len(self.directory), len(self.body)
        end = b""
        if zip64:
            end += pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, entries, entries, size, offset)
            end += pack("<4sIQI", b"PK\6\7", 0, offset + size + len(gap), 1)
            entries, size, offset = 0xFFFF, FULL, FULL
        end += pack("<4s4H2IH", b"PK\5\6", disk, disk, entries & 0xFFFF, entries & 0xFFFF, size,
                    offset, len(comment))  # fmt: skip
        return b"".join([self.prefix, self.body, self.directory, gap, end, comment])

    def source(self, folder: Path, name: str = "log.eval") -> Source:
        """The archive as a file of this folder."""
        return write(folder, self.build(), name)


def write(folder: Path, data: bytes, name: str = "log.eval") -> Source:
    """A file of this folder, named in messages by its name alone."""
    path = folder / name
    path.write_bytes(data)
    return Source(path, shown=name)


def squeeze(data: bytes, method: int, frame: int | None = None) -> bytes:
    """The data, packed."""
    if method == DEFLATED:
        squeezer = zlib.compressobj(wbits=-15)
        return squeezer.compress(data) + squeezer.flush()
    if method == ZSTD:
        step = frame or max(len(data), 1)
        frames = [data[at : at + step] for at in range(0, len(data), step)] or [b""]
        return b"".join(map(zstandard.ZstdCompressor().compress, frames))
    return data


@pytest.fixture
def zip_builder() -> ZipBuilder:
    return ZipBuilder()


class Reading:
    """What a reader makes of a file or folder."""

    def __init__(self, reader: str, path: Path, **options: Any) -> None:
        spec = registry.readers().get(reader)
        self.report = Report()
        self.item = Input(Source(path), spec, registry.make_options(spec, options))

    def runs(self) -> list[tuple[Run, RunTally]]:
        return tally_runs(self.item, self.report)

    def run(self) -> Run:
        return self.runs()[0][0]

    def tally(self) -> RunTally:
        ((_, tally),) = self.runs()
        return tally

    def tallies(self) -> list[RunTally]:
        return [tally for _, tally in self.runs()]

    def trials(self, policy: ContentPolicy = ContentPolicy.DIGEST) -> dict[str, Trial]:
        """By case and attempt."""
        streams = open_runs(self.item, ReadRequest(policy, self.report, survey=True))
        return {f"{t.case_id}/{t.attempt}": t for stream in streams for t in stream.trials}

    def states(self) -> dict[str, dict[str, int]]:
        return {
            metric.name: {state.value: count for state, count in metric.states.items() if count}
            for metric in self.tally().metrics
        }

    def statuses(self) -> dict[str, int]:
        return {s.value: count for s, count in self.tally().counts.statuses.items() if count}

    def verdicts(self) -> dict[str, int]:
        return {v.value: count for v, count in self.tally().counts.verdicts.items() if count}

    def findings(self) -> list[str]:
        return [finding.code for finding in self.tally().findings]


@pytest.fixture
def reading() -> Callable[..., Reading]:
    return Reading
