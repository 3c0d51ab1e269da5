"""From a log to its run."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fullcount.errors import DamagedInputError, one_line
from fullcount.model import Run
from fullcount.notices import Severity
from fullcount.plugin import RunStream
from fullcount.readers._fields import as_dict, validated
from fullcount.readers.inspect.header import Header
from fullcount.readers.inspect.logs import ArchiveLog, DocumentLog
from fullcount.readers.inspect.runs import run_fields
from fullcount.readers.inspect.samples import Mapper
from fullcount.readers.inspect.sniff import is_archive
from fullcount.readers.inspect.survey import Survey, ambiguous_ids
from fullcount.readers.inspect.trials import Trials
from fullcount.readers.inspect.values import Values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.plugin import Options, ReadRequest
    from fullcount.readers.inspect.logs import Log
    from fullcount.sources import Source

__all__ = ["read"]


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """The log's one run.

    Raises:
        InputError: The log is damaged, or of a version that is not read.
        SurveyNeeded: Trials hold what the header does not tell of.
    """
    log: Log = ArchiveLog(source) if is_archive(source.head) else DocumentLog(source)
    with closing(log):
        yield _stream(source, log, options, request)


def _stream(source: Source, log: Log, options: Options, request: ReadRequest) -> RunStream:
    header = Header(log.header(), source, log.member)
    ambiguous = ambiguous_ids(header.sample_ids)
    survey = None
    # Without results nothing tells which metrics there are.
    if request.survey or not header.declared():
        survey = Survey(source, log, header.scorers(), ambiguous)
        ambiguous = survey.ambiguous
        header = Header(log.header(), source, log.member)
    metrics = _metrics(header, survey)
    run = _run(run_fields(header, metrics, request.content, source), source, log)
    _note(header, survey, ambiguous, request)
    mapper = Mapper(
        metrics,
        Values(dict(getattr(options, "values", {})), request.content),
        request.content,
        score_on_error=header.config.get("score_on_error") is True,
        ambiguous=ambiguous,
    )
    return RunStream(run, Trials(source, log, header, mapper, request, survey).all())


def _metrics(header: Header, survey: Survey | None) -> dict[str, list[str]]:
    """Every metric of each scorer; a scorer of which nothing is known has one like itself.

    What the header declares holds where it covers what the samples have, so that a log has the
    same metrics with and without a survey.
    """
    declared = header.declared()
    found = survey.metrics if survey else {}
    metrics = {}
    for name in dict.fromkeys([*header.scorers(), *found]):
        known, own = declared.get(name, []), found.get(name, [])
        metrics[name] = (known if set(own) <= set(known) else own) or [name]
    return metrics


def _run(fields: dict[str, Any], source: Source, log: Log) -> Run:
    try:
        return validated(Run, fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise DamagedInputError(
            f"gives no {field} of a run: {one_line(first['msg'], 200)}",
            source=source.shown,
            member=log.member,
        ) from error


def _note(
    header: Header, survey: Survey | None, ambiguous: frozenset[str], request: ReadRequest
) -> None:
    """Notices of what is odd about the log as a whole."""
    add = request.report.add
    if survey and survey.replaced:
        add(
            "input.replaced",
            Severity.WARNING,
            "records of a sample and epoch that a later one replaces; the last one counts",
            count=len(survey.replaced),
            plugin="inspect",
        )
    if ambiguous:
        add(
            "input.ambiguous_ids",
            Severity.INFO,
            "ids that are there both as a number and as text; the text is quoted",
            path="trial.case_id",
            count=len(ambiguous),
            plugin="inspect",
        )
    stats = as_dict(header.document.get("stats"))
    for name, given in (
        ("created_at", header.eval.get("created")),
        ("started_at", stats.get("started_at")),
        ("completed_at", stats.get("completed_at")),
    ):
        if isinstance(given, str) and _is_naive(given):
            add(
                "time.zone_unknown",
                Severity.INFO,
                "a time without an offset was taken for UTC",
                path=f"run.{name}",
                plugin="inspect",
            )


def _is_naive(given: str) -> bool:
    try:
        return datetime.fromisoformat(given.strip()).tzinfo is None
    except ValueError:
        return False
