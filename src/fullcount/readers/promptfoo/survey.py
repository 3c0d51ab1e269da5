"""The first look at a file: its columns, what each is scored on, and which rows are not there."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fullcount.errors import DamagedInputError, quoted
from fullcount.readers._fields import as_count, as_dict, as_list, as_word
from fullcount.readers._seen import Attempts, Seen
from fullcount.readers.promptfoo.files import rows
from fullcount.readers.promptfoo.states import base_type, in_sets, reading

if TYPE_CHECKING:
    from collections.abc import Collection

    from fullcount.readers.promptfoo.files import Row
    from fullcount.sources import Source

__all__ = ["Column", "Key", "Shape", "Survey", "case_of", "key_of", "shape_of", "survey"]

Shape = tuple[tuple[str, str | None], ...]
"""Type and metric of each assertion of a test."""
Key = tuple[int | None, str, str, str]
"""Place of the prompt, provider, its label; and a digest of the prompt where it has no place."""


@dataclass
class Column:
    """One provider under one prompt.

    Attributes:
        provider: Its id.
        label: Its label, or nothing.
        index: `promptIdx`.
        prompt: `promptId`, or nothing.
        rows: How many rows count.
        kinds: Rows by what they say and whether they are a success.
        shapes: Shapes of the tests.
        attempts: Numbers the repeats of a test.
    """

    provider: str
    label: str
    index: int | None
    prompt: str = ""
    rows: int = 0
    kinds: Counter[tuple[str, bool]] = field(default_factory=Counter)
    shapes: set[Shape] = field(default_factory=set)
    attempts: Attempts = field(default_factory=Attempts)


@dataclass
class Survey:
    """What a file holds.

    Attributes:
        head: Everything of a document but its rows.
        columns: By what tells them apart, in the order of the prompts.
        named: For each shape, the metrics that any of its rows has or plans.
        cells: Places of the grid of tests and columns that have a row.
        replaced: Numbers of rows whose place a later row takes.
        tests: One more than the highest `testIdx`.
        full: Whether every test is for every prompt and provider, as far as one can tell.
        distinct: Whether each column has a `promptIdx` of its own; files put together share them.
    """

    head: dict[str, Any] = field(default_factory=dict)
    columns: dict[Key, Column] = field(default_factory=dict)
    named: dict[Shape, dict[str, None]] = field(default_factory=dict)
    cells: Seen = field(default_factory=Seen)
    replaced: Collection[int] = ()
    tests: int = 0
    full: bool = True
    distinct: bool = True

    def absent(self, column: Column) -> int:
        """Places of a column that were planned and have no row."""
        return self.tests - column.rows if self.full and column.index is not None else 0

    def metrics(self, column: Column) -> list[str]:
        """Named metrics of a column."""
        return sorted({name for shape in column.shapes for name in self.named[shape]})


def survey(source: Source) -> Survey:
    """Go through the file once, and twice more where rows share a place.

    Raises:
        DamagedInputError: A row is not what it must be, or there is none.
    """
    found = _survey(source, ())
    repeated = found.cells.repeated()
    if repeated:
        replaced = _replaced(source, repeated)
        if replaced:
            found = _survey(source, replaced)
    return found


def key_of(row: Row, source: Source) -> Key:
    """What tells a row's column apart."""
    value = row.value
    provider = value.get("provider")
    # Old versions hold the bare id.
    described = {"id": provider} if isinstance(provider, str) else as_dict(provider)
    name = as_word(described.get("id"))
    if name is None:
        raise row.damaged(f"must name the provider, not {quoted(provider)}", "/provider/id", source)
    index = as_count(value.get("promptIdx"))
    prompt = ""
    if index is None:
        label = as_dict(value.get("prompt")).get("label")
        prompt = sha256(str(label).encode("utf-8", "surrogatepass")).hexdigest()
    return index, name, as_word(described.get("label")) or "", prompt


def case_of(value: dict[str, Any]) -> str:
    """Id of a test case, which promptfoo gives none: a digest of the whole case."""
    case = value.get("testCase")
    text = json.dumps(value.get("vars") if case is None else case, sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def shape_of(value: dict[str, Any]) -> Shape:
    """Type and metric of each assertion of a row's test."""
    assertions = as_list(as_dict(value.get("testCase")).get("assert"))
    return tuple((base_type(each), as_word(each.get("metric"))) for each in in_sets(assertions))


def _survey(source: Source, replaced: Collection[int]) -> Survey:
    found = Survey(replaced=replaced)
    for row in rows(source, found.head):
        _check(row, source)
        if row.number not in replaced:
            _note(found, row, source)
    if not found.columns:
        raise DamagedInputError("holds no result", source=source.shown)
    found.columns = dict(sorted(found.columns.items(), key=lambda item: item[0][0] or 0))
    indices = {column.index for column in found.columns.values()}
    found.distinct = None not in indices and len(indices) == len(found.columns)
    found.full = found.full and found.distinct
    return found


def _note(found: Survey, row: Row, source: Source) -> None:
    key, value = key_of(row, source), row.value
    column = found.columns.get(key)
    if column is None:
        index, provider, label, _ = key
        column = found.columns[key] = Column(provider, label, index)
    column.rows += 1
    column.prompt = column.prompt or as_word(value.get("promptId")) or ""
    column.attempts.note(case_of(value))
    column.kinds[reading(value).kind, value["success"]] += 1
    shape = shape_of(value)
    column.shapes.add(shape)
    names = found.named.get(shape)
    if names is None:
        # A name with a placeholder becomes another one in each row.
        planned = (name for _, name in shape if name is not None and "{{" not in name)
        names = found.named[shape] = dict.fromkeys(planned)
    names.update(dict.fromkeys(value["namedScores"] or ()))
    test = as_count(value.get("testIdx"))
    case = as_dict(value.get("testCase"))
    if test is None or key[0] is None or case.get("providers") or case.get("prompts"):
        found.full = False
    if test is not None and key[0] is not None:
        found.cells.add(Seen.key(key, test))
        found.tests = max(found.tests, test + 1)


def _check(row: Row, source: Source) -> None:
    """Refuse a row that lacks what every version writes; `namedScores` may be null."""
    value = row.value
    if not isinstance(value.get("success"), bool):
        problem = f"must be true or false, not {quoted(value.get('success'))}"
        raise row.damaged(problem, "/success", source)
    score = value.get("score")
    if score is not None and (isinstance(score, bool) or not isinstance(score, (int, float))):
        problem = f"must be a number or null, not {quoted(score)}"
        raise row.damaged(problem, "/score", source)
    if not isinstance(value.setdefault("namedScores", {}) or {}, dict):
        problem = f"must be an object, not {quoted(value['namedScores'])}"
        raise row.damaged(problem, "/namedScores", source)
    if "" in (value["namedScores"] or {}):
        raise row.damaged("a metric has no name", "/namedScores", source)
    failure = value.get("failureReason")
    if failure not in (None, 0, 1, 2):
        problem = f"must be 0, 1 or 2, not {quoted(failure)}"
        raise row.damaged(problem, "/failureReason", source)


def _replaced(source: Source, repeated: Collection[int]) -> set[int]:
    """Numbers of the rows whose place is taken again further down."""
    last: dict[tuple[Key, int], int] = {}
    replaced = set()
    for row in rows(source, {}):
        key, test = key_of(row, source), as_count(row.value.get("testIdx"))
        if key[0] is None or test is None or Seen.key(key, test) not in repeated:
            continue
        if (key, test) in last:
            replaced.add(last[key, test])
        last[key, test] = row.number
    return replaced
