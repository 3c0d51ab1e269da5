"""From files to runs."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from fullcount.errors import DamagedInputError
from fullcount.model import Run, Trial
from fullcount.notices import Severity
from fullcount.plugin import Options, ReadRequest, RunStream
from fullcount.readers._fields import check_absent, validated
from fullcount.readers._json import loads
from fullcount.readers.lm_eval.files import is_samples, samples_beside, task_of
from fullcount.readers.lm_eval.results import Task, evaluator_of, run_fields, tasks_of
from fullcount.readers.lm_eval.samples import indexed, streamed, survey

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fullcount.sources import Source

__all__ = ["read"]

_LARGEST_RESULTS = 512 << 20
_MOST_NUMBERED = 1 << 27
"""Documents of which each is remembered, at a bit each."""


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """One run for each task of a results file, or the run of a samples file alone.

    Raises:
        DamagedInputError: A file is not what it must be.
        SurveyNeeded: A samples file holds more than its results file tells of.
    """
    del options
    if is_samples(source.head.removeprefix(b"\xef\xbb\xbf").lstrip()):
        yield _alone(source, request)
        return
    if source.size > _LARGEST_RESULTS:
        raise DamagedInputError("is too large for a results file", source=source.shown)
    with source.open() as file:
        document = loads(file.read(), source=source.shown)
    if not isinstance(document, dict) or not isinstance(document.get("results"), dict):
        raise DamagedInputError(
            "must be an object of results", source=source.shown, pointer="/results"
        )
    beside = samples_beside(source.path)
    tasks = tasks_of(document)
    if not tasks:
        raise DamagedInputError("names no task", source=source.shown, pointer="/results")
    for task in tasks:
        yield _task(source, document, task, beside.pop(task.name, None), request)
    for name, path in sorted(beside.items()):
        request.report.add(
            "input.unmatched",
            Severity.WARNING,
            "samples of a task that the results file does not name were passed over",
            path=f"{path.name} ({name})",
            plugin="lm-eval",
        )


def _task(
    source: Source,
    document: dict[str, Any],
    task: Task,
    path: Path | None,
    request: ReadRequest,
) -> RunStream:
    metrics = list(task.metrics)
    filters = {filter_name for filter_name, _ in metrics}
    index = None
    if path is not None and (request.survey or len(filters) != 1):
        index = survey(source, path, path.name)
        metrics += [key for key in index.metrics if key not in metrics]
        _note_replaced(index.replaced, path.name, request)
    metrics = _ordered(metrics)
    fields = run_fields(document, task, metrics)
    fields["id"] = f"{_run_id(source)}/{task.name}"
    fields["source"] = {"format": "lm-eval"}
    run = validated(Run, fields)
    if path is None:
        trials: Iterator[Trial] = iter(())
    elif index is not None:
        trials = indexed(source, path, path.name, index, metrics, request.content)
    else:
        trials = streamed(source, path, path.name, metrics, request.content)
    return RunStream(run, _with_absent(trials, task, source))


def _alone(source: Source, request: ReadRequest) -> RunStream:
    """The run of a samples file without its results file: nothing is known but its rows."""
    name = task_of(source.path.name) or source.path.stem
    index = survey(source, source.path, None)
    _note_replaced(index.replaced, source.path.name, request)
    metrics = _ordered(index.metrics)
    fields = run_fields({}, Task(name, {}), metrics)
    fields |= {
        "id": f"{_run_id(source)}/{name}",
        "source": {"format": "lm-eval"},
        "status": "unknown",
    }
    run = validated(Run, fields)
    return RunStream(run, indexed(source, source.path, None, index, metrics, request.content))


def _with_absent(trials: Iterator[Trial], task: Task, source: Source) -> Iterator[Trial]:
    """The trials, and those that were planned and have no row."""
    planned = task.documents or 0
    seen = bytearray(planned // 8 + 1) if planned < _MOST_NUMBERED else None
    count = 0
    for trial in trials:
        number = int(trial.case_id)
        if seen is not None and number < planned:
            seen[number >> 3] |= 1 << (number & 7)
        count += 1
        yield trial
    absent = planned - count
    check_absent(absent, source, f"/n-samples/{task.name}")
    if task.numbered and seen is not None:
        numbers = (n for n in range(planned) if not seen[n >> 3] >> (n & 7) & 1)
        for _, number in zip(range(absent), numbers, strict=False):
            yield _absent(str(number), "number")
    else:
        for number in range(1, absent + 1):
            yield _absent(f"unrecorded-{number}", "synthetic")


def _absent(case_id: str, kind: str) -> Trial:
    return validated(
        Trial,
        {
            "case_id": case_id,
            "case_id_type": kind,
            "status": "not_run",
            "status_reason": "no_record",
        },
    )


def _ordered(metrics: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The metrics with those of one evaluator side by side, as a run lists them."""
    evaluators = list(dict.fromkeys(evaluator_of(*key) for key in metrics))
    return sorted(metrics, key=lambda key: evaluators.index(evaluator_of(*key)))


def _note_replaced(count: int, member: str, request: ReadRequest) -> None:
    if count:
        request.report.add(
            "input.replaced",
            Severity.WARNING,
            "rows of a document and filter that a later row replaces; the last one counts",
            path=member,
            count=count,
            plugin="lm-eval",
        )


def _run_id(source: Source) -> str:
    return hashlib.sha256(f"lm-eval:{source.sha256}".encode()).hexdigest()[:16]
