"""Counts a dataset again, from the typed columns of its Parquet files."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from fullcount.errors import VerificationError, one_line
from fullcount.model import Counts, MetricCounts, ScoreState, TrialStatus, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["files_of", "recount"]

_BATCH = 65_536


def recount(files: tuple[Path, ...]) -> tuple[Counts, ...]:
    """The counts of every run: rows of `trials` by status and verdict, of `scores` by state.

    `runs` and `summary` say which runs and metrics there are, so that those without a row are
    counted too; nothing else is taken from them.

    Raises:
        VerificationError: A table is not there, lacks a column, or has a row of no run.
    """
    trials = _count(files, "trials", ["run_id", "status", "verdict"])
    scores = _count(files, "scores", ["run_id", "evaluator", "metric", "state"])
    runs = [run for (run,) in _rows(files, "runs", ["run_id"])]
    metrics: dict[str, list[tuple[str, str]]] = {run: [] for run in runs}
    for run, evaluator, metric in _rows(files, "summary", ["run_id", "evaluator", "metric"]):
        metrics.setdefault(run, []).append((evaluator, metric))
    known = {(run, *key) for run, keys in metrics.items() for key in keys}
    for key in trials:
        if key[0] not in metrics:
            _refuse("trials", f"a row is of run {key[0]!r}, which runs.parquet does not name")
    for key in scores:
        if key[:3] not in known:
            _refuse("scores", f"a row is of {key[:3]!r}, which summary.parquet does not name")
    try:
        return tuple(_counts(run, metrics[run], trials, scores) for run in runs)
    except ValidationError as error:
        _refuse("trials and scores", f"do not add up: {error.errors()[0]['msg']}", error)


def files_of(table: str, files: tuple[Path, ...]) -> list[Path]:
    """The files of a table, in the order in which they were written."""
    pattern = re.compile(rf"{table}(_\d{{4,}})?\.parquet")
    return [path for path in files if pattern.fullmatch(path.name)]


def _counts(
    run: str,
    metrics: list[tuple[str, str]],
    trials: Counter[tuple[Any, ...]],
    scores: Counter[tuple[Any, ...]],
) -> Counts:
    statuses: Counter[str] = Counter()
    verdicts: Counter[str | None] = Counter()
    for (of, status, verdict), count in trials.items():
        if of == run:
            statuses[status] += count
            verdicts[verdict] += count
    return Counts(
        run_id=run,
        total=statuses.total(),
        statuses={status: statuses[status.value] for status in TrialStatus},
        verdicts={verdict: verdicts[verdict.value] for verdict in Verdict},
        no_verdict=verdicts[None],
        metrics=tuple(
            MetricCounts(
                evaluator=evaluator,
                metric=metric,
                states={state: scores[run, evaluator, metric, state.value] for state in ScoreState},
            )
            for evaluator, metric in metrics
        ),
    )


def _count(files: tuple[Path, ...], table: str, columns: list[str]) -> Counter[tuple[Any, ...]]:
    found: Counter[tuple[Any, ...]] = Counter()
    for batch in _batches(files, table, columns):
        groups = pa.Table.from_batches([batch]).group_by(columns).aggregate([([], "count_all")])
        *keys, counts = (groups[name].to_pylist() for name in [*columns, "count_all"])
        for key, count in zip(zip(*keys, strict=True), counts, strict=True):
            found[key] += count
    return found


def _rows(files: tuple[Path, ...], table: str, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    for batch in _batches(files, table, columns):
        yield from zip(*(batch[name].to_pylist() for name in columns), strict=True)


def _batches(files: tuple[Path, ...], table: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
    paths = files_of(table, files)
    if not paths:
        _refuse(table, "is not among the files")
    for path in paths:
        try:
            with pq.ParquetFile(path) as file:
                missing = set(columns) - set(file.schema_arrow.names)
                if missing:
                    _refuse(path.name, f"lacks the columns {', '.join(sorted(missing))}")
                yield from file.iter_batches(_BATCH, columns=columns, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            _refuse(path.name, f"cannot be read: {one_line(str(error), 200)}", error)


def _refuse(where: str, problem: str, cause: Exception | None = None) -> NoReturn:
    msg = f"{where}: {problem}"
    raise VerificationError(msg) from cause
