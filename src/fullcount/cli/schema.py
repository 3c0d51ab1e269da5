"""`fullcount schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from pydantic.json_schema import models_json_schema

from fullcount.cli._console import emit_json
from fullcount.model import RetryClass, Run, RunTally, Trial, Verdict
from fullcount.notices import Notice
from fullcount.readers.native import FORMAT
from fullcount.receipts import Receipt

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["command"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MODELS: dict[str, type[BaseModel]] = {
    "run": Run,
    "trial": Trial,
    "tally": RunTally,
    "receipt": Receipt,
    "notice": Notice,
}


@click.command(name="schema", short_help="Print the JSON Schema of the model.")
@click.argument(
    "name",
    metavar="NAME",
    type=click.Choice([*MODELS, "native"], case_sensitive=False),
    default="native",
)
def command(*, name: str) -> int:
    """Print the JSON Schema of run, trial, tally, receipt or notice.

    Without a name, or with "native": the schema that each line of the native format meets.
    """
    if name == "native":
        emit_json(native_line(), indent=1)
    else:
        schema = MODELS[name].model_json_schema()
        emit_json({"$schema": DIALECT, **schema}, indent=1)
    return 0


def native_line() -> dict[str, Any]:
    """The schema of one line of the native format."""
    references, schema = models_json_schema(
        [(kind, "validation") for kind in (Run, Trial, RunTally)],
        title=f"A line of {FORMAT}",
        description="A file holds one run after the other: its line, a line for each trial, "
        "and a line for the tally.",
    )
    run, trial, tally = (references[kind, "validation"] for kind in (Run, Trial, RunTally))
    derived = {
        "verdict": {"enum": [None, *(verdict.value for verdict in Verdict)]},
        "retry": {"enum": [retry.value for retry in RetryClass]},
    }
    lines = [
        _line("run", {"format": {"const": FORMAT}, "run": run}, required=["format", "run"]),
        _line("trial", {**derived, "trial": trial}, required=["trial"]),
        _line("tally", {"tally": tally}, required=[]),
    ]
    return {"$schema": DIALECT, **schema, "oneOf": lines}


def _line(kind: str, fields: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "title": kind,
        "type": "object",
        "properties": {"type": {"const": kind}, **fields},
        "required": ["type", *required],
    }
