"""Losses and oddities are data: typed notices, counted and never silent."""

from __future__ import annotations

from enum import StrEnum

from fullcount.model import Model
from fullcount.model._base import Count, Text, Word

__all__ = ["Notice", "Report", "Severity"]


class Severity(StrEnum):
    """How much a notice matters."""

    INFO = "info"
    """Worth knowing; nothing is lost."""
    LOSS = "loss"
    """The target does not carry something that the source holds."""
    WARNING = "warning"
    """Something about the input or the numbers is not as it should be."""


class Notice(Model):
    """One kind of loss or oddity, and how often it occurred."""

    code: Word
    """Stable, dotted, such as `field.dropped`."""
    severity: Severity
    path: Text = ""
    """The model field concerned, such as `trial.gates`, or a place in the source."""
    message: Word
    count: Count = 1
    plugin: Text = ""
    """The reader or exporter that raised it."""


class Report:
    """Collects notices; those of one code, path and plugin are counted together.

    Memory is bounded: past `limit` distinct notices, further ones are counted under the code
    with the path `…`.
    """

    def __init__(self, limit: int = 1000) -> None:
        self._notices: dict[tuple[str, str, str], Notice] = {}
        self._counts: dict[tuple[str, str, str], int] = {}
        self._limit = limit

    def add(
        self,
        code: str,
        severity: Severity,
        message: str,
        *,
        path: str = "",
        count: int = 1,
        plugin: str = "",
    ) -> None:
        """Record a notice; the first message of a kind is the one that is kept."""
        path = _fit_for_utf8(path)
        key = (plugin, code, path)
        if key not in self._notices:
            if len(self._notices) >= self._limit:
                key, path = (plugin, code, "…"), "…"
            self._notices.setdefault(
                key,
                Notice(
                    code=code,
                    severity=severity,
                    path=path,
                    message=_fit_for_utf8(message),
                    plugin=plugin,
                ),
            )
        self._counts[key] = self._counts.get(key, 0) + count

    def notices(self) -> tuple[Notice, ...]:
        """All notices, ordered by plugin, code and path."""
        return tuple(
            self._notices[key].model_copy(update={"count": self._counts[key]})
            for key in sorted(self._notices)
        )

    def extend(self, notices: tuple[Notice, ...]) -> None:
        """Add notices that another report collected."""
        for notice in notices:
            self.add(
                notice.code,
                notice.severity,
                notice.message,
                path=notice.path,
                count=notice.count,
                plugin=notice.plugin,
            )


def _fit_for_utf8(text: str) -> str:
    """A name from a hostile file may hold lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode()
