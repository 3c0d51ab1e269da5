"""Evaluation results as OpenTelemetry: events, spans and metrics that keep the unverified visible.

Checked against the OpenTelemetry GenAI semantic conventions, repository
open-telemetry/semantic-conventions-genai at commit 0387091 (event `gen_ai.evaluation.result`,
stability Development), semantic conventions 1.44 for `test.*`, and OTLP 1.10.

What changes form: the case id, the verdict and everything else that the conventions have no
name for stands under `fullcount.*`. The outcome against a threshold becomes the label `pass`,
`partial` or `fail`; a score that is not there has its state as label and no value. Gates become
lists of names. A time before 1970 or after 2554, which OTLP cannot hold, is left out.

What is dropped: prompts, references, outputs and messages, under any content policy.
"""

from __future__ import annotations

from fullcount.plugin import ExporterSpec
from fullcount_otel.options import OtelOptions
from fullcount_otel.support import SUPPORT

__all__ = ["SPEC"]

SPEC = ExporterSpec(
    name="otel",
    title="OpenTelemetry gen_ai.evaluation events, to files or to an OTLP endpoint",
    writer="fullcount_otel.writer:OtelWriter",
    recount="fullcount_otel.recount:recount",
    options=OtelOptions,
    support=SUPPORT,
    versions="semantic-conventions-genai@0387091, OTLP/HTTP, OTLP/JSON lines",
)
