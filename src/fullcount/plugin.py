"""What the author of a reader or an exporter imports.

A plugin is a light spec object named by an entry point in group `fullcount.readers` or
`fullcount.exporters`. Importing the module that holds the spec must import nothing heavy: the
code that does the work is named by a string and imported at first use.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol
from uuid import UUID

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from fullcount.model import Counts, Run, RunTally, Trial
    from fullcount.notices import Report
    from fullcount.sources import Source

__all__ = [
    "Confidence",
    "ContentPolicy",
    "Context",
    "DeliveringWriter",
    "ExporterSpec",
    "Interrupted",
    "Interrupts",
    "Options",
    "ReadRequest",
    "Reader",
    "ReaderSpec",
    "Requirement",
    "RunStream",
    "Sink",
    "Support",
    "SurveyNeeded",
    "Writer",
]


class ContentPolicy(StrEnum):
    """What happens to text that may be private."""

    OMIT = "omit"
    """Neither text nor digest."""
    DIGEST = "digest"
    """SHA-256 of the real text."""
    INCLUDE = "include"
    """The text itself."""


class Options(BaseModel):
    """Base of a plugin's options: every field has a default and a docstring that explains it."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


@dataclass(frozen=True)
class Requirement:
    """A package that a plugin needs beyond the base install.

    Attributes:
        module: Top-level module whose absence means that the package is missing.
        install: The exact line that installs it.
    """

    module: str
    install: str


@dataclass(frozen=True)
class Support:
    """How a target carries one field of the model.

    Attributes:
        kind: `carried` as it is, `renamed` without loss, `approximated` with some loss, or
            `dropped`.
        target: Where the field goes in the target; empty for `dropped`.
        reason: Why something is lost; required for `approximated` and `dropped`.
    """

    kind: Literal["carried", "renamed", "approximated", "dropped"]
    target: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        if self.kind in ("approximated", "dropped") and not self.reason:
            msg = f"a field that is {self.kind} needs a reason"
            raise ValueError(msg)


@dataclass(frozen=True)
class Confidence:
    """How sure a reader is that a source is its own.

    Attributes:
        score: 0 (not mine) to 100 (cannot be anything else).
        reason: What it saw.
        part_of: With score 0: the file beside it that this one is read together with.
    """

    score: int
    reason: str = ""
    part_of: str = ""


@dataclass(frozen=True)
class ReaderSpec:
    """A reader, described without importing it.

    Attributes:
        name: What `--from` takes.
        title: One line for people.
        sniff: `module:function`, called with a `Source`; gives a `Confidence`. Cheap: it looks
            at `source.head` or at names in a folder, not at the whole.
        reader: `module:function`, a `Reader`.
        options: Options class.
        versions: Versions of the format that are read.
        requires: Packages beyond the base install.
    """

    name: str
    title: str
    sniff: str
    reader: str
    options: type[Options] = Options
    versions: str = ""
    requires: tuple[Requirement, ...] = ()


@dataclass(frozen=True)
class ExporterSpec:
    """An exporter, described without importing it.

    Attributes:
        name: What `--to` takes.
        title: One line for people.
        writer: `module:Class`, called with (sink, options, report, context); gives a `Writer`.
        recount: `module:function`, called with the paths of the artifact's files; gives the
            `Counts` of every run in it, read back from the artifact's own typed fields.
        check: `module:function`, called with the paths of the artifact's files and the options
            once they are counted, before they are put in place and again by a verification;
            raises a `VerificationError`. Empty: the counts are all there is to check.
        options: Options class.
        support: For each `model.field`, how the target carries it.
        versions: Version of the target format that is written.
        scope: `source` writes an artifact for each source; `all` one for all of them.
        requires: Packages beyond the base install.
    """

    name: str
    title: str
    writer: str
    recount: str
    check: str = ""
    options: type[Options] = Options
    support: Mapping[str, Support] = field(default_factory=dict)
    versions: str = ""
    scope: Literal["source", "all"] = "source"
    requires: tuple[Requirement, ...] = ()


@dataclass(frozen=True)
class ReadRequest:
    """What a reader is asked for.

    Attributes:
        content: How much text the exporters will use: a reader need not open what nobody reads.
        survey: Read the source once for its metrics and duplicates before the first trial.
        report: Where oddities of the source go.
    """

    content: ContentPolicy
    report: Report
    survey: bool = False


@dataclass(frozen=True)
class RunStream:
    """A run and its trials, which can be read once."""

    run: Run
    trials: Iterator[Trial]


class SurveyNeeded(Exception):  # noqa: N818 - a request, not an error
    """A reader met something that it had to know before the first trial.

    Raised while trials are read, when a metric turns up that the run does not declare or a
    record replaces an earlier one. The conversion starts again with `ReadRequest.survey` set;
    nothing has been published by then.
    """


class Reader(Protocol):
    """Reads the runs of one source, each as a stream, in one pass."""

    def __call__(
        self, source: Source, options: Options, request: ReadRequest, /
    ) -> Iterator[RunStream]:
        """Yield the runs; each stream is used up before the next run is asked for."""


class Sink(Protocol):
    """Where the files of one artifact go; they appear together at the end, or not at all."""

    def open(self, path: str) -> BinaryIO:
        """A new file at this relative path, with `/` between its parts."""


class Writer(Protocol):
    """Writes runs to a sink: `begin`, `add`…, `end` for each, then `close`."""

    def begin(self, run: Run) -> None:
        """A run starts."""

    def add(self, trial: Trial) -> None:
        """One trial of it, scored on every metric that the run declares."""

    def end(self, tally: RunTally) -> None:
        """No more trials; here is what they add up to."""

    def close(self) -> None:
        """No more runs: finish every file."""


class Interrupted(BaseException):
    """The user or the system asks the program to end; raised where that was allowed."""


class Interrupts(Protocol):
    """Holds Ctrl-C and SIGTERM back, except where a writer says that they may come."""

    def allowed(self) -> AbstractContextManager[None]:
        """A block that may be interrupted, such as one that waits for a network.

        Raises:
            Interrupted: A signal came, now or since the delivery began.
        """


class DeliveringWriter(Writer, Protocol):
    """A writer whose records also leave the machine.

    `deliver` is called once, after `close`, when every count was read back and nothing stands
    in the way of the artifact any more: what was handed to others cannot be taken back. It may
    open more files. When it is interrupted, it finishes them and returns.
    """

    def deliver(self, interrupts: Interrupts) -> None:
        """Send what was written; put what is not accepted in files of the artifact."""


Recount = Callable[[tuple["Path", ...]], tuple["Counts", ...]]
"""Reads the counts of every run back from an artifact's files.

The files come under the names and in the order in which the writer opened them, though not
always in the folder where they end up.
"""


@dataclass(frozen=True)
class Context:
    """Everything that an exporter would otherwise take from its surroundings.

    Attributes:
        now: When the conversion takes place.
        content: The content policy; trials are already reduced to it.
        tool: Name of the converting program.
        tool_version: Its version.
    """

    now: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    content: ContentPolicy = ContentPolicy.DIGEST
    tool: str = "fullcount"
    tool_version: str = "0"

    def uuid(self, *parts: str) -> UUID:
        """A version 4 UUID that depends on nothing but the parts."""
        digest = sha256(json.dumps(parts).encode()).digest()
        return UUID(bytes=digest[:16], version=4)
