"""Small steps from values of a file to fields of the model, shared by the readers.

None of them guesses: what is not of the kind that is asked for becomes None, and a number is a
number only where the file holds one.
"""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from fullcount.errors import UnsupportedInputError
from fullcount.model import Run, Trial

if TYPE_CHECKING:
    from collections.abc import Container

    from fullcount.sources import Source

__all__ = [
    "as_count",
    "as_dict",
    "as_list",
    "as_number",
    "as_time",
    "as_word",
    "check_absent",
    "error_type",
    "measured",
    "nonfinite",
    "number_of",
    "one_of",
    "present",
    "raw_fields",
    "raw_text",
    "validated",
]

_Record = TypeVar("_Record", Run, Trial)

_MOST_ABSENT = 10_000_000

_TYPES = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ERROR = re.compile(r"(?:[\w.]*\.)?([A-Za-z_]\w*(?:Error|Exception|Timeout|Interrupt|Exit))\b")


def as_dict(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The array, or an empty one."""
    return value if isinstance(value, list) else []


def as_word(value: Any) -> str | None:
    """A non-empty text; a number is written in decimal."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode() or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return repr(value) if isinstance(value, float) and math.isfinite(value) else None


def one_of(value: Any, words: Container[str]) -> str | None:
    """The text if it is one of the words; a value of another kind is none."""
    return value if isinstance(value, str) and value in words else None


def as_count(value: Any) -> int | None:
    """A whole number of at least zero that fits sixty-three bits."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
    return value if is_count else None


def as_number(value: Any) -> float | None:
    """A finite number."""
    return number_of(value) if nonfinite(value) is None else None


def number_of(value: float) -> float:
    """The double nearest to a number; infinite where it is out of range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def nonfinite(value: Any) -> str | None:
    """Why a value is no finite number: `null` (it is none at all), `nan`, `inf`, `-inf`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "null"
    number = number_of(value)
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return None


def as_time(value: Any) -> datetime | None:
    """An instant from ISO 8601 text or seconds since 1970; without an offset it is UTC."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def error_type(message: Any) -> str | None:
    """The name of an exception at the start of its text, where there is one."""
    match = _ERROR.match(message) if isinstance(message, str) else None
    return match[1] if match else None


def raw_fields(value: Any) -> dict[str, Any]:
    """`raw` and `raw_type` of a score."""
    kind = type(value)
    if kind is float and value - value == 0:
        return {"raw": repr(value), "raw_type": "number"}
    text = _ENCODER.encode(value)
    return {
        "raw": text.encode("utf-8", "backslashreplace").decode(),
        "raw_type": _TYPES.get(kind, "string"),
    }


def raw_text(value: Any) -> str:
    """A text as it is, and anything else as its JSON."""
    return value if isinstance(value, str) else _ENCODER.encode(value)


def measured(value: Any) -> dict[str, Any]:
    """State, value, label and raw of a score that an evaluator gave.

    A boolean is 1 or 0 and passes or fails; text, arrays and objects are labels.
    """
    fields = raw_fields(value)
    if isinstance(value, bool):
        fields["state"] = "scored"
        fields["value"] = float(value)
        fields["outcome"] = "passed" if value else "failed"
    elif value is None:
        fields["state"] = "null"
    elif isinstance(value, (int, float)):
        kind = nonfinite(value)
        if kind is None:
            fields["state"] = "scored"
            fields["value"] = number_of(value)
        else:
            fields["state"] = "nan"
            if kind != "nan":
                fields["reason"] = "infinite"
    else:
        fields["state"] = "scored"
        fields["label"] = value if isinstance(value, str) else fields["raw"]
    return fields


def check_absent(count: int, source: Source, pointer: str) -> None:
    """Refuse a plan of so many trials without a record that counting them out has no end.

    Args:
        count: Planned trials without a record.
        source: The file.
        pointer: Where it states the plan.

    Raises:
        UnsupportedInputError: There are more than `_MOST_ABSENT`.
    """
    if count > _MOST_ABSENT:
        raise UnsupportedInputError(
            f"plans {count:,} trials that have no record; more than {_MOST_ABSENT:,} are not "
            "counted out; correct the number",
            source=source.shown,
            pointer=pointer,
        )


def present(**fields: Any) -> dict[str, Any]:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def validated(kind: type[_Record], fields: dict[str, Any]) -> _Record:
    """The record of these fields; lone surrogates in them are written as their escapes.

    Digests are made before this, over the real text.
    """
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        if not any(each["type"] == "string_unicode" for each in error.errors(include_input=False)):
            raise
    return kind.model_validate(_escaped(fields))


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_escaped(name): _escaped(item) for name, item in value.items()}
    return [_escaped(item) for item in value] if isinstance(value, (list, tuple)) else value
