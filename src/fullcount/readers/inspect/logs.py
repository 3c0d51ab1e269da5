"""A log as its header and its records, whichever way it is stored."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from fullcount.errors import DamagedInputError
from fullcount.readers._json import iter_array, loads, walk_object
from fullcount.readers._seen import Seen
from fullcount.readers._zip import Archive
from fullcount.readers.inspect.chunks import SHELL, chunked_sample

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from fullcount.sources import Source

__all__ = ["ArchiveLog", "DocumentLog", "Log", "Record"]

_HEADER = "header.json"
_START = "_journal/start.json"
_SUMMARIES = "summaries.json"
_JOURNAL = re.compile(r"_journal/summaries/(\d{1,18})\.json")
_SAMPLE = re.compile(
    r"samples/(?P<id>.+)_epoch_(?P<epoch>\d{1,18})(?:\.json|/sample\.json)", re.DOTALL
)
_LARGEST_HEADER = 256 << 20
_PARSED_WHOLE = 32 << 20
"""A sample of more bytes is parsed piece by piece, without what is not needed of it."""
_NOT_NEEDED = frozenset({"events_data", "store", "timelines"})
_AFTER_SAMPLES = frozenset({"samples", "reductions"})


class Record(NamedTuple):
    """One sample, or its summary.

    Attributes:
        value: What the log holds.
        member: The member of an archive that holds it.
        pointer: Its place in there.
        whole: Whether it is the sample itself.
    """

    value: Any
    member: str | None
    pointer: str
    whole: bool

    def damaged(self, problem: str, source: Source, field: str = "") -> DamagedInputError:
        """The error that says what is wrong with it, or with one of its fields."""
        pointer = f"{self.pointer}/{field}" if field else self.pointer
        return DamagedInputError(
            problem, source=source.shown, member=self.member, pointer=pointer or None
        )


class Log(Protocol):
    """What the reader needs of a log."""

    member: str | None
    """Where the header stands."""
    late: tuple[str, ...]
    """What of the header was found only behind the records that were given."""

    def header(self) -> dict[str, Any]:
        """The log without its samples."""

    def records(self) -> Iterator[Record]:
        """Every record, in the order of the log; may be asked for again."""

    def whole(self, record: Record, sample_id: Any, epoch: int, *, messages: bool) -> Record | None:
        """The sample itself, for its summary; None where the log does not hold it.

        Args:
            record: The summary.
            sample_id: Its id.
            epoch: Its epoch.
            messages: Whether the conversation is asked for.
        """

    def close(self) -> None:
        """Let go of the file."""


class ArchiveLog:
    """A log in an archive; one of a crashed run has a journal instead of header and summaries.

    Summaries that the process had not written when it was killed are lost, so that samples
    without one are looked for wherever the archive has more samples than summaries.
    """

    late: tuple[str, ...] = ()

    def __init__(self, source: Source) -> None:
        self._source = source
        self._samples = 0
        self._unsummarized: list[str] | None = None
        self._archive = Archive(source, keep=_is_small, index=self._is_sample)
        members = self._archive.members
        self.member: str | None = _HEADER if _HEADER in members else _START
        if self.member not in members:
            self._archive.close()
            raise DamagedInputError(
                f"has neither {_HEADER} nor {_START}: it is no Inspect log", source=source.shown
            )
        journal = sorted(
            (int(match[1]), name) for name in members if (match := _JOURNAL.fullmatch(name))
        )
        self._summaries = [_SUMMARIES] if _SUMMARIES in members else [name for _, name in journal]

    def header(self) -> dict[str, Any]:
        """The header, or what the journal knows of the start."""
        member = str(self.member)
        data = self._archive.read(member, _LARGEST_HEADER)
        document = loads(data, source=self._source.shown, member=member)
        if not isinstance(document, dict):
            raise DamagedInputError("must be an object", source=self._source.shown, member=member)
        return document

    def records(self) -> Iterator[Record]:
        """The summaries, and the samples that have none."""
        count = 0
        for record in self._from_summaries():
            count += 1
            yield record
        if self._samples > count:
            for name in self._without_summary():
                yield Record(self._sample(name), name, "", whole=True)

    def whole(self, record: Record, sample_id: Any, epoch: int, *, messages: bool) -> Record | None:
        """The member of the sample; where it is in chunks, what is needed of them."""
        if record.whole:
            return record
        stem = f"samples/{sample_id}_epoch_{epoch}"
        name = f"{stem}.json"
        if self._archive.find(name) is not None:
            return Record(self._sample(name), name, "", whole=True)
        name = stem + SHELL
        if self._archive.find(name) is not None:
            value = chunked_sample(self._archive, stem, self._source.shown, messages=messages)
            return Record(value, name, "", whole=True)
        return None

    def close(self) -> None:
        """Let go of the file."""
        self._archive.close()

    def _is_sample(self, name: str) -> bool:
        if not (name.startswith("samples/") and name.endswith(".json")):
            return False
        self._samples += _SAMPLE.fullmatch(name) is not None
        return True

    def _from_summaries(self) -> Iterator[Record]:
        for name in self._summaries:
            with self._archive.stream(name) as stream:
                for index, value in enumerate(
                    iter_array(stream, source=self._source.shown, member=name)
                ):
                    yield Record(value, name, f"/{index}", whole=False)

    def _without_summary(self) -> list[str]:
        if self._unsummarized is None:
            seen = Seen()
            for record in self._from_summaries():
                if isinstance(record.value, dict):
                    seen.add(Seen.key(str(record.value.get("id")), record.value.get("epoch", 1)))

            def lost(name: str) -> bool:
                match = _SAMPLE.fullmatch(name)
                return match is not None and Seen.key(match["id"], int(match["epoch"])) not in seen

            with Archive(self._source, keep=lost) as archive:
                self._unsummarized = list(archive.members)
        return self._unsummarized

    def _sample(self, name: str) -> Any:
        shown = self._source.shown
        if name.endswith(SHELL):
            stem = name.removesuffix(SHELL)
            return chunked_sample(self._archive, stem, shown, messages=True)
        member = self._archive.find(name)
        if member is None or member.size <= _PARSED_WHOLE:
            return loads(self._archive.read(name), source=shown, member=name)
        sample = {}
        with self._archive.stream(name) as stream:
            for part in walk_object(stream, {"events"}, source=shown, member=name):
                if part.kind == "value" and part.key not in _NOT_NEEDED:
                    sample[part.key] = part.value
        return sample


class DocumentLog:
    """A log in a single JSON document, read as a stream."""

    member: str | None = None

    def __init__(self, source: Source) -> None:
        self._source = source
        self._header: dict[str, Any] = {}
        self._walk: Generator[Record] | None = None
        self._first: Record | None = None
        self.late: tuple[str, ...] = ()

    def header(self) -> dict[str, Any]:
        """Everything that stands before the samples, or all but them if that is not enough."""
        if not self._header:
            self._walk = self._records(self._header)
            self._first = next(self._walk, None)
            if not {"eval", "status"} <= self._header.keys():
                for _ in self._walk:
                    pass
                self._walk = None
        return self._header

    def records(self) -> Iterator[Record]:
        """The samples; the first time with the pass that the header came from."""
        self.header()
        if self._walk is None:
            yield from self._records({})
            return
        walk, self._walk = self._walk, None
        before = set(self._header)
        with closing(walk):
            if self._first is not None:
                yield self._first
            yield from walk
        self.late = tuple(sorted(self._header.keys() - before - _AFTER_SAMPLES))

    def whole(self, record: Record, sample_id: Any, epoch: int, *, messages: bool) -> Record | None:
        """The record itself: a document holds no summaries."""
        del sample_id, epoch, messages
        return record

    def close(self) -> None:
        """Let go of the file."""
        if self._walk is not None:
            self._walk.close()

    def _records(self, header: dict[str, Any]) -> Generator[Record]:
        index = 0
        with self._source.open() as file:
            for part in walk_object(
                file, {"samples"}, passed_over={"reductions"}, source=self._source.shown
            ):
                if part.kind == "value":
                    header[part.key] = part.value
                elif part.kind == "item" and part.key == "samples":
                    yield Record(part.value, None, f"/samples/{index}", whole=True)
                    index += 1


def _is_small(name: str) -> bool:
    return name in (_HEADER, _START, _SUMMARIES) or _JOURNAL.fullmatch(name) is not None
