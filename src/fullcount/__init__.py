"""Carry evaluation results between formats without losing an unverified row or a null score.

`fullcount.api` is what a program calls; it is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fullcount._version import __version__

if TYPE_CHECKING:
    from fullcount import api

__all__ = ["__version__", "api"]


def __getattr__(name: str) -> Any:
    if name == "api":
        return import_module("fullcount.api")
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
