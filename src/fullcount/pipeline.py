"""The reading half: which reader, and its runs held to the contract."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fullcount import registry
from fullcount.content import ContentFilter, scrub, scrub_run
from fullcount.errors import (
    BrokenPluginError,
    DamagedInputError,
    FullcountError,
    InputError,
    PluginError,
    UnrecognizedInputError,
    one_line,
    quoted,
)
from fullcount.model import Run, RunTally, Score, ScoreState, Trial, TrialStatus
from fullcount.model import Source as RunSource
from fullcount.notices import Report, Severity
from fullcount.plugin import (
    ContentPolicy,
    Options,
    ReaderSpec,
    ReadRequest,
    RunStream,
    SurveyNeeded,
)
from fullcount.sources import Source, discover, expand
from fullcount.tally import TallyBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Input", "find_inputs", "open_runs", "tally_runs"]


@dataclass(frozen=True)
class Input:
    """A source, and the reader that reads it."""

    source: Source
    reader: ReaderSpec
    options: Options


def find_inputs(
    arguments: Sequence[str | os.PathLike[str]],
    report: Report,
    *,
    reader: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Iterator[Input | InputError]:
    """The sources that the arguments stand for, each with its reader.

    An argument that matches nothing, a source that the user named and no reader knows, one
    that several claim and one that cannot be read are given as the errors to report, so that
    the others are still read. A file that was only found in a folder and that no reader knows
    is counted in a notice. What two arguments stand for is given once.

    Args:
        arguments: Files, folders and glob patterns.
        report: Where passed-over files are noted.
        reader: Name of the reader to use; by default each source is looked at.
        options: Options of the readers; an option must fit the reader of every source.

    Raises:
        PluginError: The named reader or an option is not usable.
    """
    forced = None if reader is None else registry.readers().get(reader)
    if forced is not None:
        registry.make_options(forced, options or {})
    seen: set[str] = set()
    parts: list[UnrecognizedInputError] = []
    for argument in arguments:
        try:
            for source in discover([argument]):
                for item in _inputs(source, forced, options or {}, report, parts):
                    if isinstance(item, Input):
                        real = os.path.realpath(item.source.path)
                        if real in seen:
                            continue
                        seen.add(real)
                    yield item
        except InputError as error:
            yield error
    if parts and not seen:
        yield parts[0]


class _PartOfAnotherError(UnrecognizedInputError):
    """The file is read together with another one, and is no source of its own."""


def _inputs(
    source: Source,
    forced: ReaderSpec | None,
    options: Mapping[str, Any],
    report: Report,
    parts: list[UnrecognizedInputError],
) -> Iterator[Input | InputError]:
    try:
        spec = _choose(source, forced, report)
    except _PartOfAnotherError as error:
        parts.append(error)
        report.add(
            "input.part_of_another", Severity.INFO, "files that are read together with another one"
        )
        return
    except InputError as error:
        yield error
        return
    if spec is not None:
        yield Input(source, spec, registry.make_options(spec, options))
    elif source.is_folder:
        found = False
        try:
            for child in expand(source):
                for item in _inputs(child, forced, options, report, parts):
                    found = True
                    yield item
        except InputError as error:
            yield error
            return
        if source.listed and not found and not parts:
            yield UnrecognizedInputError("holds no file that a reader knows", source=source.shown)
    elif source.listed:
        names = ", ".join(registry.readers().names())
        yield UnrecognizedInputError(
            f"no reader knows this file; name one with --from ({names})", source=source.shown
        )
    else:
        report.add(
            "input.passed_over",
            Severity.INFO,
            "files that no reader knows were passed over",
            path="",
        )


def _choose(source: Source, forced: ReaderSpec | None, report: Report) -> ReaderSpec | None:
    """The reader for a source, or None when nobody claims it.

    A reader that cannot look is noted, and stands in nobody's way unless it was asked for.
    """
    if forced and not source.is_folder and source.listed:
        return forced
    candidates: list[tuple[int, str, ReaderSpec]] = []
    part_of = ""
    for entry in registry.readers().entries():
        if forced and entry.name != forced.name:
            continue
        try:
            spec = registry.readers().get(entry.name)
            with _attributed(f"reader {spec.name!r}", source):
                confidence = registry.load_object(spec, spec.sniff)(source)
        except PluginError as error:
            if forced:
                raise
            report.add(
                "plugin.unusable", Severity.WARNING, str(error), path=entry.name, plugin=entry.name
            )
            continue
        if confidence.score > 0:
            candidates.append((confidence.score, spec.name, spec))
        part_of = part_of or confidence.part_of
    if not candidates and part_of:
        raise _PartOfAnotherError(
            f"is read together with {quoted(part_of)} beside it; name that one",
            source=source.shown,
        )
    if not candidates:
        return None
    best = max(score for score, _, _ in candidates)
    winners = [spec for score, _, spec in candidates if score == best]
    if len(winners) > 1:
        names = " and ".join(sorted(spec.name for spec in winners))
        raise UnrecognizedInputError(
            f"readers {names} claim this equally; name one with --from", source=source.shown
        )
    return winners[0]


def open_runs(item: Input, request: ReadRequest) -> Iterator[RunStream]:
    """The runs of an input, scrubbed, held to the content policy and complete.

    Every trial comes with one score for each metric that its run declares, in that order.

    Raises:
        InputError: The input cannot be read.
        BrokenPluginError: The reader fails in a way that it should not.
        SurveyNeeded: The conversion must start again with a survey.
    """
    shown = f"reader {item.reader.name!r}"
    with _attributed(shown, item.source):
        read = registry.load_object(item.reader, item.reader.reader)
        streams = iter(read(item.source, item.options, request))
    while True:
        with _attributed(shown, item.source):
            stream = next(streams, None)
        if stream is None:
            return
        reduce = ContentFilter(request.content)
        with _attributed(shown, item.source):
            run = _placed(scrub_run(stream.run), item, reduce)
        yield RunStream(run, _trials(stream, item, reduce, shown))


def _placed(run: Run, item: Input, reduce: ContentFilter) -> Run:
    """The run with its source filled in as far as the reader left it open."""
    source = run.source
    changes: dict[str, Any] = {
        "source": RunSource(
            format=source.format,
            format_version=source.format_version,
            path=source.path or scrub(item.source.relative),
            sha256=source.sha256 or item.source.sha256,
            size=item.source.size if source.size is None else source.size,
        )
    }
    if run.error is not None:
        changes["error"] = reduce.error(run.error)
    return run.model_copy(update=changes)


def _trials(stream: RunStream, item: Input, reduce: ContentFilter, shown: str) -> Iterator[Trial]:
    keys = stream.run.metric_keys
    with _attributed(shown, item.source):
        for trial in stream.trials:
            if tuple([(score.evaluator, score.metric) for score in trial.scores]) != keys:
                trial = _complete(trial, keys)  # noqa: PLW2901 - the same trial, made whole
            yield reduce(trial)


_REACHED = frozenset({TrialStatus.COMPLETED, TrialStatus.EVALUATOR_ERROR})


def _complete(trial: Trial, keys: tuple[tuple[str, str], ...]) -> Trial:
    """The trial with a score for every declared metric."""
    present = {(score.evaluator, score.metric): score for score in trial.scores}
    for key in present:
        if key not in keys:
            raise SurveyNeeded(*key)
    state = ScoreState.MISSING if trial.status in _REACHED else ScoreState.NOT_MEASURED
    scores = tuple(
        present.get(key) or Score(evaluator=key[0], metric=key[1], state=state) for key in keys
    )
    return trial.model_copy(update={"scores": scores})


def tally_runs(
    item: Input, report: Report, content: ContentPolicy = ContentPolicy.OMIT
) -> list[tuple[Run, RunTally]]:
    """Read an input for nothing but its counts.

    Raises:
        InputError: The input cannot be read.
        BrokenPluginError: The reader fails in a way that it should not.
    """
    for survey in (False, True):
        attempt = Report()
        results = []
        try:
            for stream in open_runs(item, ReadRequest(content, attempt, survey)):
                builder = TallyBuilder(stream.run)
                for trial in stream.trials:
                    builder.add(trial)
                results.append((stream.run, builder.build()))
        except SurveyNeeded as needed:
            if survey:
                raise undeclared(item, needed) from None
        else:
            report.extend(attempt.notices())
            return results
    raise AssertionError


def undeclared(item: Input, needed: SurveyNeeded) -> BrokenPluginError:
    """The error of a reader that asks for a survey after it has made one."""
    return BrokenPluginError(
        f"{item.source.shown}: reader {item.reader.name!r} meets {needed.args!r} that it does "
        "not declare, even after a survey"
    )


@contextmanager
def _attributed(shown: str, source: Source) -> Iterator[None]:
    """Give every failure of a plugin its name, and the file that it failed on."""
    try:
        yield
    except (FullcountError, SurveyNeeded):
        raise
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        pointer = "/" + "/".join(map(str, first["loc"]))
        raise DamagedInputError(
            f"{error.title}: {one_line(first['msg'], 200)}", source=source.shown, pointer=pointer
        ) from error
    except RecursionError as error:
        raise DamagedInputError("is nested too deeply to be read", source=source.shown) from error
    except OSError as error:
        raise DamagedInputError(
            f"cannot be read: {error.strerror or error}", source=source.shown
        ) from error
    except Exception as error:
        msg = f"{source.shown}: {shown} fails: {type(error).__name__}: {error}"
        raise BrokenPluginError(msg) from error
