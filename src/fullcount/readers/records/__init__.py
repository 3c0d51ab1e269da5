"""Reads records of anyone's own harness: JSON lines, a JSON array, CSV or Parquet.

A mapping in TOML says which column is what and which word means what; see `docs/records.md`.
Importing this package imports nothing that reads.
"""

from __future__ import annotations

from fullcount.plugin import Options, ReaderSpec

__all__ = ["SPEC", "RecordsOptions"]


class RecordsOptions(Options):
    """What the columns are."""

    mapping: str = ""
    """File of the mapping, in TOML. `fullcount sniff FILE` proposes one to start from."""
    preset: str = ""
    """Mapping that ships with fullcount, instead of a file or below it: `trials`."""


SPEC = ReaderSpec(
    name="records",
    title="records of your own, by a mapping: JSONL, JSON, CSV, Parquet",
    sniff="fullcount.readers.records.files:sniff",
    reader="fullcount.readers.records.reader:read",
    options=RecordsOptions,
)
