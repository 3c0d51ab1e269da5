"""Finds readers and exporters by their entry points and loads them when they are used."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import ValidationError

from fullcount.errors import (
    BrokenPluginError,
    DuplicateFormatError,
    FullcountError,
    MissingDependencyError,
    OptionError,
    UnknownFormatError,
    one_line,
    quoted,
)
from fullcount.plugin import ExporterSpec, Options, ReaderSpec, Requirement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "EXPORTERS",
    "READERS",
    "Entry",
    "Registry",
    "check_requirements",
    "exporters",
    "load_object",
    "make_options",
    "option_names",
    "readers",
]

READERS = "fullcount.readers"
EXPORTERS = "fullcount.exporters"

Spec = TypeVar("Spec", ReaderSpec, ExporterSpec)


@dataclass(frozen=True)
class Entry(Generic[Spec]):
    """A registered name: its spec, or why there is none.

    Attributes:
        name: The registered name.
        distribution: Who provides it, such as `fullcount 0.1.0`.
        spec: The spec, when it could be loaded.
        problem: The error that using the name raises.
    """

    name: str
    distribution: str
    spec: Spec | None = None
    problem: FullcountError | None = None


class Registry(Generic[Spec]):
    """The plugins of one entry-point group.

    Args:
        group: The entry-point group.
        spec_type: What an entry point must name.
        points: The entry points; by default those of everything installed.
    """

    def __init__(
        self, group: str, spec_type: type[Spec], points: Iterable[EntryPoint] | None = None
    ) -> None:
        self._group = group
        self._spec_type: type[Spec] = spec_type
        self._what = group.rpartition(".")[2].removesuffix("s")
        self._points: dict[str, list[EntryPoint]] = {}
        for point in entry_points(group=group) if points is None else points:
            known = self._points.setdefault(point.name, [])
            # One distribution may be seen twice, say as a checkout and as its metadata.
            if all((point.value, _provider(point)) != (p.value, _provider(p)) for p in known):
                known.append(point)
        self._entries: dict[str, Entry[Spec]] = {}

    def names(self) -> list[str]:
        """Every registered name, sorted; loads nothing."""
        return sorted(self._points)

    def entry(self, name: str) -> Entry[Spec]:
        """What is registered under a name; never raises for a plugin's own fault.

        Raises:
            UnknownFormatError: Nothing is registered under it.
        """
        if name not in self._points:
            close = difflib.get_close_matches(name, self._points, n=1, cutoff=0.6)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(self.names())}"
            msg = f"no {self._what} is named {quoted(name)}; {hint}"
            raise UnknownFormatError(msg)
        if name not in self._entries:
            self._entries[name] = self._load(name, self._points[name])
        return self._entries[name]

    def get(self, name: str) -> Spec:
        """The spec of a name.

        Raises:
            PluginError: The name is unknown, taken twice, or its plugin is broken.
        """
        entry = self.entry(name)
        if entry.spec is None:
            raise entry.problem or BrokenPluginError(f"{self._what} {name!r} gives no spec")
        return entry.spec

    def entries(self) -> list[Entry[Spec]]:
        """Every registered name, sorted, with the broken ones among them."""
        return [self.entry(name) for name in self.names()]

    def _load(self, name: str, points: list[EntryPoint]) -> Entry[Spec]:
        providers = " and by ".join(sorted(map(_provider, points)))
        if len(points) > 1:
            msg = f"{self._what} {name!r} is registered by {providers}; uninstall one of them"
            return Entry(name, providers, problem=DuplicateFormatError(msg))
        try:
            spec = points[0].load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger may raise anything
            msg = (
                f"{self._what} {name!r} of {providers} cannot be loaded: "
                f"{type(error).__name__}: {error}"
            )
            problem = BrokenPluginError(msg)
            problem.__cause__ = error
            return Entry(name, providers, problem=problem)
        if not isinstance(spec, self._spec_type) or spec.name != name:
            msg = (
                f"{self._what} {name!r} of {providers} is no {self._spec_type.__name__} of that "
                f"name but {quoted(spec)}"
            )
            return Entry(name, providers, problem=BrokenPluginError(msg))
        return Entry(name, providers, spec=spec)


def _provider(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value


@cache
def readers() -> Registry[ReaderSpec]:
    """All installed readers."""
    return Registry(READERS, ReaderSpec)


@cache
def exporters() -> Registry[ExporterSpec]:
    """All installed exporters."""
    return Registry(EXPORTERS, ExporterSpec)


def check_requirements(spec: ReaderSpec | ExporterSpec) -> None:
    """Refuse a plugin whose packages are not there, with the line that installs them.

    Raises:
        MissingDependencyError: A package is missing.
    """
    for requirement in spec.requires:
        try:
            found = importlib.util.find_spec(requirement.module) is not None
        except (ImportError, ValueError):
            found = False
        if not found:
            raise _missing(spec.name, requirement)


def load_object(spec: ReaderSpec | ExporterSpec, target: str) -> Any:
    """Import what `module:name` stands for, on behalf of a plugin.

    Raises:
        MissingDependencyError: A package that the plugin needs is missing.
        BrokenPluginError: The plugin fails to import for another reason.
    """
    check_requirements(spec)
    module_name, _, attribute = target.partition(":")
    try:
        return getattr(importlib.import_module(module_name), attribute)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing and missing != module_name.partition(".")[0]:
            # What is imported need not be the name of what is installed.
            msg = (
                f"{spec.name!r} needs {missing!r}, which is not installed, and does not declare "
                f"what brings it"
            )
            raise MissingDependencyError(msg) from error
        msg = f"{spec.name!r} names {target!r}, which does not exist"
        raise BrokenPluginError(msg) from error
    except Exception as error:
        msg = f"{spec.name!r} cannot load {target!r}: {type(error).__name__}: {error}"
        raise BrokenPluginError(msg) from error


def _missing(name: str, requirement: Requirement) -> MissingDependencyError:
    msg = f"{name!r} needs {requirement.module!r}; run: {requirement.install}"
    return MissingDependencyError(msg)


def option_names(spec: ReaderSpec | ExporterSpec) -> list[str]:
    """The names of a plugin's options, sorted."""
    return sorted(spec.options.model_fields)


def make_options(spec: ReaderSpec | ExporterSpec, values: Mapping[str, Any]) -> Options:
    """The plugin's options from names and values; strings are converted to the field's type.

    Raises:
        OptionError: A name is unknown or a value does not fit.
    """
    names = option_names(spec)
    for name in values:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
            known = f"known: {', '.join(names)}" if names else "it has none"
            hint = f"did you mean {close[0]!r}?" if close else known
            msg = f"{spec.name!r} has no option {quoted(name)}; {hint}"
            raise OptionError(msg)
    try:
        return spec.options.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "options"
        # A secret value must not end up in a message.
        msg = f"{spec.name!r}, option {where!r}: {one_line(first['msg'], 200)}"
        raise OptionError(msg) from None
