"""Names and constants of the target: Every Eval Ever, schema version 0.3.0.

Checked against the two JSON Schemas of version 0.3.0 and the validator of the package
`every-eval-ever` 0.3.0. Everything that has to change with the upstream format stands here.
"""

from __future__ import annotations

import re
from typing import Literal

__all__ = [
    "HF_REPOSITORY",
    "HF_URL",
    "INPUT_PROMPT_ABSENT",
    "INVALID_IN_NAME",
    "LEVELS",
    "LONGEST_NAME",
    "ROOT",
    "SAMPLES_SUFFIX",
    "SCHEMA_VERSION",
    "UNKNOWN",
    "UNKNOWN_LEVEL",
    "WINDOWS_NAMES",
    "DeploymentType",
    "ModelAvailability",
    "Relationship",
]

SCHEMA_VERSION = "0.3.0"
ROOT = "data"
"""First part of every path; no other part may have this name."""
SAMPLES_SUFFIX = "_samples.jsonl"
UNKNOWN = "unknown"
"""The schema's word where it allows one; the path rules refuse it as an identity."""
Relationship = Literal["first_party", "third_party", "collaborative", "other"]
DeploymentType = Literal["self_deployed", "externally_managed", "unknown"]
ModelAvailability = Literal["open_weights", "closed_weights", "unknown"]
INPUT_PROMPT_ABSENT = "not recorded"
"""`llm_scoring.input_prompt` is required; the judge's prompt is no part of the model."""

INVALID_IN_NAME = re.compile(r'[<>"\\|?*\[\]\x00-\x1f\x7f]')
"""Not written in a collection, developer or model; `:` is written as `_` instead.

The schema's rules refuse all of them but brackets, which the validator's command line takes for
a pattern that matches another file.
"""
WINDOWS_NAMES = frozenset(
    {"CON", "PRN", "AUX", "NUL", *(f"{kind}{n}" for kind in ("COM", "LPT") for n in range(1, 10))}
)
"""Refused in any case as a name, or as the part of a name before its first dot."""
LONGEST_NAME = 180
"""Bytes of one part of a path; file systems take 255."""

HF_REPOSITORY = re.compile(
    r"(?!.*\.(?:jsonl?|csv|tsv|parquet|txt|ya?ml|zip|gz)$)[A-Za-z0-9._-]+/[A-Za-z0-9._-]+"
)
"""What upstream's own converters take as a Hugging Face repository, without names of files."""
HF_URL = re.compile(
    r"(?:hf://|https?://(?:www\.)?(?:huggingface\.co|hf\.co)/)datasets/"
    r"([A-Za-z0-9._-]+/[A-Za-z0-9._-]+)/?"
)

LEVELS: dict[str, tuple[int, str]] = {
    "failed": (0, "an evaluator that measured says it failed"),
    "contradicted": (1, "the evidence speaks against the claimed outcome"),
    "disputed": (2, "evaluators disagree and nothing settles it"),
    "partial": (3, "partial credit"),
    "passed": (4, "every evaluator with a threshold says it passed"),
}
"""Level and meaning of each verdict; `unverified` is the unknown level."""
UNKNOWN_LEVEL = -1
"""With `has_unknown_level` "a score of -1 will be treated as Unknown"."""
