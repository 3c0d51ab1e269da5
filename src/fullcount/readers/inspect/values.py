"""From an Inspect score to scores of the model.

Inspect turns C, I, P and N into 1, 0, 0.5 and 0 (`scorer/_metric.py`). It also turns other words,
null, arrays and objects into numbers, most of them into 0 with no more than a line in its own
log; here they stay what they are.
"""

from __future__ import annotations

import math
import re
from typing import Any

from fullcount.content import excerpt
from fullcount.model import Score
from fullcount.plugin import ContentPolicy
from fullcount.readers._fields import measured

__all__ = ["LETTERS", "Given", "Values", "is_unscored", "metric_names"]

Given = Score | dict[str, Any]
"""A score, or the fields of one."""

LETTERS: dict[str, tuple[float, str]] = {
    "C": (1.0, "passed"),
    "I": (0.0, "failed"),
    "P": (0.5, "partial"),
    "N": (0.0, "failed"),
}
"""Correct, incorrect, partial, no answer: number and outcome."""

_LONGEST_LIST = 64
_UNCHANGED = "UNCHANGED"
_REASON = re.compile(r"[A-Za-z][\w.-]{0,63}")
_SCORED: dict[str, dict[str, Any]] = {
    letter: {
        "state": "scored",
        "value": value,
        "label": letter,
        "outcome": outcome,
        "raw": f'"{letter}"',
        "raw_type": "string",
    }
    for letter, (value, outcome) in LETTERS.items()
}


def metric_names(scorer: str, value: Any) -> list[str]:
    """The metrics that a value is for: a scalar is one, named like its scorer."""
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, list) and len(value) <= _LONGEST_LIST:
        return [str(index) for index in range(len(value))]
    return [scorer]


def _changes_value(history: list[Any]) -> bool:
    """Whether a person changed the value, or gave the score in the first place.

    The first of several entries is the scorer's own (`log/_score.py`).
    """
    edits = history[1:] or history
    return any(
        isinstance(edit, dict) and edit.get("value", _UNCHANGED) != _UNCHANGED for edit in edits
    )


class Values:
    """Reads scores, with the numbers of further labels.

    Args:
        numbers: Number of each label beyond C, I, P and N.
        policy: How much text leaves.
    """

    def __init__(self, numbers: dict[str, float], policy: ContentPolicy) -> None:
        self._numbers = numbers
        self._policy = policy
        self._graded: dict[tuple[str, str], Score] = {}
        self._absent: dict[tuple[str, str, str, str | None], Score] = {}

    def scores(self, scorer: str, score: Any, metrics: list[str]) -> list[tuple[str, Given]]:
        """The scores of one scorer's entry, each with its metric.

        Args:
            scorer: Its name.
            score: The entry: an object with a value, or in old logs the value itself.
            metrics: The scorer's metrics, as far as they are known.
        """
        entry = score if isinstance(score, dict) and "value" in score else {"value": score}
        value = entry["value"]
        if type(value) is str and value in _SCORED and self._is_plain(entry):
            return [(scorer, self._letter(scorer, value))]
        if isinstance(value, dict):
            leaves = value
        elif isinstance(value, list) and len(value) <= _LONGEST_LIST:
            leaves = {str(index): leaf for index, leaf in enumerate(value)}
        elif metrics and scorer not in metrics and is_unscored(value):
            # Inspect marks a whole object of scores as unscored by a single NaN.
            leaves = dict.fromkeys(metrics, value)
        else:
            leaves = {scorer: value}
        note = self._note(entry)
        found: list[tuple[str, Given]] = []
        for metric, leaf in leaves.items():
            fields = {"evaluator": scorer, "metric": metric, **note, **self._leaf(leaf)}
            if fields["state"] != "scored" and "reason" not in fields:
                reason = _reason(entry)
                if reason is not None:
                    fields["reason"] = reason
            found.append((metric, fields))
        return found

    def absent(self, scorer: str, metric: str, state: str, reason: str | None = None) -> Score:
        """A score that is not there."""
        key = (scorer, metric, state, reason)
        if key not in self._absent:
            self._absent[key] = Score.model_validate(
                {
                    "evaluator": _escaped(scorer),
                    "metric": _escaped(metric),
                    "state": state,
                    "reason": reason,
                }
            )
        return self._absent[key]

    def _is_plain(self, entry: dict[str, Any]) -> bool:
        return self._policy is not ContentPolicy.INCLUDE and not entry.get("history")

    def _letter(self, scorer: str, letter: str) -> Score:
        """The score of a letter, which is the same for every trial."""
        key = (scorer, letter)
        score = self._graded.get(key)
        if score is None:
            name = _escaped(scorer)
            fields = {"evaluator": name, "metric": name, **_SCORED[letter]}
            score = self._graded[key] = Score.model_validate(fields)
        return score

    def _note(self, entry: dict[str, Any]) -> dict[str, Any]:
        """What is true of every metric of the entry."""
        fields: dict[str, Any] = {}
        history = entry.get("history")
        if isinstance(history, list) and _changes_value(history):
            fields["edited"] = True
        if self._policy is ContentPolicy.INCLUDE:
            for name in ("answer", "explanation"):
                text = entry.get(name)
                if isinstance(text, str):
                    fields[name] = excerpt(text, self._policy)
        return fields

    def _leaf(self, value: Any) -> dict[str, Any]:
        if isinstance(value, str):
            known = _SCORED.get(value)
            if known is not None:
                return known
            fields = measured(value)
            if value in self._numbers:
                fields["value"] = self._numbers[value]
            return fields
        if type(value) is float and math.isfinite(value):
            return {"state": "scored", "value": value, "raw": repr(value), "raw_type": "number"}
        return measured(value)


def _escaped(name: str) -> str:
    """The name as the run has it; see `validated`."""
    return name.encode("utf-8", "backslashreplace").decode()


def is_unscored(value: Any) -> bool:
    """Whether a scorer says with this that it has no value: null, or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _reason(entry: dict[str, Any]) -> str | None:
    """What the scorer says of a value that is none, if it is a name and no prose.

    Before scores had a reason of their own, the word stood in their metadata
    (`scorer/_metric.py`).
    """
    reason = entry.get("reason")
    if reason is None and isinstance(entry.get("metadata"), dict):
        reason = entry["metadata"].get("unscored_reason")
    return reason if isinstance(reason, str) and _REASON.fullmatch(reason) else None
