"""Which files belong together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fullcount.plugin import Confidence

if TYPE_CHECKING:
    from pathlib import Path

    from fullcount.sources import Source

__all__ = ["is_samples", "samples_beside", "sniff", "task_of"]

_SAMPLES = re.compile(
    r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl"
)
_RESULTS = re.compile(r".*_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.json")
_MARKS = (b'"lm_eval_version"', b'"n-shot"', b'"group_subtasks"', b'"higher_is_better"')
_TAIL = 65_536


def sniff(source: Source) -> Confidence:
    """A samples file is known by its first keys, a results file by its top-level keys."""
    head = source.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if is_samples(head):
        results = _results_beside(source.path)
        if results is not None:
            return Confidence(0, "samples of a results file", part_of=results.name)
        return Confidence(90, "rows with doc_id and doc")
    if head.startswith(b"{") and b'"results"' in head:
        with source.open() as file:
            file.seek(max(0, source.size - _TAIL))
            text = head + file.read()
        if any(mark in text for mark in _MARKS):
            return Confidence(90, "results with lm_eval's keys")
    return Confidence(0)


def is_samples(head: bytes) -> bool:
    """Whether a file that starts like this holds samples."""
    return head.startswith(b'{"doc_id"') and b'"doc"' in head


def task_of(name: str) -> str | None:
    """The task that a samples file is named after."""
    match = _SAMPLES.fullmatch(name)
    return match["task"] if match else None


def samples_beside(results: Path) -> dict[str, Path]:
    """The samples files of a results file, by task: same folder, same date."""
    match = _RESULTS.fullmatch(results.name)
    if match is None:
        return {}
    found = {}
    for path in sorted(results.parent.glob(f"samples_*_{match['date']}.jsonl")):
        task = task_of(path.name)
        if task is not None and path.is_file():
            found[task] = path
    return found


def _results_beside(samples: Path) -> Path | None:
    match = _SAMPLES.fullmatch(samples.name)
    if match is None:
        return None
    for path in sorted(samples.parent.glob(f"*_{match['date']}.json")):
        if path.is_file():
            return path
    return None
