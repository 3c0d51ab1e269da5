"""What stands in the folders, in pyproject.toml and in the installed metadata is the same."""

from __future__ import annotations

import importlib
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from fullcount import registry

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
DECLARED: dict[str, dict[str, str]] = PROJECT["project"]["entry-points"]
FOLDERS = sorted(path.name for path in (ROOT / "exporters").iterdir() if path.is_dir())


def test_every_exporter_is_shipped() -> None:
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == [
        "src/fullcount",
        *(f"exporters/{name}/src/fullcount_{name}" for name in FOLDERS),
    ]


def test_every_exporter_is_declared() -> None:
    assert DECLARED[registry.EXPORTERS] == {name: f"fullcount_{name}:SPEC" for name in FOLDERS}


def test_declared_entry_points_are_installed() -> None:
    for group, declared in DECLARED.items():
        installed = {point.name: point.value for point in entry_points(group=group)}
        missing = {k: v for k, v in declared.items() if installed.get(k) != v}
        assert missing == {}, f"{group}: install the project again"


@pytest.mark.parametrize("name", FOLDERS)
def test_exporter_folder_is_complete(name: str) -> None:
    folder = ROOT / "exporters" / name
    assert (folder / "README.md").read_text("utf-8").startswith("# ")
    assert (folder / "src" / f"fullcount_{name}" / "py.typed").is_file()
    contract = (folder / "tests" / "test_contract.py").read_text("utf-8")
    assert "ExporterContract" in contract
    assert f'"{name}"' in contract
    assert registry.exporters().get(name).name == name


@pytest.mark.parametrize("name", sorted(DECLARED[registry.READERS]))
def test_reader_is_complete(name: str) -> None:
    module = DECLARED[registry.READERS][name].partition(":")[0]
    assert importlib.import_module(module).SPEC is registry.readers().get(name)


def test_layers_name_every_part_of_the_core() -> None:
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    layers = " ".join(contracts[0]["layers"]).replace("|", " ").replace(":", " ").split()
    core = {
        f"fullcount.{path.stem}"
        for path in (ROOT / "src" / "fullcount").iterdir()
        if (path.suffix == ".py" or (path / "__init__.py").is_file())
        and not path.name.startswith("_")
    }
    assert core <= set(layers)


def test_linters_know_every_exporter() -> None:
    packages = {f"fullcount_{name}" for name in FOLDERS}
    assert set(PROJECT["tool"]["mypy"]["packages"]) == {"fullcount", *packages}
    assert set(PROJECT["tool"]["importlinter"]["root_packages"]) == {"fullcount", *packages}


def test_extras_are_in_all() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    (everything,) = [line for line in extras["all"] if line.startswith("fullcount[")]
    named = set(everything.removeprefix("fullcount[").removesuffix("]").split(","))
    assert named == set(extras) - {"all", "dev"}
