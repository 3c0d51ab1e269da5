"""Feeds a run that no file holds through the same machinery as one that was read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullcount.convert import Converted, Target, convert
from fullcount.model import Run, Trial
from fullcount.pipeline import Input
from fullcount.plugin import Confidence, Context, Options, ReaderSpec, RunStream
from fullcount.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.batch import FailOn
    from fullcount.plugin import ReadRequest

__all__ = ["Trials", "export_run", "memory_input"]

Trials = Iterable[Trial] | Callable[[], Iterable[Trial]]
"""Trials, or a function that gives them; a generator can be read only once."""


class _Runs(Options):
    runs: tuple[Any, ...] = ()
    """Pairs of a run and its trials."""


_SPEC = ReaderSpec(
    name="memory",
    title="runs of a test",
    sniff="fullcount.testing.memory:_sniff",
    reader="fullcount.testing.memory:_read",
    options=_Runs,
)


def _sniff(source: Source) -> Confidence:
    del source
    return Confidence(0)


def _read(source: Source, options: _Runs, request: ReadRequest) -> Iterator[RunStream]:
    del source, request
    for run, trials in options.runs:
        yield RunStream(run, iter(trials() if callable(trials) else trials))


def memory_input(*runs: tuple[Run, Trials], name: str = "memory.log") -> Input:
    """An input of `fullcount.convert.convert` that holds these runs.

    Args:
        *runs: Each run with its trials.
        name: What the input is called; its digest is over the name and the runs.
    """
    source = Source(Path(name))
    source.is_folder = False
    source.size = 0
    names = "\n".join([name, *(run.model_dump_json() for run, _ in runs)])
    source.sha256 = sha256(names.encode()).hexdigest()
    return Input(source, _SPEC, _Runs(runs=runs))


def export_run(
    run: Run,
    trials: Trials,
    target: Target,
    *,
    context: Context | None = None,
    fail_on: FailOn | None = None,
) -> Converted:
    """Convert one run with one exporter, exactly as a file that holds it would be.

    Args:
        run: The run; it declares every metric that a trial is scored on.
        trials: Its trials.
        target: Exporter, options and folder.
        context: Clock and content policy; by default the epoch and `digest`.
        fail_on: As for `fullcount.convert.convert`.

    Returns:
        What became of it, in one result also where the exporter combines all inputs.
    """
    item = memory_input((run, trials))
    results = list(convert([item], [target], context or Context(), fail_on=fail_on))
    first, last = results[0], results[-1]
    return replace(last, runs=first.runs, error=first.error or last.error)
