"""The files and mappings of reader `records`: Parquet, what is damaged, what is missing."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fullcount.errors import InputError, MissingDependencyError, OptionError

DOCS = Path(__file__).resolve().parents[2] / "docs" / "records.md"


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    path = tmp_path / "mapping.toml"
    path.write_text('[columns]\ncase = "id"\n')
    return path


@pytest.fixture
def one(tmp_path: Path) -> Path:
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({"id": "a", "state": "ok"}) + "\n")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no line that names columns"),
        ("a,a\n1,2\n", "names column 'a' twice"),
        ("id,grade\n1,2,3\n", "line 2: has 3 cells"),
        ('id,grade\n"1,2\n', "line 2: is no CSV"),
        ("id,grade\n", "holds no row"),
        ('{"a": 1,\n "b": 2}', "is one JSON object"),
        ("[1]", "/0: must be an object"),
    ],
)
def test_bad_files_are_named(
    reading: Any, tmp_path: Path, mapping: Path, text: str, message: str
) -> None:
    path = tmp_path / "r.txt"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        reading("records", path, mapping=str(mapping)).tally()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[columns", "is no TOML"),
        ("[columns]\n", "columns.case"),
        ('[columns]\ncase = "a"\nodd = "b"\n', "columns.odd"),
        ('[columns]\ncase = "a"\nstatus = "b"\n', "needs its words in [vocabulary.status]"),
        ('[columns]\ncase = "a"\n[vocabulary.status]\nx = "fine"\n', "vocabulary.status.x"),
        ('[columns]\ncase = "a"\n[[scores]]\ncolumn = "b"\n[[scores]]\ncolumn = "b"\n',
         "two scores have one evaluator and metric"),
        ('[columns]\ncase = "a"\n[[scores]]\ncolumn = "b"\nmaximum = inf\n', "scores.0.maximum"),
        ('[columns]\ncase = "a"\n[[scores]]\ncolumn = "b"\nvalues = { x = nan }\n',
         "scores.0.values.x"),
        ('[columns]\ncase = "a"\n[[scores]]\ncolumn = "b"\nminimum = 2\nmaximum = 1\n',
         "scores.0: Value error, minimum is above maximum"),
    ],
)  # fmt: skip
def test_bad_mappings_are_named(
    reading: Any, tmp_path: Path, mapping: Path, one: Path, text: str, message: str
) -> None:
    mapping.write_text(text)
    with pytest.raises(OptionError) as caught:
        reading("records", one, mapping=str(mapping)).tally()
    assert message in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_types_that_only_parquet_has(reading: Any, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    moment = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    table = arrow.table(
        {
            "id": arrow.array([b"plain", b"\xff\x01"]),
            "score": arrow.array([Decimal("0.5"), None], arrow.decimal128(5, 2)),
            "at": arrow.array([moment, None], arrow.timestamp("us", tz="UTC")),
            "took": arrow.array([timedelta(seconds=1.5), None], arrow.duration("us")),
            "more": arrow.array([{"left": [Decimal("1.5")]}, None]),
        }
    )
    parquet.write_table(table, tmp_path / "r.parquet")
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        '[columns]\ncase = "id"\nstarted_at = "at"\nduration = "took"\n'
        '[[scores]]\ncolumn = "score"\n'
    )
    found = reading("records", tmp_path / "r.parquet", mapping=str(mapping)).trials()
    assert sorted(found) == ["0xff01/1", "plain/1"]
    first = found["plain/1"]
    assert (first.scores[0].value, first.started_at, first.duration) == (0.5, moment, 1.5)
    assert found["0xff01/1"].scores[0].state == "null"


def test_without_pyarrow_the_line_that_installs_it(
    reading: Any, tmp_path: Path, mapping: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    path = tmp_path / "r.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(MissingDependencyError, match=r"pip install 'fullcount\[croissant\]'"):
        reading("records", path, mapping=str(mapping)).tally()


def test_a_damaged_parquet_file_is_named(reading: Any, tmp_path: Path, mapping: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "r.parquet"
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"r\.parquet: is no Parquet file that can be read"):
        reading("records", path, mapping=str(mapping)).tally()


def test_without_a_mapping_it_says_where_to_get_one(reading: Any, one: Path) -> None:
    with pytest.raises(OptionError, match="fullcount sniff FILE"):
        reading("records", one).tally()
    with pytest.raises(OptionError, match="no preset is named 'x'; known: trials"):
        reading("records", one, preset="x").tally()


@pytest.mark.skipif(not DOCS.is_file(), reason="installed without the docs")
def test_the_example_of_the_docs(reading: Any, tmp_path: Path) -> None:
    text = DOCS.read_text("utf-8")
    (rows,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (mapping,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "runs.jsonl").write_text(rows)
    (tmp_path / "mapping.toml").write_text(mapping)
    read = reading("records", tmp_path / "runs.jsonl", mapping=str(tmp_path / "mapping.toml"))
    assert read.states() == {"grade": {"scored": 1, "error": 1, "not_measured": 2}}
    rate = read.tally().metrics[0].rate
    assert (rate.value, rate.n, rate.sought) == (0.9, 1, 4)
    assert (rate.lower, rate.upper) == (pytest.approx(0.225), pytest.approx(0.975))
