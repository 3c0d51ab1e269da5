"""Maps of strings, which is what the format has for everything without a field of its own."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fullcount.model import Excerpt

__all__ = ["compact", "present", "shown", "strings"]


def strings(values: Mapping[str, Any]) -> dict[str, str]:
    """The values as strings: text and times as they are, all else as JSON; None is left out."""
    return {
        name: value
        if isinstance(value, str)
        else value.isoformat()
        if isinstance(value, datetime)
        else compact(value)
        for name, value in values.items()
        if value is not None
    }


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values without None, for objects in which the schema forbids null."""
    return {name: value for name, value in values.items() if value is not None}


def shown(excerpt: Excerpt) -> str:
    """The text where it is there, else `sha256:` and its digest."""
    return f"sha256:{excerpt.sha256}" if excerpt.text is None else excerpt.text


def _plain(value: object) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    msg = f"no JSON for {type(value).__name__}"
    raise TypeError(msg)


compact = json.JSONEncoder(
    ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_plain
).encode
"""The value as compact ASCII JSON; models without what is None."""
