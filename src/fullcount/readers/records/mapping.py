"""The mapping: which column is what, and what its words mean."""

from __future__ import annotations

import tomllib
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fullcount.errors import OptionError, one_line, quoted
from fullcount.model import Outcome, ScoreState, TrialStatus, Verdict

if TYPE_CHECKING:
    from fullcount.readers.records import RecordsOptions

__all__ = ["ANY", "PRESETS", "RUN_COLUMNS", "Columns", "Mapping", "ScoreColumn", "load", "parse"]

ANY = "*"
"""The word of a vocabulary that stands for every other one."""
PRESETS = ("trials",)

_LARGEST = 1 << 20
Column = Annotated[str, Field(min_length=1)]
"""Name of a column; in JSON, keys one inside the other are joined by a dot."""
Unscored = Literal["null", "nan", "error", "missing", "not_measured", "skipped", "not_applicable"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Columns(_Part):
    """The columns of a row, by what they hold. Only `case` is needed."""

    case: Column
    case_sha256: Column | None = None
    attempt: Column | None = None
    status: Column | None = None
    status_reason: Column | None = None
    verdict: Column | None = None
    judge_verdict: Column | None = None
    self_report: Column | None = None
    error_type: Column | None = None
    error_message: Column | None = None
    error_retries: Column | None = None
    limit: Column | None = None
    invalidated: Column | None = None
    control: Column | None = None
    pressure_round: Column | None = None
    order: Column | None = None
    seed: Column | None = None
    started_at: Column | None = None
    completed_at: Column | None = None
    duration: Column | None = None
    input_tokens: Column | None = None
    output_tokens: Column | None = None
    total_tokens: Column | None = None
    cost: Column | None = None
    trace_id: Column | None = None
    span_id: Column | None = None
    response_id: Column | None = None
    record_id: Column | None = None
    input: Column | None = None
    reference: Column | None = None
    output: Column | None = None
    run: Column | None = None
    subject: Column | None = None
    subject_version: Column | None = None
    suite: Column | None = None
    suite_version: Column | None = None
    evaluator: Column | None = None
    evaluator_version: Column | None = None
    rubric_revision: Column | None = None
    environment: Column | None = None


RUN_COLUMNS = (
    "run",
    "subject",
    "subject_version",
    "suite",
    "suite_version",
    "evaluator",
    "evaluator_version",
    "rubric_revision",
    "environment",
)
"""Columns whose values part the rows into runs."""


class ScoreColumn(_Part):
    """One metric, and the column that holds it."""

    column: Column
    evaluator: Annotated[str, Field(min_length=1)] | None = None
    """By default the column's name."""
    metric: Annotated[str, Field(min_length=1)] | None = None
    """By default the evaluator's name."""
    kind: Literal["rule", "model", "human", "composite", "unknown"] = "unknown"
    model: Annotated[str, Field(min_length=1)] | None = None
    minimum: float | None = None
    maximum: float | None = None
    lower_is_better: bool = False
    unit: Annotated[str, Field(min_length=1)] | None = None
    threshold: float | None = None
    categorical: bool = False
    """Whether a text that no table names is a label."""
    state: Column | None = None
    """Column with the state of the score, in the words of `[vocabulary.state]`."""
    reason: Column | None = None
    explanation: Column | None = None
    values: dict[str, float] = {}
    """What a text stands for."""
    outcomes: dict[str, Outcome] = {}
    """What a text means against the evaluator's own threshold."""
    sentinels: dict[str, Unscored] = {}
    """Texts and numbers that are no score; a number is written as JSON writes it."""
    empty: Unscored | None = None
    """What a cell without anything in it, or a key that is not there, means. By default the score
    is missing, or not measured where the status says that the trial never got that far."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            msg = "minimum is above maximum"
            raise ValueError(msg)
        return self

    @property
    def key(self) -> tuple[str, str]:
        """Evaluator and metric."""
        evaluator = self.evaluator or self.column
        return evaluator, self.metric or evaluator


class Vocabulary(_Part):
    """What words mean; `*` stands for every word that is not named."""

    status: dict[str, TrialStatus] = {}
    verdict: dict[str, Verdict | Literal["none"]] = {}
    state: dict[str, ScoreState] = {}
    control: dict[str, Literal["positive", "negative", "trap"]] = {}
    boolean: dict[str, bool] = {}


class RunConstants(_Part):
    """What is true of the whole file, where no column says it."""

    id: Annotated[str, Field(min_length=1)] | None = None
    subject: Annotated[str, Field(min_length=1)] | None = None
    subject_version: Annotated[str, Field(min_length=1)] | None = None
    suite: Annotated[str, Field(min_length=1)] | None = None
    suite_version: Annotated[str, Field(min_length=1)] | None = None
    harness: Annotated[str, Field(min_length=1)] = "records"
    harness_version: Annotated[str, Field(min_length=1)] | None = None
    trials: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    """How many trials were planned; those without a row are counted as not run."""


class Reported(_Part):
    """A headline number that the harness reports."""

    evaluator: Annotated[str, Field(min_length=1)]
    metric: Annotated[str, Field(min_length=1)] | None = None
    statistic: Annotated[str, Field(min_length=1)] = "mean"
    value: float
    scored: Annotated[int, Field(ge=0)] | None = None


class Mapping(_Part):
    """A whole mapping."""

    rows: Column | None = None
    """In a file that is one JSON object: where the array of rows stands."""
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
    """Of a CSV file."""
    repeated: Literal["attempt", "last", "refuse"] | None = None
    """Rows of one case and attempt: further attempts, or the last one counts, or an error. By
    default further attempts where no column numbers them, else an error."""
    placeholders: tuple[TrialStatus, ...] = ()
    """Statuses in whose rows a score is a placeholder and no measurement."""
    columns: Columns
    scores: tuple[ScoreColumn, ...] = ()
    vocabulary: Vocabulary = Vocabulary()
    run: RunConstants = RunConstants()
    reported: tuple[Reported, ...] = ()

    @model_validator(mode="after")
    def _agree(self) -> Self:
        keys = [score.key for score in self.scores]
        if len(set(keys)) < len(keys):
            msg = "two scores have one evaluator and metric"
            raise ValueError(msg)
        for word in ("status", "verdict", "control"):
            if getattr(self.columns, word) and not getattr(self.vocabulary, word):
                msg = f"column {word!r} needs its words in [vocabulary.{word}]"
                raise ValueError(msg)
        if any(score.state for score in self.scores) and not self.vocabulary.state:
            msg = "a state column needs its words in [vocabulary.state]"
            raise ValueError(msg)
        return self

    @cached_property
    def run_columns(self) -> dict[str, str]:
        """The columns that part the rows into runs."""
        named = ((name, getattr(self.columns, name)) for name in RUN_COLUMNS)
        return {name: column for name, column in named if column is not None}


def load(options: RecordsOptions) -> Mapping | None:
    """The mapping that the options name; None where they name none.

    Raises:
        OptionError: There is no such preset or file, or it is no mapping.
    """
    document: dict[str, Any] = {}
    if options.preset:
        if options.preset not in PRESETS:
            known = ", ".join(PRESETS)
            raise OptionError(f"no preset is named {quoted(options.preset)}; known: {known}")
        document = preset(options.preset)
    if options.mapping:
        path = Path(options.mapping)
        try:
            if path.stat().st_size > _LARGEST:
                raise OptionError(f"mapping {path.name}: is larger than {_LARGEST >> 20} MiB")
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise OptionError(f"mapping {path.name}: cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise OptionError(f"mapping {path.name}: is no UTF-8 text") from error
        document = _merged(document, _toml(text, path.name))
    return parse(document, options.mapping or options.preset) if document else None


def preset(name: str) -> dict[str, Any]:
    """A mapping that ships with fullcount."""
    file = resources.files(__package__) / "presets" / f"{name}.toml"
    return tomllib.loads(file.read_text("utf-8"))


def parse(document: dict[str, Any], shown: str) -> Mapping:
    """The mapping of a document.

    Raises:
        OptionError: It is none; the first thing that is wrong is named.
    """
    try:
        return Mapping.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the mapping"
        name = Path(shown).name
        raise OptionError(f"mapping {name}: {where}: {one_line(first['msg'], 200)}") from None


def _toml(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise OptionError(f"mapping {name}: is no TOML: {one_line(str(error), 200)}") from None


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Tables of a file go over those of a preset, key by key."""
    found = dict(below)
    for key, value in above.items():
        old = found.get(key)
        found[key] = (
            _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
        )
    return found
