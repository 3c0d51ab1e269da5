"""The model itself as JSON lines: nothing changes form and nothing is dropped.

A file holds one run after the other: a line of type `run`, a line of type `trial` for each
trial, and a line of type `tally`. Beside each trial stand its derived verdict and retry class,
so that a file can be counted without this library.
"""

from __future__ import annotations

from fullcount.losses import support_keys
from fullcount.plugin import ExporterSpec, Support

SPEC = ExporterSpec(
    name="native",
    title="fullcount's own JSON lines; read back without loss",
    writer="fullcount_native.writer:NativeWriter",
    recount="fullcount_native.writer:recount",
    support={key: Support("carried", key) for key in support_keys()},
    versions="1",
)
