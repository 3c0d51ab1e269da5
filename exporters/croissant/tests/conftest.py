"""Runs to export, and what an export of them left."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from fullcount.convert import Converted, Target, convert
from fullcount.model import Run, Trial
from fullcount.plugin import ContentPolicy, Context
from fullcount.testing import memory_input

NOW = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)
Pair = tuple[Run, tuple[Trial, ...]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """mlcroissant calls what rdflib and pandas have on their way out."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            for message in ("ConjunctiveGraph is deprecated", "The inplace keyword in DataFrame"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{message}"))


def _judged(states: str, run_id: str = "r1", subject: str = "acme/anvil-1") -> Pair:
    """A run of two metrics; each letter of `states` is a trial.

    p: passed, f: failed, n: NaN, 0: null, x: the harness failed, s: skipped.
    """
    run = Run.model_validate(
        {
            "id": run_id,
            "source": {"format": "test", "path": f"{run_id}.log", "sha256": "ab" * 32},
            "harness": {"name": "sink", "version": "1.2"},
            "subject": {"id": subject, "version": "v9"},
            "suite": {
                "name": "hammering",
                "dataset": "nails",
                "dataset_location": "https://example.org/nails",
            },
            "evaluators": [
                {
                    "name": "exact",
                    "kind": "rule",
                    "metrics": [{"name": "exact", "minimum": 0, "maximum": 1, "threshold": 1}],
                },
                {
                    "name": "judge",
                    "kind": "model",
                    "model": "acme/judge-2",
                    "metrics": [
                        {"name": "quality", "minimum": 0, "maximum": 10, "unit": "points"},
                        {"name": "style"},
                    ],
                },
            ],
        }
    )
    exact: dict[str, dict[str, Any]] = {
        "p": {"state": "scored", "value": 1.0, "outcome": "passed"},
        "f": {"state": "scored", "value": 0.0, "outcome": "failed"},
        "n": {"state": "nan", "raw": "NaN", "raw_type": "number"},
        "0": {"state": "null", "raw": "null", "raw_type": "null"},
        "x": {"state": "not_measured", "reason": "harness_error"},
        "s": {"state": "skipped"},
    }
    trials = tuple(
        Trial.model_validate(
            {
                "case_id": f"case-{number}",
                "status": "harness_error" if state == "x" else "completed",
                "scores": [
                    {"evaluator": "exact", "metric": "exact", **exact[state]},
                    {"evaluator": "judge", "metric": "quality", "state": "error"},
                    {"evaluator": "judge", "metric": "style", "state": "scored", "label": "terse"},
                ],
            }
            if state != "x"
            else {"case_id": f"case-{number}", "status": "harness_error"}
        )
        for number, state in enumerate(states)
    )
    return run, trials


@pytest.fixture
def judged() -> Callable[..., Pair]:
    """Makes runs of a few trials."""
    return _judged


class Exported:
    """A dataset folder, and what became of its inputs."""

    def __init__(self, folder: Path, results: list[Converted]) -> None:
        self.folder = folder
        self.results = results

    @property
    def description(self) -> dict[str, Any]:
        """The content of croissant.json."""
        found: dict[str, Any] = json.loads((self.folder / "croissant.json").read_bytes())
        return found

    @property
    def tasks(self) -> list[dict[str, Any]]:
        """The nodes of croissant-tasks.jsonld."""
        document = json.loads((self.folder / "croissant-tasks.jsonld").read_bytes())
        nodes: list[dict[str, Any]] = document["@graph"]
        return nodes

    @property
    def receipt(self) -> Path:
        """The receipt of the dataset."""
        (path,) = self.results[-1].receipts.values()
        return path

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Every row of a table, in the order of its files."""
        return [
            row
            for path in sorted(self.folder.glob(f"{table}*.parquet"))
            for row in pq.read_table(path, partitioning=None).to_pylist()
        ]

    def notices(self) -> dict[str, str]:
        """The exporter's own notices: message by code."""
        found = self.results[-1].notices
        return {notice.code: notice.message for notice in found if notice.plugin == "croissant"}


Export = Callable[..., Exported]


@pytest.fixture
def export(tmp_path: Path) -> Export:
    """Exports runs, each an input of its own; fails if one is refused, unless told not to."""

    def call(
        *pairs: Pair,
        folder: Path | None = None,
        policy: ContentPolicy = ContentPolicy.DIGEST,
        fails: bool = False,
        **options: object,
    ) -> Exported:
        target = Target.named(
            "croissant",
            folder or tmp_path / "dataset",
            {"license": "CC-BY-4.0", "check": False, **options},
        )
        inputs = [memory_input(pair, name=f"{number}.log") for number, pair in enumerate(pairs)]
        results = list(convert(inputs, [target], Context(now=NOW, content=policy)))
        errors = [result.error for result in results if result.error is not None]
        if errors and not fails:
            raise AssertionError(str(errors[0])) from errors[0]
        return Exported(target.folder, results)

    return call
