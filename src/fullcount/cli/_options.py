"""Which `key=value` goes to which plugin, and which `-o` is the folder."""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from fullcount.errors import OptionError, UsageError, quoted
from fullcount.registry import option_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fullcount.plugin import ExporterSpec, ReaderSpec

__all__ = ["exporter_options", "pairs", "split_outputs"]

_OPTION = re.compile(r"(?:[A-Za-z][\w-]*\.)?[A-Za-z_]\w*=")


def split_outputs(values: Sequence[str]) -> tuple[str, list[str]]:
    """The folder and the options among the values of `-o`.

    A value that starts with a name and `=` is an option; a folder of such a name is given as
    `./name=value`.

    Raises:
        UsageError: There is not exactly one folder.
    """
    options = [value for value in values if _OPTION.match(value)]
    folders = [value for value in values if not _OPTION.match(value)]
    if len(folders) != 1 or not folders[0]:
        found = f"found {' and '.join(map(quoted, folders))}" if folders else "found none"
        hint = f"; for a folder write ./{options[0]}" if options and not folders else ""
        msg = f"-o needs one folder, {found}{hint}"
        raise UsageError(msg)
    return folders[0], options


def pairs(values: Sequence[str], flag: str) -> list[tuple[str, str]]:
    """Each `key=value` in two.

    Raises:
        UsageError: A value has another form.
    """
    found = []
    for value in values:
        key, equals, text = value.partition("=")
        if not equals or not key:
            msg = f"{flag} takes key=value, not {quoted(value)}"
            raise UsageError(msg)
        found.append((key, text))
    return found


def exporter_options(
    options: Sequence[tuple[str, str]], specs: Sequence[ExporterSpec]
) -> dict[str, dict[str, Any]]:
    """The options of each exporter, by its name.

    `key` goes to every exporter that knows it, `exporter.key` to that one.

    Raises:
        OptionError: No chosen exporter knows an option.
    """
    known = {spec.name: option_names(spec) for spec in specs}
    values: dict[str, dict[str, Any]] = {spec.name: {} for spec in specs}
    by_name = {spec.name: spec for spec in specs}
    for key, text in options:
        exporter, dot, name = key.rpartition(".")
        takers = [exporter] if dot else list(known)
        takers = [taker for taker in takers if name in known.get(taker, ())]
        if not takers:
            raise _unknown(key, known)
        for taker in takers:
            _put(values[taker], by_name[taker], name, text)
    return values


def reader_options(options: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The options of the readers; which of them knows one is found out with the input.

    Raises:
        OptionError: One is given twice.
    """
    values: dict[str, Any] = {}
    for key, text in options:
        if key in values:
            msg = f"option {quoted(key)} is given twice"
            raise OptionError(msg)
        values[key] = text
    return values


def _put(values: dict[str, Any], spec: ExporterSpec | ReaderSpec, name: str, text: str) -> None:
    """Add an option; one that holds several values may be given several times."""
    if _takes_several(spec.options.model_fields[name].annotation):
        values.setdefault(name, []).append(text)
    elif name in values:
        msg = f"{spec.name!r}: option {name!r} is given twice"
        raise OptionError(msg)
    else:
        values[name] = text


def _takes_several(annotation: object) -> bool:
    origin = typing.get_origin(annotation)
    if isinstance(origin, type):
        return issubclass(origin, Collection) and not issubclass(origin, dict)
    return any(map(_takes_several, typing.get_args(annotation)))


def _unknown(key: str, known: dict[str, list[str]]) -> OptionError:
    every = [
        *sorted({name for names in known.values() for name in names}),
        *(f"{exporter}.{name}" for exporter, names in known.items() for name in names),
    ]
    close = difflib.get_close_matches(key, every, n=1, cutoff=0.6)
    chosen = " or ".join(map(repr, known))
    hint = (
        f"did you mean {close[0]!r}?" if close else f"see 'fullcount formats {next(iter(known))}'"
    )
    return OptionError(f"{chosen} has no option {quoted(key)}; {hint}")
