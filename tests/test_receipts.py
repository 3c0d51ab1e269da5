from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

import pytest

from fullcount import receipts, registry
from fullcount.convert import Target
from fullcount.errors import DamagedInputError, UnknownFormatError, VerificationError
from fullcount.model import Counts, ScoreState, TrialStatus, Verdict
from fullcount.plugin import Context, ExporterSpec
from fullcount.receipts import find_receipts, read_receipt, verify
from fullcount.testing import example, export_run

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def receipt(tmp_path: Path) -> Path:
    found = example("plain")
    target = Target.named("native", tmp_path / "out")
    (path,) = export_run(
        found.run, found.trials, target, context=Context(now=NOW)
    ).receipts.values()
    return path


def test_a_folder_of_several_exporters_has_the_receipts_of_each(tmp_path: Path) -> None:
    found = example("plain")
    made = [
        export_run(found.run, found.trials, Target.named(name, tmp_path / name)).receipts[name]
        for name in ("eee", "native")
    ]
    assert list(find_receipts(tmp_path)) == made


def change(receipt: Path, edit: Any) -> None:
    document = json.loads(receipt.read_bytes())
    edit(document)
    receipt.write_text(json.dumps(document))


def artifact(receipt: Path) -> Path:
    (record,) = read_receipt(receipt).files
    return receipts.root_of(receipt) / record.path


def test_receipt_says_what_was_written(receipt: Path) -> None:
    found = read_receipt(receipt)
    assert found.exporter == "native"
    assert found.exporter_distribution.startswith("fullcount ")
    assert (found.converted_at, found.content) == (NOW, "digest")
    assert [source.format for source in found.sources] == ["corpus"]
    assert found.sources[0].path == "memory.log"
    assert [record.path.endswith(".fullcount.jsonl") for record in found.files] == [True]
    assert found.files[0].size == artifact(receipt).stat().st_size
    assert found.counts_written == found.counts_read_back
    (counts,) = found.counts_written
    assert counts.total == 3
    assert counts.metrics[0].states[ScoreState.NULL] == 1
    assert receipt.name.startswith("memory.log-")
    assert receipt.parent.name == "native"
    assert verify(receipt) == found


def test_changed_file_is_found(receipt: Path) -> None:
    file = artifact(receipt)
    file.write_bytes(file.read_bytes().replace(b'"null"', b'"nan" ', 1))
    with pytest.raises(VerificationError, match=r"jsonl: was changed after it was written"):
        verify(receipt)


def test_file_that_is_gone_is_found(receipt: Path) -> None:
    artifact(receipt).unlink()
    with pytest.raises(VerificationError, match="cannot be read: No such file"):
        verify(receipt)


def test_recount_is_repeated(receipt: Path) -> None:
    def miscount(document: dict[str, Any]) -> None:
        counts = document["counts_written"][0]["metrics"][0]["states"]
        counts["null"], counts["scored"] = 0, 3

    change(receipt, miscount)
    with pytest.raises(
        VerificationError,
        match=r"run 'run': 'match.accuracy' scored is 3 in the source, 2 here",
    ):
        verify(receipt)


def test_artifact_that_cannot_be_recounted(receipt: Path) -> None:
    file = artifact(receipt)
    file.write_bytes(b"not json\n")

    def accept(document: dict[str, Any]) -> None:
        import hashlib  # noqa: PLC0415 - nowhere else

        document["files"][0]["sha256"] = hashlib.sha256(b"not json\n").hexdigest()

    change(receipt, accept)
    with pytest.raises(VerificationError, match="'native' cannot recount what it wrote: JSONDec"):
        verify(receipt)


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "a/../../x", "C:x", "a\\b"])
def test_receipt_cannot_point_elsewhere(name: str, receipt: Path) -> None:
    change(receipt, lambda document: document["files"][0].update(path=name))
    with pytest.raises(VerificationError, match="which is not below its folder"):
        verify(receipt)


def test_receipt_of_an_exporter_that_is_not_installed(receipt: Path) -> None:
    change(receipt, lambda document: document.update(exporter="nativ"))
    with pytest.raises(UnknownFormatError, match="no exporter is named 'nativ'; did you mean"):
        verify(receipt)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is no receipt"),
        (b"{", "is no receipt"),
        (b"\xff", "is no receipt"),
        (b"[]", "is no receipt"),
        (b'{"receipt_version": 2}', "/receipt_version: is no receipt"),
    ],
)
def test_damaged_receipt(data: bytes, message: str, receipt: Path) -> None:
    receipt.write_bytes(data)
    with pytest.raises(DamagedInputError, match=message):
        verify(receipt)
    with pytest.raises(DamagedInputError, match="cannot be read"):
        read_receipt(receipt.with_name("gone.receipt.json"))


def test_receipts_are_found_from_anywhere(receipt: Path, tmp_path: Path) -> None:
    root = tmp_path / "out"
    assert list(find_receipts(root)) == [receipt]
    assert list(find_receipts(receipt)) == [receipt]
    assert list(find_receipts(artifact(receipt))) == [receipt]
    (tmp_path / "other").mkdir()
    with pytest.raises(VerificationError, match="was it written by fullcount"):
        list(find_receipts(tmp_path / "other"))
    with pytest.raises(VerificationError, match="was it written by fullcount"):
        list(find_receipts(tmp_path / "gone"))


def test_receipt_outside_its_folder(receipt: Path, tmp_path: Path) -> None:
    moved = tmp_path / "x.receipt.json"
    moved.write_bytes(receipt.read_bytes())
    with pytest.raises(VerificationError, match="must stand in its folder 'receipts'"):
        verify(moved)


def test_files_that_a_new_artifact_does_not_have(receipt: Path) -> None:
    name = artifact(receipt).name
    assert receipts.superseded(receipt, set()) == (name,)
    assert receipts.superseded(receipt, {name}) == ()
    assert receipts.superseded(receipt.with_name("gone.receipt.json"), set()) == ()
    artifact(receipt).write_bytes(b"changed by somebody")
    assert receipts.superseded(receipt, set()) == ()


def failing_check(files: tuple[Path, ...], options: object) -> None:
    msg = "no rules here"
    raise ValueError(msg)


def test_check_of_the_format_is_repeated(receipt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = replace(registry.exporters().get("native"), check=f"{__name__}:failing_check")
    points = [EntryPoint("native", f"{__name__}:CHECKED", registry.EXPORTERS)]
    found = registry.Registry(registry.EXPORTERS, ExporterSpec, points)
    monkeypatch.setattr(sys.modules[__name__], "CHECKED", spec, raising=False)
    monkeypatch.setattr(receipts, "exporters", lambda: found)
    with pytest.raises(
        VerificationError, match="'native' cannot check what it wrote: ValueError: no rules here"
    ):
        verify(receipt)


def counts(run_id: str = "r", **more: int) -> Counts:
    return Counts.model_validate(
        {
            "run_id": run_id,
            "total": 2,
            "statuses": {s: 2 if s == "completed" else 0 for s in TrialStatus},
            "verdicts": dict.fromkeys(Verdict, 0),
            "no_verdict": 2,
            "metrics": [
                {
                    "evaluator": "e",
                    "metric": "m",
                    "states": {s: more.get(s.value, 0) for s in ScoreState},
                }
            ],
        }
    )


def test_two_runs_of_one_id_are_two() -> None:
    one = counts(scored=2)
    receipts.compare((one, one), (one, one), "x")
    with pytest.raises(VerificationError, match="x: runs differ between source and artifact: 'r'"):
        receipts.compare((one, one), (one,), "x")
    other = counts(null=2)
    receipts.compare((one, other), (other, one), "x")
    turned = one.model_copy(update={"statuses": dict(reversed(one.statuses.items()))})
    receipts.compare((one, other), (other, turned), "x")
    with pytest.raises(VerificationError, match=r"'e.m' scored is 0 in the source, 2 here"):
        receipts.compare((one, other), (one, one), "x")


def test_runs_that_are_missing_or_new() -> None:
    with pytest.raises(VerificationError, match="differ between source and artifact: 'a', 'b'"):
        receipts.compare((counts("a", scored=2),), (counts("b", scored=2),), "x")
    with pytest.raises(VerificationError, match="differ between source and artifact: 'a'"):
        receipts.compare((counts("a", scored=2),), (), "x")


def test_first_difference_is_named() -> None:
    one = counts(scored=2)
    for field, values, message in (
        ("statuses", {"completed": 1, "blocked": 1}, "status completed is 2"),
        ("verdicts", {"passed": 1}, "verdict passed is 0"),
    ):
        document = one.model_dump(mode="json")
        document[field].update(values)
        if field == "verdicts":
            document["no_verdict"] = 1
        with pytest.raises(VerificationError, match=message):
            receipts.compare((one,), (Counts.model_validate(document),), "x")
    renamed = one.model_copy(
        update={"metrics": (one.metrics[0].model_copy(update={"metric": "n"}),)}
    )
    with pytest.raises(VerificationError, match=r"the list of metrics is \['e.m'\] in the source"):
        receipts.compare((one,), (renamed,), "x")
