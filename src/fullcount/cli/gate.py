"""`fullcount gate`."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import click

from fullcount.cli._console import emit, emit_json
from fullcount.cli._runs import reading_options, tallied
from fullcount.decide.gate import ACCEPTED, NOT_MEASURED, Check, Thresholds, bucket, judge
from fullcount.errors import DamagedInputError, UsageError, one_line, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fullcount.decide.gate import Over
    from fullcount.model import Run, RunTally

__all__ = ["command"]

_WORDS = {0: "ok", 1: "FAILS", 3: "UNKNOWN"}
Judged = list[tuple[str, "Run", list[Check]]]


@click.command(
    name="gate", short_help="Pass or fail a build by what was measured, and what was not."
)
@click.argument("sources", metavar="SRC...", nargs=-1, required=True)
@click.option("--min-pass-rate", type=float, help="Least pass rate.")
@click.option(
    "--min-mean",
    "means",
    metavar="METRIC=VALUE",
    multiple=True,
    help="Least mean of a metric; greatest where lower is better.",
)
@click.option(
    "--over",
    type=click.Choice(["lower", "scored", "sought"]),
    default="lower",
    show_default=True,
    help="Judge rates by their lower bound, their value over what was "
    "scored, or over all that was sought.",
)
@click.option("--max-unverified-rate", type=float, help="Greatest share of unverified.")
@click.option(
    "--max-measurement-failures",
    type=click.IntRange(min=0),
    help="Greatest number of trials that could not be measured.",
)
@click.option("--min-n", type=click.IntRange(min=1), help="Least number of measured trials.")
@click.option("--baseline", metavar="SRC", help="Run to compare with.")
@click.option("--max-drop", type=float, help="Greatest loss of pass rate against the baseline.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "github", "junit", "markdown", "json"]),
    default="text",
    show_default=True,
)
@reading_options
def command(  # noqa: PLR0913 - each is one option
    *,
    sources: Sequence[str],
    min_pass_rate: float | None,
    means: Sequence[str],
    over: Over,
    max_unverified_rate: float | None,
    max_measurement_failures: int | None,
    min_n: int | None,
    baseline: str | None,
    max_drop: float | None,
    form: str,
    reader: str | None,
    reading: Sequence[str],
) -> int:
    """Judge every run of SRC. Without a threshold, every trial must pass and be measured.

    The exit code is 0 when all is accepted or unscored, 1 for a deterministic non-pass, and 3 for
    anything that could not be measured; 3 dominates 1. NaN and an empty run never pass.
    """  # fmt: skip
    if (baseline is None) != (max_drop is None):
        msg = "--baseline and --max-drop belong together"
        raise UsageError(msg)
    for name, value in (("--min-pass-rate", min_pass_rate), ("--max-drop", max_drop),
                        ("--max-unverified-rate", max_unverified_rate)):  # fmt: skip
        if value is not None and not 0 <= value <= 1:
            msg = f"{name} is a rate from 0 to 1, not {value!r}"
            raise UsageError(msg)
    wanted = Thresholds(
        pass_rate=min_pass_rate,
        means=_means(means),
        over=over,
        unverified_rate=max_unverified_rate,
        measurement_failures=max_measurement_failures,
        minimum=min_n,
        drop=max_drop,
    )
    before = None if baseline is None else _baseline(baseline, reader, reading)
    judged: Judged = [
        (shown, run, judge(run, tally, wanted, before))
        for shown, run, tally in tallied(sources, reader, reading)
    ]
    for line in _PRINTERS[form](judged):
        emit(line)
    return bucket([check for _, _, checks in judged for check in checks])


def _means(values: Sequence[str]) -> dict[str, float]:
    found = {}
    for text in values:
        name, equals, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if not equals or not name or not isfinite(value):
            msg = f"--min-mean takes METRIC=VALUE, not {quoted(text)}"
            raise UsageError(msg)
        found[name] = value
    return found


def _baseline(source: str, reader: str | None, reading: Sequence[str]) -> RunTally:
    tallies = [tally for _, _, tally in tallied([source], reader, reading)]
    if len(tallies) != 1:
        msg = f"holds {len(tallies)} runs; a baseline is one"
        raise DamagedInputError(msg, source=source)
    return tallies[0]


def _of_text(judged: Judged) -> Iterable[str]:
    for shown, run, checks in judged:
        about = f"{shown}: {run.suite.name}, {run.subject.id}"
        yield f"{_WORDS[bucket(checks)]:<8} {one_line(about)}"
        for check in checks:
            yield f"  {_WORDS[check.code]:<8} {one_line(check.name)}: {one_line(check.message)}"


def _of_github(judged: Judged) -> Iterable[str]:
    """Annotations, as workflow commands; `%`, line breaks, `:` and `,` are escaped as they want."""
    for shown, _, checks in judged:
        for check in checks:
            kind = "notice" if check.code == ACCEPTED else "error"
            title = _escaped(f"{shown}: {check.name}").replace(":", "%3A").replace(",", "%2C")
            state = "not measured: " if check.code == NOT_MEASURED else ""
            yield f"::{kind} title={title}::{_escaped(state + check.message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _of_junit(judged: Judged) -> Iterable[str]:
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield "<testsuites>"
    for shown, run, checks in judged:
        failures = sum(check.code not in (ACCEPTED, NOT_MEASURED) for check in checks)
        errors = sum(check.code == NOT_MEASURED for check in checks)
        name = _attribute(f"{shown}: {run.suite.name}")
        numbers = f'tests="{len(checks)}" failures="{failures}" errors="{errors}"'
        yield f"<testsuite name={name} {numbers}>"
        for check in checks:
            case = f"<testcase classname={name} name={_attribute(check.name)}"
            if check.code == ACCEPTED:
                yield f"{case}/>"
            else:
                kind = "error" if check.code == NOT_MEASURED else "failure"
                yield f"{case}><{kind} message={_attribute(check.message)}/></testcase>"
        yield "</testsuite>"
    yield "</testsuites>"


def _attribute(text: str) -> str:
    """A quoted attribute without the characters that XML cannot hold."""
    return quoteattr(
        "".join(char if char >= " " and char not in "\ufffe\uffff" else " " for char in text)
    )


def _of_markdown(judged: Judged) -> Iterable[str]:
    yield "| run | check | | found |"
    yield "|---|---|---|---|"
    for shown, run, checks in judged:
        for check in checks:
            cells = (f"{shown}: {run.suite.name}", check.name, _WORDS[check.code], check.message)
            yield "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    for char in "\\`*_[]<>|#":
        text = text.replace(char, f"&#{ord(char)};")
    return one_line(text, 500)


def _of_json(judged: Judged) -> Iterable[str]:
    for shown, run, checks in judged:
        record: dict[str, Any] = {
            "input": shown,
            "run_id": run.id,
            "code": bucket(checks),
            "checks": [vars(check) for check in checks],
        }
        emit_json(record)
    return ()


_PRINTERS = {
    "text": _of_text,
    "github": _of_github,
    "junit": _of_junit,
    "markdown": _of_markdown,
    "json": _of_json,
}
