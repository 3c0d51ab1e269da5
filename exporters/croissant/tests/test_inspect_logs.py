"""Real logs of Inspect, where they are at hand: every record comes back as it was written."""

from __future__ import annotations

from pathlib import Path

import mlcroissant
import pytest

from fullcount.convert import Target, convert
from fullcount.errors import UnsupportedInputError
from fullcount.model import ScoreState
from fullcount.notices import Report
from fullcount.pipeline import find_inputs, tally_runs
from fullcount.plugin import Context
from fullcount_croissant import readback

LOGS = Path(__file__).parents[4] / "shared" / "logs" / "inspect"
NAMES = sorted(path.name for path in LOGS.glob("*")) if LOGS.is_dir() else []


@pytest.mark.skipif(not NAMES, reason="the logs are not here")
@pytest.mark.parametrize("name", NAMES)
def test_every_record_of_a_log_comes_back(name: str, tmp_path: Path) -> None:
    target = Target.named("croissant", tmp_path, {"license": "CC-BY-4.0", "check": False})
    (item,) = find_inputs([LOGS / name], Report())
    first, last = convert([item], [target], Context())
    if isinstance(first.error, UnsupportedInputError):
        assert list(tmp_path.iterdir()) == []
        pytest.skip(str(first.error))
    assert first.error is last.error is None

    # One of the logs has thousands of trials; mlcroissant reads some two thousand rows a second.
    found = readback.main(tmp_path, 400)
    assert found == {"errors": [], "warnings": [], "differences": []}
    dataset = mlcroissant.Dataset(str(tmp_path / "croissant.json"))
    ((run, tally),) = tally_runs(item, Report())
    summary = list(dataset.records("summary"))
    assert len(summary) == len(tally.metrics) > 0
    for record, metric in zip(summary, tally.metrics, strict=True):
        for state in ScoreState:
            count = record[f"summary/n_{state.value}"]
            assert readback.plain(count) == metric.states[state]
            assert type(readback.plain(count)) is int
        assert readback.plain(record["summary/mean"]) == metric.rate.value
        assert readback.plain(record["summary/mean_lower"]) == metric.rate.lower
        assert readback.plain(record["summary/mean_upper"]) == metric.rate.upper
    (row,) = dataset.records("runs")
    assert readback.plain(row["runs/n_trials"]) == tally.counts.total
    assert row["runs/run_id"].decode() == run.id
