"""What stands in `examples/` works."""

from __future__ import annotations

import json
import math
import os
import runpy
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from fullcount.model import ScoreState

EXAMPLES = Path(__file__).parents[1] / "examples"
MARKDOWN = EXAMPLES / "third_party" / "fullcount-markdown"
CAPITALS = EXAMPLES / "capitals.eval"


def same(left: Any, right: Any) -> bool:
    """Equality of JSON values in which NaN is itself."""
    return json.dumps(left) == json.dumps(right)


def test_the_log_is_what_its_script_makes() -> None:
    made = runpy.run_path(str(EXAMPLES / "make_capitals.py"))["members"]()
    with zipfile.ZipFile(CAPITALS) as archive:
        assert archive.namelist() == list(made)
        for member in archive.infolist():
            assert member.compress_type == zipfile.ZIP_DEFLATED
            assert same(json.loads(archive.read(member)), made[member.filename])


def test_the_log_loses_three_of_ten() -> None:
    with zipfile.ZipFile(CAPITALS) as archive:
        header = json.loads(archive.read("header.json"))
        samples = [
            json.loads(archive.read(name))
            for name in archive.namelist()
            if name.startswith("samples/")
        ]
    (result,) = header["results"]["scores"]
    assert result["metrics"]["accuracy"]["value"] == pytest.approx(6 / 7)
    assert (result["scored_samples"], result["unscored_samples"]) == (7, 1)
    values = [sample["scores"].get("judge", {}).get("value") for sample in samples]
    assert values[:7] == ["C"] * 6 + ["I"]
    assert math.isnan(values[7])
    assert values[8:] == [None, None]
    assert ["error" in sample for sample in samples] == [False] * 9 + [True]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the third party's package is installed."""
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--isolated", "install", "--quiet", "--target", str(target)]
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--no-cache-dir"]
    done = subprocess.run(
        [*pip, *offline, str(MARKDOWN)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return target


def call(installed: Path, folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run a module where the third party's package is installed."""
    return subprocess.run(
        [sys.executable, "-m", *args],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )


def test_a_third_party_is_listed(installed: Path, tmp_path: Path) -> None:
    listed = json.loads(call(installed, tmp_path, "fullcount", "formats", "--json").stdout)
    (found,) = (entry for entry in listed if entry["name"] == "markdown")
    assert found == {
        "kind": "exporter",
        "name": "markdown",
        "title": "Markdown tables of counts",
        "versions": "1",
        "distribution": "fullcount-markdown 0.1.0",
        "problem": None,
    }


def test_a_third_party_converts_and_verifies(installed: Path, tmp_path: Path) -> None:
    done = call(
        *(installed, tmp_path, "fullcount", "convert", str(CAPITALS)),
        *("--to", "markdown", "--to", "native", "-o", "out", "-o", "digits=2"),
    )
    assert done.returncode == 0, done.stderr
    artifact = next(line for line in done.stdout.splitlines() if line.endswith(".md"))
    text = (tmp_path / artifact).read_text(encoding="utf-8")
    header = ["evaluator", "metric", *ScoreState, "mean", "lowest", "highest"]
    assert f"| {' | '.join(header)} |\n" in text
    assert '| `"judge"` | `"judge"` | 7 | 0 | 1 | 0 | 1 | 1 | 0 | 0 | 0.86 | 0.6 | 0.9 |\n' in text
    checked = call(installed, tmp_path, "fullcount", "verify", "out/markdown", "out/native")
    assert checked.returncode == 0
    assert [line[:8] for line in checked.stdout.splitlines()] == ["ok      "] * 2


def test_a_third_party_meets_its_contract(installed: Path, tmp_path: Path) -> None:
    done = call(
        *(installed, tmp_path, "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=."),
        *("-W", "error", "-c", os.devnull, str(MARKDOWN / "tests")),
    )
    assert done.returncode == 0, done.stdout
    assert "failed" not in done.stdout
