"""Plants paths and credentials in every field of a run that takes free text."""

from __future__ import annotations

from typing import Any

from fullcount.model import Run, Trial

__all__ = ["SECRETS", "planted"]

SECRETS: tuple[str, ...] = (
    "canary-user",
    "canary-folder",
    "sk-canary0123456789abcdef",
    "canary-password",
)
"""What must not leave."""

_PLANT = (
    " /home/canary-user/canary-folder/file-{n}.txt C:\\Users\\canary-user\\canary-folder\\{n}"
    " sk-canary0123456789abcdef https://me:canary-password@example.org/{n}"
)
_CLOSED = frozenset(
    {
        "status",
        "kind",
        "state",
        "outcome",
        "raw_type",
        "case_id_type",
        "control",
        "severity",
        "nonfinite",
        "declared_verdict",
        "judge_verdict",
        "sha256",
        "sample_hash",
        "trace_id",
        "span_id",
    }
)
_CONTENT = frozenset({"content", "answer", "explanation", "message"})


def planted(run: Run, trials: tuple[Trial, ...]) -> tuple[Run, tuple[Trial, ...]]:
    """The run and its trials with a secret in every name, id and note.

    Private content is left alone: whether it leaves is another question.
    """
    return (
        Run.model_validate(_plant(run.model_dump())),
        tuple(Trial.model_validate(_plant(trial.model_dump())) for trial in trials),
    )


def _plant(value: Any, field: str = "") -> Any:
    if field in _CLOSED or (field in _CONTENT and not isinstance(value, str)):
        return value
    if type(value) is str:
        return value + _PLANT.format(n=len(value))
    if isinstance(value, dict):
        return {
            (key if key in _FIELDS else key + _PLANT.format(n=0)): _plant(item, key)
            for key, item in value.items()
        }
    if isinstance(value, tuple):
        return tuple(_plant(item, field) for item in value)
    return value


def _fields(kind: Any, seen: set[Any]) -> set[str]:
    if not hasattr(kind, "model_fields"):
        return set().union(*(_fields(part, seen) for part in getattr(kind, "__args__", ())))
    if kind in seen:
        return set()
    seen.add(kind)
    parts = (_fields(info.annotation, seen) for info in kind.model_fields.values())
    return set(kind.model_fields).union(*parts)


_FIELDS = _fields(Run, set()) | _fields(Trial, set())
