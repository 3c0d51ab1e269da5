"""Every Eval Ever: an aggregate file for each run and, beside it, a samples file.

Written to schema version 0.3.0; checked against its JSON Schemas and against the validator of
the package `every-eval-ever` 0.3.0, which gives no error and no warning.

What changes form:

* The format has a field for the mean and none for what the mean leaves out. So each count is a
  result of its own beside it, as a number: `quantities.py` is the table of them.
* A row needs a number and a boolean. Only scores with a number have a row. The others are
  counted, and stand in `metadata.scores_without_row` of their trial's rows.
* A verdict is a row of the result `verdict`, which has levels; level -1 is the format's own
  word for unknown, and is written for trials that are unverified.
* Facts that have no field become strings in the nearest map.

What is lost is told in notices: trials with neither a number nor a verdict have no row; a
boolean is written where an evaluator has no threshold.
"""

from __future__ import annotations

from fullcount.plugin import ExporterSpec
from fullcount_eee.names import SCHEMA_VERSION
from fullcount_eee.options import EeeOptions
from fullcount_eee.support import SUPPORT

__all__ = ["SPEC"]

SPEC = ExporterSpec(
    name="eee",
    title="Every Eval Ever: aggregate JSON and samples as JSON lines",
    writer="fullcount_eee.writer:EeeWriter",
    recount="fullcount_eee.recount:recount",
    options=EeeOptions,
    support=SUPPORT,
    versions=SCHEMA_VERSION,
)
