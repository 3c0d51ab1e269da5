"""What the exporter contract measures with."""

from __future__ import annotations

import errno
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullcount import sinks
from fullcount.errors import SinkError
from fullcount.losses import SUPPORTED_MODELS
from fullcount.model import (
    Counts,
    MetricCounts,
    Run,
    ScoreState,
    Trial,
    TrialStatus,
    Verdict,
)

if TYPE_CHECKING:
    import pytest

    from fullcount.plugin import ExporterSpec

__all__ = ["Faults", "count_trials", "losses", "probes", "tree"]


class Faults:
    """Makes the nth operation of a sink fail as a full disk does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self._at: int | None = None
        write, flush, replace = sinks.StagedFile.write, sinks.StagedFile.flush, Path.replace

        def failing_write(file: sinks.StagedFile, data: object) -> int:
            self._step(SinkError(f"{file.path.name}: No space left on device"))
            return write(file, data)

        def failing_flush(file: sinks.StagedFile) -> None:
            self._step(SinkError(f"{file.path.name}: No space left on device"))
            flush(file)

        def failing_replace(path: Path, target: Any) -> Path:
            self._step(OSError(errno.ENOSPC, "No space left on device"))
            return replace(path, target)

        monkeypatch.setattr(sinks.StagedFile, "write", failing_write)
        monkeypatch.setattr(sinks.StagedFile, "flush", failing_flush)
        monkeypatch.setattr(Path, "replace", failing_replace)

    def fail_at(self, number: int | None) -> None:
        """Fail at an operation, counted from 1, or at none."""
        self.calls, self._at = 0, number

    def _step(self, error: Exception) -> None:
        self.calls += 1
        if self.calls == self._at:
            raise error


def count_trials(run: Run, trials: tuple[Trial, ...]) -> Counts:
    """The counts of trials, made in the plainest way; names are those of the run."""
    statuses = Counter(trial.status for trial in trials)
    verdicts = Counter(trial.verdict for trial in trials)
    return Counts(
        run_id=run.id,
        total=len(trials),
        statuses={status: statuses[status] for status in TrialStatus},
        verdicts={verdict: verdicts[verdict] for verdict in Verdict},
        no_verdict=verdicts[None],
        metrics=tuple(
            MetricCounts(
                evaluator=evaluator,
                metric=metric,
                states={
                    state: sum(trial.scores[place].state is state for trial in trials)
                    for state in ScoreState
                },
            )
            for place, (evaluator, metric) in enumerate(run.metric_keys)
        ),
    )


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes, hidden ones too."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def probes(text: str) -> set[bytes]:
    """Forms in which a text may stand in a file."""
    part = text.strip('" ')[:40]
    return {part.encode(), part.encode("utf-16-le"), part.encode().hex().encode()}


def losses(spec: ExporterSpec) -> set[tuple[str, str]]:
    """The notices that a run with every field set must raise."""
    models = {model.__name__: model for model in SUPPORTED_MODELS}
    found: set[tuple[str, str]] = set()
    reached, waiting = set(), ["Run", "Trial"]
    while waiting:
        name = waiting.pop()
        reached.add(name)
        for field, info in models[name].model_fields.items():
            path = f"{name.lower()}.{field}"
            kind = spec.support[path].kind
            if kind in ("dropped", "approximated"):
                found.add((f"field.{kind}", path))
            if kind != "dropped":
                named = re.findall(r"\w+", str(info.annotation))
                waiting += [n for n in named if n in models and n not in reached]
    return found
