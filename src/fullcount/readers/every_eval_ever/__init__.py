"""Reads Every Eval Ever records: an aggregate file, with its samples file beside it.

Checked against schema version 0.3.0; records of 0.2 differ only in what is optional here.
Importing this package imports nothing that reads.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fullcount.plugin import Confidence, ReaderSpec

if TYPE_CHECKING:
    from fullcount.sources import Source

__all__ = ["SAMPLES", "SPEC", "sniff"]

SAMPLES = "_samples.jsonl"
"""How the name of a samples file ends, where that of its aggregate has `.json`."""

SPEC = ReaderSpec(
    name="eee",
    title="Every Eval Ever records, aggregate and samples",
    sniff="fullcount.readers.every_eval_ever:sniff",
    reader="fullcount.readers.every_eval_ever.reader:read",
    versions="0.2, 0.3",
)

_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
_KEYS = (b'"schema_version"', b'"evaluation_id"')
_AGGREGATE = (b'"source_metadata"', b'"evaluation_results"', b'"retrieved_timestamp"')
_ROW = (b'"evaluation_name"', b'"sample_id"', b'"interaction_type"')


def sniff(source: Source) -> Confidence:
    """The keys that every record has; a samples file is read with its aggregate."""
    head = source.head
    if not _OBJECT.match(head) or any(key not in head for key in _KEYS):
        return Confidence(0)
    first = head.partition(b"\n")[0]
    if all(key in first for key in (*_KEYS, *_ROW)):
        name = source.path.name
        aggregate = name.removesuffix(SAMPLES) + ".json"
        if name.endswith(SAMPLES) and source.path.with_name(aggregate).is_file():
            return Confidence(0, "rows of an aggregate", part_of=aggregate)
        return Confidence(90, "rows of Every Eval Ever")
    if any(key in head for key in _AGGREGATE):
        return Confidence(95, "schema_version and evaluation_id")
    return Confidence(0)
