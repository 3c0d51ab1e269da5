"""Reads HELM run folders: `run_spec.json`, `per_instance_stats.json` and what stands beside them.

Checked against crfm-helm 0.5.16. A folder gives one run for each split and perturbation, since
HELM never averages over them. A trial is one instance in one train trial. A request that failed
was graded as an empty answer: its scores are not measurements, and are kept only as `raw`. A
statistic that is not there was NaN, which HELM deletes when it writes.
"""

from __future__ import annotations

from fullcount.plugin import Options, ReaderSpec

__all__ = ["SPEC", "HelmOptions"]


class HelmOptions(Options):
    """How HELM run folders are read."""

    all_statistics: bool = False
    """Also take token counts, run times and the like as scores."""


SPEC = ReaderSpec(
    name="helm",
    title="HELM run folders",
    sniff="fullcount.readers.helm.reader:sniff",
    reader="fullcount.readers.helm.reader:read",
    options=HelmOptions,
    versions="0.5",
)
