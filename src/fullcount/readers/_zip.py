"""ZIP archives from anyone, with as many members as they like.

The directory is gone through once, as a stream; what is not kept takes no memory, and what is
indexed takes about nine bytes a member. (`zipfile` keeps an object for every member, and reads
zstd only since Python 3.14.) Members may be stored, deflated or zstd, the last in several frames;
zip64, data descriptors, names in UTF-8 and in code page 437, comments and bytes before the
archive are understood. Of members with the same name the last wins.

An archive is refused when it does not end as it must, or its directory does not add up. A member
is refused when its name could lead elsewhere or differs between directory and local header, when
it lies outside the file, is encrypted, or needs another method. Against bombs: nothing is
allocated because a header says so; no member gives more bytes than it declares; a member may not
declare more than the caller's limit; and one of more than 64 MiB may not expand more than
10,000-fold. Deflate cannot exceed 1032. Logs reach about 20 under zstd, a sample that is repeated
with nothing but another id about 4,400, and zeros more than 30,000.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from io import BufferedReader
from typing import TYPE_CHECKING, Self

from fullcount.errors import DamagedInputError, UnsupportedInputError, one_line
from fullcount.readers._zip_directory import (
    Member,
    check_name,
    find_directory,
    parse,
    records,
)
from fullcount.readers._zip_member import MemberStream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from fullcount.sources import Source

__all__ = ["Archive", "Member"]

READ_LIMIT = 256 << 20
STREAM_LIMIT = 16 << 30
RATIO_FROM = 64 << 20
RATIO_LIMIT = 10_000
_BUFFER = 1 << 16
_ENTRY_READ = 512
_BUCKETS = 256
_OFFSET_BITS = 32
_CODE = (1 << _OFFSET_BITS) - 1


class Archive:
    """A ZIP archive, open for reading; use it in a `with` statement, in one thread.

    Args:
        source: The file.
        keep: Whether a member of this name goes to `members`.
        index: Whether a member of this name, not kept, can be found by `find` and `read`.

    Attributes:
        members: The kept members by name, in the order of the directory.
        count: How many entries the directory has.
        duplicates: How many entries repeat the name of an earlier kept one.

    Raises:
        DamagedInputError: It is no whole archive, or a kept or indexed name is not safe.
        UnsupportedInputError: It is split over several files.
    """

    def __init__(
        self,
        source: Source,
        *,
        keep: Callable[[str], bool],
        index: Callable[[str], bool] | None = None,
    ) -> None:
        self.members: dict[str, Member] = {}
        self.count = 0
        self.duplicates = 0
        self._shown = source.shown
        self._file = source.open()
        self._index = _Index()
        try:
            self._directory = find_directory(self._file, self._shown)
            self._scan(keep, index)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; its streams give nothing more."""
        self._file.close()

    def find(self, name: str) -> Member | None:
        """The last member of this name, if it is kept or indexed.

        Raises:
            DamagedInputError: It lies outside the archive.
        """
        kept = self.members.get(name)
        if kept is not None:
            return kept
        for offset in self._index.offsets(name):
            _, found, record = next(
                records(self._file, self._directory, self._shown, offset, _ENTRY_READ)
            )
            if found == name:
                return parse(record, self._directory, self._shown)
        return None

    def read(self, name: str, limit: int = READ_LIMIT) -> bytes:
        """All bytes of a member, its checksum verified.

        Raises:
            DamagedInputError: There is no such member, or it is damaged.
            UnsupportedInputError: It is encrypted, needs an unknown method, or is too large.
        """
        stream = self._open(name, limit)
        chunks = []
        while data := stream.take():
            chunks.append(data)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def stream(self, name: str, limit: int = STREAM_LIMIT) -> BinaryIO:
        """A member as a file, read from its start; several may be open at once.

        The checksum is verified before the last bytes are given; the errors of `read` are
        raised while reading.

        Raises:
            DamagedInputError: There is no such member, or it is damaged.
            UnsupportedInputError: It is encrypted, needs an unknown method, or is too large.
        """
        return BufferedReader(self._open(name, limit), _BUFFER)

    def _open(self, name: str, limit: int) -> MemberStream:
        member = self.find(name)
        if member is None:
            raise DamagedInputError(
                "has no such member", source=self._shown, member=one_line(name, 120)
            )
        size = member.size
        if size > limit:
            raise UnsupportedInputError(
                f"declares {size:,} bytes, more than the {limit:,} that are read; leave it out",
                source=self._shown,
                member=one_line(name, 120),
            )
        if size > RATIO_FROM and size > RATIO_LIMIT * member.compressed:
            raise UnsupportedInputError(
                f"would expand from {member.compressed:,} to {size:,} bytes, more than "
                f"{RATIO_LIMIT:,}-fold, as no log does; if it is genuine, pack it uncompressed",
                source=self._shown,
                member=one_line(name, 120),
            )
        return MemberStream(self._file, member, self._directory.start, self._shown)

    def _scan(self, keep: Callable[[str], bool], index: Callable[[str], bool] | None) -> None:
        directory, shown, members = self._directory, self._shown, self.members
        count = 0
        for offset, name, record in records(self._file, directory, shown):
            count += 1
            if keep(name):
                member = parse(record, directory, shown)
                if members.pop(name, None) is not None:
                    self.duplicates += 1
                members[name] = member
            elif index is not None and index(name):
                check_name(name, record, shown)
                if offset >> _OFFSET_BITS:
                    raise UnsupportedInputError(
                        "the directory of the ZIP archive has more than 4 GiB; split it",
                        source=shown,
                    )
                self._index.add(name, offset)
        if count % directory.modulo != directory.entries:
            raise DamagedInputError(
                f"the directory of the ZIP archive has {count:,} entries, but its end record "
                f"declares {directory.entries:,}; copy it again, or leave it out",
                source=shown,
            )
        self.count = count
        self._index.sort()


class _Index:
    """Where names stand in the directory, in 8 bytes a name: half its hash, half the place.

    The lowest bits of the hash choose a bucket, so that never more than one bucket exists as
    a list. Names that share a hash are told apart by reading their entries.
    """

    def __init__(self) -> None:
        self._buckets = [array("Q") for _ in range(_BUCKETS)]

    def add(self, name: str, offset: int) -> None:
        code = hash(name) & _CODE
        self._buckets[code % _BUCKETS].append(code << _OFFSET_BITS | offset)

    def sort(self) -> None:
        for number, bucket in enumerate(self._buckets):
            self._buckets[number] = array("Q", sorted(bucket))

    def offsets(self, name: str) -> Iterator[int]:
        """Where entries may stand that have this name, the last first."""
        code = hash(name) & _CODE
        bucket = self._buckets[code % _BUCKETS]
        at = bisect_left(bucket, (code + 1) << _OFFSET_BITS)
        while at and bucket[at - 1] >> _OFFSET_BITS == code:
            at -= 1
            yield bucket[at] & _CODE
