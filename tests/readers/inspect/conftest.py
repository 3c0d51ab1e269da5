"""Small Inspect logs, each written as an archive and as a document."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from fullcount import registry
from fullcount.notices import Report
from fullcount.pipeline import Input, open_runs, tally_runs
from fullcount.plugin import ContentPolicy, ReadRequest
from fullcount.sources import Source

if TYPE_CHECKING:
    from pathlib import Path

    from fullcount.model import Run, RunTally, Trial


@dataclass
class Log:
    """What a log holds; `samples` are whole samples."""

    samples: list[dict[str, Any]] = field(default_factory=list)
    scores: list[dict[str, Any]] | None = None
    ids: list[Any] | None = None
    epochs: int = 1
    status: str = "success"
    version: int = 2
    config: dict[str, Any] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    scorers: tuple[str, ...] = ("match",)
    inspect_version: str = "0.3.285"

    @property
    def head(self) -> dict[str, Any]:
        ids = [sample["id"] for sample in self.samples if sample["epoch"] == 1]
        return {
            "version": self.version,
            "status": self.status,
            "eval": {
                "eval_id": "eval-1",
                "run_id": "run-1",
                "created": "2026-01-01T00:00:00+00:00",
                "task": "capitals",
                "task_version": 0,
                "dataset": {
                    "name": "capitals",
                    "samples": 100,
                    "sample_ids": ids if self.ids is None else self.ids,
                },
                "model": "openai/gpt-4o",
                "model_base_url": "https://user:secret@example.org/v1",
                "config": {"epochs": self.epochs, **self.config},
                "packages": {"inspect_ai": self.inspect_version},
                "scorers": [
                    {"name": name, "options": {}, "metrics": [{"name": "inspect_ai/accuracy"}]}
                    for name in self.scorers
                ],
            },
            "plan": {"name": "plan", "steps": [{"solver": "generate", "params": {}}]},
        }

    @property
    def header(self) -> dict[str, Any]:
        header = {
            **self.head,
            "stats": {
                "started_at": "2026-01-01T00:00:00+00:00",
                "completed_at": "2026-01-01T00:01:00+00:00",
                "model_usage": {},
            },
            **self.extra,
        }
        if self.scores is not None:
            header["results"] = {
                "total_samples": len(self.samples),
                "completed_samples": len(self.samples),
                "scores": self.scores,
                **self.results,
            }
        return header

    def document(self, path: Path) -> Path:
        """As one JSON document."""
        text = json.dumps({**self.header, "samples": self.samples, "reductions": []})
        path.write_text(text)
        return path

    def archive(self, path: Path, *, crashed: bool = False, summaries: bool = True) -> Path:
        """As an archive, or as what a killed process leaves of one."""
        short = list(map(summary, self.samples))
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            start = {name: self.head[name] for name in ("version", "eval", "plan")}
            file.writestr("_journal/start.json", json.dumps(start))
            for sample in self.samples:
                name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
                file.writestr(name, json.dumps(sample))
            half = len(short) // 2
            file.writestr("_journal/summaries/1.json", json.dumps(short[:half]))
            if not crashed:
                file.writestr("_journal/summaries/2.json", json.dumps(short[half:]))
                if summaries:
                    file.writestr("summaries.json", json.dumps(short))
                file.writestr("header.json", json.dumps(self.header))
        return path


def summary(sample: dict[str, Any]) -> dict[str, Any]:
    """What Inspect keeps of a sample beside it."""
    kept = {
        name: sample[name]
        for name in (
            "id", "epoch", "input", "target", "choices", "scores", "model_usage", "started_at",
            "completed_at", "total_time", "working_time", "uuid",
        )
        if name in sample
    }  # fmt: skip
    if "error" in sample:
        kept["error"] = sample["error"]["message"]
    if "limit" in sample:
        kept["limit"] = sample["limit"]["type"]
    if sample.get("error_retries"):
        kept["retries"] = len(sample["error_retries"])
    kept["turn_count"] = sample["turn_count"]
    return kept


def sample(
    sample_id: Any,
    value: Any = None,
    *,
    epoch: int = 1,
    scores: dict[str, Any] | None = None,
    score: dict[str, Any] | None = None,
    error: str | None = None,
    limit: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A sample; `value` is that of the scorer `match`."""
    if scores is None:
        scores = {} if value is ... else {"match": {"value": value, **(score or {})}}
    found: dict[str, Any] = {
        "id": sample_id,
        "epoch": epoch,
        "input": f"Capital of {sample_id}?",
        "target": "Paris",
        "messages": [
            {"role": "user", "content": f"Capital of {sample_id}?"},
            {"role": "assistant", "content": "It is Paris."},
        ],
        "output": {
            "model": "gpt-4o",
            "choices": [{"message": {"role": "assistant", "content": "It is Paris."}}],
        },
        "scores": scores,
        "turn_count": 1,
        "uuid": f"uuid-{sample_id}-{epoch}",
        "total_time": 1.5,
        "model_usage": {
            "openai/gpt-4o": {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
        },
        **more,
    }
    if error is not None:
        found["error"] = {"message": error, "traceback": "…"}
    if limit is not None:
        found["limit"] = {"type": limit, "limit": 3}
    return found


def reported(
    name: str = "match", scorer: str | None = None, accuracy: float | None = 1.0, **more: Any
) -> dict[str, Any]:
    """An entry of the results."""
    return {
        "name": name,
        "scorer": scorer or name,
        "params": {},
        "metrics": {"accuracy": {"name": "accuracy", "value": accuracy, "params": {}}},
        **more,
    }


@dataclass
class Read:
    """Reads a log, and tells what is in it."""

    path: Path
    options: dict[str, Any] = field(default_factory=dict)
    report: Report = field(default_factory=Report)

    @property
    def item(self) -> Input:
        spec = registry.readers().get("inspect")
        return Input(Source(self.path), spec, registry.make_options(spec, self.options))

    def tally(self) -> tuple[Run, RunTally]:
        (result,) = tally_runs(self.item, self.report)
        return result

    def trials(self, content: ContentPolicy = ContentPolicy.DIGEST) -> list[Trial]:
        request = ReadRequest(content, self.report, survey=True)
        return [trial for stream in open_runs(self.item, request) for trial in stream.trials]

    def states(self) -> dict[str, dict[str, int]]:
        _, tally = self.tally()
        return {
            metric.name: {state.value: count for state, count in metric.states.items() if count}
            for metric in tally.metrics
        }

    def codes(self) -> list[str]:
        return [notice.code for notice in self.report.notices()]


class Kit:
    """Everything a test needs to write and read a log."""

    Log = Log
    sample = staticmethod(sample)
    summary = staticmethod(summary)
    reported = staticmethod(reported)

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def archive(self, log: Log, **how: bool) -> Read:
        return Read(log.archive(self.folder / "log.eval", **how))

    def document(self, log: Log) -> Read:
        return Read(log.document(self.folder / "log.json"))

    def both(self, log: Log) -> tuple[Read, Read]:
        return self.archive(log), self.document(log)

    def read(self, path: Path, **options: Any) -> Read:
        return Read(path, options)


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(tmp_path)
