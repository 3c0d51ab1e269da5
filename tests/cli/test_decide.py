"""`gate`, `verdicts` and `retry` on a real log."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fullcount.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = str(Path(__file__).resolve().parents[2] / "examples" / "capitals.eval")
TOLERANT = ["--min-pass-rate", ".5", "--max-unverified-rate", ".3",
            "--max-measurement-failures", "1"]  # fmt: skip


@pytest.fixture
def ran(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(*arguments: str, code: int = 0) -> str:
        assert main(list(arguments)) == code
        return capsys.readouterr().out

    return run


def test_a_gate_says_what_it_found(ran: Any) -> None:
    text = ran("gate", EXAMPLE, code=3)
    assert "FAILS    verdicts: 1 did not pass, 6 passed" in text
    assert "UNKNOWN  unverified judge: 3 of 10 (0.3), wanted at most 0" in text
    text = ran("gate", EXAMPLE, *TOLERANT)
    assert "ok       pass rate: 0.6, wanted at least 0.5; lower bound, 7 of 10 known" in text
    ran("gate", EXAMPLE, *TOLERANT[2:], "--min-pass-rate", ".61", code=1)
    ran("gate", EXAMPLE, *TOLERANT, "--min-mean", "judge=.6")
    ran("gate", EXAMPLE, *TOLERANT, "--min-mean", "judge=.7", code=1)
    ran("gate", EXAMPLE, *TOLERANT, "--baseline", EXAMPLE, "--max-drop", "0")


def test_a_gate_in_every_form(ran: Any) -> None:
    text = ran("gate", EXAMPLE, "--format", "github", code=3)
    assert "::error title=" in text
    assert "%3A verdicts::1 did not pass%2C" not in text
    suite = ET.fromstring(ran("gate", EXAMPLE, "--format", "junit", code=3))[0]  # noqa: S314 - our own
    assert {k: suite.get(k) for k in ("tests", "failures", "errors")} == {
        "tests": "4",
        "failures": "1",
        "errors": "3",
    }
    table = ran("gate", EXAMPLE, "--format", "markdown", code=3).splitlines()
    assert len(table) == 6
    record = json.loads(ran("gate", EXAMPLE, "--format", "json", code=3))
    assert record["code"] == 3
    assert [check["code"] for check in record["checks"]] == [1, 3, 3, 3]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--min-pass-rate", "2"],
        ["--min-mean", "judge"],
        ["--min-mean", "judge=nan"],
        ["--max-drop", ".1"],
        ["--baseline", EXAMPLE],
    ],
)
def test_a_gate_that_is_asked_nonsense(ran: Any, arguments: list[str]) -> None:
    ran("gate", EXAMPLE, *arguments, code=2)


def test_a_gate_on_a_log_that_cannot_be_read_never_passes(ran: Any, tmp_path: Path) -> None:
    broken = tmp_path / "broken.eval"
    broken.write_bytes(Path(EXAMPLE).read_bytes()[:500])
    ran("gate", EXAMPLE, str(broken), *TOLERANT, code=21)
    ran("gate", str(tmp_path / "gone.eval"), code=20)


def test_verdicts(ran: Any) -> None:
    text = ran("verdicts", EXAMPLE, code=1)
    assert "1 of 10 tests failed and 3 of 10 tests are unverified across 1 evaluation" in text
    record = json.loads(ran("verdicts", EXAMPLE, "--json", code=1))
    assert (record["verdict"], record["tests"], record["passed"]) == ("partial", 10, 6)
    record = json.loads(ran("verdicts", EXAMPLE, "--subject", "x@v1", "--json", code=3))
    assert (record["subject"], record["version"], record["verdict"]) == ("x", "v1", "none")


def test_retry(ran: Any) -> None:
    records = [json.loads(line) for line in ran("retry", EXAMPLE).splitlines()]
    assert [(r["case_id"], r["retry"]) for r in records] == [
        ("8", "regrade"),
        ("9", "regrade"),
        ("10", "reconcile_first"),
    ]
    assert len(ran("retry", EXAMPLE, "--class", "none").splitlines()) == 7
