"""`fullcount show`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MADE = """\
made.jsonl
  run      run-1
  harness  bench 2.1
  subject  lab/model-1
  suite    capitals (dataset world)
  status   success
  source   made 3 sha256 abababababab

  evaluator  metric  total  scored  unverified                            excluded       mean  bounds            std error
  judge      judge       8       4  3 (1 nan, 1 missing, 1 not_measured)  1 (1 skipped)  0.75  [0.4286, 0.8571]       0.25
  style      tone        8       5  3 (2 missing, 1 not_measured)         0                 -  -                         -
  labels of style.tone: warm 3, cold 2

  reported by the harness  metric  says  trials give
  accuracy                 judge   0.75         0.75  covers 4 of 7
  mean                     judge    0.5         0.75  DIFFERS
  p99                      judge      1            -  not a mean that trials can give
  mean                     gone.x   nan            -  no trial is scored on it

  trials    8: 7 completed, 1 harness_error, 1 measurement failure
  verdicts  3 passed, 1 failed, 3 unverified, 1 without a verdict, pass rate 0.75 over 4, bounds [0.4286, 0.8571]
"""  # noqa: E501 - the lines as they are printed


@pytest.mark.usefixtures("made")
def test_a_run_with_everything_unverified_in_sight(run: Callable[..., Any]) -> None:
    result = run("show", "made.jsonl")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(MADE)
    findings = result.out.removeprefix(MADE).splitlines()
    assert [line[:12] for line in findings[:3]] == ["  finding   "] * 3
    assert "judge: 0.75 covers 4 of 7 trials and lies between 0.4286 and 0.8571" in findings[0]
    assert "judge: mean: the harness reports 0.5, the trials give 0.75 over 4 of 7" in findings[2]
    assert findings[3].startswith("  note      judge: p99 1 is kept as reported")


@pytest.mark.usefixtures("made", "another")
def test_several_runs_and_one_that_cannot_be_read(run: Callable[..., Any]) -> None:
    result = run("show", "another.jsonl", "nothing.json", "made.jsonl")
    assert result.code == 20
    assert result.err == (
        "fullcount: error: 'nothing.json': no such file or folder, and no pattern that "
        "matches one\n"
    )
    first, second = result.out.split("\n\nmade.jsonl\n")
    assert first.startswith("another.jsonl\n  run      run-2\n")
    assert first.endswith("\n  finding   the header was edited")
    assert second.startswith("  run      run-1\n")


@pytest.mark.usefixtures("made")
def test_json_gives_run_and_tally(run: Callable[..., Any]) -> None:
    record = json.loads(run("show", "--json", "made.jsonl").out)
    assert list(record) == ["input", "run", "tally"]
    assert record["input"] == "made.jsonl"
    assert record["run"]["subject"]["id"] == "lab/model-1"
    judge = record["tally"]["metrics"][0]
    assert judge["states"] == {
        "scored": 4,
        "null": 0,
        "nan": 1,
        "error": 0,
        "missing": 1,
        "not_measured": 1,
        "skipped": 1,
        "not_applicable": 0,
    }
    assert judge["rate"]["value"] == 0.75
    assert judge["rate"]["n"] == 4
    assert judge["rate"]["sought"] == 7


def test_what_a_log_holds_cannot_rewrite_the_terminal(
    run: Callable[..., Any], native: Callable[..., Path]
) -> None:
    hostile = "a\x1b[2J\nb [red]c[/red]"
    native("x.jsonl", id=hostile)
    result = run("show", "x.jsonl")
    assert "\x1b" not in result.out
    assert "  run      a\\x1b[2J b [red]c[/red]\n" in result.out


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.usefixtures("made")
def test_a_terminal_gets_a_drawn_table() -> None:
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    environ = {**os.environ, "COLUMNS": "150", "TERM": "xterm", "PYTHONIOENCODING": "utf-8"}
    with subprocess.Popen(
        [sys.executable, "-m", "fullcount", "show", "made.jsonl"],
        stdout=follower,
        stderr=subprocess.DEVNULL,
        env=environ,
    ) as process:
        os.close(follower)
        seen = b""
        try:
            while chunk := os.read(leader, 65536):
                seen += chunk
        except OSError:
            pass  # the other side is closed
        finally:
            os.close(leader)
    assert process.returncode == 0
    text = seen.decode()
    assert "─" in text
    assert "3 (1 nan, 1 missing, 1 not_measured)" in text
    assert "[0.4286, 0.8571]" in text


def test_a_run_without_metrics(run: Callable[..., Any], native: Callable[..., Path]) -> None:
    native("x.jsonl", 0, evaluators=(), reported=())
    result = run("show", "x.jsonl")
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("  trials    0\n  verdicts  none\n")
