"""The suite that holds a reader or an exporter to its contract; needs the extra `testing`.

from fullcount.testing import ExporterContract

class TestMine(ExporterContract):
    exporter = "mine"
"""

from __future__ import annotations

try:
    import pytest
except ImportError as error:
    msg = "fullcount.testing needs pytest and hypothesis; run: pip install 'fullcount[testing]'"
    raise ImportError(msg) from error

# Before they are imported, so that a failing assert shows its values.
pytest.register_assert_rewrite(
    "fullcount.testing.exporter_contract", "fullcount.testing.reader_contract"
)

from fullcount.testing.corpus import CORPUS, Example, example  # noqa: E402 - see above
from fullcount.testing.exporter_contract import ExporterContract  # noqa: E402 - as above
from fullcount.testing.kitchen import CANARIES, kitchen_sink  # noqa: E402 - as above
from fullcount.testing.memory import export_run, memory_input  # noqa: E402 - as above
from fullcount.testing.reader_contract import (  # noqa: E402 - as above
    ReaderContract,
    Sample,
    summary,
)

__all__ = [
    "CANARIES",
    "CORPUS",
    "Example",
    "ExporterContract",
    "ReaderContract",
    "Sample",
    "example",
    "export_run",
    "kitchen_sink",
    "memory_input",
    "summary",
]
