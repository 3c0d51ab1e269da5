"""From rows to runs and trials."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt
from fullcount.errors import DamagedInputError, OptionError, quoted
from fullcount.model import Run, Trial
from fullcount.notices import Severity
from fullcount.plugin import RunStream
from fullcount.readers._fields import as_time, as_word, check_absent, present, validated
from fullcount.readers._seen import Attempts, Seen
from fullcount.readers._texts import text_fields
from fullcount.readers.records.files import rows
from fullcount.readers.records.mapping import load, parse, preset
from fullcount.readers.records.values import count, number, score, truth, word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.plugin import ContentPolicy, ReadRequest
    from fullcount.readers.records import RecordsOptions
    from fullcount.readers.records.files import Row
    from fullcount.readers.records.mapping import Mapping
    from fullcount.sources import Source

__all__ = ["read"]

_MOST_RUNS = 10_000
_HEX = re.compile(r"[0-9a-f]+")
Key = tuple[str | None, ...]


@dataclass
class _Survey:
    """What a first look at the rows gives.

    Attributes:
        runs: How many rows count for each run, by the values of its columns.
        attempts: Numbers the rows of a case, run by run.
        replaced: Numbers of rows that a later one replaces.
    """

    runs: dict[Key, int] = field(default_factory=dict)
    attempts: dict[Key, Attempts] = field(default_factory=dict)
    replaced: set[int] = field(default_factory=set)


def read(source: Source, options: RecordsOptions, request: ReadRequest) -> Iterator[RunStream]:
    """A run for each combination of the columns that part the rows into runs.

    The file is gone through once, and once more for each run.

    Raises:
        DamagedInputError: A row is not what the mapping says.
        OptionError: The mapping is none.
    """
    mapping = load(options) or _implied(source)
    found = _survey(source, mapping)
    if found.replaced:
        request.report.add(
            "input.replaced",
            Severity.WARNING,
            "rows of a case and attempt that a later row replaces; the last one counts",
            count=len(found.replaced),
            plugin="records",
        )
    for key, trials in found.runs.items():
        run = validated(Run, _run(source, mapping, key, alone=len(found.runs) == 1))
        yield RunStream(run, _trials(source, mapping, found, key, trials, request.content))


def _implied(source: Source) -> Mapping:
    from fullcount.readers.records.files import sniff  # noqa: PLC0415 - only without a mapping

    if sniff(source).score:
        return parse(preset("trials"), "trials")
    msg = (
        f"{source.shown}: records need a mapping: -R mapping=FILE.toml or -R preset=trials; "
        "'fullcount sniff FILE' proposes one"
    )
    raise OptionError(msg)


def _rows(source: Source, mapping: Mapping) -> Iterator[Row]:
    return rows(source, array=mapping.rows, delimiter=mapping.delimiter)


def _key(row: Row, mapping: Mapping) -> Key:
    cells = (row.get(column) for column in mapping.run_columns.values())
    return tuple(None if cell is ... else as_word(cell) for cell in cells)


def _case(row: Row, mapping: Mapping, source: Source) -> str:
    cell = row.get(mapping.columns.case)
    text = None if cell is ... or isinstance(cell, bool) else as_word(cell)
    if text is None:
        found = "nothing" if cell is ... else quoted(cell)
        raise row.damaged(f"must name the case, not {found}", mapping.columns.case, source)
    return text


def _survey(source: Source, mapping: Mapping) -> _Survey:
    found = _Survey()
    policy = mapping.repeated or ("refuse" if mapping.columns.attempt else "attempt")
    seen = Seen()
    for row in _rows(source, mapping):
        key, case = _key(row, mapping), _case(row, mapping, source)
        found.runs[key] = found.runs.get(key, 0) + 1
        if len(found.runs) > _MOST_RUNS:
            raise row.damaged(f"parts the rows into more than {_MOST_RUNS:,} runs", "", source)
        if policy == "attempt":
            found.attempts.setdefault(key, Attempts()).note(case)
        else:
            seen.add(Seen.key(key, case, _attempt(row, mapping, source)))
    if not found.runs:
        raise DamagedInputError("holds no row", source=source.shown)
    repeated = seen.repeated()
    if repeated:
        _resolve(source, mapping, found, repeated, refuse=policy == "refuse")
    return found


def _resolve(
    source: Source, mapping: Mapping, found: _Survey, repeated: set[int], *, refuse: bool
) -> None:
    """Find the rows that are replaced, or refuse the first that comes again."""
    last: dict[tuple[Key, str, int], int] = {}
    for row in _rows(source, mapping):
        key, case = _key(row, mapping), _case(row, mapping, source)
        attempt = _attempt(row, mapping, source)
        if Seen.key(key, case, attempt) not in repeated:
            continue
        if (key, case, attempt) in last:
            if refuse:
                raise row.damaged(
                    f"attempt {attempt} at case {quoted(case)} comes twice; number the attempts, "
                    'or set repeated = "last" or "attempt" in the mapping',
                    mapping.columns.case,
                    source,
                )
            found.replaced.add(last[key, case, attempt])
            found.runs[key] -= 1
        last[key, case, attempt] = row.number


def _attempt(row: Row, mapping: Mapping, source: Source) -> int:
    column = mapping.columns.attempt
    value = None if column is None else count(row, column, source)
    if value == 0:
        raise row.damaged("attempts are numbered from 1", column or "", source)
    return 1 if value is None else value


def _run(source: Source, mapping: Mapping, key: Key, *, alone: bool) -> dict[str, Any]:
    told = dict(zip(mapping.run_columns, key, strict=True))
    constants = mapping.run
    own = told.get("run") or constants.id
    identity = own or source.sha256[:16]
    if not alone:
        parts = [part for name, part in told.items() if part and name != "run"]
        identity = "/".join([identity, *parts]) if parts else identity
    evaluators: dict[str, dict[str, Any]] = {}
    name = told.get("evaluator")
    revisions = present(
        version=told.get("evaluator_version"), rubric_revision=told.get("rubric_revision")
    )
    for about in mapping.scores:
        evaluator, metric = about.key
        entry = evaluators.setdefault(
            evaluator,
            present(name=evaluator, kind=about.kind, model=about.model, metrics=[]) | revisions,
        )
        entry["metrics"].append(
            present(
                name=metric,
                minimum=about.minimum,
                maximum=about.maximum,
                lower_is_better=about.lower_is_better,
                unit=about.unit,
                threshold=about.threshold,
                categorical=about.categorical,
            )
        )
    if name is not None and name not in evaluators:
        evaluators[name] = {"name": name} | revisions
    environment = told.get("environment")
    return present(
        id=identity,
        source={"format": "records"},
        harness=present(name=constants.harness, version=constants.harness_version),
        subject=present(
            id=told.get("subject") or constants.subject or "unknown",
            version=told.get("subject_version") or constants.subject_version,
        ),
        suite=present(
            name=told.get("suite") or constants.suite or source.path.stem or "records",
            version=told.get("suite_version") or constants.suite_version,
        ),
        evaluators=list(evaluators.values()),
        environment={} if environment is None else {"revision": environment},
        plan=present(trials=constants.trials if alone else None),
        reported=[
            present(
                evaluator=each.evaluator,
                metric=each.metric or each.evaluator,
                statistic=each.statistic,
                value=each.value,
                scored=each.scored,
            )
            for each in mapping.reported
            if alone
        ],
    )


def _trials(
    source: Source,
    mapping: Mapping,
    found: _Survey,
    key: Key,
    expected: int,
    policy: ContentPolicy,
) -> Iterator[Trial]:
    attempts = found.attempts.get(key)
    for row in _rows(source, mapping):
        if row.number in found.replaced or _key(row, mapping) != key:
            continue
        case = _case(row, mapping, source)
        number = attempts.next(case) if attempts else _attempt(row, mapping, source)
        yield validated(
            Trial,
            {"case_id": case, "attempt": number} | _fields(row, mapping, source, policy),
        )
    planned = mapping.run.trials if len(found.runs) == 1 else None
    if planned is not None and planned > expected:
        check_absent(planned - expected, source, "run.trials of the mapping")
        for missing in range(1, planned - expected + 1):
            yield validated(
                Trial,
                {
                    "case_id": f"unrecorded-{missing}",
                    "case_id_type": "synthetic",
                    "status": "not_run",
                    "status_reason": "no_record",
                },
            )


def _fields(row: Row, mapping: Mapping, source: Source, policy: ContentPolicy) -> dict[str, Any]:
    columns, words = mapping.columns, mapping.vocabulary

    def told(column: str | None) -> str | None:
        cell = ... if column is None else row.get(column)
        return None if cell is ... else as_word(cell)

    def meaning(column: str | None, table: Any) -> Any:
        return None if column is None else word(row, column, table, source)

    def whole(column: str | None, *, signed: bool = False) -> int | None:
        return None if column is None else count(row, column, source, signed=signed)

    def amount(column: str | None) -> float | None:
        return None if column is None else number(row, column, source)

    def flag(column: str | None) -> bool | None:
        return None if column is None else truth(row, column, words.boolean, source)

    status = meaning(columns.status, words.status)
    message = None if columns.error_message is None else row.get(columns.error_message)
    error = present(
        type=told(columns.error_type),
        message=excerpt(message, policy) if isinstance(message, str) and message else None,
        retries=whole(columns.error_retries),
    )
    case = row.get(columns.case)
    return present(
        case_id_type="number" if isinstance(case, (int, float)) else None,
        status=status,
        status_reason=told(columns.status_reason),
        scores=[
            {"evaluator": about.key[0], "metric": about.key[1]}
            | score(
                row,
                about,
                mapping,
                source,
                policy,
                placeholder=status is not None and status in mapping.placeholders,
            )
            for about in mapping.scores
            if about.empty or about.state or row.get(about.column) is not ...
        ],
        declared_verdict=meaning(columns.verdict, words.verdict),
        judge_verdict=meaning(columns.judge_verdict, words.verdict),
        self_report=flag(columns.self_report),
        error=error or None,
        limit=told(columns.limit),
        invalidated=flag(columns.invalidated),
        control=meaning(columns.control, words.control),
        pressure_round=whole(columns.pressure_round),
        order=whole(columns.order),
        seed=whole(columns.seed, signed=True),
        started_at=_time(row, columns.started_at),
        completed_at=_time(row, columns.completed_at),
        duration=amount(columns.duration),
        usage=present(
            input_tokens=whole(columns.input_tokens),
            output_tokens=whole(columns.output_tokens),
            total_tokens=whole(columns.total_tokens),
            cost=amount(columns.cost),
        )
        or None,
        trace=present(
            trace_id=_hex(row, columns.trace_id, 32, source),
            span_id=_hex(row, columns.span_id, 16, source),
            response_id=told(columns.response_id),
            record_id=told(columns.record_id),
        )
        or None,
        pointer=f"line {row.line}" if row.line is not None else f"#/{row.number}",
        **_texts(row, mapping, policy, _hex(row, columns.case_sha256, 64, source)),
    )


def _time(row: Row, column: str | None) -> Any:
    cell = None if column is None else row.get(column)
    if isinstance(cell, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)?", cell):
        cell = float(cell)
    return None if cell is ... else as_time(cell)


def _hex(row: Row, column: str | None, length: int, source: Source) -> str | None:
    """A digest or id in lower-case hexadecimal; None where the cell is empty."""
    cell = ... if column is None else row.get(column)
    if column is None or cell is ... or cell is None or cell == "":
        return None
    text = cell.removeprefix("sha256:").lower() if isinstance(cell, str) else ""
    if len(text) != length or not _HEX.fullmatch(text):
        raise row.damaged(
            f"must be {length} hexadecimal digits, not {quoted(cell)}", column, source
        )
    return text


def _texts(row: Row, mapping: Mapping, policy: ContentPolicy, pinned: str | None) -> dict[str, Any]:
    columns = mapping.columns

    def text(column: str | None) -> str | None:
        cell = None if column is None else row.get(column)
        return cell if isinstance(cell, str) else None

    asked, reference, output = text(columns.input), text(columns.reference), text(columns.output)
    fields = text_fields(
        asked,
        [] if reference is None else [reference],
        [] if output is None else [output],
        policy,
    )
    return fields | ({} if pinned is None else {"sample_hash": pinned})
