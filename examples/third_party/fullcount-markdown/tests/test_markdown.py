"""The exporter's contract, and what the tables look like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.testing import ExporterContract, example

if TYPE_CHECKING:
    from pathlib import Path


class TestMarkdown(ExporterContract):
    """Everything that every exporter is held to."""

    exporter = "markdown"

    def test_the_tables(self, tmp_path: Path) -> None:
        """A person reads the same counts that `recount` does."""
        run, trials = example("plain").run, example("plain").trials
        result = self.export(run, trials, tmp_path)
        (file,) = tmp_path.glob("*.md")
        text = file.read_text(encoding="utf-8")
        counts = result.runs[0][1].counts
        assert text.startswith(f'# `"{run.suite.name}"`: `"{run.subject.id}"`\n')
        for status, count in counts.statuses.items():
            assert f'| `"{status.value}"` | {count} |\n' in text
        for verdict, count in counts.verdicts.items():
            assert f'| `"{verdict.value}"` | {count} |\n' in text
        for metric in counts.metrics:
            cells = [f'`"{metric.evaluator}"`', f'`"{metric.metric}"`', *metric.states.values()]
            assert f"| {' | '.join(map(str, cells))} | " in text
