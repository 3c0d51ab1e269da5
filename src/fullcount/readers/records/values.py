"""What a cell means: words by their tables, scores with their sentinels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt
from fullcount.errors import quoted
from fullcount.readers._fields import as_word, measured, raw_fields
from fullcount.readers.records.mapping import ANY

if TYPE_CHECKING:
    from collections.abc import Mapping as Table

    from fullcount.plugin import ContentPolicy
    from fullcount.readers.records.files import Row
    from fullcount.readers.records.mapping import Mapping, ScoreColumn
    from fullcount.sources import Source

__all__ = ["count", "number", "score", "truth", "word"]


def word(row: Row, column: str, table: Table[str, Any], source: Source) -> Any:
    """What the word of a cell means; None where there is none.

    Raises:
        DamagedInputError: The table does not name it.
    """
    cell = row.get(column)
    if cell is ... or cell is None:
        return None
    text = as_word(cell) if not isinstance(cell, bool) else str(cell).lower()
    found = table.get(text if text is not None else "", table.get(ANY))
    if found is None:
        known = ", ".join(table)
        raise row.damaged(
            f"{quoted(cell)} is none of the words of the mapping ({known}); name it there",
            column,
            source,
        )
    return None if found == "none" else found


def count(row: Row, column: str, source: Source, *, signed: bool = False) -> int | None:
    """A whole number; None where the cell is empty.

    Raises:
        DamagedInputError: The cell holds something else.
    """
    cell = row.get(column)
    if cell is ... or cell is None:
        return None
    value = cell
    if isinstance(cell, str):
        text = cell.strip()
        digits = text.removeprefix("-")
        value = int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 40 else None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if (
        not isinstance(value, int)
        or isinstance(value, bool)
        or (not signed and not 0 <= value < 2**63)
    ):
        raise row.damaged(f"must be a whole number, not {quoted(cell)}", column, source)
    return value


def number(row: Row, column: str, source: Source) -> float | None:
    """A finite number of at least zero; None where the cell is empty or NaN.

    Raises:
        DamagedInputError: The cell holds something else.
    """
    cell = row.get(column)
    if cell is ... or cell is None:
        return None
    try:
        value = math.nan if isinstance(cell, bool) else float(cell)
    except (TypeError, ValueError, OverflowError):
        value = -1.0
    if math.isnan(value) and not isinstance(cell, bool):
        return None
    if not 0 <= value < math.inf:
        raise row.damaged(f"must be a number of at least 0, not {quoted(cell)}", column, source)
    return value


def truth(row: Row, column: str, table: Table[str, bool], source: Source) -> bool | None:
    """True or false, by the table where there is one."""
    cell = row.get(column)
    if isinstance(cell, bool) and not table:
        return cell
    known = table or {"true": True, "false": False, "True": True, "False": False}
    found: bool | None = word(row, column, known, source)
    return found


def score(
    row: Row,
    about: ScoreColumn,
    mapping: Mapping,
    source: Source,
    policy: ContentPolicy,
    *,
    placeholder: bool,
) -> dict[str, Any]:
    """The fields of a `Score`.

    Args:
        row: The row.
        about: The metric.
        mapping: The whole mapping.
        source: Where the row stands, for messages.
        policy: How much text is wanted.
        placeholder: Whether the row's status makes its scores placeholders.

    Raises:
        DamagedInputError: The cell holds a text that the mapping does not explain.
    """
    fields: dict[str, Any] = {}
    told = about.explanation and row.get(about.explanation)
    if isinstance(told, str) and (kept := excerpt(told, policy)) is not None:
        fields["explanation"] = kept
    reason = about.reason and row.get(about.reason)
    if isinstance(reason, str) and reason:
        fields["reason"] = as_word(reason)
    cell = row.get(about.column)
    raw = {} if cell is ... else raw_fields(cell)
    state = about.state and word(row, about.state, mapping.vocabulary.state, source)
    if state is not None and state != "scored":
        return fields | raw | {"state": state}
    if placeholder:
        return fields | raw | {"state": "not_measured"}
    return _value(row, cell, about, source) | fields


def _value(row: Row, cell: Any, about: ScoreColumn, source: Source) -> dict[str, Any]:
    if cell is ...:
        return {"state": about.empty or "missing"}
    raw = raw_fields(cell)
    sentinel = _sentinel(cell, cell if isinstance(cell, str) else raw["raw"], about)
    if sentinel is not None:
        return raw | {"state": sentinel}
    if isinstance(cell, (dict, list)) and not about.categorical:
        raise row.damaged(
            f"must be a number, not {quoted(cell)}; name the column inside it, or set categorical",
            about.column,
            source,
        )
    if not isinstance(cell, str):
        return _judged(measured(cell), about, None)
    if cell in about.values:
        return _judged(raw | {"state": "scored", "value": about.values[cell], "label": cell},
                       about, cell)  # fmt: skip
    value = _parsed(cell)
    if value is not None:
        return _judged(measured(value) | raw, about, None)
    if about.categorical or cell in about.outcomes:
        return _judged(raw | {"state": "scored", "label": cell}, about, cell)
    raise row.damaged(
        f"{quoted(cell)} is no number; name it under sentinels, values or outcomes of this score, "
        "or set categorical",
        about.column,
        source,
    )


def _sentinel(cell: Any, text: str, about: ScoreColumn) -> str | None:
    """The state that a cell stands for; of numbers, -1 and -1.0 are the same."""
    if text in about.sentinels:
        return about.sentinels[text]
    value = _parsed(cell) if isinstance(cell, str) else cell
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        for sentinel, state in about.sentinels.items():
            if _parsed(sentinel) == value:
                return state
    return None


def _parsed(text: str) -> float | None:
    """A number that stands as text, as in CSV every one does."""
    try:
        return float(text.strip()) if "_" not in text else None
    except ValueError:
        return None


def _judged(fields: dict[str, Any], about: ScoreColumn, label: str | None) -> dict[str, Any]:
    """With the outcome against the mapping's words, else against its threshold."""
    if fields["state"] != "scored":
        return fields
    if label is not None and label in about.outcomes:
        return fields | {"outcome": about.outcomes[label]}
    value = fields.get("value")
    if about.threshold is not None and value is not None:
        good = value <= about.threshold if about.lower_is_better else value >= about.threshold
        return fields | {"outcome": "passed" if good else "failed"}
    return fields
