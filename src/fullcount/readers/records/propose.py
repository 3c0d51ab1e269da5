"""Proposes a mapping for a file of records, from its names and values.

What can only be guessed stands in a comment, and what the file does not tell is left out: a
vocabulary that nobody has looked at is not a vocabulary.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from fullcount.errors import DamagedInputError
from fullcount.readers._json import walk_object
from fullcount.readers.records.files import kind_of, rows
from fullcount.readers.records.mapping import PRESETS, preset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.readers.records.files import Row
    from fullcount.sources import Source

__all__ = ["propose"]

_LOOKED_AT = 1_000
_MOST_COLUMNS = 500
_MOST_WORDS = 30
_NAMES: dict[str, tuple[str, ...]] = {
    "case": ("case", "case_id", "sample_id", "question_id", "task_id", "instance_id", "test_id",
             "doc_id", "example_id", "qid", "id", "name", "question"),
    "attempt": ("attempt", "epoch", "trial", "try", "repeat", "repetition"),
    "status": ("status", "run_status", "trial_status", "outcome_status"),
    "status_reason": ("status_reason", "failure_reason", "stop_reason"),
    "verdict": ("verdict", "final_verdict"),
    "error_message": ("error", "error_message", "exception", "error.message"),
    "error_type": ("error_type", "exception_type", "error.type"),
    "control": ("control", "control_kind"),
    "pressure_round": ("pressure_round", "round"),
    "order": ("order", "position"),
    "seed": ("seed",),
    "started_at": ("started_at", "start_time", "created_at", "timestamp"),
    "completed_at": ("completed_at", "finished_at", "end_time"),
    "duration": ("duration", "duration_seconds", "elapsed", "latency_s"),
    "input_tokens": ("input_tokens", "prompt_tokens", "usage.input_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens", "usage.output_tokens"),
    "total_tokens": ("total_tokens", "usage.total_tokens"),
    "cost": ("cost", "cost_usd"),
    "input": ("input", "prompt", "user_input", "question"),
    "reference": ("reference", "target", "expected", "expected_output", "ground_truth", "answer"),
    "output": ("output", "response", "prediction", "completion", "actual_output"),
    "subject": ("subject", "model", "agent", "model_name"),
    "suite": ("suite", "task", "dataset", "benchmark"),
}  # fmt: skip
_SCORE = re.compile(
    r"score|acc|reward|correct|pass|f1|bleu|rouge|rating|grade|metric|faith|relevan|similar|judge"
    r"|success|match|recall|precision|resolved|quality",
    re.IGNORECASE,
)
_STATUS = {
    "completed": ("completed", "complete", "success", "succeeded", "ok", "done", "finished"),
    "subject_error": ("subject_error", "timeout", "timed_out", "agent_error", "crashed"),
    "harness_error": ("harness_error", "error", "errored", "infra_error", "provider_error"),
    "evaluator_error": ("evaluator_error", "judge_error", "grader_error", "grading_error"),
    "blocked": ("blocked",),
    "cancelled": ("cancelled", "canceled", "aborted"),
    "not_run": ("not_run", "pending", "queued", "skipped"),
}
_VERDICT = {
    "passed": ("pass", "passed", "correct", "yes"),
    "partial": ("partial",),
    "failed": ("fail", "failed", "incorrect", "wrong", "no"),
    "contradicted": ("contradicted",),
    "disputed": ("disputed",),
    "unverified": ("unknown", "unverified", "inconclusive", "n/a"),
}


@dataclass
class _Column:
    """What a column was seen to hold."""

    numbers: int = 0
    truths: int = 0
    spelled: set[str] = field(default_factory=set)
    texts: Counter[str] = field(default_factory=Counter)
    empty: int = 0
    low: float = math.inf
    high: float = -math.inf

    def take(self, value: Any) -> None:
        """Note a cell."""
        if value is None:
            self.empty += 1
        elif isinstance(value, bool):
            self.truths += 1
        elif isinstance(value, (int, float)):
            self._number(float(value) if abs(value) < 2**1000 else math.inf)
        elif isinstance(value, str) and value.lower() in ("true", "false"):
            self.truths += 1
            self.spelled.add(value)
        elif isinstance(value, str):
            try:
                self._number(float(value))
            except ValueError:
                if len(self.texts) <= _MOST_WORDS and len(value) < 100:
                    self.texts[value] += 1
                else:
                    self.texts["…"] += 1

    def _number(self, value: float) -> None:
        self.numbers += 1
        if math.isfinite(value):
            self.low, self.high = min(self.low, value), max(self.high, value)

    @property
    def measures(self) -> bool:
        """Whether it looks like a score: numbers, or true and false, and few words."""
        counted = self.numbers + self.truths
        return counted > 0 and len(self.texts) <= 5 and counted >= sum(self.texts.values())


def propose(source: Source) -> str | None:
    """A mapping as TOML; None where the file holds no rows that could be read as records.

    Raises:
        InputError: The file cannot be read.
    """
    kind = kind_of(source)
    array = _array_of(source) if kind == "object" else None
    if kind == "object" and array is None:
        return None
    delimiter = _delimiter(source) if kind == "csv" else ","
    columns: dict[str, _Column] = {}
    seen = 0
    for row in islice(rows(source, array=array, delimiter=delimiter), _LOOKED_AT):
        seen += 1
        for name, value in _cells(row):
            if name in columns or len(columns) < _MOST_COLUMNS:
                columns.setdefault(name, _Column()).take(value)
    if len(columns) < 2:
        return None
    return "\n".join(_lines(columns, seen, array, delimiter)) + "\n"


def _cells(row: Row) -> Iterator[tuple[str, Any]]:
    """Cells by column; those of an object in a cell too."""
    for name, value in row.value.items():
        if not name:  # such as the index that a data frame writes; a mapping cannot name it
            continue
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", cell) for inner, cell in value.items())
        elif not isinstance(value, list):
            yield name, value


def _array_of(source: Source) -> str | None:
    """Where an object holds an array of objects, at its top or one level below."""
    try:
        with source.open() as file:
            for part in walk_object(file, (), source=source.shown):
                inner = part.value if isinstance(part.value, dict) else {"": part.value}
                for name, value in inner.items():
                    if isinstance(value, list) and value and isinstance(value[0], dict):
                        return f"{part.key}.{name}" if name else part.key
    except DamagedInputError:
        return None
    return None


def _delimiter(source: Source) -> str:
    first = source.head.decode("utf-8", "replace").partition("\n")[0]
    return max(",;\t|", key=first.count)


def _guess(columns: dict[str, _Column]) -> dict[str, str]:
    """For each field the column that is named like it; no column twice."""
    by_name: dict[str, str] = {}
    for name in columns:
        by_name.setdefault(name.strip().lower().replace("-", "_").replace(" ", "_"), name)
    found: dict[str, str] = {}
    for target, names in _NAMES.items():
        for name in names:
            column = by_name.get(name)
            if column is not None and column not in found.values():
                found[target] = column
                break
    return found


def _lines(
    columns: dict[str, _Column], seen: int, array: str | None, delimiter: str
) -> Iterator[str]:
    found = _guess(columns)
    words = {
        name: _vocabulary(columns[found[name]], table)
        for name, table in (("status", _STATUS), ("verdict", _VERDICT))
        if name in found
    }
    yield f"# Proposed from the first {seen} rows. Read every line before you rely on it:"
    yield "# a word or column that is understood wrongly gives a wrong number."
    if array is not None:
        yield f"rows = {_text(array)}"
    if delimiter != ",":
        yield f"delimiter = {_text(delimiter)}"
    yield from _named(columns, found, words)
    taken = set(found.values())
    yield from _scores({n: c for n, c in columns.items() if n not in taken})
    for name, vocabulary in words.items():
        yield from _words(name, vocabulary)
    yield from ("", "[run]")
    if "subject" not in found:
        yield '# subject = "the model or agent"'
    if "suite" not in found:
        yield '# suite = "the task or dataset"'
    yield "# trials = 100  # how many were planned, if more than there are rows"
    for name in PRESETS:
        if set(preset(name)["columns"].values()) & set(columns) >= {"case", "status", "verdict"}:
            yield f"# The columns are those of the preset {name!r}: -R preset={name}"


def _named(
    columns: dict[str, _Column], found: dict[str, str], words: dict[str, list[tuple[str, str]]]
) -> Iterator[str]:
    """`[columns]`; one whose words are not known is a comment, since it could not be loaded."""
    yield from ("", "[columns]")
    if "case" not in found:
        yield "# No column is named like a case; this is the first one."
        found["case"] = next(iter(columns))
    for target in _NAMES:
        if target in found:
            unknown = target in words and not any(known for _, known in words[target])
            comment = "# " if unknown or target == "control" else ""
            yield f"{comment}{target} = {_text(found[target])}"


def _words(name: str, vocabulary: list[tuple[str, str]]) -> Iterator[str]:
    if any(known for _, known in vocabulary):
        yield from ("", f"[vocabulary.{name}]")
        choices = " | ".join(_STATUS if name == "status" else _VERDICT)
        for word, known in vocabulary:
            if known:
                yield f"{_text(word)} = {_text(known)}"
            else:
                yield f"# {_text(word)} = {_text(choices)}  # not known"


def _scores(columns: dict[str, _Column]) -> Iterator[str]:
    likely = [name for name, c in columns.items() if c.measures and _SCORE.search(name)]
    for name in likely:
        column = columns[name]
        yield ""
        yield "[[scores]]"
        yield f"column = {_text(name)}"
        if column.numbers:
            yield f"# seen from {column.low!r} to {column.high!r}; state the scale for bounds:"
            yield "# minimum = 0.0"
            yield "# maximum = 1.0"
            yield "# threshold = 0.5"
        if column.spelled:
            truths = {word: word.lower() == "true" for word in sorted(column.spelled)}
            yield f"values = {_table({word: str(float(true)) for word, true in truths.items()})}"
            meant = {word: _text("passed" if true else "failed") for word, true in truths.items()}
            yield f"outcomes = {_table(meant)}"
        if column.low == -1 and column.high > -1:
            yield '# sentinels = { "-1" = "error" }  # if -1 stands for no score'
        for word in column.texts:
            yield f'# sentinels = {{ {_text(word)} = "null" }}  # seen; say what it means'
        if column.empty:
            yield f"# {column.empty} rows hold null: they stay unverified and are in no mean"
    others = [name for name, c in columns.items() if c.measures and name not in likely]
    if others:
        yield ""
        yield f"# Other columns with numbers: {', '.join(map(_text, others))}"


def _vocabulary(column: _Column, table: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    """Each word that was seen, with its meaning where it has a usual one."""
    meanings = {word: meaning for meaning, known in table.items() for word in known}
    return [(word, meanings.get(word.strip().lower(), "")) for word in column.texts if word != "…"]


def _table(cells: dict[str, str]) -> str:
    return f"{{ {', '.join(f'{_text(name)} = {cell}' for name, cell in cells.items())} }}"


def _text(text: str) -> str:
    """A TOML basic string; JSON's escapes are a subset of TOML's, but for DEL."""
    escaped = text.encode("utf-8", "replace").decode()
    return json.dumps(escaped, ensure_ascii=False).replace("\x7f", "\\u007f")
