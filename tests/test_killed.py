"""Signals and kills at the worst moment: an artifact is the old one or the new one."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fullcount import api, sinks
from fullcount.sinks import STAGING

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "capitals.eval"


def after(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any, **options: Any) -> Any:
        result = function(*args, **options)
        signal.raise_signal(signal.SIGINT)
        return result

    return called


def before(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any, **options: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return function(*args, **options)

    return called


@pytest.mark.parametrize(
    ("module", "name", "when"),
    [(tempfile, "mkdtemp", after), (sinks, "_lock", after), (sinks, "_remove", before)],
)
def test_a_signal_while_staging_is_made_or_removed_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, when: Any
) -> None:
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(module, name, when(getattr(module, name)))
        with pytest.raises(KeyboardInterrupt):
            api.convert(EXAMPLE, "native", out)
    assert not list(tmp_path.rglob(f"{STAGING}*"))
    api.convert(EXAMPLE, "native", out)
    assert [receipt.counts_written for receipt in api.verify(out)] == [
        tuple(tally.counts for _, tally in api.tally(EXAMPLE))
    ]


KILLED = """
import os, sys
from pathlib import Path
from fullcount import api

moves, real = 0, Path.replace

def replace(path, target):
    global moves
    moves += 1
    if moves == int(sys.argv[1]):
        os._exit(9)
    return real(path, target)

Path.replace = replace
api.convert(sys.argv[2], "eee", sys.argv[3], content="omit")
"""


# The journal, two files and the receipt are moved, in this order.
@pytest.mark.skipif(sys.platform == "win32", reason="needs locks that end with their process")
@pytest.mark.parametrize(
    ("move", "content"), [(1, "digest"), (2, "omit"), (3, "omit"), (4, "omit")]
)
def test_an_artifact_is_the_old_or_the_new_one_whenever_its_process_is_killed(
    tmp_path: Path, move: int, content: str
) -> None:
    out = tmp_path / "out"
    api.convert(EXAMPLE, "eee", out)
    (before,) = api.verify(out)
    command = [sys.executable, "-c", KILLED, str(move), str(EXAMPLE), str(out)]
    assert subprocess.run(command, check=False, timeout=120).returncode == 9
    (receipt,) = api.verify(next(out.rglob("*_samples.jsonl")) if move == 3 else out)
    assert receipt.content == content
    assert receipt.counts_read_back == before.counts_read_back
    assert bool(list(out.glob(f"{STAGING}*"))) is (move == 1)
    api.convert(EXAMPLE, "eee", out)
    assert [receipt.content for receipt in api.verify(out)] == ["digest"]
    assert not list(out.glob(f"{STAGING}*"))


@pytest.mark.parametrize(
    "journal",
    [
        "",
        "[]",
        "{}",
        '{"files": ["../new.txt"], "superseded": []}',
        '{"files": [], "superseded": ["../kept.txt"]}',
    ],
)
def test_a_journal_of_somebody_else_moves_nothing(tmp_path: Path, journal: str) -> None:
    kept, out = tmp_path / "kept.txt", tmp_path / "out"
    kept.write_text("kept")
    staging = out / f"{STAGING}x"
    (staging / "new").mkdir(parents=True)
    (staging / "new.txt").write_text("new")
    (staging / "lock").touch()
    (staging / "commit.json").write_text(journal)
    api.convert(EXAMPLE, "native", out)
    assert len(api.verify(out)) == 1
    assert kept.read_text() == "kept"
    assert not (tmp_path / "new.txt").exists()
