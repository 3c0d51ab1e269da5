"""The tables of the dataset: every column with its type, its meaning and what null means.

A column of kind `text`, `enum`, `integer`, `float`, `flag` or `time` may be null where `null`
says what that means. A list column (`texts`, `integers`, `flags`) is never null and is empty
where there is nothing: a null list of numbers, or of structures, is read back wrongly by
mlcroissant 1.1. A flag is never null, because the TFDS builder reads a null boolean as False.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fullcount.plugin import ContentPolicy

__all__ = [
    "METRIC",
    "NOT_STATED",
    "RUN",
    "SCORES",
    "TRIALS",
    "Column",
    "Table",
    "columns_of",
    "private",
]

Kind = Literal["text", "enum", "integer", "float", "flag", "time", "texts", "integers", "flags"]


@dataclass(frozen=True)
class Column:
    """One column of a table, and the Field that describes it.

    Attributes:
        name: Name of the column.
        kind: Its type; an `enum` is text of few distinct values.
        description: What it holds, with its unit.
        null: What null means; empty: never null.
        references: Field of another RecordSet whose values it takes.
        policies: Content policies under which the column exists.
        heavy: Whether a value may be of any length, and not only as long as a name.
    """

    name: str
    kind: Kind
    description: str
    null: str = ""
    references: str = ""
    policies: frozenset[ContentPolicy] = frozenset(ContentPolicy)
    heavy: bool = False


@dataclass(frozen=True)
class Table:
    """A table, and the RecordSet that describes it.

    Attributes:
        name: Name of the RecordSet and of its file.
        description: What a row is.
        key: Columns that tell a row from every other.
        columns: Its columns.
        optional: Whether there is no file where there is no row.
    """

    name: str
    description: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    optional: bool = False


def columns_of(table: Table, policy: ContentPolicy) -> tuple[Column, ...]:
    """The columns that a table has under a content policy."""
    return tuple(column for column in table.columns if policy in column.policies)


NOT_STATED = "the source does not say"
_TEXT = frozenset({ContentPolicy.INCLUDE})
_DIGEST = frozenset({ContentPolicy.INCLUDE, ContentPolicy.DIGEST})


def private(name: str, what: str, null: str) -> tuple[Column, Column]:
    """A private text: its digest, and itself where the content policy is `include`."""
    return (
        Column(
            f"{name}_sha256",
            "text",
            f"SHA-256 of the UTF-8 text of {what}, in lower-case hexadecimal.",
            f"{null}, or the text itself is given",
            policies=_DIGEST,
        ),
        Column(name, "text", f"Text of {what}.", null, policies=_TEXT, heavy=True),
    )


def _privates(name: str, what: str) -> tuple[Column, Column]:
    """Private texts, each as its digest or as itself; two lists of one length."""
    return (
        Column(
            f"{name}_sha256",
            "texts",
            f"SHA-256 of the UTF-8 text of each of {what}; a null element: the text itself is "
            "given.",
            policies=_DIGEST,
        ),
        Column(
            name,
            "texts",
            f"Text of each of {what}; a null element: only its digest is known.",
            policies=_TEXT,
            heavy=True,
        ),
    )


RUN = (
    Column("run_id", "enum", "Id of the run.", references="runs/run_id"),
    Column("subject", "enum", "What was evaluated, as the harness names it."),
    Column("suite", "enum", "Task or test suite."),
)
_TRIAL = (
    Column(
        "trial", "integer", "Position of the trial in its run, from 0; joins trials and scores."
    ),
    Column("case_id", "text", "Id of the case in its suite."),
    Column("attempt", "integer", "Attempt at the case, from 1."),
)
METRIC = (
    Column("evaluator", "enum", "Name of the evaluator."),
    Column("metric", "enum", "Name of the metric, within its evaluator."),
)
_TOKENS = "tokens; as the harness counts them."

TRIALS = Table(
    "trials",
    "One row for each trial: one attempt at one case. Planned trials without a record are rows "
    "too, with status not_run.",
    ("run_id", "trial"),
    (
        *RUN,
        *_TRIAL,
        Column("case_id_type", "enum", "Type of the id in the source; synthetic: it gave none."),
        Column("status", "enum", "Did execution complete?", references="statuses/name"),
        Column(
            "status_reason", "enum", "Cause of the status, such as timeout.", "no cause is stated"
        ),
        Column(
            "verdict",
            "enum",
            "What the retained evidence supports, after gates.",
            "nobody was asked for a verdict; neither passed nor failed",
            "verdicts/name",
        ),
        Column(
            "verdict_basis",
            "enum",
            "Where the verdict comes from: declared by the source, derived from the scores, or "
            "none: there is no verdict.",
        ),
        Column("judge_verdict", "enum", "The judge's own verdict, before gates.", NOT_STATED),
        Column(
            "self_report",
            "enum",
            "The subject's own claim: success or failure. An output under test, not a verdict.",
            "it claimed nothing, or the source does not say",
        ),
        Column(
            "measurement_failure",
            "flag",
            "Whether the environment, not the subject, kept the trial from being measured.",
        ),
        Column(
            "retry",
            "enum",
            "What it takes to get a missing measurement: none, rerun, regrade, or "
            "reconcile_first (it may have happened, so look before repeating a side effect).",
        ),
        Column("invalidated", "flag", "Whether somebody declared this record void."),
        Column(
            "limit_kind", "enum", "Kind of the limit that ended the trial.", "no limit ended it"
        ),
        Column("errored", "flag", "Whether the source records an error."),
        Column("error_type", "enum", "Class of the error.", "there is none, or only prose"),
        Column("error_retries", "integer", "Attempts thrown away before this record.", NOT_STATED),
        *private("error_message", "the error's message", "there is none"),
        Column("gates", "texts", "Names of the gates: constraints that can overrule a verdict."),
        Column("gate_states", "texts", "For each gate: fired, not_fired or not_evaluated."),
        Column("gate_invalidates", "flags", "For each gate: whether firing voids the measurement."),
        Column("control", "enum", "Kind of control: positive, negative or trap.", "no control"),
        Column("pressure_round", "integer", "Round of pressure, from 0.", NOT_STATED),
        Column(
            "presentation_order", "integer", "Position in the order of presentation.", NOT_STATED
        ),
        Column("seed", "text", "Seed, in decimal; text, so that no reader rounds it.", NOT_STATED),
        Column("started_at", "time", "Start, in UTC.", NOT_STATED),
        Column("completed_at", "time", "End, in UTC.", NOT_STATED),
        Column("duration", "float", "Seconds from start to end.", NOT_STATED),
        Column("working_time", "float", "Seconds without waits and retries.", NOT_STATED),
        Column("input_tokens", "integer", f"Input {_TOKENS}", NOT_STATED),
        Column("output_tokens", "integer", f"Output {_TOKENS}", NOT_STATED),
        Column("total_tokens", "integer", f"All {_TOKENS}", NOT_STATED),
        Column(
            "cache_read_tokens", "integer", f"Tokens read from a cache, in {_TOKENS}", NOT_STATED
        ),
        Column("cache_write_tokens", "integer", f"Tokens put in a cache, in {_TOKENS}", NOT_STATED),
        Column("reasoning_tokens", "integer", f"Reasoning {_TOKENS}", NOT_STATED),
        Column("cost", "float", "US dollars.", NOT_STATED),
        Column("trace_id", "text", "Trace of the evaluated work.", NOT_STATED),
        Column("span_id", "text", "Span of the evaluated work.", NOT_STATED),
        Column("response_id", "text", "The provider's id of the response.", NOT_STATED),
        Column("record_id", "text", "The source's own unique id of this record.", NOT_STATED),
        Column("pointer", "text", "Where in the source the record stands.", NOT_STATED),
        Column("sample_hash", "text", "SHA-256 over the real input and references.", NOT_STATED),
        Column("turns", "integer", "Replies of the subject.", NOT_STATED),
        *private("input", "the input", "the source holds none"),
        *_privates("reference_answers", "the reference answers"),
        *_privates("choices", "the choices"),
        *_privates("outputs", "the outputs"),
        Column(
            "messages",
            "text",
            "The conversation: JSON array of messages, their text as the content policy lets it "
            "go.",
            "the source holds none, or it was not read",
            policies=_DIGEST,
            heavy=True,
        ),
    ),
)

SCORES = Table(
    "scores",
    "One row for each trial and metric, whether or not there is a score.",
    ("run_id", "trial", "evaluator", "metric"),
    (
        *RUN,
        *_TRIAL,
        *METRIC,
        Column("state", "enum", "Did the evaluator measure this trial?", references="states/name"),
        Column(
            "value",
            "float",
            "What it measured, in the unit and on the scale that summary states.",
            "there is no number: state and label say why. Never 0, never failed",
        ),
        Column("label", "enum", "Categorical result.", "there is none"),
        Column(
            "outcome",
            "enum",
            "Against the evaluator's threshold or vocabulary: passed, partial or failed.",
            "not scored, or the evaluator has no threshold",
        ),
        Column(
            "raw",
            "text",
            "JSON text of the value in the source.",
            "the source holds no value",
            heavy=True,
        ),
        Column("raw_type", "enum", "JSON type of the value in the source, or absent."),
        Column("reason", "enum", "Cause of a state other than scored.", "no cause is stated"),
        Column("edited", "flag", "Whether the value was changed after the evaluator gave it."),
        *private("answer", "the answer that was graded", "the source holds none"),
        *private("explanation", "the evaluator's explanation", "the source holds none"),
    ),
)
