"""Reads event logs of openai/evals.

Checked against `evals/record.py` of mid 2026. The first line is the `spec`; a `final_report` may
come anywhere, because events are flushed by a thread; all others are events of a sample, of which
any kind shows that the sample was begun. Accuracy is over the `match` events, so a sample that
ended in an error is in no number of the report, and one with two is in it twice: here these are
two attempts.

`match` gives one evaluator, and each key of `metrics` another. A key whose values are texts is one
where they are choices: `choice` itself, and any name whose choices the report counts, or that was
`__invalid__`. That is what a model-graded eval could not read of its judge, and scores with the
lowest choice; here it is an error.
"""

from __future__ import annotations

from fullcount.plugin import ReaderSpec

__all__ = ["SPEC"]

SPEC = ReaderSpec(
    name="openai-evals",
    title="openai/evals event logs",
    sniff="fullcount.readers.openai_evals.reader:sniff",
    reader="fullcount.readers.openai_evals.reader:read",
)
