"""The command line as a whole: what it loads, how it fails, how it stops."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import fullcount.cli
from fullcount import errors
from fullcount.cli import COMMANDS, EXIT_CODES, app

if TYPE_CHECKING:
    from collections.abc import Callable

DOCS = Path(__file__).parents[2] / "docs"


def python(code: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, **options
    )


@pytest.mark.parametrize("flag", ["--help", "--version", "-h", "-V"])
def test_help_and_version_load_click_and_nothing_else(flag: str) -> None:
    done = python(
        "import sys\n"
        "from fullcount.cli import main\n"
        f"code = main([{flag!r}])\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "heavy = names & {'pydantic', 'pydantic_core', 'rich', 'ijson', 'zstandard'}\n"
        "own = {name for name in sys.modules if name.startswith('fullcount')}\n"
        "print(code, sorted(heavy), sorted(own), file=sys.stderr)\n"
    )
    own = ["fullcount", "fullcount._version", "fullcount.cli", "fullcount.cli._console"]
    assert done.stderr == f"0 [] {[*own, 'fullcount.cli._stop', 'fullcount.errors']}\n"


def test_version(run: Callable[..., Any]) -> None:
    assert run("--version") == (result := run("-V"))
    assert result.out == f"fullcount {fullcount.__version__}\n"


def test_help_lists_every_command_with_its_own_words(run: Callable[..., Any]) -> None:
    listed = run("--help").out
    for name, line in COMMANDS.items():
        command = app.get_command(app.make_context("fullcount", ["show", "x"]), name)
        assert command is not None
        assert command.short_help == line
        assert f"  {name:<8}  {line}\n" in listed
        assert run(name, "--help").code == 0


def test_every_exit_code_is_explained_in_help_and_docs() -> None:
    def tree(kind: type[errors.FullcountError]) -> set[int]:
        return {kind.exit_code}.union(*map(tree, kind.__subclasses__()))

    raised = tree(errors.FullcountError)
    explained = {int(code) for code in re.findall(r"^ *(\d+)  ", EXIT_CODES, re.MULTILINE)}
    documented = (DOCS / "exit-codes.md").read_text(encoding="utf-8")
    in_docs = {int(code) for code in re.findall(r"^\| (\d+) \|", documented, re.MULTILINE)}
    assert explained == raised | {0, 1, 3, 130, 141, 143}
    assert in_docs == explained


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["shwo"], "no command is named 'shwo'; did you mean 'show'?; see 'fullcount --help'"),
        (["show"], "missing argument 'SRC...'; see 'fullcount show --help'"),
        (
            ["show", "--jsn", "x"],
            "no such option '--jsn'. Did you mean '--json'?; see 'fullcount show --help'",
        ),
        (["convert", "a", "-o", "x"], "missing option '--to'; see 'fullcount convert --help'"),
    ],
)
def test_a_call_that_does_not_fit_gets_one_line(
    run: Callable[..., Any], args: list[str], message: str
) -> None:
    result = run(*args)
    assert (result.code, result.out) == (2, "")
    assert result.err == f"fullcount: error: {message}\n"


def test_no_command_shows_the_help(run: Callable[..., Any]) -> None:
    result = run()
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Usage: fullcount [OPTIONS] COMMAND [ARGS]...")


@pytest.mark.usefixtures("made")
def test_a_fault_of_our_own_gets_one_line_and_a_hint(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("first\nsecond")

    monkeypatch.setattr("fullcount.cli.show.tally_runs", broken)
    result = run("show", "made.jsonl")
    assert (result.code, result.out) == (70, "")
    assert result.err == (
        "fullcount: error: a fault of fullcount itself: RuntimeError: first second; "
        "FULLCOUNT_DEBUG=1 shows where\n"
    )
    monkeypatch.setenv("FULLCOUNT_DEBUG", "1")
    traced = run("show", "made.jsonl").err
    assert traced.startswith("Traceback (most recent call last):")
    assert traced.endswith("a fault of fullcount itself: RuntimeError: first second\n")


def test_an_error_on_purpose_shows_its_traceback_only_when_asked(
    run: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "x.jsonl").write_text('{"format":"fullcount/1","type":"trial"}\n')
    line = "fullcount: error: x.jsonl: line 1: a run must start here\n"
    assert run("show", "x.jsonl").err == line
    monkeypatch.setenv("FULLCOUNT_DEBUG", "1")
    traced = run("show", "x.jsonl").err
    assert "DamagedInputError" in traced
    assert traced.endswith(line)


def big_result(path: Path, made: Path) -> None:
    """A result that takes seconds to convert."""
    run, trial, *_ = made.read_text(encoding="utf-8").splitlines()
    with path.open("w", encoding="utf-8") as file:
        file.write(run + "\n")
        for number in range(60_000):
            file.write(trial.replace('"case_id":"a"', f'"case_id":"{number}"') + "\n")


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")],
)
def test_a_signal_leaves_nothing_half_written(
    made: Path, number: signal.Signals, code: int, word: str
) -> None:
    big_result(made.with_name("big.jsonl"), made)
    command = [sys.executable, "-m", "fullcount", "convert", "big.jsonl"]
    out = made.with_name("out")
    with subprocess.Popen(
        [*command, "--to", "native", "-o", "out"], stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 60
        while not list(out.glob(".fullcount-staging-*/new/*")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert err == f"fullcount: {word}; nothing half written is left\n"
    assert not out.exists()


def test_nobody_reads_the_output(made: Path) -> None:
    command = [sys.executable, "-m", "fullcount", "show", str(made)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (141, b"")


@pytest.mark.usefixtures("home")
def test_output_survives_a_locale_without_its_letters(made: Path) -> None:
    text = made.read_text(encoding="utf-8").replace('"capitals"', '"Hauptst\\u00e4dte \\u6771"')
    made.write_text(text, encoding="utf-8")
    environ = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    command = [sys.executable, "-m", "fullcount", "show", "made.jsonl"]
    shown = subprocess.run(command, capture_output=True, check=False, env=environ)
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"  suite    Hauptst\\xe4dte \\u6771 (dataset world)\n" in shown.stdout
    data = subprocess.run([*command, "--json"], capture_output=True, check=True, env=environ)
    assert json.loads(data.stdout)["run"]["suite"]["name"] == "Hauptstädte 東"


@pytest.mark.usefixtures("made")
def test_rich_is_not_loaded_without_a_terminal() -> None:
    done = python(
        "import sys\n"
        "from fullcount.cli import main\n"
        "codes = main(['show', 'made.jsonl']), "
        "main(['convert', 'made.jsonl', '--to', 'native', '-o', 'out'])\n"
        "print(codes, 'rich' in sys.modules)\n",
        stdin=subprocess.DEVNULL,
    )
    assert done.stdout.endswith("(0, 0) False\n")
