from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import fullcount
from fullcount import registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


def packages() -> Iterator[ModuleType]:
    """The core, and every installed exporter whose own packages are there."""
    yield fullcount
    for entry in registry.exporters().entries():
        if entry.spec is not None and entry.distribution.startswith("fullcount "):
            try:
                registry.check_requirements(entry.spec)
            except registry.MissingDependencyError:
                continue
            yield importlib.import_module(entry.spec.writer.partition(".")[0])


def modules() -> Iterator[str]:
    for package in packages():
        yield package.__name__
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not info.name.endswith("__main__"):
                yield info.name


def load(name: str) -> ModuleType:
    """The module; a test is skipped where an extra that it needs is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "fullcount").startswith("fullcount"):
            raise
        pytest.skip(f"{error.name} is not installed")


def order(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest."""
    plain = name.lstrip("_")
    if plain.isupper() and len(plain) > 1:
        return 0, name
    return (1 if plain[:1].isupper() else 2), name


@pytest.mark.parametrize("name", list(modules()))
def test_exported_names_are_sorted_and_exist(name: str) -> None:
    module = load(name)
    private = any(part.startswith("_") for part in name.split("."))
    names = getattr(module, "__all__", None)
    if names is None:
        assert private or hasattr(module, "__path__") or not public(module), name
        return
    assert list(names) == sorted(names, key=order)
    assert len(set(names)) == len(names)
    for exported in names:
        assert hasattr(module, exported), exported


def public(module: ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


@pytest.mark.parametrize("name", list(modules()))
def test_every_module_says_what_it_is_for(name: str) -> None:
    assert (load(name).__doc__ or "").strip(), name


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("fullcount", {"pydantic", "rich", "click", "ijson", "zstandard"}),
        ("fullcount.model", {"rich", "click", "ijson", "zstandard", "hypothesis"}),
        ("fullcount.plugin", {"rich", "click", "ijson", "zstandard", "hypothesis"}),
        ("fullcount.api", {"rich", "click", "ijson", "zstandard", "hypothesis", "pytest"}),
    ],
)
def test_import_stays_light(module: str, absent: set[str]) -> None:
    code = f"import sys, {module}; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & absent == set()


def test_listing_the_formats_imports_no_writer() -> None:
    code = (
        "import sys\nfrom fullcount import registry\n"
        "specs = [e.spec for e in registry.exporters().entries() if e.spec]\n"
        "print([s.writer for s in specs if s.writer.partition(':')[0] in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]"]
