"""Writes tables as Parquet, one row group after the other."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fullcount_croissant.columns import Column, Table, columns_of

if TYPE_CHECKING:
    from fullcount.plugin import ContentPolicy, Sink

__all__ = ["Part", "PublishedFile", "TableWriter", "write_bytes"]

_TYPES = {
    "text": pa.string(),
    # Plain strings, which Parquet stores by a dictionary: an Arrow dictionary type would come
    # back as one only in some readers, and is refused by others.
    "enum": pa.string(),
    "integer": pa.int64(),
    "float": pa.float64(),
    "flag": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
    "texts": pa.list_(pa.string()),
    "integers": pa.list_(pa.field("element", pa.int64(), nullable=False)),
    "flags": pa.list_(pa.field("element", pa.bool_(), nullable=False)),
}
_LISTS = frozenset({"texts", "integers", "flags"})
_EXACT = 2**53
_HEAVY = 32 << 20
"""Characters of text after which a row group is written, whatever rows it may hold."""


class PublishedFile:
    """A file of the artifact that knows its digest and size.

    A conversion that is refused closes the files below without asking this one, and Arrow
    writes its footer when it is thrown away; by then there is nothing left to write to.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._dead = False
        self.size = 0

    @property
    def sha256(self) -> str:
        """Digest of everything written so far."""
        return self._digest.hexdigest()

    @property
    def closed(self) -> bool:
        """Whether no more can be written."""
        return self._file.closed

    def readable(self) -> bool:
        """Never."""
        return False

    def writable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Never."""
        return False

    def tell(self) -> int:
        """Bytes written so far."""
        return self.size

    def flush(self) -> None:
        """Leave it to the file below when it writes."""

    def write(self, data: Any) -> int:
        """Write all of the bytes."""
        block = bytes(data)
        self.size += len(block)
        if self._dead or self._file.closed:
            return len(block)
        self._digest.update(block)
        try:
            self._file.write(block)
        except BaseException:
            self._dead = True
            raise
        return len(block)

    def close(self) -> None:
        """Complete the file."""
        self._file.close()


@dataclass
class Part:
    """One Parquet file of a table.

    Attributes:
        path: Relative to the dataset's folder.
        table: Name of the table.
        runs: Runs that have rows in it, or would have if they had any.
        rows: Its rows.
        sha256: Its digest, in lower-case hexadecimal.
        size: Its bytes.
    """

    path: str
    table: str
    runs: list[str] = field(default_factory=list)
    rows: int = 0
    sha256: str = ""
    size: int = 0


class TableWriter:
    """Holds the rows of one table until a row group is full, then writes them.

    Args:
        sink: Where the files go.
        table: The table.
        policy: Content policy: which columns there are.
        row_group_size: Rows of a row group.
        max_file_size: Bytes after which the table is continued in another file.
    """

    def __init__(
        self,
        sink: Sink,
        table: Table,
        policy: ContentPolicy,
        row_group_size: int,
        max_file_size: int,
    ) -> None:
        self.table = table
        self.columns = columns_of(table, policy)
        self.parts: list[Part] = []
        self._sink = sink
        self._row_group_size = row_group_size
        self._max_file_size = max_file_size
        self._schema = _schema(self.columns)
        self._rows: list[tuple[Any, ...]] = []
        self._weight = 0
        self._heavy = [i for i, column in enumerate(self.columns) if column.heavy]
        self._integers = [
            i for i, column in enumerate(self.columns) if column.kind == "integer" and column.null
        ]
        self._large: set[str] = set()
        self._with_null: set[str] = set()
        self._run: str | None = None
        self._file: PublishedFile | None = None
        self._writer: pq.ParquetWriter | None = None

    @property
    def rounded(self) -> list[str]:
        """Columns whose integers pandas rounds: too large for a double, and beside a null."""
        return sorted(self._large & self._with_null)

    def begin(self, run_id: str, *, partition: bool) -> None:
        """Rows of this run follow: in a file of its own, or at least in its own row groups."""
        self._flush()
        if partition:
            self._close_part()
        self._run = run_id
        if self._writer is None:
            self._open_part()
        elif run_id not in self.parts[-1].runs:
            self.parts[-1].runs.append(run_id)

    def add(self, row: tuple[Any, ...]) -> None:
        """One row, with a value for each column."""
        self._rows.append(row)
        for index in self._heavy:
            value = row[index]
            if value is not None:
                self._weight += len(value) if isinstance(value, str) else sum(map(_length, value))
        if len(self._rows) >= self._row_group_size or self._weight >= _HEAVY:
            self._flush()

    def close(self) -> None:
        """Complete the table, which has a file even if it has no row, unless it is optional."""
        self._flush()
        if not self.parts and not self.table.optional:
            self._open_part()
        self._close_part()

    def _flush(self) -> None:
        if not self._rows:
            return
        if self._writer is None:
            self._open_part()
        assert self._writer is not None  # noqa: S101 - just opened
        arrays = [
            pa.array(values, kind)
            for values, kind in zip(zip(*self._rows, strict=True), self._schema.types, strict=True)
        ]
        for index in self._integers:
            self._note_range(self.columns[index].name, arrays[index])
        self._writer.write_table(
            pa.Table.from_arrays(arrays, schema=self._schema), row_group_size=len(self._rows)
        )
        part = self.parts[-1]
        part.rows += len(self._rows)
        self._rows.clear()
        self._weight = 0
        if self._file is not None and self._file.size >= self._max_file_size:
            self._close_part()

    def _note_range(self, name: str, values: pa.Array) -> None:
        if values.null_count:
            self._with_null.add(name)
        bounds = pc.min_max(values).as_py().values()
        if any(bound is not None and abs(bound) > _EXACT for bound in bounds):
            self._large.add(name)

    def _open_part(self) -> None:
        number = len(self.parts) + 1
        suffix = "" if number == 1 else f"_{number:04}"
        part = Part(f"{self.table.name}{suffix}.parquet", self.table.name)
        if self._run is not None:
            part.runs.append(self._run)
        self._file = PublishedFile(self._sink.open(part.path))
        self._writer = pq.ParquetWriter(
            self._file,
            self._schema,
            compression="zstd",
            use_dictionary=[c.name for c in self.columns if c.kind == "enum"],
            write_statistics=[c.name for c in self.columns if c.kind not in _LISTS],
        )
        self.parts.append(part)

    def _close_part(self) -> None:
        if self._writer is None or self._file is None:
            return
        self._writer.close()
        self._file.close()
        part = self.parts[-1]
        part.sha256, part.size = self._file.sha256, self._file.size
        self._writer = self._file = None


def write_bytes(sink: Sink, path: str, data: bytes) -> None:
    """Write a whole file."""
    with sink.open(path) as file:
        file.write(data)


def _length(text: str | None) -> int:
    return 0 if text is None else len(text)


def _schema(columns: tuple[Column, ...]) -> pa.Schema:
    return pa.schema(
        pa.field(
            column.name,
            _TYPES[column.kind],
            nullable=bool(column.null),
            metadata={"description": column.description},
        )
        for column in columns
    )
