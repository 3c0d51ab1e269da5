"""Records of anyone's own harness, by a mapping."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount.errors import InputError
from fullcount.notices import Report
from fullcount.pipeline import Input, find_inputs
from fullcount.testing import ReaderContract, Sample

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SECRET = "whisper-it-quietly"  # noqa: S105 - a text that must not leave
MAPPING = """
placeholders = ["blocked"]

[columns]
case = "id"
attempt = "try"
status = "state"
verdict = "verdict"
error_message = "error.text"
error_type = "error.type"
input = "prompt"
output = "answer"

[vocabulary.status]
ok = "completed"
died = "harness_error"
blocked = "blocked"

[vocabulary.verdict]
PASS = "passed"
FAIL = "failed"
"?" = "unverified"
"-" = "none"

[[scores]]
column = "grade"
kind = "model"
minimum = 0
maximum = 1
threshold = 0.5
sentinels = { "-1" = "error", "N/A" = "null" }

[[scores]]
column = "tone"
categorical = true
empty = "not_applicable"

[run]
subject = "acme/small"
suite = "capitals"
"""


def row(case: Any, **more: Any) -> dict[str, Any]:
    return {"id": case, "try": 1, "state": "ok", "prompt": SECRET, "answer": SECRET, **more}


ROWS = [
    row("a", grade=1.0, tone="warm", verdict="PASS"),
    row("b", grade=0.25, tone="cold"),
    row("c", grade=-1.0),
    row("d", grade=None),
    row("e", grade=math.nan),
    row("f", grade="N/A", verdict="?"),
    row("g"),
    row("h", state="died", grade=0.75, error={"type": "OSError", "text": SECRET}),
    row("i", state="blocked", grade=0),
    row("j", grade=True, verdict="-"),
]
STATES = {
    "grade": {"scored": 4, "null": 2, "nan": 1, "error": 1, "missing": 1, "not_measured": 1},
    "tone": {"scored": 2, "not_applicable": 7, "not_measured": 1},
}


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    path = tmp_path / "mapping.toml"
    path.write_text(MAPPING)
    return path


def lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def test_every_state_by_the_mapping(reading: Any, tmp_path: Path, mapping: Path) -> None:
    read = reading("records", lines(tmp_path / "r.jsonl", ROWS), mapping=str(mapping))
    assert read.states() == STATES
    grade = read.tally().metrics[0]
    assert (grade.rate.value, grade.rate.n, grade.rate.sought) == (0.75, 4, 10)
    assert (grade.rate.lower, grade.rate.upper) == (0.3, 0.9)
    assert read.statuses() == {"completed": 8, "harness_error": 1, "blocked": 1}
    assert read.tally().scored_and_errored == 1
    found = read.trials()
    assert found["h/1"].error.type == "OSError"
    assert found["i/1"].scores[0].raw == "0"
    assert found["a/1"].verdict_basis == "declared"
    assert [found[f"{case}/1"].verdict for case in "abfj"] == [
        "passed",
        "failed",
        "unverified",
        "passed",
    ]


@pytest.mark.parametrize("form", ["array", "object", "csv", "parquet"])
def test_every_form_says_the_same(reading: Any, tmp_path: Path, mapping: Path, form: str) -> None:
    flat = [
        {"id": r["id"], "state": r["state"], "grade": r.get("grade")}
        for r in ROWS
        if not isinstance(r.get("grade"), (str, bool))
    ]
    more = "" if form != "object" else 'rows = "data.rows"\n'
    text = MAPPING.replace('attempt = "try"\n', "").replace('empty = "not_applicable"', "")
    mapping.write_text(more + text.replace('column = "grade"', 'column = "grade"\nempty = "null"'))
    path = tmp_path / f"rows.{form}"
    if form == "array":
        path.write_text(json.dumps(flat, indent=1))
    elif form == "object":
        path.write_text(json.dumps({"a": 1, "data": {"b": [], "rows": flat}}))
    elif form == "csv":
        cells = [["" if v is None else str(v) for v in r.values()] for r in flat]
        body = [["id", "state", "grade"], *cells]
        path.write_text("".join(",".join(line) + "\r\n" for line in body))
    else:
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.Table.from_pylist(flat), path)
    read = reading("records", path, mapping=str(mapping))
    assert read.states()["grade"] == {
        "scored": 3,
        "null": 2,
        "nan": 1,
        "error": 1,
        "not_measured": 1,
    }
    assert read.tally().metrics[0].rate.value == pytest.approx(2 / 3)


def test_columns_part_rows_into_runs(reading: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(
        '[columns]\ncase = "c"\nsubject = "m"\nevaluator_version = "v"\n[[scores]]\ncolumn = "s"\n'
    )
    rows = [
        {"c": 1, "m": "x", "v": 2, "s": 1},
        {"c": 1, "m": "y", "v": 2, "s": 0},
        {"c": 2, "m": "x", "v": 2, "s": 0},
    ]
    found = reading("records", lines(tmp_path / "r.jsonl", rows), mapping=str(path)).runs()
    assert [(r.subject.id, r.evaluators[0].version, t.counts.total) for r, t in found] == [
        ("x", "2", 2),
        ("y", "2", 1),
    ]
    assert len({run.id for run, _ in found}) == 2


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [("attempt", {"a/1": 0.0, "a/2": 1.0}), ("last", {"a/1": 1.0})],
)
def test_rows_that_come_again(
    reading: Any, tmp_path: Path, policy: str, wanted: dict[str, float]
) -> None:
    mapping = tmp_path / "m.toml"
    mapping.write_text(f'repeated = "{policy}"\n[columns]\ncase = "c"\n[[scores]]\ncolumn = "s"\n')
    path = lines(tmp_path / "r.jsonl", [{"c": "a", "s": 0.0}, {"c": "a", "s": 1.0}])
    found = reading("records", path, mapping=str(mapping)).trials()
    assert {name: trial.scores[0].value for name, trial in found.items()} == wanted


def test_a_numbered_attempt_may_not_come_twice(reading: Any, tmp_path: Path, mapping: Path) -> None:
    path = lines(tmp_path / "r.jsonl", [row("a"), row("b"), row("a")])
    with pytest.raises(InputError, match="line 3: column 'id': attempt 1 at case 'a' comes twice"):
        reading("records", path, mapping=str(mapping)).tally()


def test_planned_rows_that_are_not_there(reading: Any, tmp_path: Path, mapping: Path) -> None:
    mapping.write_text(MAPPING + "trials = 12\n")
    read = reading("records", lines(tmp_path / "r.jsonl", ROWS), mapping=str(mapping))
    assert (read.tally().counts.total, read.statuses()["not_run"]) == (12, 2)


def test_a_reported_number_that_differs_is_found(reading: Any, tmp_path: Path) -> None:
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        '[columns]\ncase = "c"\n[[scores]]\ncolumn = "s"\n'
        '[[reported]]\nevaluator = "s"\nvalue = 0.5\n'
    )
    path = lines(tmp_path / "r.jsonl", [{"c": 1, "s": 1.0}, {"c": 2, "s": None}])
    assert "reported.differs" in reading("records", path, mapping=str(mapping)).findings()


TRIALS = [
    {"case": f"c{n}", "attempt": 1, "status": status, "verdict": verdict, "control": control,
     "pressure_round": n, "order": n, "seed": n, "subject": "agent", "subject_version": "v1",
     "suite": "s", "suite_revision": "r1", "evaluator": "panel", "evaluator_revision": "e1",
     "rubric_revision": "u1", "environment_revision": "n1", "case_sha256": f"{n:064x}"}
    for n, (status, verdict, control) in enumerate([
        ("completed", "PASS", "positive"),
        ("completed", "PARTIAL", None),
        ("completed", "FAIL", "negative"),
        ("completed", "CONTRADICTED", "trap"),
        ("completed", "UNKNOWN", None),
        ("completed", "DISPUTED", None),
        ("subject_error", "PASS", None),
        ("harness_error", "UNKNOWN", None),
        ("evaluator_error", "UNKNOWN", None),
        ("blocked", None, None),
    ])
]  # fmt: skip


def test_the_preset_for_trials(reading: Any, tmp_path: Path) -> None:
    path = lines(tmp_path / "t.jsonl", TRIALS)
    read = reading("records", path, preset="trials")
    assert read.statuses() == {
        "completed": 6,
        "subject_error": 1,
        "harness_error": 1,
        "evaluator_error": 1,
        "blocked": 1,
    }
    assert read.verdicts() == {
        "passed": 2,
        "partial": 1,
        "failed": 1,
        "contradicted": 1,
        "disputed": 1,
        "unverified": 3,
    }
    assert read.tally().counts.no_verdict == 1
    assert read.tally().measurement_failures == 3
    run = read.run()
    assert (run.subject.version, run.suite.version, run.environment) == (
        "v1",
        "r1",
        {"revision": "n1"},
    )
    (panel,) = run.evaluators
    assert (panel.name, panel.version, panel.rubric_revision) == ("panel", "e1", "u1")
    trial = read.trials()["c3/1"]
    assert (trial.control, trial.pressure_round, trial.order, trial.seed) == ("trap", 3, 3, 3)
    assert trial.sample_hash == f"{3:064x}"
    # Such rows are known for what they are.
    (item,) = find_inputs([path], Report())
    assert isinstance(item, Input)
    assert item.reader.name == "records"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"state": "odd"}, "line 1: column 'state': 'odd' is none of the words"),
        ({"grade": "good"}, "line 1: column 'grade': 'good' is no number"),
        ({"id": None}, "line 1: column 'id': must name the case"),
        ({"try": "x"}, "line 1: column 'try': must be a whole number"),
        ({"grade": {"a": 1}}, "line 1: column 'grade': must be a number, not"),
        ({"grade": [1]}, "line 1: column 'grade': must be a number, not"),
        ({"try": 0}, "line 1: column 'try': attempts are numbered from 1"),
    ],
)
def test_bad_cells_are_named(
    reading: Any, tmp_path: Path, mapping: Path, change: dict[str, Any], message: str
) -> None:
    path = lines(tmp_path / "r.jsonl", [row("a") | change])
    with pytest.raises(InputError) as caught:
        reading("records", path, mapping=str(mapping)).tally()
    assert message in str(caught.value)


@pytest.mark.parametrize("pin", ["abc", "g" * 64, 5])
def test_a_pin_that_is_no_digest_is_refused(reading: Any, tmp_path: Path, pin: Any) -> None:
    path = lines(tmp_path / "t.jsonl", [TRIALS[0] | {"case_sha256": pin}])
    with pytest.raises(InputError, match="line 1: column 'case_sha256': must be 64 hexadecimal"):
        reading("records", path, preset="trials").tally()


class RecordsContract(ReaderContract):
    reader = "records"
    secrets: ClassVar = (SECRET,)
    examples = 30
    # The digest's chunk and the memo of short texts fill only in a long file.
    memory_slack = 2 << 20

    @pytest.fixture(autouse=True)
    def _prepare(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.folder = tmp_path_factory.mktemp("logs")
        self.mapping = self.folder / "mapping.toml"
        self.mapping.write_text(MAPPING)
        self.options = {"mapping": str(self.mapping)}

    def test_sniff_claims_its_samples(self) -> None:
        """Rows of anyone's are nobody's until the reader is named."""
        for sample in self.samples():
            (found,) = find_inputs([sample.path], Report())
            assert not isinstance(found, Input)
            (found,) = find_inputs(
                [sample.path], Report(), reader="records", options=sample.options
            )
            assert isinstance(found, Input)

    def expected(self) -> dict[str, Any]:
        return {
            "total": 10,
            "statuses": {"completed": 8, "harness_error": 1, "blocked": 1},
            "verdicts": {"passed": 3, "failed": 1, "unverified": 6},
            "metrics": STATES,
        }


class TestLines(RecordsContract):
    def samples(self) -> Iterable[Sample]:
        path = lines(self.folder / "r.jsonl", ROWS)
        yield Sample(path, [self.expected()], self.options)

    def counts(self, path: Path, options: Any = None) -> Any:
        return super().counts(path, options or self.options)

    def make_large(self, folder: Path, count: int) -> Path:
        return lines(folder / "r.jsonl", [row(f"case-{n}", grade=1.0) for n in range(count)])


class TestTable(RecordsContract):
    def samples(self) -> Iterable[Sample]:
        path = self.folder / "r.csv"
        text = MAPPING.replace('empty = "not_applicable"', "").replace('verdict = "verdict"\n', "")
        self.mapping.write_text(text)
        path.write_text(
            "id,try,state,prompt,answer,grade,tone\r\n"
            f'a,1,ok,"{SECRET}",{SECRET},1.0,warm\r\n'
            f"b,1,ok,{SECRET},{SECRET},nan,\r\n"
            f'c,1,died,"{SECRET}\n two lines",{SECRET},,\r\n'
        )
        expected = {
            "total": 3,
            "statuses": {"completed": 2, "harness_error": 1},
            "verdicts": {"passed": 1, "unverified": 2},
            "metrics": {
                "grade": {"scored": 1, "nan": 1, "not_measured": 1},
                "tone": {"scored": 1, "missing": 1, "not_measured": 1},
            },
        }
        yield Sample(path, [expected], self.options)

    def counts(self, path: Path, options: Any = None) -> Any:
        return super().counts(path, options or self.options)

    def make_large(self, folder: Path, count: int) -> Path:
        path = folder / "r.csv"
        with path.open("w") as file:
            file.write("id,state,grade\n")
            file.writelines(f"case-{number},ok,1\n" for number in range(count))
        return path
