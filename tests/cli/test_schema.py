"""`fullcount schema`: what we write meets the schemas that we print."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def validator(run: Callable[..., Any]) -> Callable[..., Any]:
    """The validator of a printed schema."""

    def make(*name: str) -> Any:
        schema = json.loads(run("schema", *name).out)
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        Draft202012Validator.check_schema(schema)
        return Draft202012Validator(schema)

    return make


def test_every_line_of_the_native_format_meets_its_schema(
    run: Callable[..., Any], validator: Callable[..., Any], made: Path
) -> None:
    artifact, receipt = run("convert", made.name, "--to", "native", "-o", "out").out.splitlines()
    line = validator()
    records = [json.loads(text) for text in (made.parent / artifact).read_text().splitlines()]
    assert [record["type"] for record in records] == ["run", *["trial"] * 8, "tally"]
    for record in records:
        line.validate(record)
    validator("receipt").validate(json.loads((made.parent / receipt).read_text()))


@pytest.mark.parametrize(
    "change",
    [
        {"type": "trail"},
        {"verdict": "good"},
        {"retry": "later"},
        {"trial": {"case_id": "a", "scores": [{"evaluator": "e", "metric": "m"}]}},
        {"trial": {"case_id": "a", "colour": "red"}},
    ],
)
def test_a_line_that_is_wrong_does_not(
    validator: Callable[..., Any], change: dict[str, Any]
) -> None:
    good = {"type": "trial", "verdict": None, "retry": "none", "trial": {"case_id": "a"}}
    line = validator("native")
    assert line.is_valid(good)
    assert not line.is_valid(good | change)


@pytest.mark.parametrize("name", ["run", "trial", "tally"])
def test_the_models_that_show_prints(
    run: Callable[..., Any], validator: Callable[..., Any], made: Path, name: str
) -> None:
    shown = json.loads(run("show", "--json", made.name).out)
    trial = json.loads(made.read_text().splitlines()[1])["trial"]
    validator(name).validate({**shown, "trial": trial}[name])


def test_a_notice(validator: Callable[..., Any]) -> None:
    notice = validator("notice")
    assert notice.is_valid({"code": "field.dropped", "severity": "loss", "message": "gone"})
    assert not notice.is_valid({"code": "field.dropped", "severity": "fatal", "message": "gone"})


def test_a_name_that_has_no_schema(run: Callable[..., Any]) -> None:
    result = run("schema", "nope")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("fullcount: error: invalid value for 'NAME': 'nope' is not one")
