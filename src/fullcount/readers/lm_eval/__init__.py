"""Reads what lm-evaluation-harness writes: `results_*.json` and `samples_*.jsonl`.

Checked against lm_eval 0.4.9.2 and 0.4.13. A results file is read together with the samples
files of the same date beside it, and gives one run for each task. Its trials are documents; a
document's score under each filter and metric is a score of its one trial. Without samples, the
planned documents are trials without a record.
"""

from __future__ import annotations

from fullcount.plugin import ReaderSpec

__all__ = ["SPEC"]

SPEC = ReaderSpec(
    name="lm-eval",
    title="lm-evaluation-harness results and samples",
    sniff="fullcount.readers.lm_eval.files:sniff",
    reader="fullcount.readers.lm_eval.reader:read",
    versions="0.4 (0.3 results without filters)",
)
