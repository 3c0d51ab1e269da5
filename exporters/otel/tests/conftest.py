"""Runs to send, and a receiver to send them to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("opentelemetry.proto")

from fullcount.convert import Converted, Target
from fullcount.model import Run, Trial
from fullcount.plugin import Context
from fullcount.receipts import read_receipt, verify
from fullcount.testing import export_run
from fullcount.testing.otlp import Receiver, Reply

CONTEXT = Context(tool_version="0")


class Kit:
    """Everything that a test of the exporter needs."""

    Reply = Reply

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, **changes: Any) -> Run:
        """A run with one metric that has a threshold."""
        return Run.model_validate(
            {
                "id": "run-1",
                "source": {"format": "test", "sha256": "a" * 64},
                "harness": {"name": "test", "version": "1"},
                "subject": {"id": "openai/gpt-4o"},
                "suite": {"name": "capitals"},
                "evaluators": [
                    {
                        "name": "judge",
                        "kind": "model",
                        "model": "openai/o3",
                        "version": "2",
                        "metrics": [{"name": "judge", "minimum": 0, "maximum": 1}],
                    }
                ],
                "started_at": "2026-03-02T09:00:00Z",
                "completed_at": "2026-03-02T09:30:00Z",
                **changes,
            }
        )

    def trial(self, number: int = 1, score: dict[str, Any] | None = None, **more: Any) -> Trial:
        """A trial; by default it is scored 1 and passed."""
        fields = {"state": "scored", "value": 1.0, "outcome": "passed"} if score is None else score
        return Trial.model_validate(
            {
                "case_id": f"case-{number}",
                "scores": [{"evaluator": "judge", "metric": "judge", **fields}],
                "completed_at": "2026-03-02T09:10:00Z",
                **more,
            }
        )

    def trials(self, count: int) -> list[Trial]:
        """So many trials, of which every fourth is unverified."""
        return [
            self.trial(n, {"state": "nan", "raw": "NaN"} if n % 4 == 0 else None)
            for n in range(1, count + 1)
        ]

    def export(
        self, trials: list[Trial], run: Run | None = None, *, name: str = "out", **options: Any
    ) -> Converted:
        """Export them; every artifact is verified."""
        target = Target.named("otel", self.folder / name, options)
        result = export_run(run or self.run(), tuple(trials), target, context=CONTEXT)
        if result.error is None:
            verify(*result.receipts.values())
        return result

    def files(self, signal: str, name: str = "out") -> list[bytes]:
        """The lines that were written of a signal."""
        return [
            line
            for path in sorted((self.folder / name).glob(f"*.{signal}.jsonl"))
            for line in path.read_bytes().splitlines()
        ]

    def spool(self, name: str = "out") -> list[Path]:
        """Files of the spool."""
        return sorted((self.folder / name / "spool").glob("*.jsonl"))

    def delivery(self, result: Converted) -> dict[str, dict[str, int]]:
        """What the receipt says of the delivery."""
        (path,) = result.receipts.values()
        found: dict[str, dict[str, int]] = read_receipt(path).details["delivery"]
        return found


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    # Proxies and variables of the machine are no part of a test.
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return Kit(tmp_path)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as found:
        yield found
