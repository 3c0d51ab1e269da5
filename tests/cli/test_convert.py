"""`fullcount convert`."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fullcount.receipts import read_receipt

if TYPE_CHECKING:
    from collections.abc import Callable

FOUND = (
    "made.jsonl: 8 trials; judge 4 scored, 3 unverified, 1 excluded; "
    "style.tone 5 scored, 3 unverified; 3 findings"
)


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_paths_for_programs_and_words_for_people(run: Callable[..., Any], made: Path) -> None:
    result = run("convert", "made.jsonl", "--to", "native", "-o", "out")
    assert result.code == 0
    artifact, receipt = result.out.splitlines()
    assert files_below(made.parent) == sorted(["made.jsonl", artifact, receipt])
    digest = sha256(made.read_bytes()).hexdigest()
    assert receipt == f"out/receipts/native/made.jsonl-{digest[:8]}.receipt.json"
    record = read_receipt(made.parent / receipt)
    assert [f"out/{file.path}" for file in record.files] == [artifact]
    assert record.converted_at.isoformat() == "2026-03-02T09:00:00+00:00"
    assert record.counts_read_back == record.counts_written
    assert record.counts_written[0].total == 8
    first, *rest = result.err.splitlines()
    assert first == FOUND
    assert len(rest) == 3
    assert rest[0].startswith("  judge: 0.75 covers 4 of 7 trials")


def test_a_second_time_gives_the_same_bytes(run: Callable[..., Any], made: Path) -> None:
    first = run("convert", "made.jsonl", "--to", "native", "-o", "one")
    second = run("convert", "made.jsonl", "--to", "native", "-o", "two")
    assert second.out == first.out.replace("one/", "two/")
    for left, right in zip(first.out.splitlines(), second.out.splitlines(), strict=True):
        assert (made.parent / left).read_bytes() == (made.parent / right).read_bytes()


@pytest.mark.usefixtures("made", "another")
def test_a_refused_input_does_not_stop_the_others(run: Callable[..., Any], home: Path) -> None:
    (home / "cut.jsonl").write_text((home / "made.jsonl").read_text()[:-200])
    result = run(
        "convert",
        "cut.jsonl",
        "none.json",
        "another.jsonl",
        "made.jsonl",
        "-o",
        "out",
        "--to",
        "native",
    )
    assert result.code == 21  # the first one's
    lines = result.err.splitlines()
    assert lines[0].startswith("fullcount: error: cut.jsonl: line 10: is no JSON")
    assert lines[1].startswith("fullcount: error: 'none.json': no such file or folder")
    assert lines[2].startswith("another.jsonl: 3 trials; judge 3 scored, 0 unverified")
    assert lines[3:5] == ["  the header was edited", FOUND]
    assert len(result.out.splitlines()) == 4
    assert files_below(home / "out") == sorted(
        line.removeprefix("out/") for line in result.out.splitlines()
    )


def test_an_input_named_twice_is_converted_once(run: Callable[..., Any], made: Path) -> None:
    result = run("convert", "made.jsonl", "*.jsonl", str(made), "--to", "native", "-o", "out")
    assert len(result.out.splitlines()) == 2
    assert result.err.count(FOUND) == 1


@pytest.mark.usefixtures("made")
def test_json_has_one_object_for_each_input(run: Callable[..., Any]) -> None:
    result = run("convert", "made.jsonl", "none.json", "--to", "native", "-o", "out", "--json")
    good, bad = map(json.loads, result.out.splitlines())
    assert list(good) == ["input", "files", "receipts", "runs", "notices", "error"]
    assert good["input"] == "made.jsonl"
    assert good["files"][-1] == good["receipts"]["native"]
    assert good["error"] is None
    (only,) = good["runs"]
    assert (only["id"], only["suite"], only["subject"]) == ("run-1", "capitals", "lab/model-1")
    assert only["counts"]["total"] == 8
    assert only["counts"]["metrics"][0]["states"]["nan"] == 1
    assert only["findings"][0]["code"] == "coverage.partial"
    message = "'none.json': no such file or folder, and no pattern that matches one"
    assert bad["input"] == "'none.json'"
    assert bad["runs"] == bad["files"] == []
    assert bad["error"] == {
        "type": "UnrecognizedInputError",
        "message": message,
        "exit_code": 20,
    }
    assert result.code == 20


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["--to", "nativ"], 10, "no exporter is named 'nativ'; did you mean 'native'?"),
        (["--to", "native", "--from", "nope"], 10, "no reader is named 'nope'; known: "),
        (["--to", "native", "-O", "x=1"], 14, "'native' has no option 'x'; see 'fullcount f"),
        (["--to", "native", "-O", "x"], 2, "-O takes key=value, not 'x'"),
        (["--to", "native", "-o", "x"], 2, "-o needs one folder, found 'out' and 'x'"),
        (["--to", "native", "-o", "x=1"], 14, "'native' has no option 'x'; see 'fullcount f"),
        (["--to", "native", "--from", "native", "-R", "y=1"], 14, "'native' has no option 'y'"),
        (["--to", "native", "--log", "no/such/folder"], 30, "no/such/folder: cannot be written"),
        (["--to", "native", "--content", "all"], 2, "invalid value for '--content': 'all'"),
    ],
)
def test_a_call_that_does_not_fit_writes_nothing(
    run: Callable[..., Any], made: Path, args: list[str], code: int, message: str
) -> None:
    result = run("convert", "made.jsonl", "-o", "out", *args)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith(f"fullcount: error: {message}")
    assert result.err.count("\n") == 1
    assert files_below(made.parent) == ["made.jsonl"]


def test_the_log_holds_every_notice(run: Callable[..., Any], made: Path, home: Path) -> None:
    folder = home / "results"
    folder.mkdir()
    made.rename(folder / "made.jsonl")
    for name in ("a.png", "b.png"):
        (folder / name).write_bytes(b"\x89PNG")
    result = run("convert", "results", "--to", "native", "-o", "out", "--log", "log.jsonl")
    assert result.code == 0
    lines = (home / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[-1]) == {
        "input": None,
        "code": "input.passed_over",
        "severity": "info",
        "path": "",
        "message": "files that no reader knows were passed over",
        "count": 2,
        "plugin": "",
    }
    end = "notices:\n  files that no reader knows were passed over (2)\n"
    assert result.err.endswith(end)


def test_the_output_folder_is_a_file(run: Callable[..., Any], made: Path) -> None:
    made.with_name("out").write_text("mine")
    result = run("convert", "made.jsonl", "--to", "native", "-o", "out")
    assert (result.code, result.out) == (30, "")
    assert result.err.startswith("fullcount: error: made.jsonl: out: cannot be written: ")
    assert made.with_name("out").read_text() == "mine"


def test_two_formats_in_one_pass_each_with_its_options(run: Callable[..., Any], home: Path) -> None:
    log = Path(__file__).parents[2] / "examples" / "capitals.eval"
    options = ["-o", "organization=Acme", "-O", "eee.relationship=third_party"]
    result = run("convert", str(log), "--to", "eee", "--to", "native", "-o", "out", *options)
    assert result.code == 0
    *artifacts, eee, native = result.out.splitlines()
    assert [path.split("/")[:2] for path in artifacts] == [["out", "eee"]] * 2 + [["out", "native"]]
    assert read_receipt(home / eee).options["organization"] == "Acme"
    assert read_receipt(home / eee).options["relationship"] == "third_party"
    assert read_receipt(home / native).options == {}
    (aggregate,) = [path for path in artifacts if path.endswith(".json")]
    source = json.loads((home / aggregate).read_text(encoding="utf-8"))["source_metadata"]
    assert source["source_organization_name"] == "Acme"
    assert source["evaluator_relationship"] == "third_party"
    assert run("verify", "out/eee", "out/native", "--source", str(log)).code == 0
