"""The contract that every exporter keeps, with every dataset read back by mlcroissant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from fullcount.testing import ExporterContract

if TYPE_CHECKING:
    from pathlib import Path

readback = pytest.importorskip("fullcount_croissant.readback")


class TestCroissant(ExporterContract):
    exporter = "croissant"
    # The check runs in a process of its own; here mlcroissant is called directly.
    options = {"license": "CC-BY-4.0", "check": "false", "row_group_size": "100"}
    examples = 8  # mlcroissant takes a second for each

    def validate_artifact(self, folder: Path) -> None:
        found = readback.main(folder, 10)
        assert found == {"errors": [], "warnings": [], "differences": []}

    def plain_bytes(self, path: Path) -> bytes:
        if path.suffix != ".parquet":
            return super().plain_bytes(path)
        with pq.ParquetFile(path) as file:
            text = "\n".join(str(row) for row in file.read().to_pylist())
            return f"{file.schema_arrow}\n{text}".encode()
