"""From the events of a sample to its trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt
from fullcount.model import Trial
from fullcount.readers._fields import (
    as_dict,
    as_time,
    as_word,
    measured,
    present,
    raw_fields,
    raw_text,
    validated,
)
from fullcount.readers._jsonl import objects
from fullcount.readers._texts import text_fields
from fullcount.readers.openai_evals.events import CHOICE, INVALID, MATCH, METASCORE, sample_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from fullcount.plugin import ContentPolicy
    from fullcount.readers.openai_evals.events import Index
    from fullcount.sources import Source

__all__ = ["trials"]

Block = list[tuple[int, dict[str, Any]]]
"""Events, each with the byte it starts at."""


def trials(source: Source, index: Index, policy: ContentPolicy) -> Iterator[Trial]:
    """Every attempt at every sample, one after the other."""
    last: str | None = None
    with source.open() as file, source.open() as again:
        for _, offset, record in objects(file, source=source.shown):
            sample = sample_of(record)
            if sample is None or sample == last:
                continue
            last = sample
            starts = index.starts(sample, offset)
            if offset != starts[0]:
                continue
            # Samples of one hash are read together.
            found: dict[str, Block] = {}
            for start in starts:
                name, block = _block_at(source, again, start)
                found.setdefault(name, []).extend(block)
            for block in found.values():
                yield from _of_block(block, index, policy)


def _block_at(source: Source, file: BinaryIO, start: int) -> tuple[str, Block]:
    """The events from here on that are of one sample, and that sample."""
    file.seek(start)
    name = ""
    block: Block = []
    for _, offset, record in objects(file, source=source.shown):
        sample = sample_of(record)
        if sample is None:
            continue
        if block and sample != name:
            break
        name = sample
        block.append((start + offset, record))
    return name, block


def _of_block(block: Block, index: Index, policy: ContentPolicy) -> Iterator[Trial]:
    """A trial for each time that a sample was measured; one where it never was."""
    attempt: Block = []
    since: Block = []
    measures: set[str] = set()
    number = 1
    for place in block:
        record = place[1]
        since.append(place)
        found = {MATCH} if record["type"] == "match" else set()
        if record["type"] == "metrics":
            found = record["data"].keys() & index.metrics.keys()
        if not found:
            continue
        if found & measures:
            yield _trial(attempt, number, index, policy)
            attempt, measures = [], set()
            number += 1
        # What came before a measurement led to it.
        attempt += since
        since = []
        measures |= found
    if block:
        yield _trial(attempt + since, number, index, policy)


def _trial(block: Block, number: int, index: Index, policy: ContentPolicy) -> Trial:
    found: dict[str, dict[str, Any]] = {}
    error: dict[str, Any] | None = None
    asked: dict[str, Any] | None = None
    expected: Any = None
    times = []
    for _, record in block:
        kind, data = record["type"], as_dict(record.get("data"))
        times.append(as_time(record.get("created_at")))
        if kind == "match":
            found[MATCH] = _match(data)
            expected = data.get("expected")
        elif kind == "metrics":
            found |= _measures(data, index.metrics)
        elif kind == "error":
            message = data.get("message")
            told = excerpt(message, policy) if isinstance(message, str) else None
            error = present(type=as_word(data.get("type")), message=told)
        elif kind == "sampling" and asked is None:
            # The first is the subject's; a judge is asked after it.
            asked = data
    absent = {"state": "missing" if error is None else "not_measured"}
    fields = present(
        case_id=str(sample_of(block[0][1])),
        attempt=number,
        pointer=f"@{block[0][0]}",
        error=error,
        completed_at=next((moment for moment in reversed(times) if moment), None),
        **_texts(asked or {}, expected, policy),
    )
    if error is not None and not found:
        fields |= {"status": "harness_error", "status_reason": "sample_error"}
    fields["scores"] = [
        {"evaluator": name, "metric": name} | found.get(name, absent) for name in index.metrics
    ]
    return validated(Trial, fields)


def _match(data: dict[str, Any]) -> dict[str, Any]:
    if "correct" not in data:
        return {"state": "missing"}
    fields = measured(data["correct"])
    if data.get("picked") == INVALID:
        return raw_fields(data["correct"]) | {"state": "error", "reason": "judge_invalid"}
    return fields


def _measures(data: dict[str, Any], metrics: dict[str, bool]) -> dict[str, dict[str, Any]]:
    """The metrics of an event; none was measured where the judge's choice is invalid."""
    found = {}
    for name, value in data.items():
        if name not in metrics:
            continue
        own = name.removesuffix(METASCORE)
        if INVALID in (data.get(CHOICE), value, data.get(own)):
            found[name] = raw_fields(value) | {"state": "error", "reason": "judge_invalid"}
        elif isinstance(value, (str, list, dict)) and not metrics[name]:
            # Free text for all one knows, so it is not kept.
            found[name] = {
                "state": "error",
                "reason": "not_a_number",
                "raw_type": raw_fields(value)["raw_type"],
            }
        else:
            found[name] = measured(value)
            if not isinstance(value, bool):
                found[name].pop("outcome", None)
    return found


def _texts(asked: dict[str, Any], expected: Any, policy: ContentPolicy) -> dict[str, Any]:
    """Content and join key; messages of a chat are taken as their JSON."""
    prompt, sampled = asked.get("prompt"), asked.get("sampled")
    references = expected if isinstance(expected, list) else [expected]
    outputs = sampled if isinstance(sampled, list) else [sampled]
    return text_fields(
        None if prompt is None else raw_text(prompt),
        [each for each in references if isinstance(each, str)],
        [each for each in outputs if isinstance(each, str)],
        policy,
    )
