"""Reads promptfoo results: the JSON that `-o out.json` writes, and its JSONL.

Checked against promptfoo 0.120 and the sources up to 0.124 (results version 3; versions 1 and 2,
which hold a table beside the results, are read from their results). A column, which is a provider
under one prompt, is a run. Rows that repeat a test case are its attempts. The evaluator
`promptfoo` gives the weighted score of a row; each named metric is an evaluator of its own.

promptfoo has one number, 0, for a failed assertion, a failed judge, a failed provider and no
output at all. `fullcount.readers.promptfoo.states` lists how they are told apart. JSONL lacks the
rows of tests that timed out: places of the grid of tests and prompts without a row were not run.
"""

from __future__ import annotations

from fullcount.plugin import ReaderSpec

__all__ = ["SPEC"]

SPEC = ReaderSpec(
    name="promptfoo",
    title="promptfoo results, JSON or JSONL",
    sniff="fullcount.readers.promptfoo.files:sniff",
    reader="fullcount.readers.promptfoo.reader:read",
    versions="results version 1 to 3",
)
