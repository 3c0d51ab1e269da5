"""The example reads what the command wrote, and the benchmark runs."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import fullcount.api
from fullcount_croissant.recount import recount

duckdb = pytest.importorskip("duckdb")

EXAMPLES = Path(__file__).parents[3] / "examples"
SCRIPT = EXAMPLES / "croissant_pass_rate.py"


def test_pass_rates_of_two_runs_are_those_of_their_tallies(tmp_path: Path) -> None:
    if not SCRIPT.is_file():
        pytest.skip("installed without the examples")
    maker = (EXAMPLES / "make_capitals.py").read_text()
    other = maker.replace('"mockllm/model"', '"mockllm/other"').replace(
        'Question("France", "Paris", "Paris")', 'Question("France", "Paris", "Lyon", "I")'
    )
    other = other.replace('"/".join(parts)', '"/".join(["other", *parts])')
    assert (other.count("Lyon"), other.count('"other", *parts')) == (1, 1)
    (tmp_path / "make_other.py").write_text(other)
    logs = [EXAMPLES / "capitals.eval", tmp_path / "other.eval"]
    subprocess.run([sys.executable, tmp_path / "make_other.py", logs[1]], check=True)
    (tmp_path / "make_other.py").unlink()

    folder = tmp_path / "dataset"
    command = [sys.executable, "-m", "fullcount", "convert", *logs, "--to", "croissant"]
    command += ["-o", folder, "-O", "license=CC-BY-4.0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "trials_0002.parquet" in done.stdout

    query = runpy.run_path(str(SCRIPT))["QUERY"].format(folder=folder)
    rows = duckdb.sql(query).fetchall()
    expected = []
    for log in logs:
        ((run, tally),) = fullcount.api.tally(log)
        rate = tally.pass_rate
        expected.append((run.subject.id, [rate.value, rate.lower, rate.upper, rate.sought]))
    assert [(row[0], pytest.approx(row[1:])) for row in rows] == [
        (subject, tuple(numbers)) for subject, numbers in expected
    ]
    assert expected == [
        ("mockllm/model", pytest.approx([6 / 7, 0.6, 0.9, 10])),
        ("mockllm/other", pytest.approx([5 / 7, 0.5, 0.8, 10])),
    ]
    shown = subprocess.run(
        [sys.executable, SCRIPT, folder], capture_output=True, text=True, check=True
    )
    assert "mockllm/other" in shown.stdout


def test_the_benchmark_measures_what_it_says(tmp_path: Path) -> None:
    script = EXAMPLES.parent / "benchmarks" / "croissant_export.py"
    if not script.is_file():
        pytest.skip("installed without the benchmarks")

    def measured(what: str) -> dict[str, float]:
        command = [sys.executable, script, "--what", what, "300", tmp_path]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return dict(json.loads(done.stdout))

    assert measured("export")["size"] == sum(p.stat().st_size for p in tmp_path.glob("*.parquet"))
    assert measured("bare")["bare"] > 0
    (counts,) = recount(tuple(sorted(tmp_path.glob("*.parquet"))))
    assert counts.total == 300
    assert [metric.unverified for metric in counts.metrics] == [0, 30]
