"""What a value in a samples row or a results table means.

The sentinels of the harness, each with the place in lm_eval 0.4.13 that writes it:

- 999 in results, null in samples: `bypass`, the metric of `--predict_only`; nobody scored.
- "N/A": a standard error that could not be computed.
- "[invalid]" as filtered response: a filter found no answer in the output, and the zero that
  follows it was not measured (`filters/extraction.py`).
"""

from __future__ import annotations

from typing import Any

from fullcount.readers._fields import as_number, measured, nonfinite, raw_fields

__all__ = ["BYPASS", "INVALID", "NOT_AVAILABLE", "reported", "scale", "score"]

BYPASS = "bypass"
INVALID = "[invalid]"
NOT_AVAILABLE = "N/A"

# Written as text by `handle_non_serializable` of versions that met numpy types.
_SPELLED = {"True": True, "False": False}

_BINARY = frozenset({"acc", "acc_bytes", "acc_mutual_info", "acc_norm", "exact_match"})
_SCALES: dict[str, tuple[float | None, float | None]] = {
    **dict.fromkeys(_BINARY, (0.0, 1.0)),
    "bits_per_byte": (0.0, None),
    "bleu": (0.0, 100.0),
    "brier_score": (0.0, 2.0),
    "byte_perplexity": (0.0, None),
    "chrf": (0.0, 100.0),
    "f1": (0.0, 1.0),
    "likelihood_diff": (None, None),
    "mcc": (-1.0, 1.0),
    "perplexity": (0.0, None),
    "ter": (0.0, None),
    "word_perplexity": (0.0, None),
}


def scale(metric: str) -> tuple[float | None, float | None]:
    """Lowest and highest value of a metric of lm_eval's own; None where it is open."""
    return _SCALES.get(metric, (None, None))


def score(metric: str, value: Any, *, invalid: bool) -> dict[str, Any]:
    """The fields of a `Score` for one value of a row.

    Args:
        metric: The metric's name.
        value: What the row holds.
        invalid: Whether the filter found no answer.
    """
    if metric == BYPASS:
        return raw_fields(value) | {"state": "skipped", "reason": "predict_only"}
    if invalid:
        return raw_fields(value) | {"state": "error", "reason": "extraction_failed"}
    if isinstance(value, str):
        if value == NOT_AVAILABLE:
            return raw_fields(value) | {"state": "null"}
        result = measured(_SPELLED.get(value, _number(value))) | raw_fields(value)
    else:
        result = measured(value)
    if metric in _BINARY and result.get("value") in (0.0, 1.0):
        result["outcome"] = "passed" if result["value"] else "failed"
    return result


def reported(value: Any) -> tuple[float | None, str | None]:
    """A headline number as (value, nonfinite)."""
    if isinstance(value, str):
        value = _number(value)
    return as_number(value), nonfinite(value)


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
