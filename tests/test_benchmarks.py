"""The generated Inspect logs hold what the benchmarks say they hold."""

from __future__ import annotations

import importlib
import io
import json
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fullcount.model import ScoreState, TrialStatus
from fullcount.notices import Report
from fullcount.pipeline import Input, find_inputs, tally_runs

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
RATES = {"nan_rate": 0.1, "missing_rate": 0.1, "error_rate": 0.2, "limit_rate": 0.2}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    if not BENCHMARKS.is_dir():
        pytest.skip("installed without the benchmarks")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


@pytest.mark.parametrize(
    ("name", "compression"),
    [("log.eval", "zstd"), ("log.eval", "deflate"), ("log.json", "zstd")],
)
@pytest.mark.parametrize("scorers", [1, 2])
def test_the_reader_counts_what_was_generated(
    tmp_path: Path, bench: Any, name: str, compression: str, scorers: int
) -> None:
    facts = bench("_facts")
    settings = facts.Settings(50, seed=3, scorers=scorers, **RATES)
    drawn = [facts.facts_of(settings, index)[0] for index in range(50)]
    assert {fact.error for fact in drawn} == {"", "solver", "scorer"}

    path = tmp_path / name
    bench("generate_inspect").write_log(path, settings, compression)
    (item,) = find_inputs([path], Report())
    assert isinstance(item, Input)
    assert item.reader.name == "inspect"
    ((run, tally),) = tally_runs(item, Report())

    assert tally.counts.total == 50
    errors = sum(fact.error != "" for fact in drawn)
    assert tally.counts.statuses[TrialStatus.COMPLETED] <= 50 - errors
    assert tally.limited == sum(fact.limit is not None for fact in drawn)
    assert tally.scored_and_errored == sum(bool(fact.error and fact.grades) for fact in drawn)
    assert {evaluator.name for evaluator in run.evaluators} == set(settings.names)
    for metric in tally.metrics:
        grades = Counter(fact.grades.get(metric.evaluator, "") for fact in drawn)
        values = [facts.NUMBERS[g] for g in grades.elements() if g not in ("", "NaN")]
        assert metric.scored == len(values)
        assert metric.states[ScoreState.NAN] == grades["NaN"]
        assert metric.unverified == grades["NaN"] + grades[""]
        assert metric.rate.value == pytest.approx(sum(values) / len(values), abs=1e-12)
    # One epoch, so the harness's accuracy is the mean over the scored trials.
    reported = {(m.evaluator, m.statistic): m.value for m in run.reported}
    for metric in tally.metrics:
        assert reported[metric.evaluator, "accuracy"] == pytest.approx(metric.rate.value, abs=1e-12)


def test_the_same_settings_give_the_same_bytes(tmp_path: Path, bench: Any) -> None:
    settings = bench("_facts").Settings(30, seed=1)
    other = bench("_facts").Settings(30, seed=2)
    write = bench("generate_inspect").write_log
    for name in ("a.eval", "b.eval", "a.json", "b.json"):
        write(tmp_path / name, settings)
    write(tmp_path / "c.eval", other)
    assert (tmp_path / "a.eval").read_bytes() == (tmp_path / "b.eval").read_bytes()
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert (tmp_path / "a.eval").read_bytes() != (tmp_path / "c.eval").read_bytes()


def test_both_formats_hold_the_same_log(tmp_path: Path, bench: Any) -> None:
    settings = bench("_facts").Settings(25, seed=5, **RATES)
    for name in ("log.eval", "log.json"):
        bench("generate_inspect").write_log(tmp_path / name, settings, "deflate")
    with zipfile.ZipFile(tmp_path / "log.eval") as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        members = {name: archive.read(name).decode() for name in names}
    assert names == [
        "_journal/start.json",
        *(f"samples/{number}_epoch_1.json" for number in range(1, 11)),
        "_journal/summaries/1.json",
        *(f"samples/{number}_epoch_1.json" for number in range(11, 21)),
        "_journal/summaries/2.json",
        *(f"samples/{number}_epoch_1.json" for number in range(21, 26)),
        "_journal/summaries/3.json",
        "summaries.json",
        "reductions.json",
        "header.json",
    ]
    # Compared as text: NaN is not equal to itself.
    document = json.loads((tmp_path / "log.json").read_text())
    samples = [members[name] for name in names if name.startswith("samples/")]
    assert [json.dumps(json.loads(s)) for s in samples] == list(
        map(json.dumps, document.pop("samples"))
    )
    reductions = json.dumps(document.pop("reductions"))
    assert reductions == json.dumps(json.loads(members["reductions.json"]))
    assert json.dumps(document) == json.dumps(json.loads(members["header.json"]))
    journal = [
        item
        for number in (1, 2, 3)
        for item in json.loads(members[f"_journal/summaries/{number}.json"])
    ]
    summaries = json.loads(members["summaries.json"])
    assert json.dumps(journal) == json.dumps(summaries)
    assert [summary["id"] for summary in summaries] == list(range(1, 26))


def test_a_large_archive_has_a_zip64_directory(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    module = bench("_zip")
    monkeypatch.setattr(module, "_FULL16", 3)  # what a short end record can count
    with io.BytesIO() as file:
        writer = module.ZipWriter(file, "deflate")
        for number in range(5):
            writer.add(f"{number}", b"here" * number)
        writer.close()
        assert file.getvalue()[-22:-18] == b"PK\x05\x06"
        assert int.from_bytes(file.getvalue()[-12:-10], "little") == 3
        with zipfile.ZipFile(file) as archive:
            assert archive.namelist() == ["0", "1", "2", "3", "4"]
            assert archive.read("4") == b"here" * 4


def test_a_generated_lm_eval_run_is_read_as_it_reports_itself(tmp_path: Path, bench: Any) -> None:
    bench("generate_lm_eval").generate(tmp_path / "run", 40, seed=5)
    (item,) = find_inputs([str(tmp_path / "run")], Report())
    ((run, tally),) = tally_runs(item, Report())
    (metric,) = tally.metrics
    said = {each.statistic: each.value for each in run.reported}
    assert (item.reader.name, metric.states[ScoreState.SCORED]) == ("lm-eval", 40)
    assert metric.rate.value == pytest.approx(said["mean"])
    assert metric.rate.standard_error == pytest.approx(said["stderr"])
    assert 0 < metric.rate.value < 1
    assert [finding.code for finding in tally.findings] == []


def test_a_generated_helm_run_is_read_as_it_reports_itself(tmp_path: Path, bench: Any) -> None:
    bench("generate_helm").generate(tmp_path / "run", 40, seed=5)
    (item,) = find_inputs([str(tmp_path / "run")], Report())
    ((run, tally),) = tally_runs(item, Report())
    metrics = {metric.name: metric for metric in tally.metrics}
    said = {each.metric: each.value for each in run.reported if each.statistic == "mean"}
    assert item.reader.name == "helm"
    assert len(metrics) == 8
    assert {metric.states[ScoreState.SCORED] for metric in metrics.values()} == {40}
    assert metrics["exact_match"].rate.value == pytest.approx(said["exact_match"])
    assert 0 < said["exact_match"] < 1
    assert [finding.code for finding in tally.findings] == []


@pytest.mark.parametrize("change", [{"samples": 0}, {"scorers": 3}, {"nan_rate": 0.99}])
def test_impossible_settings_are_refused(bench: Any, change: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="1 or 2 scorers"):
        bench("_facts").Settings(**{"samples": 10, **change})


MEASURING = r"""
import json, sys
from _measure import Measured, measure

large, small, failed = Measured(), Measured(), Measured()
code = "data = b'x' * 200_000_000; sum(range(3_000_000))"
for _ in range(2):
    measure([sys.executable, "-c", code], large)
measure([sys.executable, "-c", "pass"], small)
measure([sys.executable, "-c", "raise SystemExit('first\\nlast')"], failed)
print(json.dumps([vars(result) for result in (large, small, failed)]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no wait4")
def test_a_command_is_charged_its_own_memory_and_time() -> None:
    # A process peaks no lower than the one that starts it, so a small one measures.
    done = subprocess.run(
        [sys.executable, "-c", MEASURING],
        env={"PYTHONPATH": str(BENCHMARKS)},
        capture_output=True,
        check=True,
    )
    large, small, failed = json.loads(done.stdout)
    assert (large["status"], len(large["user"]), len(large["system"])) == (0, 2, 2)
    assert large["peak"] - small["peak"] > 100_000_000
    assert min(large["user"]) > 0
    assert (failed["status"], failed["last_line"]) == (1, "last")
