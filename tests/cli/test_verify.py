"""`fullcount verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def written(run: Callable[..., Any], made: Path, another: Path) -> list[str]:
    """The files of two conversions: artifact, receipt, artifact, receipt."""
    found: list[str] = []
    for source in (made, another):
        result = run("convert", source.name, "--to", "native", "-o", "out")
        found += result.out.splitlines()
    return found


def test_a_folder_a_file_and_a_receipt(run: Callable[..., Any], written: list[str]) -> None:
    ok = f"ok      {written[1]}: native, 1 file, 1 run, 8 trials, 6 unverified scores\n"
    other = f"ok      {written[3]}: native, 1 file, 1 run, 3 trials, 0 unverified scores\n"
    result = run("verify", "out")
    assert (result.code, result.err) == (0, "")
    assert sorted(result.out.splitlines(keepends=True)) == sorted([ok, other])
    assert run("verify", written[1]).out == ok
    named = run("verify", written[0])
    assert named.code == 0
    assert named.out.endswith(": native, 1 file, 1 run, 8 trials, 6 unverified scores\n")


def test_all_that_convert_printed_is_checked_once(
    run: Callable[..., Any], written: list[str]
) -> None:
    assert run("verify", *written).out.count("\n") == 2


def test_a_changed_file_is_named(run: Callable[..., Any], home: Path, written: list[str]) -> None:
    artifact = home / written[0]
    text = artifact.read_text(encoding="utf-8")
    artifact.write_text(text.replace('"state":"nan"', '"state":"null"'), encoding="utf-8")
    result = run("verify", "out")
    assert result.code == 40
    failed = [line for line in result.out.splitlines() if line.startswith("failed")]
    assert len(failed) == 1
    assert written[0] in failed[0]
    assert "was changed after it was written" in failed[0]
    assert result.err == "fullcount: error: 1 of 2 receipts cannot be confirmed\n"


def test_a_lost_file_is_named(run: Callable[..., Any], home: Path, written: list[str]) -> None:
    (home / written[2]).unlink()
    result = run("verify", written[3])
    assert result.code == 40
    assert written[2] in result.out
    assert "cannot be read: No such file or directory" in result.out


def test_the_source_is_read_again(
    run: Callable[..., Any], native: Callable[..., Path], written: list[str]
) -> None:
    assert run("verify", written[1], "--source", "made.jsonl").code == 0
    native("made.jsonl", 7)  # one trial less than was converted
    result = run("verify", written[1], "--source", "made.jsonl")
    assert result.code == 40
    assert "total is 7 in the source, 8 here" in result.out
    other = run("verify", written[1], "--source", "another.jsonl")
    assert other.code == 40
    assert "run-1" in other.out


def test_a_source_that_cannot_be_read_confirms_nothing(
    run: Callable[..., Any], written: list[str]
) -> None:
    result = run("verify", written[1], "--source", "none.json")
    assert (result.code, result.out) == (20, "")
    assert result.err.startswith("fullcount: error: 'none.json': no such file or folder")


def test_what_was_never_converted(run: Callable[..., Any], home: Path, written: list[str]) -> None:
    (home / "x.json").write_text("{}")
    result = run("verify", "x.json", written[1])
    assert result.code == 40
    assert result.err.startswith("fullcount: error: x.json: no receipt is below it or names it")
    assert result.out.startswith("ok      ")


def test_the_source_is_read_with_the_options_of_its_reader(
    run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("id,grade\na,1\nb,-1\n")
    mapping = tmp_path / "m.toml"
    text = '[columns]\ncase = "id"\n[[scores]]\ncolumn = "grade"\n'
    mapping.write_text(text + 'sentinels = { "-1" = "error" }\n')
    reading = ("--from", "records", "-R", "mapping=m.toml")
    assert run("convert", "rows.csv", *reading, "--to", "native", "-o", "out").code == 0
    result = run("verify", "out", "--source", "rows.csv", *reading)
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith(": native, 1 file, 1 run, 2 trials, 1 unverified score\n")
    mapping.write_text(text)
    result = run("verify", "out", "--source", "rows.csv", *reading)
    assert result.code == 40
    assert "with the source read again" in result.out
