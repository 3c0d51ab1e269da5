"""Joins readers, tally, exporters and sinks: one pass, bounded memory, many exporters."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fullcount._version import __version__
from fullcount.batch import Batch, FailOn, Target
from fullcount.errors import (
    DamagedInputError,
    ExportError,
    FullcountError,
    UsageError,
    quoted,
)
from fullcount.notices import Notice, Report
from fullcount.pipeline import Input, open_runs, undeclared
from fullcount.plugin import (
    ContentPolicy,
    Context,
    ReadRequest,
    SurveyNeeded,
)
from fullcount.tally import TallyBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping
    from pathlib import Path

    from fullcount.model import Run, RunTally

__all__ = ["Converted", "Target", "convert", "default_context"]


@dataclass(frozen=True)
class Converted:
    """What became of one input.

    Attributes:
        shown: The input, as the user names it.
        runs: Its runs and their tallies.
        receipts: The receipts written, by exporter.
        notices: Everything noticed, by reader and exporters.
        error: Why it was refused; then nothing was written for it.
    """

    shown: str
    runs: tuple[tuple[Run, RunTally], ...] = ()
    receipts: dict[str, Path] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    error: FullcountError | None = None


def default_context(
    content: ContentPolicy = ContentPolicy.DIGEST, environ: Mapping[str, str] | None = None
) -> Context:
    """The context of a conversion now, or at `SOURCE_DATE_EPOCH` where that is set.

    Raises:
        UsageError: `SOURCE_DATE_EPOCH` is no number of seconds.
    """
    epoch = (os.environ if environ is None else environ).get("SOURCE_DATE_EPOCH")
    try:
        now = datetime.now(UTC) if epoch is None else datetime.fromtimestamp(int(epoch), UTC)
    except (ValueError, OverflowError, OSError) as error:
        msg = f"SOURCE_DATE_EPOCH is {quoted(epoch)}, not a number of seconds since 1970"
        raise UsageError(msg) from error
    return Context(now=now, content=content, tool="fullcount", tool_version=__version__)


def convert(
    inputs: Iterable[Input | FullcountError],
    targets: Iterable[Target],
    context: Context,
    *,
    fail_on: FailOn | None = None,
    progress: Callable[[str, int], None] | None = None,
) -> Generator[Converted, None, None]:
    """Convert inputs one after the other, each to all targets in one pass.

    A refused input does not stop the others; where a target makes one artifact of all inputs,
    it does stop that artifact.

    Args:
        inputs: What to read; an error among them is given back as a refusal.
        targets: What to write.
        context: Clock and content policy.
        fail_on: Refuse an input whose notices are at least this grave.
        progress: Called with the input's name and the number of trials read since last time.

    Yields:
        One result for each input, and one more for each target that combines them.
    """
    every = tuple(targets)
    single = [target for target in every if target.spec.scope == "source"]
    combined = [target for target in every if target.spec.scope == "all"]
    with ExitStack() as stack:
        shared = Batch(combined, context, stack, fail_on) if combined else None
        refused = False
        for item in inputs:
            if isinstance(item, FullcountError):
                refused = True
                yield Converted(getattr(item, "source", None) or "input", error=item)
                continue
            # A combined artifact that cannot be whole any more is not fed any further.
            result = _one(item, single, None if refused else shared, context, fail_on, progress)
            refused = refused or result.error is not None
            yield result
        if shared is not None:
            yield _finish(shared, refused=refused)


def _one(
    item: Input,
    targets: list[Target],
    shared: Batch | None,
    context: Context,
    fail_on: FailOn | None,
    progress: Callable[[str, int], None] | None,
) -> Converted:
    shown = item.source.shown
    # A combined artifact cannot take back what it was given, so its inputs are surveyed first.
    for survey in (True,) if shared else (False, True):
        report = Report()
        batch = None
        with ExitStack() as stack:
            try:
                batch = Batch(targets, context, stack, fail_on)
                runs = _feed(
                    item,
                    [batch, *([shared] if shared else [])],
                    ReadRequest(context.content, report, survey),
                    progress,
                )
                paths = batch.finish(report.notices(), item)
                if shared is not None:
                    shared.reader_notices.extend(report.notices())
            except SurveyNeeded as needed:
                if not survey:
                    continue
                return Converted(shown, error=undeclared(item, needed))
            except FullcountError as error:
                noticed = report.notices()
                return Converted(
                    shown, notices=batch.notices(noticed) if batch else noticed, error=error
                )
            return Converted(shown, tuple(runs), paths, batch.notices(report.notices()))
    raise AssertionError


def _feed(
    item: Input,
    batches: list[Batch],
    request: ReadRequest,
    progress: Callable[[str, int], None] | None,
) -> list[tuple[Run, RunTally]]:
    runs: list[tuple[Run, RunTally]] = []
    pens = [pen for batch in batches for pen in batch.pens]
    for stream in open_runs(item, request):
        tally = TallyBuilder(stream.run)
        for pen in pens:
            pen.begin(stream.run)
        seen = 0
        for trial in stream.trials:
            tally.add(trial)
            for pen in pens:
                pen.add(trial)
            seen += 1
            if progress is not None and seen % 1000 == 0:
                progress(item.source.shown, 1000)
        result = tally.build()
        if progress is not None:
            progress(item.source.shown, seen % 1000)
        for pen in pens:
            pen.end(stream.run, result)
        runs.append((stream.run, result))
    if not runs:
        raise DamagedInputError("holds no run", source=item.source.shown)
    return runs


def _finish(shared: Batch, *, refused: bool) -> Converted:
    shown = ", ".join(pen.target.spec.name for pen in shared.pens)
    merged = Report()
    merged.extend(tuple(shared.reader_notices))
    try:
        if refused:
            msg = f"{shown}: not written, because an input of it was refused"
            raise ExportError(msg)
        if not any(pen.runs for pen in shared.pens):
            msg = f"{shown}: not written, because there is no run in it"
            raise ExportError(msg)
        paths = shared.finish(merged.notices(), None)
    except FullcountError as error:
        return Converted(shown, error=error)
    return Converted(shown, receipts=paths, notices=shared.notices(merged.notices()))
