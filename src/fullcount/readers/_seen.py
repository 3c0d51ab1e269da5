"""Which records were read, and how often, at eight bytes each; and where, at sixteen."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Attempts", "Places", "Seen"]

_PARTS = 64


class Seen:
    """Remembers records by a 64-bit hash of what identifies them.

    Two records of one hash are reported as a possible repetition, which the caller confirms by
    their real ids. Hashes are kept in parts, so that sorting one needs little room.
    """

    def __init__(self) -> None:
        self._parts = [array("q") for _ in range(_PARTS)]
        self._sorted = False
        self.count = 0

    @staticmethod
    def key(*parts: object) -> int:
        """The hash of a record; stable within the process."""
        return hash(parts)

    def add(self, key: int) -> None:
        """Remember a record."""
        self._parts[key & (_PARTS - 1)].append(key)
        self._sorted = False
        self.count += 1

    def repeated(self) -> set[int]:
        """Hashes that more than one record has."""
        return set(self._again())

    def any_repeated(self) -> bool:
        """Whether more than one record has a hash."""
        return any(True for _ in self._again())

    def is_repeated(self, key: int) -> bool:
        """Whether more than one record has this hash; needs no room as `repeated` does."""
        self._sort()
        part = self._parts[key & (_PARTS - 1)]
        index = bisect_left(part, key)
        return part[index : index + 2].count(key) > 1

    def __contains__(self, key: int) -> bool:
        self._sort()
        part = self._parts[key & (_PARTS - 1)]
        index = bisect_left(part, key)
        return index < len(part) and part[index] == key

    def _again(self) -> Iterator[int]:
        self._sort()
        for part in self._parts:
            for index in range(1, len(part)):
                if part[index] == part[index - 1]:
                    yield part[index]

    def _sort(self) -> None:
        if not self._sorted:
            self._parts = [array("q", sorted(part)) for part in self._parts]
            self._sorted = True


class Places:
    """Remembers where the records of each key stand, by the keys that `Seen` makes."""

    def __init__(self) -> None:
        self._keys = [array("q") for _ in range(_PARTS)]
        self._offsets = [array("q") for _ in range(_PARTS)]
        self._sorted = False

    def add(self, key: int, offset: int) -> None:
        """A record of this key starts at this byte, which is beyond those before it."""
        self._keys[key & (_PARTS - 1)].append(key)
        self._offsets[key & (_PARTS - 1)].append(offset)
        self._sorted = False

    def of(self, key: int) -> list[int]:
        """Where the records of a key start, in the order of the file."""
        if not self._sorted:
            for part in range(_PARTS):
                self._sort(part)
            self._sorted = True
        keys = self._keys[key & (_PARTS - 1)]
        offsets = self._offsets[key & (_PARTS - 1)]
        return offsets[bisect_left(keys, key) : bisect_right(keys, key)].tolist()

    def _sort(self, part: int) -> None:
        keys, offsets = self._keys[part], self._offsets[part]
        # Sorting keeps the order of those with one key.
        order = sorted(range(len(keys)), key=keys.__getitem__)
        self._keys[part] = array("q", (keys[index] for index in order))
        self._offsets[part] = array("q", (offsets[index] for index in order))


class Attempts:
    """Numbers the records of a case in a format that does not.

    The file is gone through twice: every case is noted first, and only those that come again
    are counted by name afterwards.
    """

    def __init__(self) -> None:
        self._seen = Seen()
        self._repeated: set[int] | None = None
        self._counts: Counter[str] = Counter()

    def note(self, case: str) -> None:
        """A record of this case is there."""
        self._seen.add(Seen.key(case))

    def next(self, case: str) -> int:
        """Number of the next record of this case, from 1."""
        if self._repeated is None:
            self._repeated = self._seen.repeated()
        if Seen.key(case) not in self._repeated:
            return 1
        self._counts[case] += 1
        return self._counts[case]
