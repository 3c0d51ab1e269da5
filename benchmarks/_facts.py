"""What each sample of a generated log is about, drawn before any of its text.

So the totals of a log can be counted without building its samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

__all__ = [
    "JUDGE",
    "LIMITS",
    "MODEL",
    "NUMBERS",
    "STARTED",
    "Facts",
    "Settings",
    "facts_of",
    "usage_of",
]

MODEL, JUDGE = "openai/gpt-4o-mini", "openai/gpt-4o"
STARTED = datetime(2026, 3, 2, 9, tzinfo=UTC)
NUMBERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "NaN": math.nan}
"""What Inspect makes of a grade; `NaN` stands for a score that the judge did not give."""

LIMITS = {
    "message": (12.0, "Message limit exceeded. count: 13; limit: 12"),
    "token": (4096.0, "Token limit exceeded. value: 4133; limit: 4096"),
    "time": (120.0, "Time limit exceeded. limit: 120 seconds"),
}
"""For each kind of limit, its height and what Inspect says of it."""


@dataclass(frozen=True)
class Settings:
    """What stands in a log.

    Attributes:
        samples: How many.
        seed: Two logs of one seed are the same.
        scorers: 1: `model_graded_qa`; 2: `includes` before it.
        nan_rate: Share of samples to which the judge gives NaN.
        missing_rate: Share of samples on which `model_graded_qa` gives None and leaves no score.
        error_rate: Share of samples with an error, one in four of them while it is scored.
        limit_rate: Share of samples without an error that a limit ends.

    Raises:
        ValueError: There can be no such log.
    """

    samples: int
    seed: int = 0
    scorers: int = 2
    nan_rate: float = 0.01
    missing_rate: float = 0.01
    error_rate: float = 0.02
    limit_rate: float = 0.01

    def __post_init__(self) -> None:
        rates = (self.nan_rate, self.missing_rate, self.error_rate, self.limit_rate)
        if min(rates) < 0 or sum(rates[:3]) > 1 or self.scorers not in (1, 2) or self.samples < 1:
            msg = "needs a sample, 1 or 2 scorers, and rates from 0 that add up to 1 at most"
            raise ValueError(msg)

    @property
    def names(self) -> tuple[str, ...]:
        """The scorers, in the order in which they run."""
        return ("includes", "model_graded_qa")[2 - self.scorers :]


@dataclass(frozen=True)
class Facts:
    """What a sample is about.

    Attributes:
        grades: For each scorer that gave a score, a key of `NUMBERS`.
        error: What raised: `solver`, `scorer`, or nothing.
        limit: Kind of the limit that ended it.
        usage: By model.
    """

    grades: dict[str, str]
    error: str
    limit: str | None
    usage: dict[str, dict[str, int]]


def facts_of(settings: Settings, index: int) -> tuple[Facts, Random]:
    """The facts of a sample, and the generator from which its text is drawn next."""
    rng = Random(f"{settings.seed}/{index}")  # noqa: S311 - repeatable, not secret
    fate, limited, choice = rng.random(), rng.random(), rng.random()
    grades = {
        "includes": "C" if rng.random() < 0.6 else "I",
        "model_graded_qa": rng.choices("CIPN", (58, 30, 9, 3))[0],
    }
    error = ""
    if fate < settings.error_rate:
        error = "scorer" if choice < 0.25 else "solver"
        grades = {"includes": grades["includes"]} if error == "scorer" else {}
    elif fate < settings.error_rate + settings.nan_rate:
        grades["model_graded_qa"] = "NaN"
    elif fate < settings.error_rate + settings.nan_rate + settings.missing_rate:
        del grades["model_graded_qa"]
    if settings.scorers == 1:
        grades.pop("includes", None)
    usage = {}
    if error != "solver":
        usage[MODEL] = usage_of(rng.randrange(180, 420), rng.randrange(40, 160))
    if not error:
        usage[JUDGE] = usage_of(rng.randrange(500, 900), rng.randrange(60, 120))
    limit = list(LIMITS)[int(choice * 3)] if limited < settings.limit_rate and not error else None
    return Facts(grades, error, limit, usage), rng


def usage_of(input_tokens: int, output_tokens: int) -> dict[str, int]:
    """A `ModelUsage` without cache and reasoning."""
    return {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    }
