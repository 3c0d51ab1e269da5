"""Reads Inspect AI logs: `.eval` archives and `.json` documents of log versions 1 and 2.

Version 3 is read where a development build of 0.3 wrote it: releases up to 0.3.285 write 2.
Checked against inspect_ai 0.3.138 to 0.3.285. A trial is one epoch of one sample. The header and
the sample summaries of an archive are enough; a sample's own member is opened only where text is
asked for, where a summary may have altered the text that a digest is made of, and where samples
were invalidated, which summaries do not say.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from fullcount.plugin import Options, ReaderSpec

__all__ = ["SPEC", "InspectOptions"]


def _pairs(value: Any) -> Any:
    """`yes:1,no:0` as a mapping."""
    if not isinstance(value, str):
        return value
    pairs = (part.rpartition(":") for part in value.split(",") if part.strip())
    return {name.strip(): number.strip() for name, _, number in pairs}


class InspectOptions(Options):
    """How Inspect logs are read."""

    values: Annotated[
        dict[str, Annotated[float, Field(allow_inf_nan=False)]], BeforeValidator(_pairs)
    ] = {}
    """Numbers for further labels, such as `yes:1,no:0`; C, I, P and N always have theirs."""


SPEC = ReaderSpec(
    name="inspect",
    title="Inspect AI logs, .eval and .json",
    sniff="fullcount.readers.inspect.sniff:sniff",
    reader="fullcount.readers.inspect.reader:read",
    options=InspectOptions,
    versions="log versions 1 and 2, and 3 of development builds",
)
