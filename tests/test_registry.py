from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from textwrap import dedent
from typing import TYPE_CHECKING, Literal

import pytest
from pydantic import SecretStr

from fullcount import registry
from fullcount.convert import Target
from fullcount.errors import (
    BrokenPluginError,
    DuplicateFormatError,
    MissingDependencyError,
    OptionError,
    UnknownFormatError,
)
from fullcount.plugin import ExporterSpec, Options, ReaderSpec, Requirement
from fullcount.registry import EXPORTERS, READERS, Registry
from fullcount.testing import example, export_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

GOOD = """
    from fullcount.plugin import ExporterSpec
    import fullcount_native
    SPEC = ExporterSpec(
        name="acme",
        title="Acme",
        writer="fullcount_native.writer:NativeWriter",
        recount="fullcount_native.writer:recount",
        support=fullcount_native.SPEC.support,
    )
"""


@pytest.fixture
def install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str, str, str], None]]:
    """Puts a distribution of one module on the path, as pip would."""
    before = set(sys.modules)

    def make(distribution: str, entries: str, source: str) -> None:
        folder = tmp_path / distribution
        info = folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n"
        )
        (info / "entry_points.txt").write_text(dedent(entries))
        (folder / f"{distribution.replace('-', '_')}.py").write_text(dedent(source))
        monkeypatch.syspath_prepend(folder)
        registry.exporters.cache_clear()
        registry.readers.cache_clear()

    yield make
    monkeypatch.undo()
    for name in set(sys.modules) - before:
        if name.startswith("acme"):
            del sys.modules[name]
    registry.exporters.cache_clear()
    registry.readers.cache_clear()


def entries(name: str, module: str, group: str = EXPORTERS) -> str:
    return f"[{group}]\n{name} = {module}:SPEC\n"


def test_third_party_exporter_is_used_like_any_other(
    install: Callable[[str, str, str], None], tmp_path: Path
) -> None:
    install("acme-evals", entries("acme", "acme_evals"), GOOD)
    assert {"acme", "native"} <= set(registry.exporters().names())
    assert registry.exporters().entry("acme").distribution == "acme-evals 1.0"
    found = example("plain")
    result = export_run(found.run, found.trials, Target.named("acme", tmp_path / "out"))
    assert result.error is None
    assert list(result.receipts) == ["acme"]


def test_name_of_two_distributions_names_both(
    install: Callable[[str, str, str], None],
) -> None:
    install("acme-one", entries("acme", "acme_one"), GOOD)
    install("acme-two", entries("acme", "acme_two"), GOOD)
    with pytest.raises(
        DuplicateFormatError,
        match=r"^exporter 'acme' is registered by acme-one 1\.0 and by acme-two 1\.0; uninstall",
    ):
        registry.exporters().get("acme")
    assert registry.exporters().get("native").name == "native"


def test_plugin_cannot_replace_a_builtin(install: Callable[[str, str, str], None]) -> None:
    install("acme-evals", entries("native", "acme_evals"), GOOD)
    with pytest.raises(DuplicateFormatError, match=r"acme-evals 1\.0 and by fullcount "):
        registry.exporters().get("native")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at"),
        ("raise RuntimeError('boom')", "RuntimeError: boom"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("SPEC", "NameError"),
        ("OTHER = 1", "AttributeError"),
    ],
)
def test_broken_plugin_is_named_and_stops_nobody(
    source: str, message: str, install: Callable[[str, str, str], None]
) -> None:
    install("acme-evals", entries("acme", "acme_evals"), source)
    with pytest.raises(
        BrokenPluginError, match=rf"exporter 'acme' of acme-evals 1\.0 cannot be loaded: {message}"
    ) as caught:
        registry.exporters().get("acme")
    assert caught.value.__cause__ is not None
    found = {entry.name: entry for entry in registry.exporters().entries()}
    assert found["acme"].spec is None
    assert isinstance(found["acme"].problem, BrokenPluginError)
    assert found["native"].spec is not None


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("SPEC = 42", "42"),
        ("SPEC = object", "<class 'object'>"),
        (
            (
                "from fullcount.plugin import ReaderSpec\n"
                "SPEC = ReaderSpec('acme', 'x', sniff='m:s', reader='m:r')"
            ),
            "ReaderSpec",
        ),
        (dedent(GOOD).replace('"acme"', '"other"'), "ExporterSpec"),
    ],
)
def test_object_that_is_no_spec(
    source: str, shown: str, install: Callable[[str, str, str], None]
) -> None:
    install("acme-evals", entries("acme", "acme_evals"), source)
    with pytest.raises(
        BrokenPluginError,
        match=rf"exporter 'acme' of acme-evals 1\.0 is no ExporterSpec of that name but '?{shown}",
    ):
        registry.exporters().get("acme")


def test_readers_are_found_the_same_way(install: Callable[[str, str, str], None]) -> None:
    source = """
        from fullcount.plugin import ReaderSpec
        SPEC = ReaderSpec("acme", "Acme", sniff="acme_logs:sniff", reader="acme_logs:read")
    """
    install("acme-logs", entries("acme", "acme_logs", READERS), source)
    assert registry.readers().get("acme").title == "Acme"


def test_unknown_name() -> None:
    points = [EntryPoint("native", "m:S", EXPORTERS), EntryPoint("croissant", "m:S", EXPORTERS)]
    found = Registry(EXPORTERS, ExporterSpec, points)
    assert found.names() == ["croissant", "native"]
    with pytest.raises(
        UnknownFormatError, match=r"^no exporter is named 'crossant'; did you mean 'croissant'\?$"
    ):
        found.get("crossant")
    with pytest.raises(
        UnknownFormatError, match=r"^no exporter is named 'xml'; known: croissant, native$"
    ):
        found.get("xml")
    with pytest.raises(UnknownFormatError, match="no reader is named"):
        Registry(READERS, ReaderSpec, []).get("xml")


def test_one_distribution_seen_twice_is_one() -> None:
    point = EntryPoint("native", "fullcount_native:SPEC", EXPORTERS)
    assert Registry(EXPORTERS, ExporterSpec, [point, point]).get("native").name == "native"


# -- what a plugin needs


def spec(*requires: Requirement, writer: str = "json:JSONEncoder") -> ExporterSpec:
    return ExporterSpec("x", "X", writer=writer, recount="json:loads", requires=requires)


def test_missing_package_comes_with_its_install_line() -> None:
    need = Requirement("no_such_module", "pip install 'fullcount[x]'")
    message = r"^'x' needs 'no_such_module'; run: pip install 'fullcount\[x\]'$"
    with pytest.raises(MissingDependencyError, match=message):
        registry.check_requirements(spec(need))
    with pytest.raises(MissingDependencyError, match=message):
        registry.load_object(spec(need), "json:loads")
    with pytest.raises(MissingDependencyError, match=r"'x' needs 'no_such.part'; run: pip install"):
        registry.check_requirements(spec(Requirement("no_such.part", "pip install x")))
    registry.check_requirements(spec(Requirement("json", "")))


def test_object_is_loaded_by_its_name() -> None:
    import json  # noqa: PLC0415 - the one that is meant

    assert registry.load_object(spec(), "json:loads") is json.loads


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("no_such_package.x:y", "'x' names 'no_such_package.x:y', which does not exist"),
        ("json.no_such_part:y", "'x' names 'json.no_such_part:y', which does not exist"),
        ("json:no_such_name", "'x' cannot load 'json:no_such_name': AttributeError"),
        ("json", "'x' cannot load 'json': AttributeError"),
    ],
)
def test_object_that_is_not_there(target: str, message: str) -> None:
    with pytest.raises(BrokenPluginError, match=message):
        registry.load_object(spec(), target)


def test_package_that_the_writer_turns_out_to_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme_writer.py").write_text("import no_such_module.sub\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        MissingDependencyError, match="'x' needs 'no_such_module', which is not installed, and"
    ):
        registry.load_object(spec(), "acme_writer:Writer")


# -- options


class Some(Options):
    organization: str = "unknown"
    """Who ran it."""
    count: int = 3
    """How many."""
    mode: Literal["a", "b"] = "a"
    """Which."""
    token: SecretStr | None = None
    """Secret."""


WITH = ExporterSpec("x", "X", writer="m:W", recount="m:r", options=Some)


def test_options_are_converted() -> None:
    found = registry.make_options(WITH, {"count": "7", "organization": "acme", "mode": "b"})
    assert found == Some(count=7, organization="acme", mode="b")
    assert registry.option_names(WITH) == ["count", "mode", "organization", "token"]
    assert registry.make_options(WITH, {}) == Some()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"organisation": "x"}, r"^'x' has no option 'organisation'; did you mean 'organization'"),
        ({"zzz": "x"}, r"^'x' has no option 'zzz'; known: count, mode, organization, token$"),
        ({"count": "many"}, r"^'x', option 'count': Input should be a valid integer"),
        ({"mode": "c"}, r"^'x', option 'mode': Input should be 'a' or 'b'$"),
    ],
)
def test_bad_options(values: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        registry.make_options(WITH, values)


def test_secret_is_in_no_message() -> None:
    with pytest.raises(OptionError) as caught:
        registry.make_options(WITH, {"token": ["hunter2"]})
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_plugin_without_options() -> None:
    with pytest.raises(OptionError, match=r"^'x' has no option 'a'; it has none$"):
        registry.make_options(spec(), {"a": "1"})
