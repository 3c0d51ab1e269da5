from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount.testing import ExporterContract

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytest.importorskip("opentelemetry.proto")


class TestFiles(ExporterContract):
    exporter = "otel"

    def validate_artifact(self, folder: Path) -> None:
        """Every line is what opentelemetry-proto reads, of the signal that its file names."""
        from fullcount_otel.otlp_json import records_of  # noqa: PLC0415 - needs the extra

        for path in sorted(folder.glob("*.jsonl")):
            for line in path.read_bytes().splitlines(keepends=True):
                signals = {signal for signal, _, _ in records_of(line)}
                assert signals == {path.name.split(".")[-2]}
                assert line.endswith(b"\n")


class TestEverySwitch(TestFiles):
    options: ClassVar[Mapping[str, Any]] = {
        "trial_spans": True,
        "span_events": True,
        "openinference_annotations": True,
        "braintrust_scores": True,
        "azure_event_name": True,
    }
