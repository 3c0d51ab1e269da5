"""Damage of every kind: one line, and nothing half done."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fullcount import api, registry
from fullcount.content import ContentFilter
from fullcount.errors import (
    DamagedInputError,
    InputError,
    UnrecognizedInputError,
    UnsupportedInputError,
)
from fullcount.model import Content, Excerpt, Message, ToolCall, Trial
from fullcount.notices import Report
from fullcount.pipeline import Input, open_runs
from fullcount.plugin import ContentPolicy, ReadRequest
from fullcount.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "capitals.eval"
BUGS = ROOT / "tests" / "data" / "public_bugs"
# Each is of another kind than nearly every field: what is not checked falls over one of them.
WRONG = ("null", "-1", "1e999", '"\\ud800"', "[null]", "[-1]", '{"a": [{}]}')
MARK = "here stands the damage"


def nonzero(counts: Any) -> dict[str, int]:
    return {key.value: count for key, count in counts.items() if count}


# -- every field of a log, damaged


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Each place in a document; of an array the first two."""
    yield at
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value[:2]):
            yield from places(item, (*at, index))


def damaged(document: Any, at: tuple[Any, ...], wrong: str) -> str:
    if not at:
        return wrong
    changed = json.loads(json.dumps(document))
    holder = changed
    for step in at[:-1]:
        holder = holder[step]
    holder[at[-1]] = MARK
    return json.dumps(changed).replace(f'"{MARK}"', wrong)


def logs(reader: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    for folder in sorted(BUGS.iterdir()):
        about = tomllib.loads((folder / "expected.toml").read_text("utf-8"))
        if about["format"] == reader:
            yield (folder / about["input"]).resolve(), about.get("options", {})


def count(reader: str, log: Path, options: dict[str, Any]) -> int:
    spec = registry.readers().get(reader)
    item = Input(Source(log), spec, registry.make_options(spec, options))
    request = ReadRequest(ContentPolicy.INCLUDE, Report(), survey=True)
    return sum(1 for stream in open_runs(item, request) for _ in stream.trials)


@pytest.mark.parametrize(
    "reader", ["brigade", "evalport", "harbor", "helm", "inspect", "lm-eval", "stagehand"]
)
def test_no_wrong_value_of_any_field_is_more_than_a_refusal(reader: str, tmp_path: Path) -> None:
    known = refused = read = 0
    for number, (log, options) in enumerate(logs(reader)):
        if known >= 2:
            break
        place = tmp_path / str(number)
        shutil.copytree(log if log.is_dir() else log.parent, place)
        copy = place if log.is_dir() else place / log.name
        assert count(reader, copy, options) > 0
        known += 1
        for path in sorted(place.rglob("*.json")):
            whole = path.read_text("utf-8")
            document = json.loads(whole)
            for at in places(document):
                for wrong in WRONG:
                    path.write_text(damaged(document, at, wrong), "utf-8")
                    try:
                        count(reader, copy, options)
                        read += 1
                    except InputError:
                        refused += 1
            path.write_text(whole, "utf-8")
    assert known
    assert refused
    assert read


def test_a_name_that_would_fill_every_row_is_refused(tmp_path: Path) -> None:
    log = {
        "version": 2,
        "status": "success",
        "eval": {"eval_id": "e", "task": "t" * (2**20 + 1), "model": "m/m", "dataset": {}},
        "samples": [],
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    with pytest.raises(
        DamagedInputError, match=r"suite\.name of a run: String should have at most"
    ):
        api.tally(path, reader="inspect")


# -- HELM and Harbor: what names a trial is not guessed


def helm(folder: Path, **changes: Any) -> Path:
    statistic = {"name": {"name": "exact_match", "split": "test"}, "count": 1, "mean": 1.0}
    record = {"instance_id": "i", "train_trial_index": 0, "stats": [statistic]}
    folder.mkdir(exist_ok=True)
    spec = {"name": "s", "adapter_spec": {"model": "m"}}
    (folder / "run_spec.json").write_text(json.dumps(spec))
    (folder / "per_instance_stats.json").write_text(json.dumps([record | changes]))
    return folder


@pytest.mark.parametrize(
    "changes",
    [
        {"instance_id": None},
        {"instance_id": 1.5},
        {"train_trial_index": float("inf")},
        {"train_trial_index": True},
        {"train_trial_index": "0"},
        {"perturbation": {"name": None}},
        {"perturbation": "typos"},
        {"stats": ""},
        {"stats": [{"name": {"name": None}}]},
        {"stats": [{"name": {"name": ""}}]},
    ],
)
def test_helm_guesses_no_trial(tmp_path: Path, changes: dict[str, Any]) -> None:
    ((_, whole),) = api.tally(helm(tmp_path / "whole"), reader="helm")
    assert (whole.counts.total, whole.metrics[0].rate.value) == (1, 1.0)
    with pytest.raises(DamagedInputError, match=r"per_instance_stats\.json: /0: is no record of"):
        api.tally(helm(tmp_path / "bad", **changes), reader="helm")


def harbor(folder: Path, **changes: Any) -> Path:
    for name in ("a", "b"):
        (folder / name).mkdir(parents=True)
        trial: dict[str, Any] = {"task_name": name, "trial_name": name, "exception_info": None}
        trial["verifier_result"] = {"rewards": {"reward": 1.0}}
        if name == "b":
            trial = {key: value for key, value in (trial | changes).items() if value is not ...}
        (folder / name / "result.json").write_text(json.dumps(trial))
    return folder


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trial_name": ...}, "b/result.json: must be the result of a trial"),
        ({"exception_info": ...}, "b/result.json: must be the result of a trial"),
        ({"exception_info": "boom"}, "b/result.json: /exception_info: must be null or an object"),
    ],
)
def test_harbor_passes_over_no_trial(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    ((_, whole),) = api.tally(harbor(tmp_path / "whole"))
    assert whole.counts.total == 2
    with pytest.raises(DamagedInputError, match=message):
        api.tally(harbor(tmp_path / "bad", **changes))


def test_harbor_counts_planned_trials_without_a_result(tmp_path: Path) -> None:
    job = {"id": "job", "n_total_trials": 4}
    folder = harbor(tmp_path / "job")
    (folder / "result.json").write_text(json.dumps(job))
    ((run, tally),) = api.tally(folder)
    assert (run.plan.trials, tally.counts.total) == (4, 4)
    assert nonzero(tally.counts.statuses) == {"completed": 2, "not_run": 2}
    assert nonzero(tally.metrics[0].states) == {"scored": 2, "not_measured": 2}
    job["n_total_trials"] = 10**9
    (folder / "result.json").write_text(json.dumps(job))
    with pytest.raises(UnsupportedInputError, match=r"plans 999,999,998 trials"):
        api.tally(folder)


def test_harbor_tells_of_trials_that_belong_to_no_run(tmp_path: Path) -> None:
    folder = harbor(tmp_path / "job", agent_info={"name": "other"})
    (folder / "result.json").write_text('{"n_total_trials": 5}')
    report = Report()
    assert [tally.counts.total for _, tally in api.tally(folder, report=report)] == [1, 1]
    (notice,) = report.notices()
    assert (notice.code, notice.count) == ("input.unrecorded", 3)


@pytest.mark.parametrize(
    ("cells", "where"),
    [
        ("x", "/cells: must be an array"),
        ([{"cell_id": "a"}, None], "/cells/1/cell_id: must be a cell's id, not None"),
        ([{"cell_id": ["a"]}], "/cells/0/cell_id: must be a cell's id"),
        ([{"cell_id": ""}], "/cells/0/cell_id: must be a cell's id"),
    ],
)
def test_brigade_passes_over_no_planned_cell(tmp_path: Path, cells: Any, where: str) -> None:
    (tmp_path / "cells").mkdir()
    plan = {"schema": "brigade.eval_plan", "cells": cells}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(DamagedInputError, match=f"plan.json: {where}"):
        api.tally(tmp_path, reader="brigade")


# -- names in a conversation


@pytest.mark.parametrize("policy", [ContentPolicy.INCLUDE, ContentPolicy.DIGEST])
def test_names_in_a_conversation_are_scrubbed_under_every_policy(policy: ContentPolicy) -> None:
    key, path = "sk-proj-a1b2c3d4e5f6g7h8i9", "/srv/private/role"
    message = Message(
        role=path,
        content=Excerpt(text="hello"),
        tool_calls=(ToolCall(id=key, name=path, arguments={"x": "1"}),),
        tool_call_id=key,
    )
    trial = Trial(case_id="c", scores=(), content=Content(messages=(message,)))
    content = ContentFilter(policy)(trial).content
    assert content is not None
    assert content.messages is not None
    (clean,) = content.messages
    assert clean.role.endswith("]/role")
    assert clean.tool_call_id == "[credential]"
    assert key not in clean.model_dump_json()
    assert "/srv/private" not in clean.model_dump_json()
    if policy is ContentPolicy.INCLUDE:
        assert clean.content == Excerpt(text="hello")
        assert clean.tool_calls[0].id == "[credential]"
        assert clean.tool_calls[0].arguments == {"x": "1"}


# -- streams and files that are no files

full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")


def program(command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `fullcount` from a shell, which redirects its streams."""
    called = ["sh", "-c", f'"$0" -m fullcount {command}', sys.executable, *arguments]
    return subprocess.run(called, capture_output=True, text=True, check=False, timeout=120)


@full
def test_a_full_disk_behind_standard_output_is_no_fault_of_ours() -> None:
    done = program('show "$1" >/dev/full', str(EXAMPLE))
    assert done.returncode == 30
    assert done.stderr == (
        "fullcount: error: standard output: cannot be written: No space left on device\n"
    )


@full
def test_the_exit_code_tells_where_nothing_else_can() -> None:
    done = program('show "$1" 2>/dev/full', "no-such-file")
    assert (done.returncode, done.stdout, done.stderr) == (20, "", "")


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_closed_streams_are_streams_that_nobody_reads() -> None:
    assert program('show "$1" >&-', str(EXAMPLE)).returncode == 0
    assert program('show "$1" >&- 2>&-', "no-such-file").returncode == 20


@full
def test_a_log_of_notices_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    done = program('convert "$1" --to eee -o "$2" --log /dev/full', str(EXAMPLE), str(tmp_path))
    assert done.returncode == 30
    assert done.stderr.endswith(
        "fullcount: error: /dev/full: cannot be written: No space left on device\n"
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "log.json"
    os.mkfifo(pipe)
    for reader in (None, "inspect"):
        with pytest.raises(UnrecognizedInputError, match="is a pipe or a device; write it to a"):
            api.tally(pipe, reader=reader)
