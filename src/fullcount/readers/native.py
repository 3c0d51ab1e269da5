"""Reads fullcount's own JSON lines."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fullcount.errors import DamagedInputError, UnsupportedInputError, one_line, quoted
from fullcount.model import Run, Trial
from fullcount.plugin import Confidence, ReaderSpec, RunStream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.plugin import Options, ReadRequest
    from fullcount.sources import Source

__all__ = ["SPEC", "read", "sniff"]

FORMAT = "fullcount/1"
_LONGEST_LINE = 1 << 28
_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"format"\s*:\s*"fullcount/')

SPEC = ReaderSpec(
    name="native",
    title="fullcount's own JSON lines",
    sniff="fullcount.readers.native:sniff",
    reader="fullcount.readers.native:read",
    versions="1",
)


def sniff(source: Source) -> Confidence:
    """Certain when the first line says so."""
    if _START.match(source.head):
        return Confidence(100, "first line names the format")
    return Confidence(0)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """Yield every run of the file.

    Raises:
        DamagedInputError: A line is no record, or the file ends before its tally.
        UnsupportedInputError: The format's version is not 1.
    """
    del options, request
    lines = _records(source)
    for line, record in lines:
        if record.get("format") != FORMAT or record.get("type") != "run":
            if str(record.get("format", FORMAT)) != FORMAT:
                raise UnsupportedInputError(
                    f"format {quoted(record['format'])} is not read; only {FORMAT}",
                    source=source.shown,
                    line=line,
                )
            raise DamagedInputError("a run must start here", source=source.shown, line=line)
        run = _model(Run, record.get("run"), source, line, "/run")
        stream = RunStream(run, _trials(source, lines, frozenset(run.metric_keys)))
        yield stream
        for _ in stream.trials:
            pass


def _trials(
    source: Source, lines: Iterator[tuple[int, dict[str, Any]]], keys: frozenset[tuple[str, str]]
) -> Iterator[Trial]:
    for count, (line, record) in enumerate(lines):
        if record.get("type") == "tally":
            _check_total(record, count, source, line)
            return
        if record.get("type") != "trial":
            raise DamagedInputError(
                f"a trial or the tally must stand here, not {quoted(record.get('type'))}",
                source=source.shown,
                line=line,
            )
        trial = _model(Trial, record.get("trial"), source, line, "/trial")
        for number, score in enumerate(trial.scores):
            if (score.evaluator, score.metric) not in keys:
                name = quoted(f"{score.evaluator}.{score.metric}")
                raise DamagedInputError(
                    f"the run does not declare {name}",
                    source=source.shown,
                    line=line,
                    pointer=f"/trial/scores/{number}",
                )
        yield trial
    raise DamagedInputError(
        "ends before the tally of its last run: it was cut short", source=source.shown
    )


def _check_total(record: dict[str, Any], count: int, source: Source, line: int) -> None:
    try:
        total = record["tally"]["counts"]["total"]
    except (KeyError, TypeError) as error:
        problem = "the tally gives no total"
        raise DamagedInputError(
            problem, source=source.shown, line=line, pointer="/tally/counts/total"
        ) from error
    if total != count:
        raise DamagedInputError(
            f"the run ends after {count} trials, its tally counts {quoted(total)}",
            source=source.shown,
            line=line,
            pointer="/tally/counts/total",
        )


def _records(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    with source.open() as file:
        number = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            if line.isspace():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                problem = f"is no JSON: {one_line(str(error), 120)}"
                raise DamagedInputError(problem, source=source.shown, line=number) from error
            if not isinstance(record, dict):
                raise DamagedInputError("is no JSON object", source=source.shown, line=number)
            yield number, record


def _model(kind: type[Run | Trial], value: object, source: Source, line: int, pointer: str) -> Any:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = "/".join(map(str, first["loc"]))
        raise DamagedInputError(
            one_line(first["msg"], 200),
            source=source.shown,
            line=line,
            pointer=f"{pointer}/{place}",
        ) from error
