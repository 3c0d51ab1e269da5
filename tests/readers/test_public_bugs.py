"""Rows that tools in public dropped, zeroed or passed, each read as its right value.

Every folder in `tests/data/public_bugs` is one report: a small file in the format concerned, and
`expected.toml` with what must be counted. States, statuses and verdicts that are not named are 0.
Of tools that have no reader of their own, the rows are read by a mapping.

What a file cannot tell is not in the table: the "I" that an Inspect judge without a grade left
before 0.3.245, and a judge of promptfoo 0.120 that answered garbage, look like any failure. Of a
gate that lets NaN pass (21), the file shows the NaN; what a gate makes of it is not a reader's.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from fullcount import registry
from fullcount.notices import Report
from fullcount.pipeline import Input, find_inputs, tally_runs
from fullcount.sources import Source

DATA = Path(__file__).resolve().parents[1] / "data" / "public_bugs"
NUMBERED = [str(number) for number in range(1, 48)]
LETTERED = list("ABCDEFGHIJKLMNO")

FOLDERS = sorted(path.name for path in DATA.iterdir() if path.is_dir())


def nonzero(counts: Any) -> dict[str, int]:
    return {key.value: count for key, count in counts.items() if count}


def test_every_report_is_here() -> None:
    assert sorted([*NUMBERED, *LETTERED]) == FOLDERS


@pytest.mark.parametrize("name", FOLDERS)
def test_the_right_value(name: str) -> None:
    folder = DATA / name
    expected = tomllib.loads((folder / "expected.toml").read_text("utf-8"))
    spec = registry.readers().get(expected["format"])
    options = {
        key: str(folder / value) if key == "mapping" else value
        for key, value in expected.get("options", {}).items()
    }
    path = (folder / expected["input"]).resolve()
    if not options:
        # It is also found without being told what it is.
        found = [item for item in find_inputs([path], Report()) if isinstance(item, Input)]
        assert {item.reader.name for item in found} == {spec.name}
    item = Input(Source(path), spec, registry.make_options(spec, options))
    tallies = tally_runs(item, Report())
    assert len(tallies) == len(expected["runs"])
    for (_, tally), wanted in zip(tallies, expected["runs"], strict=True):
        counts = tally.counts
        assert counts.total == wanted["total"]
        assert nonzero(counts.statuses) == wanted["statuses"]
        assert nonzero(counts.verdicts) == wanted["verdicts"]
        assert counts.no_verdict == wanted.get("no_verdict", 0)
        assert tally.measurement_failures == wanted.get("measurement_failures", 0)
        assert tally.scored_and_errored == wanted.get("scored_and_errored", 0)
        if "pass_rate" in wanted:
            assert tally.pass_rate.value == wanted["pass_rate"]
        codes = {finding.code for finding in tally.findings}
        assert set(wanted.get("findings", ())) <= codes
        assert {metric.name for metric in tally.metrics} == wanted.get("metrics", {}).keys()
        for metric in tally.metrics:
            right = wanted["metrics"][metric.name]
            assert nonzero(metric.states) == right["states"], metric.name
            rate = metric.rate
            close = pytest.approx(right["mean"]) if "mean" in right else None
            assert rate.value == close, metric.name
            for bound in ("lower", "upper"):
                if bound in right:
                    assert getattr(rate, bound) == pytest.approx(right[bound]), metric.name
