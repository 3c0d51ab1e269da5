"""The inputs that the arguments stand for, one bad argument not stopping the others."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from fullcount.errors import FullcountError
from fullcount.pipeline import Input, find_inputs
from fullcount.registry import make_options, readers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fullcount.notices import Report

__all__ = ["each_input"]


def each_input(
    arguments: Sequence[str], report: Report, reader: str | None, options: dict[str, Any]
) -> Iterator[Input | FullcountError]:
    """Every input once, and the error of every argument that gives none.

    Args:
        arguments: Files, folders and glob patterns.
        report: Where passed-over files are noted.
        reader: Name of the reader to use; by default each source is looked at.
        options: Options of the readers.

    Raises:
        PluginError: The named reader or its options are not usable.
    """
    if reader is not None:
        make_options(readers().get(reader), options)
    return _each(arguments, report, reader, options)


def _each(
    arguments: Sequence[str], report: Report, reader: str | None, options: dict[str, Any]
) -> Iterator[Input | FullcountError]:
    seen: set[str] = set()
    for argument in arguments:
        try:
            for item in find_inputs([argument], report, reader=reader, options=options):
                if isinstance(item, Input):
                    real = os.path.realpath(item.source.path)
                    if real in seen:
                        continue
                    seen.add(real)
                yield item
        except FullcountError as error:
            yield error
