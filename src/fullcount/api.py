"""What a program calls: read, tally, convert, verify.

A program writes `import fullcount` and `fullcount.api.convert("logs", "eee", "out")`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fullcount import receipts
from fullcount.convert import Converted, Target, default_context
from fullcount.convert import convert as convert_inputs
from fullcount.errors import UsageError, quoted
from fullcount.notices import Report
from fullcount.pipeline import Input, find_inputs, open_runs, tally_runs, undeclared
from fullcount.plugin import ContentPolicy, ReadRequest, RunStream, SurveyNeeded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fullcount.model import Run, RunTally, Trial
    from fullcount.receipts import Receipt

__all__ = ["convert", "read", "tally", "verify"]

PathLike = str | os.PathLike[str]


def read(
    path: PathLike,
    *,
    reader: str | None = None,
    content: str = "digest",
    report: Report | None = None,
    **options: Any,
) -> Iterator[RunStream]:
    """Yield every run of a file, a folder or a pattern, each with a stream of its trials.

    The trials of a run must be used up before the next run is asked for. Each source is read
    twice, because nothing that was given to the caller can be taken back.

    Args:
        path: What to read.
        reader: Name of the reader; by default the source is looked at.
        content: What to give of prompts, outputs and messages: `digest`, `omit` or `include`.
        report: Collects what is odd about the source.
        **options: Options of the reader.

    Raises:
        InputError: It cannot be read.
        PluginError: The reader or an option is not usable.
        UsageError: `content` is no content policy.
    """
    report = Report() if report is None else report
    request = ReadRequest(_policy(content), report, survey=True)
    for item in _each([path], report, reader, options):
        for stream in open_runs(item, request):
            yield replace(stream, trials=_declared(item, stream))


def tally(
    path: PathLike,
    *,
    reader: str | None = None,
    report: Report | None = None,
    **options: Any,
) -> list[tuple[Run, RunTally]]:
    """Every run of a file, a folder or a pattern, with its counts, rates and findings.

    Args:
        path: What to read.
        reader: Name of the reader; by default the source is looked at.
        report: Collects what is odd about the source.
        **options: Options of the reader.

    Raises:
        InputError: It cannot be read.
        PluginError: The reader or an option is not usable.
    """
    report = Report() if report is None else report
    return [
        result
        for item in _each([path], report, reader, options)
        for result in tally_runs(item, report)
    ]


def convert(  # noqa: PLR0913 - each is one choice of the caller
    sources: PathLike | Iterable[PathLike],
    to: str | Iterable[str],
    output: PathLike,
    *,
    reader: str | None = None,
    content: str = "digest",
    options: Mapping[str, Any] | None = None,
    reader_options: Mapping[str, Any] | None = None,
    fail_on: Literal["loss", "warning"] | None = None,
) -> list[Converted]:
    """Convert results, and count every artifact again before it is put in place.

    Args:
        sources: Files, folders and glob patterns.
        to: Name of an exporter, or of several that are fed in one pass.
        output: Folder to write to; with several exporters, each gets a folder of its name in it.
        reader: Name of the reader; by default each source is looked at.
        content: What leaves of prompts, outputs and messages: `digest`, `omit` or `include`.
        options: Options of the exporter; with several, a mapping of them for each name.
        reader_options: Options of the reader.
        fail_on: Refuse an input whose conversion raises notices that are at least this grave.

    Returns:
        What became of each input, in order. A refused input has its `error` set, leaves
        nothing behind and does not stop the others.

    Raises:
        PluginError: A reader, an exporter or an option is not usable.
        UsageError: `content` is no content policy, or options are for an exporter not named.
    """
    folder, values = Path(output), dict(options or {})
    if isinstance(to, str):
        targets = [Target.named(to, folder, values)]
    else:
        names = list(dict.fromkeys(to))
        for name in values:
            if name not in names:
                msg = f"options are given for {quoted(name)}, which is not written"
                raise UsageError(msg)
        targets = [Target.named(name, folder / name, values.get(name)) for name in names]
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    report = Report()
    inputs = find_inputs(list(sources), report, reader=reader, options=reader_options)
    context = default_context(_policy(content))
    results = list(convert_inputs(inputs, targets, context, fail_on=fail_on))
    passed_over = report.notices()
    if passed_over and results:
        results[-1] = replace(results[-1], notices=(*results[-1].notices, *passed_over))
    return results


def verify(artifact: PathLike) -> list[Receipt]:
    """Check an artifact against its receipts: its files, and the counts read back from them.

    Args:
        artifact: A folder that was written to, a file in it, or a receipt.

    Returns:
        The receipts that were checked.

    Raises:
        VerificationError: There is no receipt, a file is missing or was changed, or its
            counts are not the ones that were written.
    """
    return [receipts.verify(path) for path in receipts.find_receipts(Path(artifact))]


def _policy(content: str) -> ContentPolicy:
    try:
        return ContentPolicy(content)
    except ValueError as error:
        known = ", ".join(ContentPolicy)
        msg = f"content is {quoted(content)}; known: {known}"
        raise UsageError(msg) from error


def _each(
    paths: list[PathLike], report: Report, reader: str | None, options: Mapping[str, Any]
) -> Iterator[Input]:
    for item in find_inputs(paths, report, reader=reader, options=options):
        if not isinstance(item, Input):
            raise item
        yield item


def _declared(item: Input, stream: RunStream) -> Iterator[Trial]:
    try:
        yield from stream.trials
    except SurveyNeeded as needed:
        raise undeclared(item, needed) from None
