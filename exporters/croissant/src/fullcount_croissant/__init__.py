"""Runs as one Croissant 1.1 dataset: a folder of Parquet tables and their description.

    croissant.json          the description, which mlcroissant 1.1.1 validates and reads
    README.md               the dataset card: counts first, then bounds and what is missing
    trials.parquet          a row for each trial, those without a record included
    scores.parquet          a row for each trial and metric, the missing ones included
    summary.parquet         a row for each run and metric: int64 counts, mean, bounds
    runs.parquet            a row for each run: facts, int64 counts, pass rate, bounds
    reported.parquet        the harness's own headline numbers, where there are any
    findings.parquet        what does not add up, where there is anything
    croissant-tasks.jsonld  the same counts and rates as Croissant Tasks 0.1.0

What changes form:

- A trial is told apart by its position in the run, since case and attempt may repeat.
- Times are stored in UTC. Seeds, which may exceed any integer type, are decimal text.
- Gates are three lists of one length; an optional boolean is text; messages, environment,
  packages and usage by model are JSON text. Lists of structures, null lists and null booleans
  are read back wrongly by mlcroissant or by readers built on it.
- A private text is its SHA-256 unless the content policy is `include`.

Nothing is dropped. Checked against mlcroissant 1.1.1 and the Croissant Tasks shapes 0.1.0.
"""

from __future__ import annotations

from fullcount.plugin import ExporterSpec, Requirement
from fullcount_croissant.options import CroissantOptions
from fullcount_croissant.support import SUPPORT

SPEC = ExporterSpec(
    name="croissant",
    title="Croissant 1.1 dataset of Parquet tables; nulls and counts survive",
    writer="fullcount_croissant.writer:CroissantWriter",
    recount="fullcount_croissant.recount:recount",
    check="fullcount_croissant.check:check",
    options=CroissantOptions,
    support=SUPPORT,
    versions="1.1",
    scope="all",
    requires=(Requirement("pyarrow", "pip install 'fullcount[croissant]'"),),
)
