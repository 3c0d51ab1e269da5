"""Hypothesis strategies for the plain values in the model."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

__all__ = [
    "COUNTS",
    "NOT_NEGATIVE",
    "RAW",
    "SHA256",
    "dicts",
    "floats",
    "maybe",
    "texts",
    "timestamps",
    "tuples",
    "words",
]

_NASTY = (
    "😀",
    "e\u0301",
    "\u202eabc",
    "a\u2028b",
    "\x00",
    "\x1b[31m",
    "\ufeff",
    "\uffff",
    "\U0001d54f\U0010ffff",
    "a/b.c",
    '"',
    "'",
    "\\",
    "a\r\nb",
    " ",
    ",;\t",
    "nan",
    "null",
    "-1",
    "<b>&amp;",
    "{}",
    "$ref",
    "@id",
    "../../x",
)


def texts(longest: int = 12) -> st.SearchStrategy[str]:
    """Any string that UTF-8 can carry, the awkward ones often."""
    return st.sampled_from(_NASTY) | st.text(max_size=longest)


def words(longest: int = 12) -> st.SearchStrategy[str]:
    """Any such string that is not empty."""
    return st.sampled_from(_NASTY) | st.text(min_size=1, max_size=longest)


def floats() -> st.SearchStrategy[float]:
    """Any finite double, mostly plain ones."""
    return st.one_of(
        st.sampled_from((0.0, 1.0, 0.5, -0.0, -1.0, 5e-324, 1.7976931348623157e308, -1e308)),
        st.floats(0, 1),
        st.floats(allow_nan=False, allow_infinity=False),
    )


def timestamps() -> st.SearchStrategy[datetime]:
    """Instants from 1970 to 2200, with any offset that ISO 8601 can write."""
    offsets = st.integers(-14 * 60, 14 * 60).map(
        lambda minutes: timezone(timedelta(minutes=minutes))
    )
    return st.datetimes(
        datetime(1970, 1, 2),  # noqa: DTZ001 - hypothesis adds the offset
        datetime(2200, 1, 1),  # noqa: DTZ001 - as above
        timezones=st.just(UTC) | offsets,
    )


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """None, or one of these."""
    return st.none() | strategy


COUNTS = st.sampled_from((0, 1, 2**31, 2**63 - 1)) | st.integers(0, 1000)
NOT_NEGATIVE = st.sampled_from((0.0, 1.5, 1e308)) | st.floats(0, 1e6)
SHA256 = st.binary(min_size=32, max_size=32).map(bytes.hex)
RAW = st.sampled_from(
    ("null", "NaN", "-Infinity", str(2**70), "true", '"C"', '{"a": [1]}', "[]", "1e400")
)


def dicts(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """At most one of these under any key."""
    return st.dictionaries(texts(), values, max_size=1)


def tuples(values: st.SearchStrategy[Any], longest: int = 1) -> st.SearchStrategy[Any]:
    """At most so many of these."""
    return st.lists(values, max_size=longest).map(tuple)
