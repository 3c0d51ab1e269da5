"""What one pass over the records tells before the first trial."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.readers._seen import Seen
from fullcount.readers.inspect.samples import case_name, identity, scores_of
from fullcount.readers.inspect.values import is_unscored, metric_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fullcount.readers.inspect.logs import Log
    from fullcount.sources import Source

__all__ = ["Survey", "ambiguous_ids"]


class Survey:
    """A pass over the records, and a second one where some seem to come twice.

    Args:
        source: The log's file.
        log: The log.
        scorers: The scorers that the header tells of, of which the first has the single score
            of log version 1.
        ambiguous: Ids of which the header tells that they are there as a number and as text.

    Attributes:
        metrics: Every metric of each scorer that left a score.
        replaced: Which records, counted from zero, a later one of the sample and epoch replaces.
        ambiguous: Ids that are there as a number and as text.

    Raises:
        InputError: A record is damaged.
    """

    def __init__(
        self, source: Source, log: Log, scorers: list[str], ambiguous: frozenset[str]
    ) -> None:
        self.metrics: dict[str, list[str]] = {}
        self.replaced: set[int] = set()
        self.ambiguous = ambiguous
        only = scorers[0] if scorers else "score"
        seen = Seen()
        for record in log.records():
            sample_id, epoch = identity(record, source)
            seen.add(Seen.key(case_name(sample_id, ambiguous), epoch))
            for scorer, entry in scores_of(record.value, only).items():
                if not self._note(scorer, entry):
                    raise record.damaged("must have no empty names", source, "scores")
        suspects = seen.repeated()
        if suspects:
            self._confirm(source, log, suspects)

    def _note(self, scorer: str, entry: Any) -> bool:
        """Take note of the metrics; false where something has no name."""
        known = self.metrics.setdefault(scorer, [])
        value = entry.get("value") if isinstance(entry, dict) and "value" in entry else entry
        if is_unscored(value):
            return bool(scorer)  # it may stand for a whole object of scores
        names = metric_names(scorer, value)
        for metric in names:
            if metric not in known:
                known.append(metric)
        return bool(scorer) and all(names)

    def _confirm(self, source: Source, log: Log, suspects: set[int]) -> None:
        """Tell real repetitions, by id and epoch, from ids that only look alike."""
        last: dict[tuple[type, Any, int], int] = {}
        kinds: dict[str, set[type]] = {}
        for number, record in enumerate(log.records()):
            sample_id, epoch = identity(record, source)
            if Seen.key(case_name(sample_id, self.ambiguous), epoch) in suspects:
                kinds.setdefault(str(sample_id), set()).add(type(sample_id))
                key = (type(sample_id), sample_id, epoch)
                if key in last:
                    self.replaced.add(last[key])
                last[key] = number
        alike = (text for text, types in kinds.items() if len(types) > 1)
        self.ambiguous = self.ambiguous.union(alike)


def ambiguous_ids(ids: Iterable[Any]) -> frozenset[str]:
    """Texts among the ids that read like a number among them."""
    kinds = set(map(type, ids))
    if len(kinds) < 2:
        return frozenset()
    numbers = {str(each) for each in ids if type(each) is int}
    return frozenset(each for each in ids if type(each) is str and each in numbers)
