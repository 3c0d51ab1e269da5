"""The writing half: one exporter's pen, and the pens that write side by side."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fullcount import receipts, registry
from fullcount.content import scrub, scrub_all, scrub_pointer
from fullcount.errors import (
    BrokenPluginError,
    FullcountError,
    LossError,
    SinkError,
    VerificationError,
    one_line,
)
from fullcount.interrupts import DeferredInterrupts
from fullcount.losses import LossMeter
from fullcount.notices import Notice, Report, Severity
from fullcount.sinks import DirectorySink, safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from contextlib import ExitStack

    from fullcount.model import Counts, Run, RunTally, Trial
    from fullcount.model.run import Source as RunSource
    from fullcount.pipeline import Input
    from fullcount.plugin import (
        Context,
        ExporterSpec,
        Interrupts,
        Options,
        Writer,
    )

__all__ = ["Batch", "FailOn", "Target"]

FailOn = Literal["loss", "warning"]
_FATAL = {
    "loss": frozenset({Severity.LOSS, Severity.WARNING}),
    "warning": frozenset({Severity.WARNING}),
}


@dataclass(frozen=True)
class Target:
    """An exporter with its options, and the folder that it writes to."""

    spec: ExporterSpec
    options: Options
    folder: Path
    distribution: str = "unknown"

    @classmethod
    def named(cls, name: str, folder: Path, options: Mapping[str, Any] | None = None) -> Target:
        """The target of an installed exporter.

        Raises:
            PluginError: The exporter or an option is not usable.
        """
        spec = registry.exporters().get(name)
        registry.check_requirements(spec)
        entry = registry.exporters().entry(name)
        return cls(spec, registry.make_options(spec, options or {}), folder, entry.distribution)


class Pen:
    """One exporter's writer, its sink, and what was written with it."""

    def __init__(self, target: Target, context: Context, stack: ExitStack) -> None:
        self.target = target
        self.report = Report()
        # A signal between the making of the folder and its place on the stack would leave it.
        with DeferredInterrupts():
            self.sink = stack.enter_context(DirectorySink(target.folder))
        self.runs: list[tuple[Run, RunTally]] = []
        self.superseded: tuple[str, ...] = ()
        self._meter = LossMeter(target.spec.support, self.report, target.spec.name)
        factory = registry.load_object(target.spec, target.spec.writer)
        with self.attributed():
            self.writer: Writer = factory(self.sink, target.options, self.report, context)

    def begin(self, run: Run) -> None:
        self._meter.measure(run)
        with self.attributed():
            self.writer.begin(run)

    def add(self, trial: Trial) -> None:
        self._meter.measure(trial)
        try:
            self.writer.add(trial)
        except Exception as error:
            raise self._failure(error) from error

    def end(self, run: Run, tally: RunTally) -> None:
        with self.attributed():
            self.writer.end(tally)
        self.runs.append((run, tally))

    def close(self) -> None:
        with self.attributed():
            self.writer.close()
        self._meter.report()
        for staged in self.sink.files.values():
            staged.close()

    def deliver(self, interrupts: Interrupts) -> None:
        """Let a writer that sends its records away do so."""
        deliver = getattr(self.writer, "deliver", None)
        if deliver is not None:
            with self.attributed():
                deliver(interrupts)

    def recount(self) -> tuple[Counts, ...]:
        """Counts read back from the staged files, under the names they will have."""
        spec = self.target.spec
        function = registry.load_object(spec, spec.recount)
        paths = tuple(self.sink.staged(name) for name in self.sink.files)
        with self.attributed():
            return tuple(function(paths))

    def check(self) -> None:
        """Hold the staged files to the target's own rules, where the exporter knows how."""
        spec = self.target.spec
        if spec.check:
            function = registry.load_object(spec, spec.check)
            paths = tuple(self.sink.staged(name) for name in self.sink.files)
            with self.attributed():
                function(paths, self.target.options)

    def attributed(self) -> _Attributed:
        """A context that names the exporter in its failures."""
        return _Attributed(self)

    def _failure(self, error: Exception) -> Exception:
        if isinstance(error, FullcountError):
            return error
        name = self.target.spec.name
        msg = f"exporter {name!r} fails: {type(error).__name__}: {one_line(str(error), 300)}"
        return BrokenPluginError(msg)


class _Attributed:
    """Names the exporter in any failure that it should not have raised."""

    def __init__(self, pen: Pen) -> None:
        self._pen = pen

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, FullcountError):
            raise self._pen._failure(error) from error  # noqa: SLF001 - one unit


class Batch:
    """The pens that write side by side, and their common end."""

    def __init__(
        self,
        targets: list[Target],
        context: Context,
        stack: ExitStack,
        fail_on: FailOn | None,
    ) -> None:
        self.context = context
        self.pens = [Pen(target, context, stack) for target in targets]
        self.reader_notices: list[Notice] = []
        self._fail_on = fail_on

    def notices(self, of_reader: Iterable[Notice]) -> tuple[Notice, ...]:
        """The reader's notices and those of every pen."""
        return (*of_reader, *(n for pen in self.pens for n in pen.report.notices()))

    def finish(self, of_reader: tuple[Notice, ...], item: Input | None) -> dict[str, Path]:
        """Close, recount, and only then put everything in place."""
        for pen in self.pens:
            pen.close()
        if self._fail_on is not None:
            for notice in self.notices(of_reader):
                if notice.severity in _FATAL[self._fail_on]:
                    msg = f"{notice.message} ({notice.code}, {notice.count} times)"
                    raise LossError(msg)
        counted = [self._read_back(pen) for pen in self.pens]
        paths: dict[str, Path] = {}
        with DeferredInterrupts() as interrupts:
            for pen in self.pens:
                pen.deliver(interrupts)
            for pen, counts in zip(self.pens, counted, strict=True):
                paths[pen.target.spec.name] = self._receipt(pen, counts, of_reader, item)
            self._commit()
        return paths

    def _read_back(self, pen: Pen) -> tuple[Counts, ...]:
        """The counts of an artifact, which must be those of its runs."""
        counts = pen.recount()
        written = tuple(tally.counts for _, tally in pen.runs)
        try:
            receipts.compare(written, counts, f"exporter {pen.target.spec.name!r}")
            pen.check()
        except VerificationError as error:
            msg = f"{error}; nothing was written"
            raise VerificationError(msg) from error
        return counts

    def _commit(self) -> None:
        """Put all artifacts in place, or none of them."""
        places = Counter(
            os.path.realpath(pen.target.folder / name)
            for pen in self.pens
            for name in pen.sink.files
        )
        for place, count in places.items():
            if count > 1:
                msg = f"{place} would be written by two exporters; give them two folders"
                raise SinkError(msg)
        for index, pen in enumerate(self.pens):
            try:
                pen.sink.commit(pen.superseded)
            except SinkError:
                for done in self.pens[:index]:
                    done.sink.revert()
                raise

    def _receipt(
        self,
        pen: Pen,
        read_back: tuple[Counts, ...],
        of_reader: tuple[Notice, ...],
        item: Input | None,
    ) -> Path:
        spec = pen.target.spec
        sources: dict[str, RunSource] = {
            run.source.model_dump_json(): run.source for run, _ in pen.runs
        }
        with pen.attributed():
            receipt = receipts.Receipt(
                tool=f"{self.context.tool} {self.context.tool_version}",
                exporter=spec.name,
                exporter_distribution=pen.target.distribution,
                converted_at=self.context.now,
                content=self.context.content.value,
                options=scrub_all(pen.target.options.model_dump(mode="json")),
                sources=tuple(sources.values()),
                files=tuple(
                    receipts.FileRecord(path=name, sha256=staged.sha256, size=staged.size)
                    for name, staged in pen.sink.files.items()
                ),
                counts_written=tuple(tally.counts for _, tally in pen.runs),
                counts_read_back=read_back,
                details=scrub_all(getattr(pen.writer, "receipt_details", {})),
                notices=tuple(map(_scrubbed, (*of_reader, *pen.report.notices()))),
            )
            document = json.dumps(receipt.model_dump(mode="json"), indent=1, allow_nan=False)
        name = "all" if item is None else _receipt_stem(item)
        path = f"{receipts.RECEIPTS}/{spec.name}/{name}.receipt.json"
        if item is None:
            pen.superseded = receipts.superseded(pen.target.folder / path, set(pen.sink.files))
        with pen.sink.open(path) as file:
            file.write(document.encode() + b"\n")
        return pen.target.folder / path


def _scrubbed(notice: Notice) -> Notice:
    return notice.model_copy(
        update={"message": scrub(notice.message), "path": scrub_pointer(notice.path)}
    )


def _receipt_stem(item: Input) -> str:
    return f"{safe_name(Path(item.source.relative).name)}-{item.source.sha256[:8]}"
