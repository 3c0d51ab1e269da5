"""What the recount and the check find when a dataset is not what it should be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from fullcount.errors import VerificationError
from fullcount.receipts import read_receipt, verify
from fullcount_croissant import readback
from fullcount_croissant.check import check
from fullcount_croissant.options import CroissantOptions
from fullcount_croissant.recount import recount

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OPTIONS = CroissantOptions(license="x", check_records=10)


@pytest.fixture
def dataset(export: Any, judged: Any) -> Any:
    return export(judged("pfn0xs"), judged("pp", "r2"))


def files(dataset: Any) -> tuple[Path, ...]:
    receipt = read_receipt(dataset.receipt)
    return tuple(dataset.folder / record.path for record in receipt.files)


def rewrite(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    table = change(pq.read_table(path, partitioning=None))
    pq.write_table(table, path)


def edit(dataset: Any, change: Callable[[dict[str, Any]], None]) -> None:
    document = dataset.description
    change(document)
    (dataset.folder / "croissant.json").write_text(json.dumps(document))


def replaced(column: str, old: str, new: str | None) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        index = table.schema.get_field_index(column)
        values = [new if value == old else value for value in table[column].to_pylist()]
        return table.set_column(index, pa.field(column, pa.string()), pa.array(values, pa.string()))

    return change


def test_the_counts_come_from_the_rows(dataset: Any) -> None:
    """Summary and runs may say what they like: the rows are counted."""
    before = recount(files(dataset))
    assert before == read_receipt(dataset.receipt).counts_written
    rewrite(
        dataset.folder / "summary.parquet",
        lambda t: t.set_column(
            t.schema.get_field_index("n_scored"), "n_scored", pc.add(t["n_scored"], 5)
        ),
    )
    assert recount(files(dataset)) == before


@pytest.mark.parametrize(
    ("table", "column", "old", "new", "field"),
    [
        ("trials", "status", "harness_error", "completed", "statuses"),
        ("trials", "verdict", "unverified", None, "no_verdict"),
        ("trials", "verdict", "unverified", "failed", "verdicts"),
        ("scores", "state", "nan", "scored", "metrics"),
    ],
)
def test_a_changed_row_changes_the_counts(
    dataset: Any, table: str, column: str, old: str, new: str | None, field: str
) -> None:
    before = recount(files(dataset))
    rewrite(dataset.folder / f"{table}.parquet", replaced(column, old, new))
    after = recount(files(dataset))
    assert getattr(after[0], field) != getattr(before[0], field)
    assert after[1] == before[1]


def test_a_row_less_is_seen(dataset: Any) -> None:
    rewrite(dataset.folder / "scores.parquet", lambda table: table.slice(1))
    with pytest.raises(VerificationError, match=r"trials and scores: do not add up: .*exact"):
        recount(files(dataset))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("trials", lambda t: t.drop_columns(["status"]), "trials.parquet: lacks the columns stat"),
        ("trials", replaced("run_id", "r1", "r9"), "trials: a row is of run 'r9'"),
        ("scores", replaced("metric", "style", "charm"), "scores: a row is of .*'charm'"),
        ("trials", replaced("status", "completed", "done"), "do not add up"),
    ],
)
def test_a_table_that_is_another_is_refused(
    dataset: Any, name: str, change: Callable[[pa.Table], pa.Table], message: str
) -> None:
    rewrite(dataset.folder / f"{name}.parquet", change)
    with pytest.raises(VerificationError, match=message):
        recount(files(dataset))


def test_what_is_no_parquet_or_is_gone_is_refused(dataset: Any) -> None:
    with pytest.raises(VerificationError, match="summary: is not among the files"):
        recount(tuple(path for path in files(dataset) if path.stem != "summary"))
    (dataset.folder / "runs.parquet").write_bytes(b"PAR1 no more PAR1")
    with pytest.raises(VerificationError, match=r"runs.parquet: cannot be read: "):
        recount(files(dataset))


def test_the_check_says_what_mlcroissant_does_not_accept(dataset: Any) -> None:
    check(files(dataset), OPTIONS)
    edit(dataset, lambda d: d["recordSet"][0]["field"][0].update({"dataType": "xsd:string"}))
    with pytest.raises(
        VerificationError, match=r"mlcroissant does not accept the dataset: .*dataType"
    ) as caught:
        check(files(dataset), OPTIONS)
    assert "\n" not in str(caught.value)
    check(files(dataset), CroissantOptions(license="x", check=False))


def test_the_check_says_when_mlcroissant_breaks(dataset: Any) -> None:
    edit(dataset, lambda d: d["distribution"][0].update({"sha256": "00" * 32}))
    edit(dataset, lambda d: d["distribution"][-1].update({"sha256": "00" * 32}))
    with pytest.raises(VerificationError, match=r"mlcroissant cannot read the dataset: .*Error"):
        check(files(dataset), OPTIONS)


def test_the_read_back_compares_every_value(dataset: Any) -> None:
    def swap(document: dict[str, Any]) -> None:
        fields = {f["name"]: f for r in document["recordSet"][:1] for f in r["field"]}
        fields["case_id"]["source"]["extract"]["column"] = "status"

    edit(dataset, swap)
    assert readback.main(dataset.folder, 2)["differences"] == [
        "trials/case_id: record 0 reads 'completed', the file holds 'case-0'",
        "trials/case_id: record 1 reads 'completed', the file holds 'case-1'",
    ]


def test_a_dataset_without_its_description_is_refused(dataset: Any) -> None:
    with pytest.raises(VerificationError, match=r"croissant.json is not among the files"):
        check(files(dataset)[:1], OPTIONS)


def test_verification_holds_hashes_before_all_else(dataset: Any) -> None:
    with (dataset.folder / "README.md").open("a") as file:
        file.write("more")
    with pytest.raises(VerificationError, match=r"README.md: was changed after it was written"):
        verify(dataset.receipt)


def test_what_the_check_refuses_is_not_put_in_place(
    export: Any, judged: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(files: tuple[Path, ...], options: CroissantOptions) -> None:
        assert {path.name for path in files} >= {"croissant.json", "trials.parquet"}
        assert all(path.is_file() for path in files)
        assert options.license == "CC-BY-4.0"
        msg = "mlcroissant does not accept the dataset: no"
        raise VerificationError(msg)

    monkeypatch.setattr("fullcount_croissant.check.check", refuse)
    done = export(judged("p"), fails=True)
    assert str(done.results[-1].error) == (
        "mlcroissant does not accept the dataset: no; nothing was written"
    )
    assert list(tmp_path.iterdir()) == []
