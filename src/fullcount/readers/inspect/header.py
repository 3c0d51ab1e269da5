"""The header of a log, checked for what everything else needs of it."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fullcount.errors import DamagedInputError, UnsupportedInputError, quoted
from fullcount.readers._fields import as_count, as_dict, as_list

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.errors import InputError
    from fullcount.sources import Source

__all__ = ["Header", "bare"]

NEWEST = 2
_UNRELEASED = 3
"""Written by development builds of 0.3 only, with the messages of events in a pool of their own."""
_DEVELOPMENT = re.compile(r"0\.3\.\d+\.dev")
_STATUSES = frozenset({"started", "success", "cancelled", "error"})
_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})")
_EXACT_SUMMARIES = (0, 3, 138)
_PACKAGE = "inspect_ai/"
_PATTERN = frozenset("*?[")


def bare(name: Any) -> str:
    """A name without Inspect's package: `inspect_ai/accuracy` is `accuracy`."""
    return str(name).removeprefix(_PACKAGE) or str(name)


def _is_pattern(name: str, metrics: Any) -> bool:
    """Whether the results have a pattern for the name of a metric, since nothing was scored."""
    patterns = metrics if isinstance(metrics, list) else [metrics]
    return not _PATTERN.isdisjoint(name) and any(name in as_dict(each) for each in patterns)


def _is_read(document: dict[str, Any], version: Any) -> bool:
    """Whether a log of this version is read."""
    if type(version) is int and version == _UNRELEASED:
        # What a later release may call version 3 need not be the same format.
        packages = as_dict(as_dict(document.get("eval")).get("packages"))
        return _DEVELOPMENT.match(str(packages.get("inspect_ai"))) is not None
    return type(version) is int and 0 < version <= NEWEST


class Header:
    """The header of a log, checked for what everything else needs of it.

    Args:
        document: The log without its samples.
        source: Where it was read from.
        member: Its member of an archive.

    Attributes:
        document: As above.
        version: Version of the log format.
        eval: What was evaluated, and how.
        config: Its configuration.
        dataset: Its dataset.
        results: What the harness made of it; empty where it has none.
        scores: Entries of the results, each with a `name` and a `scorer`.
        sample_ids: Ids of the samples that the run sought; empty where the log lists none.
        epochs: Epochs of each sample.
        status: How the run ended.
        invalidated: Whether samples were invalidated.

    Raises:
        UnsupportedInputError: The log's version is newer than what is read.
        DamagedInputError: Something that every log has is missing or of another type.
    """

    def __init__(self, document: dict[str, Any], source: Source, member: str | None) -> None:
        self._source = source
        self._member = member
        self.document = document
        version = document.get("version")
        if version is not None and not _is_read(document, version):
            raise UnsupportedInputError(
                f"log version {quoted(version)} is not read; versions 1 and {NEWEST} are",
                source=source.shown,
                member=member,
                pointer="/version",
            )
        self.eval = self._object(document, "", "eval")
        for name in ("task", "model"):
            if not isinstance(self.eval.get(name), str) or not self.eval[name]:
                raise self._damaged("a name", self.eval.get(name), f"/eval/{name}")
        self.config = self._object(self.eval, "/eval", "config")
        self.dataset = self._object(self.eval, "/eval", "dataset")
        self.results = self._object(document, "", "results")
        self.version = version or (1 if "scorer" in self.results else NEWEST)
        self.scores = list(self._scores())
        self.sample_ids = self._ids()
        epochs = self.config.get("epochs")
        if epochs is not None and not as_count(epochs):
            raise self._damaged("a number of epochs", epochs, "/eval/config/epochs")
        self.epochs = int(epochs or 1)
        status = document.get("status", "started")
        if not isinstance(status, str):
            raise self._damaged("a status", status, "/status")
        self.status = status if status in _STATUSES else "unknown"
        self.invalidated = document.get("invalidated") is True

    @cached_property
    def planned(self) -> int | None:
        """Trials that were sought; None where the log does not let us know.

        The dataset is not the plan: a run may take some of its samples.
        """
        listed = len(self.sample_ids) * self.epochs
        total = as_count(self.results.get("total_samples"))
        if listed or total:
            return max(listed, total or 0)
        samples = as_count(self.dataset.get("samples"))
        if samples is None or self.config.get("sample_id") is not None:
            return None
        limit = self.config.get("limit")
        if limit is not None:
            bounds = [0, limit] if type(limit) is int else as_list(limit)
            if len(bounds) != 2 or any(as_count(bound) is None for bound in bounds):
                return None
            first, last = (min(int(bound), samples) for bound in bounds)
            samples = max(0, last - first)
        return samples * self.epochs

    @cached_property
    def summaries_are_exact(self) -> bool:
        """Whether it can be told which texts of a summary are the sample's own."""
        match = _VERSION.match(str(as_dict(self.eval.get("packages")).get("inspect_ai", "")))
        return match is not None and tuple(map(int, match.groups())) >= _EXACT_SUMMARIES

    @property
    def early_stops(self) -> list[tuple[Any, int]]:
        """(id, epoch) of samples that an early stopping manager left out."""
        stops = as_list(as_dict(self.results.get("early_stopping")).get("early_stops"))
        return [
            (stop["id"], as_count(stop.get("epoch")) or 1)
            for stop in stops
            if isinstance(stop, dict) and type(stop.get("id")) in (int, str)
        ]

    def declared(self) -> dict[str, list[str]]:
        """The metrics of each scorer, as the results name them."""
        configured = self.configured()
        found: dict[str, list[str]] = {}
        for score in self.scores:
            names = found.setdefault(score["scorer"], [])
            metrics = as_dict(configured.get(score["scorer"])).get("metrics")
            if score["name"] not in names and not _is_pattern(score["name"], metrics):
                names.append(score["name"])
        return found

    def configured(self) -> dict[str, dict[str, Any]]:
        """The configuration of each scorer.

        A name that comes again gets a number, as in the samples (`scorer/_scorer.py`).
        """
        found: dict[str, dict[str, Any]] = {}
        for scorer in map(as_dict, as_list(self.eval.get("scorers"))):
            given = scorer.get("name")
            if isinstance(given, str) and given:
                name, count = given, 0
                while name in found:
                    count += 1
                    name = f"{given}{count}"
                found[name] = scorer
        return found

    def scorers(self) -> list[str]:
        """Every scorer of the run, by the results and the configuration."""
        return list(dict.fromkeys([*self.declared(), *self.configured()]))

    def _scores(self) -> Iterator[dict[str, Any]]:
        """Entries of the results; log version 1 had a single one in two keys."""
        entries = self.results.get("scores")
        if entries is None and "scorer" in self.results:
            scorer = self.results["scorer"]
            name = as_dict(scorer).get("name", scorer)
            metrics = self.results.get("metrics") or as_dict(scorer).get("metrics")
            entries = [{"name": name, "metrics": metrics}]
        if entries is not None and not isinstance(entries, list):
            raise self._damaged("an array", entries, "/results/scores")
        for index, entry in enumerate(entries or ()):
            name = as_dict(entry).get("name")
            if not isinstance(name, str) or not name:
                raise self._damaged("a name", name, f"/results/scores/{index}/name")
            scorer = entry.get("scorer")
            yield {**entry, "scorer": scorer if isinstance(scorer, str) and scorer else name}

    def _ids(self) -> list[Any]:
        ids = self.dataset.get("sample_ids")
        if ids is None:
            return []
        if not isinstance(ids, list):
            raise self._damaged("an array", ids, "/eval/dataset/sample_ids")
        for index, each in enumerate(ids):
            if type(each) not in (str, int):
                pointer = f"/eval/dataset/sample_ids/{index}"
                raise self._damaged("a sample's id", each, pointer)
        return list(dict.fromkeys(ids))

    def _object(self, parent: dict[str, Any], pointer: str, key: str) -> dict[str, Any]:
        value = parent.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._damaged("an object", value, f"{pointer}/{key}")
        return value

    def _damaged(self, wanted: str, found: Any, pointer: str) -> InputError:
        return DamagedInputError(
            f"must be {wanted}, not {quoted(found)}",
            source=self._source.shown,
            member=self._member,
            pointer=pointer,
        )
