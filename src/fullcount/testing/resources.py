"""Measures what a piece of code costs: memory by allocations, and what it imports."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["HEAVY", "imported_by", "peak_memory"]

HEAVY: frozenset[str] = frozenset(
    {
        "click",
        "google",
        "grpc",
        "httpx",
        "ijson",
        "jsonschema",
        "mlcroissant",
        "numpy",
        "opentelemetry",
        "pandas",
        "pyarrow",
        "requests",
        "rich",
        "yaml",
        "zstandard",
    }
)
"""Top-level modules that take long to import, or that nobody needs to list the formats."""


def peak_memory(call: Callable[[], object]) -> int:
    """The most bytes that Python had allocated for the call at any one time."""
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def imported_by(module: str) -> set[str]:
    """The modules, and their top-level packages, in a fresh process after importing one."""
    code = f"import sys, {module}; print('\\n'.join(sys.modules))"
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    names = set(done.stdout.split())
    return names | {name.partition(".")[0] for name in names}
