"""What HELM's statistics are, and what one record of them says."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from fullcount.errors import quoted
from fullcount.readers._fields import number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["BINARY", "Group", "Key", "Table", "is_score", "key_of", "scale"]

BINARY = frozenset(
    {
        "exact_match",
        "prefix_exact_match",
        "quasi_exact_match",
        "quasi_prefix_exact_match",
    }
)
"""Statistics that are 1 for a right answer and 0 for a wrong one."""

_UNIT = (
    *BINARY,
    "bleu_",
    "chain_of_thought_correct",
    "classification_macro_f1",
    "classification_micro_f1",
    "f1_score",
    "final_number_exact_match",
    "ifeval_strict_accuracy",
    "math_equiv",
    "omni_math_accuracy",
    "rouge_",
    "safety_score",
    "wildbench_score_rescaled",
)

# Bookkeeping of BasicMetric, EfficiencyMetric and the language modelling parts of 0.5.
_BOOKKEEPING = (
    "batch_size",
    "estimated_num_tokens_cost",
    "finish_reason_",
    "inference_",
    "logprob",
    "max_prob",
    "num_",
    "prompt_truncated",
    "training_",
)

_ABSENT, _VALUE, _EMPTY = range(3)


class Key(NamedTuple):
    """One trial: an instance, its perturbation, and the train trial."""

    instance: str
    perturbation: str
    trial: int


def key_of(instance: Any, perturbation: Any, trial: Any) -> Key:
    """The trial that these values of a file name.

    Raises:
        TypeError: One of them is of another kind; a guess would split or join trials.
    """
    name = "" if perturbation is None else perturbation.get("name", "")
    for value, kinds in ((instance, (str, int)), (name, (str,)), (trial, (int,))):
        if type(value) not in kinds:
            msg = f"{quoted(value)} names no trial"
            raise TypeError(msg)
    return Key(str(instance), name, trial)


class Group(NamedTuple):
    """The trials that HELM averages together."""

    split: str
    perturbation: str


def is_score(name: str) -> bool:
    """Whether a statistic measures the answer and is no bookkeeping."""
    return not name.startswith(_BOOKKEEPING)


def scale(name: str) -> tuple[float | None, float | None]:
    """Lowest and highest value of a statistic; None where that is not known."""
    base = name.partition("@")[0]
    return (0.0, 1.0) if base.startswith(_UNIT) else (None, None)


class Table:
    """Every per-instance statistic, nine bytes each.

    HELM writes several records for one trial, far apart, so they are merged here first.

    Args:
        splits: Every trial that is known without its statistics, and its split.
    """

    def __init__(self, splits: Mapping[Key, str]) -> None:
        self._splits = splits
        self.rows: dict[Key, int] = {}
        self.groups: dict[Group, int] = {}
        self._group_of = array("L")
        self._columns: dict[str, tuple[array[float], bytearray]] = {}

    def add(self, key: Key, statistics: Iterable[Any]) -> None:
        """Merge one record; of a statistic given twice the last one counts.

        Raises:
            TypeError: A statistic has no name.
        """
        row = self.rows.setdefault(key, len(self.rows))
        for statistic in statistics:
            name = statistic["name"]
            if not isinstance(name["name"], str) or not name["name"]:
                msg = f"{quoted(name)} names no statistic"
                raise TypeError(msg)
            split = str(name.get("split") or "")
            if row == len(self._group_of):
                group = Group(split, key.perturbation)
                self._group_of.append(self.groups.setdefault(group, len(self.groups)))
            values, states = self._columns.setdefault(name["name"], (array("d"), bytearray()))
            while len(values) <= row:
                values.append(0.0)
                states.append(_ABSENT)
            mean = statistic.get("mean")
            if statistic.get("count") and type(mean) in (int, float):
                values[row], states[row] = number_of(mean), _VALUE
            else:
                states[row] = _EMPTY
        if row == len(self._group_of):  # a record without any statistic
            group = Group(self._splits.get(key, ""), key.perturbation)
            self._group_of.append(self.groups.setdefault(group, len(self.groups)))

    def complete(self) -> None:
        """Add an empty row for every known trial without a record."""
        for key in self._splits:
            if key not in self.rows:
                self.add(key, ())

    def names(self) -> list[str]:
        """Every statistic, in the order of the file."""
        return list(self._columns)

    def group(self, row: int) -> int:
        """Number of the group that a row belongs to."""
        return self._group_of[row]

    def get(self, name: str, row: int) -> float | str | None:
        """A value; `empty` where HELM counted none; None where the statistic is not there."""
        values, states = self._columns.get(name, (array("d"), bytearray()))
        if row >= len(states) or states[row] == _ABSENT:
            return None
        return values[row] if states[row] == _VALUE else "empty"
