from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fullcount.testing import ExporterContract

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class TestEee(ExporterContract):
    exporter = "eee"

    @pytest.fixture(autouse=True)
    def _use(self, check_folder: Callable[[Path], None]) -> None:
        self._check = check_folder

    def validate_artifact(self, folder: Path) -> None:
        self._check(folder)
