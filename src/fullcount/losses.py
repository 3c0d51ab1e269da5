"""Turns an exporter's support table into notices, so that no loss can be forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount import model
from fullcount.model import Model
from fullcount.notices import Report, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fullcount.plugin import Support

__all__ = ["SUPPORTED_MODELS", "LossMeter", "support_keys"]

SUPPORTED_MODELS: tuple[type[Model], ...] = (
    model.Run,
    model.Source,
    model.Harness,
    model.Subject,
    model.Suite,
    model.Evaluator,
    model.Metric,
    model.Generation,
    model.Plan,
    model.ReportedMetric,
    model.Finding,
    model.Trial,
    model.Score,
    model.Error,
    model.Usage,
    model.TraceRef,
    model.Gate,
    model.Content,
    model.Message,
)
"""The models whose every field an exporter's support table must speak of."""


def support_keys() -> list[str]:
    """Every key of a support table: `model.field` in lower case, sorted."""
    return sorted(
        f"{kind.__name__.lower()}.{field}"
        for kind in SUPPORTED_MODELS
        for field in kind.model_fields
    )


class LossMeter:
    """Raises a notice for every field that holds something the target loses.

    Args:
        support: The exporter's table.
        report: Where the notices go.
        plugin: The exporter's name.
    """

    def __init__(self, support: Mapping[str, Support], report: Report, plugin: str) -> None:
        self._support = support
        self._report = report
        self._plugin = plugin
        self._counts: dict[str, int] = {}
        self._lossy: dict[type[Model], tuple[tuple[str, str, object], ...]] = {}
        self._nested: dict[type[Model], tuple[str, ...]] = {}
        for kind in SUPPORTED_MODELS:
            self._lossy[kind] = tuple(
                (field, path, info.get_default(call_default_factory=True))
                for field, info in kind.model_fields.items()
                if self._kind(path := f"{kind.__name__.lower()}.{field}") in _LOSSY
            )
        for kind in SUPPORTED_MODELS:
            self._nested[kind] = tuple(
                field
                for field, info in kind.model_fields.items()
                if self._kind(f"{kind.__name__.lower()}.{field}") != "dropped"
                and self._loses(_models_in(info.annotation))
            )

    def _kind(self, path: str) -> str:
        entry = self._support.get(path)
        return "dropped" if entry is None else entry.kind

    def _loses(self, kinds: set[type[Model]]) -> bool:
        """Whether anything in these models, or below them, is lost: all else is passed over."""
        return any(
            self._lossy[kind]
            or any(self._loses(_models_in(info.annotation)) for info in kind.model_fields.values())
            for kind in kinds
        )

    def measure(self, record: Model) -> None:
        """Look at a run or a trial and everything in it that the target carries."""
        kind = type(record)
        values = record.__dict__
        for field, path, default in self._lossy[kind]:
            value = values[field]
            if value is not default and value != default:
                self._counts[path] = self._counts.get(path, 0) + 1
        for field in self._nested[kind]:
            value = values[field]
            if not value:
                continue
            if isinstance(value, Model):
                self.measure(value)
            else:
                for part in value.values() if isinstance(value, dict) else value:
                    self.measure(part)

    def report(self) -> None:
        """Raise the notices of everything measured so far."""
        for path, count in sorted(self._counts.items()):
            entry = self._support.get(path)
            kind = "dropped" if entry is None else entry.kind
            reason = "the exporter's support table does not speak of it"
            self._report.add(
                f"field.{kind}",
                Severity.LOSS,
                f"{path} is {kind}: {entry.reason if entry else reason}",
                path=path,
                count=count,
                plugin=self._plugin,
            )
        self._counts.clear()


_LOSSY = frozenset({"approximated", "dropped"})


def _models_in(annotation: object) -> set[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, SUPPORTED_MODELS):
        return {annotation}
    return {kind for part in getattr(annotation, "__args__", ()) for kind in _models_in(part)}
