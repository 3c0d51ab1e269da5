"""Writes an Inspect log of any size, member for member as inspect_ai 0.3.285 writes it.

    python benchmarks/generate_inspect.py LOG.eval --samples 10000
    python benchmarks/generate_inspect.py LOG.json --samples 10000 --nan-rate 0

The suffix chooses the format. The same arguments give the same bytes. Memory does not grow
with the samples, save for the directory of the ZIP file.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from dataclasses import MISSING, dataclass, field, fields
from datetime import timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, get_args

from _facts import JUDGE, MODEL, NUMBERS, STARTED, Facts, Settings, facts_of, usage_of
from _samples import reduction_of, sample_of, summary_of
from _zip import Compression, ZipWriter
from pydantic_core import to_json

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Expected", "expected", "write_log"]

_BATCH = 10
"""Samples that Inspect gathers before it writes them and one `_journal/summaries` member."""


@dataclass
class Expected:
    """What the log holds, counted while nothing but the facts is drawn.

    Attributes:
        total: Samples.
        completed: Samples without an error.
        values: For each scorer, how often it gave each number.
        unscored: For each scorer, how often it gave NaN.
        usage: Tokens in and out, for each model.
    """

    total: int = 0
    completed: int = 0
    values: dict[str, dict[float, int]] = field(default_factory=dict)
    unscored: dict[str, int] = field(default_factory=dict)
    usage: dict[str, list[int]] = field(default_factory=dict)

    def add(self, facts: Facts) -> None:
        """Count one sample."""
        self.total += 1
        self.completed += not facts.error
        for scorer, grade in facts.grades.items():
            value = NUMBERS[grade]
            if math.isnan(value):
                self.unscored[scorer] += 1
            else:
                self.values[scorer][value] = self.values[scorer].get(value, 0) + 1
        for model, usage in facts.usage.items():
            total = self.usage.setdefault(model, [0, 0])
            total[0] += usage["input_tokens"]
            total[1] += usage["output_tokens"]


def expected(settings: Settings) -> Expected:
    """The counts of the log that `write_log` writes."""
    counts = Expected(
        values={scorer: {} for scorer in settings.names},
        unscored=dict.fromkeys(settings.names, 0),
    )
    for index in range(settings.samples):
        counts.add(facts_of(settings, index)[0])
    return counts


def write_log(path: Path, settings: Settings, compression: Compression = "zstd") -> None:
    """Write one log.

    Args:
        path: Where to; `.eval` or `.json` chooses the format.
        settings: What stands in it.
        compression: Of the members of an `.eval` file.

    Raises:
        ValueError: The suffix is neither.
    """
    if path.suffix not in (".eval", ".json"):
        msg = f"{path.name}: a log ends in .eval or .json"
        raise ValueError(msg)
    with path.open("wb") as file:
        if path.suffix == ".eval":
            _write_eval(ZipWriter(file, compression), settings)
        else:
            _write_json(file, settings)


def _compact(value: object) -> bytes:
    return to_json(value, inf_nan_mode="constants")


def _write_eval(archive: ZipWriter, settings: Settings) -> None:
    spec, plan = _spec(settings), _plan()
    archive.add("_journal/start.json", _compact({"version": 2, "eval": spec, "plan": plan}))
    with _Reductions(settings, pretty=False) as reduced, tempfile.TemporaryFile() as summaries:
        batch: list[bytes] = []
        journal = 0
        for index in range(settings.samples):
            sample, facts = sample_of(settings, index)
            archive.add(f"samples/{sample['id']}_epoch_1.json", _compact(sample))
            reduced.add(sample, facts)
            batch.append(_compact(summary_of(sample)))
            if len(batch) == _BATCH or index == settings.samples - 1:
                journal += 1
                joined = b",".join(batch)
                archive.add(f"_journal/summaries/{journal}.json", b"[" + joined + b"]")
                summaries.write((b"," if journal > 1 else b"") + joined)
                batch.clear()
        with archive.member("summaries.json") as write:
            write(b"[")
            _copy(summaries, write)
            write(b"]")
        with archive.member("reductions.json") as write:
            reduced.write(write)
    archive.add("header.json", _compact(_header(settings, spec, plan)))
    archive.close()


def _write_json(file: IO[bytes], settings: Settings) -> None:
    header = to_json(
        _header(settings, _spec(settings), _plan()), indent=2, inf_nan_mode="constants"
    )
    file.write(header.removesuffix(b"\n}"))
    file.write(b',\n  "samples": [')
    with _Reductions(settings, pretty=True) as reduced:
        for index in range(settings.samples):
            sample, facts = sample_of(settings, index)
            file.write(b",\n    " if index else b"\n    ")
            file.write(_indented(sample, 4))
            reduced.add(sample, facts)
        file.write(b'\n  ],\n  "reductions": ')
        reduced.write(file.write)
    file.write(b"\n}")


def _indented(value: object, spaces: int) -> bytes:
    text = to_json(value, indent=2, inf_nan_mode="constants")
    return text.replace(b"\n", b"\n" + b" " * spaces)


def _copy(source: IO[bytes], write: Callable[[bytes], object]) -> None:
    source.seek(0)
    while chunk := source.read(1 << 20):
        write(chunk)


class _Reductions:
    """Each scorer's scores as numbers, kept on disk until the samples are written."""

    def __init__(self, settings: Settings, *, pretty: bool) -> None:
        self._names = settings.names
        self._pretty = pretty
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> Self:
        self._files = [tempfile.TemporaryFile() for _ in self._names]  # noqa: SIM115 - __exit__
        return self

    def __exit__(self, *error: object) -> None:
        for file in self._files:
            file.close()

    def add(self, sample: dict[str, Any], facts: Facts) -> None:
        items = reduction_of(sample, facts)
        for name, file in zip(self._names, self._files, strict=True):
            if name in items:
                lead = b"," if file.tell() else b""
                if self._pretty:
                    file.write(lead + b"\n        " + _indented(items[name], 8))
                else:
                    file.write(lead + _compact(items[name]))

    def write(self, write: Callable[[bytes], object]) -> None:
        lead = "["
        for name, file in zip(self._names, self._files, strict=True):
            if self._pretty:
                write(f'{lead}\n    {{\n      "scorer": "{name}",\n      "samples": ['.encode())
            else:
                write(f'{lead}{{"scorer":"{name}","samples":['.encode())
            _copy(file, write)
            write(b"\n      ]\n    }" if self._pretty else b"]}")
            lead = ","
        write(b"\n  ]" if self._pretty else b"]")


def _spec(settings: Settings) -> dict[str, Any]:
    created = STARTED.isoformat()
    return {
        "eval_id": "VqkPzJ5T3cXbWnRmYh8sLd",
        "run_id": "Gx4NfUa7KwEtQpCv9MjZBs",
        "created": created,
        "task": "open_questions",
        "task_id": "Hr6DySg2LbPmTzVkXn5QwC",
        "task_version": 0,
        "task_display_name": "open_questions",
        "task_attribs": {},
        "task_args": {},
        "task_args_passed": {},
        "dataset": {
            "name": "open_questions",
            "location": "data/open_questions.jsonl",
            "samples": settings.samples,
            "sample_ids": list(range(1, settings.samples + 1)),
            "shuffled": False,
        },
        "model": MODEL,
        "model_generate_config": {"temperature": 0.0},
        "model_args": {},
        "model_roles": {"grader": {"model": JUDGE, "config": {}, "args": {}}},
        "config": {
            "epochs": 1,
            "fail_on_error": False,
            "continue_on_fail": True,
            "score_on_error": False,
            "sandbox_cleanup": True,
            "sandbox_prebuilt": False,
            "log_samples": True,
            "log_realtime": True,
            "log_images": True,
            "score_display": True,
        },
        "packages": {"inspect_ai": "0.3.285"},
        "scorers": [
            {
                "name": name,
                "options": {} if name == "includes" else {"partial_credit": True},
                "metrics": [
                    {"name": "inspect_ai/accuracy", "options": {}},
                    {"name": "inspect_ai/stderr", "options": {}},
                ],
                "metadata": {},
            }
            for name in settings.names
        ],
    }


def _plan() -> dict[str, Any]:
    return {
        "name": "plan",
        "steps": [{"solver": "generate", "params": {}, "params_passed": {}}],
        "config": {"temperature": 0.0},
    }


def _header(settings: Settings, spec: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
    counts = expected(settings)
    end = STARTED + timedelta(milliseconds=230 * settings.samples + 9200)
    first = settings.names[0]
    return {
        "version": 2,
        "status": "success",
        "eval": spec,
        "plan": plan,
        "results": {
            "total_samples": counts.total,
            "completed_samples": counts.completed,
            "scores": [
                {
                    "name": name,
                    "scorer": name,
                    "scored_samples": sum(counts.values[name].values()),
                    "unscored_samples": counts.unscored[name],
                    "params": {} if name == "includes" else {"partial_credit": True},
                    "metrics": {
                        statistic: {"name": statistic, "value": value, "params": {}}
                        for statistic, value in _statistics(counts.values[name])
                    },
                }
                for name in settings.names
            ],
            "headline": {"scorer": first, "score": first, "metric": "accuracy"},
        },
        "stats": {
            "started_at": STARTED.isoformat(),
            "completed_at": end.isoformat(timespec="seconds"),
            "model_usage": {model: usage_of(*total) for model, total in counts.usage.items()},
            "role_usage": {"grader": usage_of(*counts.usage[JUDGE])}
            if JUDGE in counts.usage
            else {},
            "connection_limit_history": [],
        },
        "invalidated": False,
        "tags": [],
        "metadata": {},
    }


def _statistics(values: dict[float, int]) -> tuple[tuple[str, float], ...]:
    """Mean and standard error; NaN over nothing, and no spread in a single value."""
    n = sum(values.values())
    if n == 0:
        return ("accuracy", math.nan), ("stderr", math.nan)
    mean = sum(value * count for value, count in values.items()) / n
    squares = sum((value - mean) ** 2 * count for value, count in values.items())
    return ("accuracy", mean), (
        "stderr",
        math.sqrt(squares / (n - 1)) / math.sqrt(n) if n > 1 else 0.0,
    )


def main(arguments: list[str] | None = None) -> None:
    """Write the log that the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("log", type=Path, help="file to write; ends in .eval or .json")
    parser.add_argument("--compression", choices=get_args(Compression), default="zstd")
    for setting in fields(Settings):
        kind = float if setting.name.endswith("_rate") else int
        default = 1000 if setting.default is MISSING else setting.default
        name = f"--{setting.name.replace('_', '-')}"
        parser.add_argument(name, type=kind, default=default, help=f"default {default}")
    chosen = vars(parser.parse_args(arguments))
    path, compression = chosen.pop("log"), chosen.pop("compression")
    try:
        write_log(path, Settings(**chosen), compression)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
