"""`fullcount sniff`: what a file is, and a mapping to start from."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fullcount.cli import main
from fullcount.readers.records.mapping import parse

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "capitals.eval"


@pytest.fixture
def sniff(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(*arguments: Any, code: int = 0) -> str:
        assert main(["sniff", *map(str, arguments)]) == code
        return capsys.readouterr().out

    return run


def test_a_known_file_is_named(sniff: Any) -> None:
    assert sniff(EXAMPLE).split()[:2] == ["inspect", "100"] or sniff(EXAMPLE).startswith("inspect")
    found = json.loads(sniff(EXAMPLE, "--json"))
    assert [each["reader"] for each in found["candidates"]] == ["inspect"]
    assert found["mapping"] is None


ROWS = [
    {"id": 1, "model": "m", "accuracy": 1.0, "judge_score": -1, "status": "ok", "ms": 2},
    {"id": 2, "model": "m", "accuracy": None, "judge_score": 0.5, "status": "timeout", "ms": 3},
    {"id": 3, "model": "m", "judge_score": "N/A", "status": 'we"ird\n', "ms": 4},
]


@pytest.mark.parametrize("form", ["lines", "array", "object", "csv"])
def test_a_proposal_is_a_mapping(sniff: Any, tmp_path: Path, form: str) -> None:
    path = tmp_path / "rows"
    if form == "lines":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    elif form == "array":
        path.write_text(json.dumps(ROWS))
    elif form == "object":
        path.write_text(json.dumps({"about": 1, "data": {"x": [1], "rows": ROWS}}, indent=1))
    else:
        path.write_text("id;status;accuracy;judge_score\n1;ok;1.0;-1\n2;timeout;;0.5\n")
    document = tomllib.loads(sniff(path))
    mapping = parse(document, "proposal")
    assert (mapping.columns.case, mapping.columns.status) == ("id", "status")
    assert [score.column for score in mapping.scores] == ["accuracy", "judge_score"]
    assert {word: meaning.value for word, meaning in mapping.vocabulary.status.items()} == {
        "ok": "completed",
        "timeout": "subject_error",
    }
    assert mapping.rows == ("data.rows" if form == "object" else None)
    assert mapping.delimiter == (";" if form == "csv" else ",")
    # What may be wrong is left to the reader.
    assert mapping.scores[1].sentinels == {}
    assert mapping.scores[0].minimum is None


def test_what_the_file_does_not_tell_is_a_comment(sniff: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    text = sniff(path)
    assert '# sentinels = { "-1" = "error" }' in text
    assert '# sentinels = { "N/A" = "null" }' in text
    assert "# minimum" in text
    assert '# Other columns with numbers: "ms"' in text
    assert '# "we\\"ird\\n" = ' in text


def test_a_vocabulary_that_nobody_knows_is_left_out(sniff: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"x": "a", "status": "odd", "score": 1}\n')
    text = sniff(path)
    assert "# status = " in text
    assert parse(tomllib.loads(text), "proposal").columns.case == "x"


def test_a_table_as_a_data_frame_writes_it(sniff: Any, tmp_path: Path) -> None:
    path = tmp_path / "frame.csv"
    path.write_text(",name,correct\n0,a,True\n1,b,False\n2,c,\n")
    mapping = parse(tomllib.loads(sniff(path)), "proposal")
    assert mapping.columns.case == "name"
    (score,) = mapping.scores
    assert (score.column, score.values) == ("correct", {"True": 1.0, "False": 0.0})
    assert score.outcomes == {"True": "passed", "False": "failed"}
    path.write_text(",note,x\n0,a,1\n")
    assert parse(tomllib.loads(sniff(path)), "proposal").columns.case == "note"


@pytest.mark.parametrize("text", ["", "just a note\n", "17", "{}"])
def test_what_holds_no_rows_is_refused(sniff: Any, tmp_path: Path, text: str) -> None:
    path = tmp_path / "note.txt"
    path.write_text(text)
    assert sniff(path, code=20 if text else 21) == ""


def test_a_file_that_is_not_there(sniff: Any, tmp_path: Path) -> None:
    assert sniff(tmp_path / "gone", code=20) == ""
