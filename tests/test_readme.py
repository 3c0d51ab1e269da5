"""What the README says is so."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from fullcount import registry
from fullcount.cli import COMMANDS, main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [
    (kind, text)
    for kind, text in re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
]


def command(name: str) -> str:
    (found,) = re.findall(rf"^<!-- command: {name} -->\n```sh\n(.*)\n```$", README, re.MULTILINE)
    return str(found)


def test_the_two_commands_are_one_line_each() -> None:
    start = "python3 -m venv .venv && .venv/bin/pip install -q "
    end = " && .venv/bin/fullcount convert examples/capitals.eval --to eee -o out"
    assert command("convert") == f"{start}.{end}"
    assert command("check") == f"{start}-e '.[dev]' && .venv/bin/python scripts/check.py"


def test_the_lost_row_is_what_show_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["show", "examples/capitals.eval"]) == 0
    printed = capsys.readouterr().out
    (shown,) = [text for kind, text in BLOCKS if not kind and "unverified" in text]
    assert shown in printed


def test_the_table_names_every_format() -> None:
    section = README.split("## Formats", 1)[1].split("\n## ", 1)[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| ")]
    cells = [(row[1].strip().strip("`"), row[3].strip().strip("`")) for row in rows[1:]]
    assert sorted(read for read, _ in cells if read) == registry.readers().names()
    assert sorted(written for _, written in cells if written) == registry.exporters().names()


@pytest.mark.parametrize(
    "line",
    [
        line
        for kind, text in BLOCKS
        if kind == "sh"
        for line in text.splitlines()
        if line.startswith("fullcount ")
    ],
)
def test_every_call_fits(line: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A call may lack its input here, and nothing else."""
    _, *args = shlex.split(line, comments=True)
    assert args[0] in COMMANDS
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        code = main(args)
    trouble = capsys.readouterr().err
    assert code in (0, 20, 40), trouble
    assert code == 0 or "no such file" in trouble or "no receipt" in trouble


@pytest.mark.parametrize(
    "document", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
)
def test_every_link_leads_somewhere(document: str) -> None:
    page = ROOT / document
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_python_example(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (example,) = [text for kind, text in BLOCKS if kind == "python"]
    shutil.copy(ROOT / "examples" / "capitals.eval", tmp_path / "run.eval")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102 - our own lines
    assert capsys.readouterr().out == f"judge {6 / 7} 7 10 3\n"
