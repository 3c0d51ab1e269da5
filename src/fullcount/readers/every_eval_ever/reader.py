"""Reads aggregate and samples files as runs and their trials."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, BinaryIO

from fullcount.errors import DamagedInputError, UnsupportedInputError, quoted
from fullcount.model import Run, Trial
from fullcount.notices import Severity
from fullcount.plugin import RunStream
from fullcount.readers._fields import as_count, as_dict, as_list, as_word, check_absent, validated
from fullcount.readers._folders import object_of
from fullcount.readers._jsonl import object_at, objects
from fullcount.readers._seen import Seen
from fullcount.readers.every_eval_ever import SAMPLES
from fullcount.readers.every_eval_ever.results import Group, groups, run_fields
from fullcount.readers.every_eval_ever.rows import attempts, sample_of, trial_fields

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fullcount.plugin import ContentPolicy, Options, ReadRequest
    from fullcount.sources import Source

__all__ = ["read"]


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """One run for each evaluation name of the record.

    Raises:
        DamagedInputError: A file is not what it must be.
        UnsupportedInputError: The schema is of a version that is not read.
    """
    del options
    if source.path.name.endswith(SAMPLES) or b'"interaction_type"' in source.head:
        document: dict[str, Any] = {}
        path: Path | None = source.path
        member = None
        found = _groups_of_rows(source)
    else:
        document = object_of(source, "", required=True)
        _check_version(document, source)
        found = groups(document, source.shown)
        path = source.path.with_name(source.path.stem + SAMPLES)
        member = path.name
        if not path.is_file():
            if document.get("detailed_evaluation_results"):
                request.report.add(
                    "input.incomplete",
                    Severity.WARNING,
                    "the record names a samples file that is not beside it",
                    path=member,
                    plugin="eee",
                )
            path = None
    for group in found:
        rows = _Rows(source, path, member, group) if path else None
        fields = run_fields(document, group, alone=len(found) == 1)
        fields["source"] = {"format": "eee", "format_version": _version(document)}
        run = validated(Run, fields)
        yield RunStream(run, _trials(source, document, group, rows, request.content))


def _version(document: dict[str, Any]) -> str:
    return as_word(document.get("schema_version")) or "0.3"


def _check_version(document: dict[str, Any], source: Source) -> None:
    version = document.get("schema_version")
    if not isinstance(version, str) or not version.startswith(("0.2.", "0.3.")):
        raise UnsupportedInputError(
            f"schema version {quoted(version)} is not read; 0.2 and 0.3 are",
            source=source.shown,
            pointer="/schema_version",
        )


def _groups_of_rows(source: Source) -> list[Group]:
    """What the rows say of their results, where there is no aggregate."""
    found: dict[str, Group] = {}
    with source.open() as file:
        for line, _, row in objects(file, source=source.shown):
            name = as_word(row.get("evaluation_name"))
            if name is None:
                raise DamagedInputError(
                    "must name an evaluation",
                    source=source.shown,
                    line=line,
                    pointer="/evaluation_name",
                )
            group = found.setdefault(name, Group(name))
            result = as_word(row.get("evaluation_result_id"))
            if result is not None and result not in group.metrics:
                metric = as_word(as_dict(row.get("metadata")).get("metric")) or result
                if result.startswith("verdict/"):
                    continue
                group.add({"evaluation_result_id": result, "metric_config": {"metric_id": metric}})
    return list(found.values())


class _Rows:
    """Where the rows of a run stand; eighteen bytes for each.

    Nearly always the rows of a sample follow each other. Those of samples that come again
    further on are gathered when the first of them is reached.
    """

    def __init__(self, source: Source, path: Path, member: str | None, group: Group) -> None:
        self._source = source
        self._path = path
        self._member = member
        self._group = group
        self._keys = array("q")
        self._offsets = array("Q")
        blocks = Seen()
        last: int | None = None
        with path.open("rb") as file:
            for line, offset, row in objects(file, source=source.shown, member=member):
                sample = sample_of(row)
                if sample is None:
                    raise DamagedInputError(
                        f"must be the id of a sample, not {quoted(row.get('sample_id'))}",
                        source=source.shown,
                        member=member,
                        line=line,
                        pointer="/sample_id",
                    )
                if row.get("evaluation_name") != group.name:
                    continue
                key = Seen.key(sample)
                self._keys.append(key)
                self._offsets.append(offset)
                if key != last:
                    blocks.add(key)
                last = key
        scattered = blocks.repeated()
        self._scattered: dict[int, list[int]] = {key: [] for key in scattered}
        if scattered:
            for key, offset in zip(self._keys, self._offsets, strict=True):
                if key in scattered:
                    self._scattered[key].append(offset)

    def samples(self) -> Iterator[list[dict[str, Any]]]:
        """All rows of each sample, in the order in which the samples first come."""
        block: list[dict[str, Any]] = []
        last: int | None = None
        with self._path.open("rb") as file, self._path.open("rb") as again:
            for _, _, row in objects(file, source=self._source.shown, member=self._member):
                if row.get("evaluation_name") != self._group.name:
                    continue
                key = Seen.key(sample_of(row))
                if key != last:
                    if block:
                        yield block
                    block = []
                    last = key
                if key not in self._scattered:
                    block.append(row)
                elif not block:
                    yield from self._gathered(again, key)
            if block:
                yield block

    def _gathered(self, file: BinaryIO, key: int) -> Iterator[list[dict[str, Any]]]:
        offsets = self._scattered[key]
        self._scattered[key] = []
        by_sample: dict[str | None, list[dict[str, Any]]] = {}
        for offset in offsets:
            row = object_at(file, offset, source=self._source.shown, member=self._member)
            by_sample.setdefault(sample_of(row), []).append(row)
        yield from by_sample.values()


def _trials(
    source: Source,
    document: dict[str, Any],
    group: Group,
    rows: _Rows | None,
    policy: ContentPolicy,
) -> Iterator[Trial]:
    count = 0
    named = _named(group)
    for block in rows.samples() if rows else ():
        for number, together in enumerate(attempts(block), 1):
            count += 1
            fields = trial_fields(together, number, group, policy)
            named.discard(str(fields["case_id"]))
            yield validated(Trial, fields)
    if named:
        for case in sorted(named):
            yield _absent(case, "string")
        return
    absent = _planned(document, group) - count
    check_absent(absent, source, "/evaluation_results")
    for number in range(1, absent + 1):
        yield _absent(f"unrecorded-{number}", "synthetic")


def _named(group: Group) -> set[str]:
    """Samples that the results say they used."""
    named: set[str] = set()
    for result in group.results:
        ids = as_list(as_dict(result.get("source_data")).get("sample_ids"))
        named.update(word for each in ids if (word := as_word(each)) is not None)
    return named


def _planned(document: dict[str, Any], group: Group) -> int:
    """How many trials the results count; a record of fullcount counts all, others the scored."""
    origin = as_dict(document.get("source_metadata"))
    total = as_dict(origin.get("additional_details")).get("n_total")
    if isinstance(total, str) and total.isdecimal():
        return as_count(float(total)) or 0
    counts = [
        as_count(
            as_dict(as_dict(result.get("score_details")).get("uncertainty")).get("num_samples")
        )
        for result in group.results
    ]
    return max((count for count in counts if count is not None), default=0)


def _absent(case: str, kind: str) -> Trial:
    return validated(
        Trial,
        {
            "case_id": case,
            "case_id_type": kind,
            "status": "not_run",
            "status_reason": "no_record",
        },
    )
