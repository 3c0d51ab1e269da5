"""Rows of JSON lines, a JSON array, a CSV file or a Parquet file, one after the other."""

from __future__ import annotations

import csv
import importlib
import io
from datetime import date, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from fullcount.errors import DamagedInputError, InputError, MissingDependencyError, one_line, quoted
from fullcount.plugin import Confidence
from fullcount.readers._fields import one_of
from fullcount.readers._json import iter_array, loads, walk_object
from fullcount.readers._jsonl import objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.sources import Source

__all__ = ["Kind", "Row", "kind_of", "rows", "sniff"]

Kind = Literal["array", "csv", "lines", "object", "parquet"]
_LONGEST_CELL = 512 << 20
_BATCH = 1_000
_WORDS = frozenset({"PASS", "PARTIAL", "FAIL", "CONTRADICTED", "UNKNOWN", "DISPUTED"})
_STATUSES = frozenset({"completed", "subject_error", "harness_error", "evaluator_error", "blocked"})


class Row(NamedTuple):
    """One row, and where it stands.

    Attributes:
        number: Counted from 0.
        line: Its line, where the file has lines.
        value: Its cells by column. A cell of CSV is a text, or not there when it is empty.
    """

    number: int
    line: int | None
    value: dict[str, Any]

    def get(self, column: str) -> Any:
        """A cell; `...` where there is none. A dot leads into an object."""
        value = self.value
        if column in value:
            return value[column]
        for part in column.split("."):
            if not isinstance(value, dict) or part not in value:
                return ...
            value = value[part]
        return value

    def damaged(self, problem: str, column: str, source: Source) -> DamagedInputError:
        """An error about a cell."""
        place = f"column {quoted(column)}: " if column else ""
        pointer = None if self.line is not None else f"/{self.number}"
        return DamagedInputError(
            f"{place}{problem}", source=source.shown, line=self.line, pointer=pointer
        )


def sniff(source: Source) -> Confidence:
    """Only records in the vocabulary of trials are known without a mapping."""
    if source.is_folder or kind_of(source) not in ("lines", "array"):
        return Confidence(0)
    head = source.head.removeprefix(b"\xef\xbb\xbf").lstrip(b"[ \t\r\n")
    try:
        first = loads(head.partition(b"\n")[0].rstrip(b" ,\r\n]"))
    except InputError:
        return Confidence(0)
    if not isinstance(first, dict) or "case" not in first:
        return Confidence(0)
    verdict, status = first.get("verdict"), first.get("status")
    if one_of(verdict, _WORDS) and one_of(status, _STATUSES):
        return Confidence(60, "case, status and verdict in the words of trials")
    return Confidence(0)


def kind_of(source: Source) -> Kind:
    """What a file is, by how it starts."""
    head = source.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if source.head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"["):
        return "array"
    if not head.startswith(b"{"):
        return "csv"
    first, more, _ = head.partition(b"\n")
    try:
        # One whole object in the first line, and another one behind it or nothing at all.
        return "lines" if isinstance(loads(first), dict) or not more else "object"
    except InputError:
        return "object"


def rows(source: Source, *, array: str | None = None, delimiter: str = ",") -> Iterator[Row]:
    """Every row of a file.

    Args:
        source: The file.
        array: In a file that is one object, where the rows stand.
        delimiter: Of a CSV file.

    Raises:
        DamagedInputError: The file is not what it seems to be.
        MissingDependencyError: A Parquet file needs pyarrow.
    """
    kind = "object" if array else kind_of(source)
    if kind == "parquet":
        yield from _parquet(source)
    elif kind == "csv":
        yield from _csv(source, delimiter)
    elif kind == "lines":
        with source.open() as file:
            for number, (line, _, value) in enumerate(objects(file, source=source.shown)):
                yield Row(number, line, value)
    else:
        yield from _json(source, kind, array)


def _json(source: Source, kind: str, array: str | None) -> Iterator[Row]:
    with source.open() as file:
        if kind == "array":
            for number, value in enumerate(iter_array(file, source=source.shown)):
                yield _row(number, value, source, f"/{number}")
            return
        if array is None:
            raise DamagedInputError(
                "is one JSON object; say with `rows` in the mapping where its rows stand",
                source=source.shown,
            )
        path = array.replace(".", "/")
        parts = path.split("/")
        inside = {"/".join(parts[:depth]) for depth in range(1, len(parts))}
        found = False
        number = 0
        for part in walk_object(file, {path}, inside=inside, source=source.shown):
            if part.key == path:
                found = found or part.kind == "end"
                if part.kind == "item":
                    yield _row(number, part.value, source, f"/{path}/{number}")
                    number += 1
        if not found:
            raise DamagedInputError(
                "must be the array of rows", source=source.shown, pointer=f"/{path}"
            )


def _row(number: int, value: Any, source: Source, pointer: str) -> Row:
    if not isinstance(value, dict):
        raise DamagedInputError(
            f"must be an object, not {quoted(value)}", source=source.shown, pointer=pointer
        )
    return Row(number, None, value)


def _csv(source: Source, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(_LONGEST_CELL)
    with (
        source.open() as file,
        io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text,
    ):
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        line = 1
        try:
            names = _header(next(reader, []), source)
            line = reader.line_num + 1
            number = 0
            for cells in reader:
                if len(cells) > len(names):
                    raise DamagedInputError(
                        f"has {len(cells)} cells, where the first line names {len(names)} columns",
                        source=source.shown,
                        line=line,
                    )
                if cells:
                    filled = zip(names, cells, strict=False)
                    yield Row(number, line, {name: cell for name, cell in filled if cell != ""})
                    number += 1
                line = reader.line_num + 1
        except csv.Error as error:
            raise DamagedInputError(
                f"is no CSV: {one_line(str(error), 120)}", source=source.shown, line=line
            ) from error
        except UnicodeDecodeError as error:
            raise DamagedInputError(
                "is no UTF-8 text; write it again as such", source=source.shown, line=line
            ) from error


def _header(names: list[str], source: Source) -> list[str]:
    names = [name.strip() for name in names]
    if not names or not any(names):
        raise DamagedInputError("has no line that names columns", source=source.shown, line=1)
    for name in names:
        if names.count(name) > 1:
            raise DamagedInputError(
                f"names column {quoted(name)} twice", source=source.shown, line=1
            )
    return names


def _parquet(source: Source) -> Iterator[Row]:
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError as error:
        msg = "a Parquet file needs 'pyarrow'; run: pip install 'fullcount[croissant]'"
        raise MissingDependencyError(msg) from error
    number = 0
    try:
        with parquet.ParquetFile(source.path) as file:
            for batch in file.iter_batches(batch_size=_BATCH):
                for value in batch.to_pylist():
                    yield Row(number, None, _plain(value))
                    number += 1
    except (OSError, ValueError, NotImplementedError) as error:
        raise DamagedInputError(
            f"is no Parquet file that can be read: {one_line(str(error), 120)}", source=source.shown
        ) from error


def _plain(value: Any) -> Any:
    """A cell as JSON would hold it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {name: _plain(cell) for name, cell in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(cell) for cell in value]
    if isinstance(value, Decimal):
        return float(value)
    return value.total_seconds() if isinstance(value, timedelta) else _written(value)


def _written(value: Any) -> str:
    """A cell as text; bytes that are no text are hexadecimal, marked so that no number results."""
    if isinstance(value, (date, time)):
        return value.isoformat()
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        return f"0x{value.hex()}"
