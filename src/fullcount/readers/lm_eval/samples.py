"""Rows of a samples file, joined to one trial for each document."""

from __future__ import annotations

from array import array
from collections.abc import ValuesView
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt, sample_hash
from fullcount.errors import DamagedInputError, quoted
from fullcount.model import Trial
from fullcount.plugin import ContentPolicy, SurveyNeeded
from fullcount.readers._fields import validated
from fullcount.readers._jsonl import object_at, objects
from fullcount.readers.lm_eval.results import evaluator_of
from fullcount.readers.lm_eval.values import INVALID, score

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fullcount.sources import Source

__all__ = ["Index", "indexed", "streamed", "survey"]

_NO_METRICS = frozenset(
    {
        "arguments",
        "doc",
        "doc_hash",
        "doc_id",
        "filter",
        "filtered_resps",
        "metrics",
        "prompt_hash",
        "resps",
        "target",
        "target_hash",
    }
)
_LARGEST_ID = 1 << 31
_ABSENT = 2**64 - 1


class Index:
    """Where each document's row stands for each filter; sixteen bytes for each.

    Attributes:
        metrics: Every (filter, metric) pair, in the order of the file.
        replaced: Rows that a later row of the same document and filter replaces.
    """

    def __init__(self) -> None:
        self.metrics: list[tuple[str, str]] = []
        self.replaced = 0
        self.places: dict[str, dict[int, int] | array[int]] = {}

    def add(self, filter_name: str, document: int, offset: int) -> None:
        """Note a row; the last one of a document and filter counts."""
        places = self.places.setdefault(filter_name, array("Q"))
        if isinstance(places, array):
            if document < len(places) * 2 + 65_536:
                while len(places) <= document:
                    places.append(_ABSENT)
            else:
                places = {n: at for n, at in enumerate(places) if at != _ABSENT}
                self.places[filter_name] = places
        known = places[document] if isinstance(places, array) else places.get(document, _ABSENT)
        self.replaced += known != _ABSENT
        places[document] = offset

    def find(self, filter_name: str, document: int) -> int | None:
        """Where the row of a document and filter starts."""
        places = self.places[filter_name]
        if isinstance(places, array):
            offset = places[document] if document < len(places) else _ABSENT
        else:
            offset = places.get(document, _ABSENT)
        return None if offset == _ABSENT else offset

    def documents(self) -> Iterator[int]:
        """Every document with a row, in ascending order."""
        if all(isinstance(places, array) for places in self.places.values()):
            for document in range(max(map(len, self.places.values()), default=0)):
                if any(self.find(name, document) is not None for name in self.places):
                    yield document
        else:
            found: set[int] = set()
            for places in self.places.values():
                numbers = enumerate(places) if isinstance(places, array) else places.items()
                found.update(number for number, offset in numbers if offset != _ABSENT)
            yield from sorted(found)


def survey(source: Source, path: Path, member: str | None) -> Index:
    """Read a samples file once for its documents, filters and metrics."""
    index = Index()
    known: set[tuple[str, str]] = set()
    with path.open("rb") as file:
        for line, offset, row in objects(file, source=source.shown, member=member):
            document, filter_name = _identity(row, source, member, line)
            index.add(filter_name, document, offset)
            for metric in _metrics(row):
                if (filter_name, metric) not in known:
                    known.add((filter_name, metric))
                    index.metrics.append((filter_name, metric))
    return index


def streamed(
    source: Source,
    path: Path,
    member: str | None,
    metrics: list[tuple[str, str]],
    policy: ContentPolicy,
) -> Iterator[Trial]:
    """The trials of a file with one filter, in one pass.

    Raises:
        SurveyNeeded: The file holds another filter or metric, or a document twice.
    """
    expected, declared = metrics[0][0], frozenset(metrics)
    seen = bytearray()
    with path.open("rb") as file:
        for line, offset, row in objects(file, source=source.shown, member=member):
            document, filter_name = _identity(row, source, member, line)
            byte, bit = document >> 3, 1 << (document & 7)
            if byte >= len(seen):
                if byte > 2 * len(seen) + 65_536:
                    raise SurveyNeeded(expected, "sparse documents")
                seen.extend(bytes(byte + 1 - len(seen) + len(seen) // 2))
            if filter_name != expected or seen[byte] & bit:
                raise SurveyNeeded(filter_name, f"document {document}")
            seen[byte] |= bit
            fields = _trial(document, row, policy, member, offset)
            fields["scores"] = _scores(row, filter_name, declared)
            yield validated(Trial, fields)


def indexed(
    source: Source,
    path: Path,
    member: str | None,
    index: Index,
    metrics: list[tuple[str, str]],
    policy: ContentPolicy,
) -> Iterator[Trial]:
    """The trials of a surveyed file: each document once, under every filter."""
    declared = frozenset(metrics)
    with ExitStack() as stack:
        files = {name: stack.enter_context(path.open("rb")) for name in index.places}
        for document in index.documents():
            fields: dict[str, Any] = {}
            scores: list[dict[str, Any]] = []
            for name, file in files.items():
                offset = index.find(name, document)
                if offset is None:
                    continue
                row = object_at(file, offset, source=source.shown, member=member)
                if not fields:
                    fields = _trial(document, row, policy, member, offset)
                scores += _scores(row, name, declared)
            fields["scores"] = scores
            yield validated(Trial, fields)


def _identity(
    row: dict[str, Any], source: Source, member: str | None, line: int
) -> tuple[int, str]:
    document, filter_name = row.get("doc_id"), row.get("filter", "none")
    if (
        not isinstance(document, int)
        or isinstance(document, bool)
        or not (0 <= document < _LARGEST_ID)
    ):
        raise DamagedInputError(
            f"must be a document number, not {quoted(document)}",
            source=source.shown,
            member=member,
            line=line,
            pointer="/doc_id",
        )
    if not isinstance(filter_name, str) or not filter_name:
        raise DamagedInputError(
            f"must be the name of a filter, not {quoted(filter_name)}",
            source=source.shown,
            member=member,
            line=line,
            pointer="/filter",
        )
    return document, filter_name


def _metrics(row: dict[str, Any]) -> list[str]:
    listed = row.get("metrics")
    if isinstance(listed, list):
        return [name for name in listed if isinstance(name, str) and name]
    return [key for key in row if key not in _NO_METRICS]


def _scores(
    row: dict[str, Any], filter_name: str, declared: frozenset[tuple[str, str]]
) -> list[dict[str, Any]]:
    filtered = row.get("filtered_resps")
    invalid = isinstance(filtered, list) and filtered == [INVALID]
    found = []
    for metric in dict.fromkeys(_metrics(row)):
        if (filter_name, metric) not in declared:
            raise SurveyNeeded(filter_name, metric)
        if metric in row:
            fields = score(metric, row[metric], invalid=invalid)
            fields["evaluator"] = evaluator_of(filter_name, metric)
            fields["metric"] = metric
            found.append(fields)
    return found


def _trial(
    document: int, row: dict[str, Any], policy: ContentPolicy, member: str | None, offset: int
) -> dict[str, Any]:
    fields: dict[str, Any] = {"case_id": str(document), "case_id_type": "number"}
    fields["pointer"] = f"{member or ''}@{offset}"
    prompt, choices = _prompt(row.get("arguments"))
    target = row.get("target")
    references = [target] if isinstance(target, str) else []
    if prompt is None:
        return fields
    fields["sample_hash"] = sample_hash(prompt, references)
    if policy is ContentPolicy.OMIT:
        return fields
    content: dict[str, Any] = {"input": excerpt(prompt, policy)}
    content["references"] = [excerpt(text, policy) for text in references]
    if len(choices) > 1:
        content["choices"] = [excerpt(text, policy) for text in choices]
    if policy is ContentPolicy.INCLUDE:
        content["outputs"] = [excerpt(text, policy) for text in _outputs(row.get("resps"))]
    fields["content"] = content
    return fields


def _prompt(arguments: Any) -> tuple[str | None, list[str]]:
    """The first request's prompt, and what each request asks the likelihood of."""
    requests: list[list[Any]] = []
    # Older versions wrote lists.
    entries = arguments.values() if isinstance(arguments, dict) else arguments
    for entry in entries if isinstance(entries, (list, ValuesView)) else ():
        request = list(entry.values()) if isinstance(entry, dict) else entry
        if isinstance(request, list) and request:
            requests.append(request)
    if not requests or not isinstance(requests[0][0], str):
        return None, []
    return requests[0][0], [
        request[1] for request in requests if len(request) > 1 and isinstance(request[1], str)
    ]


def _outputs(responses: Any) -> Iterator[str]:
    if isinstance(responses, str):
        yield responses
    elif isinstance(responses, list):
        for entry in responses:
            yield from _outputs(entry)
