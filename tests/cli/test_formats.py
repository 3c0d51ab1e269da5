"""`fullcount formats`, with plugins that work and plugins that do not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from fullcount.losses import support_keys

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLUGIN = '''
from enum import StrEnum
from typing import Literal
from pydantic import SecretStr
from fullcount.plugin import ExporterSpec, Options, Requirement, Support

class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"

class PaintOptions(Options):
    colour: Colour = Colour.RED
    """The colour of
    the paint."""
    key: SecretStr | None = SecretStr("hunter2")
    """Opens the door."""
    layers: int = 2
    """How many."""
    ratio: float | None = None
    """How much."""
    tags: tuple[str, ...] = ()
    """Some words."""
    way: Literal["up", "down"] = "up"
    """Where to."""
    wet: bool = False
    """Whether it is."""

SPEC = ExporterSpec(
    "paint", "Paint", "m:W", "m:r", options=PaintOptions, versions="7",
    support={"trial.seed": Support("dropped", reason="paint has no seed"),
             "run.id": Support("renamed", "title")},
)
NEEDY = ExporterSpec("needy", "Needy", "m:W", "m:r",
    requires=(Requirement("no_such_module", "pip install 'painter[needy]'"),))
'''


@pytest.fixture
def listed(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`fullcount formats` where a distribution named painter is installed."""
    (tmp_path / "painter.py").write_text(PLUGIN)
    info = tmp_path / "painter-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: painter\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(
        "[fullcount.exporters]\npaint = painter:SPEC\nneedy = painter:NEEDY\n"
        "[fullcount.readers]\nbroken = painter.nothing:SPEC\n"
    )

    def call(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "fullcount", "formats", *args],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
        )

    return call


def test_the_list_hides_nothing(listed: Callable[..., Any]) -> None:
    done = listed()
    assert (done.returncode, done.stderr) == (0, "")
    header, *lines = done.stdout.splitlines()
    assert header.split() == ["name", "title", "versions", "provided", "by", "problem"]
    rows = {tuple(line.split()[:2]): " ".join(line.split()[2:]) for line in lines}
    assert rows["exporter", "paint"] == "Paint 7 painter 1.2"
    assert rows["exporter", "needy"] == (
        "Needy painter 1.2 'needy' needs 'no_such_module'; run: pip install 'painter[needy]'"
    )
    assert rows["reader", "broken"] == (
        "painter 1.2 reader 'broken' of painter 1.2 cannot be loaded: ModuleNotFoundError: "
        "No module named 'painter.nothing'; 'painter' is not a package"
    )
    assert rows["reader", "native"].startswith("fullcount's own JSON lines 1 fullcount ")


def test_one_format_with_its_options_and_its_losses(listed: Callable[..., Any]) -> None:
    assert (
        listed("paint").stdout
        == """\
exporter paint: Paint
  versions     7
  provided by  painter 1.2

  option  type              default
  colour  red | blue        red         The colour of the paint.
  key     secret            **********  Opens the door.
  layers  integer           2           How many.
  ratio   number                        How much.
  tags    text, repeatable              Some words.
  way     up | down         up          Where to.
  wet     true | false      false       Whether it is.

  field       is       as     because
  run.id      renamed  title
  trial.seed  dropped         paint has no seed
"""
    )


def test_json_for_programs(listed: Callable[..., Any]) -> None:
    (paint,) = json.loads(listed("paint", "--json").stdout)
    assert paint["options"][1] == {
        "name": "key",
        "type": "secret",
        "default": "**********",
        "description": "Opens the door.",
    }
    assert paint["support"]["trial.seed"] == {
        "kind": "dropped",
        "target": "",
        "reason": "paint has no seed",
    }
    every = json.loads(listed("--json").stdout)
    needy = next(entry for entry in every if entry["name"] == "needy")
    assert needy == {
        "kind": "exporter",
        "name": "needy",
        "title": "Needy",
        "versions": "",
        "distribution": "painter 1.2",
        "problem": "'needy' needs 'no_such_module'; run: pip install 'painter[needy]'",
    }


def test_a_name_that_is_read_and_written(run: Callable[..., Any]) -> None:
    result = run("formats", "native", "--json")
    reader, exporter = json.loads(result.out)
    assert (reader["kind"], exporter["kind"]) == ("reader", "exporter")
    assert list(exporter["support"]) == support_keys()
    text = run("formats", "native").out
    assert text.startswith("reader native: fullcount's own JSON lines\n")
    assert "\n\nexporter native: " in text


def test_a_name_that_is_neither(run: Callable[..., Any]) -> None:
    result = run("formats", "natve")
    assert (result.code, result.out) == (10, "")
    assert result.err == ("fullcount: error: no format is named 'natve'; did you mean 'native'?\n")
