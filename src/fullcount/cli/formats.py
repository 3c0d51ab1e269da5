"""`fullcount formats`."""

from __future__ import annotations

import difflib
import types
import typing
from enum import Enum
from typing import TYPE_CHECKING, Any

import click
from pydantic import SecretStr

from fullcount.cli._console import emit, emit_json
from fullcount.cli._table import Column, emit_table
from fullcount.errors import FullcountError, UnknownFormatError, one_line, quoted
from fullcount.registry import check_requirements, exporters, readers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fullcount.plugin import ExporterSpec, ReaderSpec
    from fullcount.registry import Entry, Registry

__all__ = ["command"]

_KINDS: dict[str, Callable[[], Registry[Any]]] = {"reader": readers, "exporter": exporters}


@click.command(name="formats", short_help="List the formats that are read and written.")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, name: str | None, as_json: bool) -> int:
    """List readers and exporters; with NAME, its options and how it carries each field.

    A plugin that cannot be used is listed with the reason.
    """
    if name is None:
        entries = [
            (kind, entry) for kind, registry in _KINDS.items() for entry in registry().entries()
        ]
    else:
        entries = _named(name)
    if as_json:
        emit_json(
            [_record(kind, entry, full=name is not None) for kind, entry in entries], indent=1
        )
    elif name is None:
        columns = [Column(t) for t in ("", "name", "title", "versions", "provided by", "problem")]
        rows = [
            [
                record["kind"],
                record["name"],
                record["title"],
                record["versions"],
                record["distribution"],
                record["problem"] or "",
            ]
            for record in (_record(kind, entry, full=False) for kind, entry in entries)
        ]
        emit_table(columns, rows)
    else:
        for index, (kind, entry) in enumerate(entries):
            if index:
                emit()
            _describe(_record(kind, entry, full=True))
    return 0


def _named(name: str) -> list[tuple[str, Entry[Any]]]:
    """The reader and the exporter of that name.

    Raises:
        UnknownFormatError: There is neither.
    """
    found = [
        (kind, registry().entry(name))
        for kind, registry in _KINDS.items()
        if name in registry().names()
    ]
    if not found:
        known = sorted({name for registry in _KINDS.values() for name in registry().names()})
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
        msg = f"no format is named {quoted(name)}; {hint}"
        raise UnknownFormatError(msg)
    return found


def _record(kind: str, entry: Entry[Any], *, full: bool) -> dict[str, Any]:
    spec = entry.spec
    problem: FullcountError | None = entry.problem
    if spec is not None:
        try:
            check_requirements(spec)
        except FullcountError as error:
            problem = error
    record: dict[str, Any] = {
        "kind": kind,
        "name": entry.name,
        "title": spec.title if spec else "",
        "versions": spec.versions if spec else "",
        "distribution": entry.distribution,
        "problem": None if problem is None else str(problem),
    }
    if full and spec is not None:
        record["options"] = list(_options(spec))
        if kind == "exporter":
            record["support"] = {
                field: {"kind": how.kind, "target": how.target, "reason": how.reason}
                for field, how in sorted(spec.support.items())
            }
    return record


def _options(spec: ReaderSpec | ExporterSpec) -> Iterator[dict[str, Any]]:
    defaults = spec.options().model_dump(mode="json")  # masks secrets
    for name, field in sorted(spec.options.model_fields.items()):
        yield {
            "name": name,
            "type": _type(field.annotation),
            "default": defaults[name],
            "description": " ".join((field.description or "").split()),
        }


def _type(annotation: Any) -> str:
    """A type in words that fit the command line."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        words = " | ".join(map(str, arguments))
    elif origin is typing.Annotated:
        words = _type(arguments[0])
    elif origin in (typing.Union, types.UnionType):
        words = " | ".join(_type(part) for part in arguments if part is not type(None))
    elif origin in (tuple, list, set, frozenset):
        words = f"{_type(arguments[0])}, repeatable"
    elif origin is dict:
        words = f"{_type(arguments[0])} to {_type(arguments[1])}"
    elif isinstance(annotation, type) and issubclass(annotation, Enum):
        words = " | ".join(str(member.value) for member in annotation)
    else:
        words = _NAMES.get(annotation, getattr(annotation, "__name__", str(annotation)).lower())
    return words


_NAMES: dict[Any, str] = {
    bool: "true | false",
    float: "number",
    int: "integer",
    str: "text",
    SecretStr: "secret",
}


def _describe(record: dict[str, Any]) -> None:
    emit(one_line(f"{record['kind']} {record['name']}: {record['title']}"))
    emit(one_line(f"  versions     {record['versions'] or '-'}"))
    emit(one_line(f"  provided by  {record['distribution']}"))
    if record["problem"]:
        emit(one_line(f"  problem      {record['problem']}"))
    options = record.get("options", [])
    if options:
        emit()
        emit_table(
            [Column(title) for title in ("option", "type", "default", "")],
            [
                [
                    option["name"],
                    option["type"],
                    _default(option["default"]),
                    option["description"],
                ]
                for option in options
            ],
        )
    support = record.get("support", {})
    if support:
        emit()
        emit_table(
            [Column(title) for title in ("field", "is", "as", "because")],
            [[field, how["kind"], how["target"], how["reason"]] for field, how in support.items()],
        )


def _default(value: object) -> str:
    """A default as the command line takes it; empty where there is none."""
    if isinstance(value, list):
        return ", ".join(map(_default, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value in (None, {}) else str(value)
