"""`fullcount convert`."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import click

from fullcount.cli._console import emit, emit_json, fail, say
from fullcount.cli._inputs import each_input
from fullcount.cli._options import exporter_options, pairs, reader_options, split_outputs
from fullcount.cli._stop import check
from fullcount.cli._summary import error_record, input_lines, notice_lines
from fullcount.convert import Converted, Target, convert, default_context
from fullcount.errors import SinkError, one_line
from fullcount.notices import Notice, Report
from fullcount.plugin import ContentPolicy
from fullcount.receipts import read_receipt
from fullcount.registry import exporters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["command"]


@click.command(
    name="convert",
    short_help="Convert results to other formats and check every count.",
)
@click.argument("sources", metavar="SRC...", nargs=-1, required=True)
@click.option(
    "--to",
    "names",
    metavar="NAME",
    multiple=True,
    required=True,
    help="Format to write; see 'fullcount formats'. May be given several times.",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    metavar="DIR",
    multiple=True,
    required=True,
    help="Folder to write to; with several formats, each gets a folder in it. "
    "'-o key=value' is taken as '-O key=value'; a folder of such a name is given as ./key=value.",
)
@click.option("--from", "reader", metavar="NAME", help="Format to read, where it is not obvious.")
@click.option(
    "-O",
    "--option",
    "options",
    metavar="KEY=VALUE",
    multiple=True,
    help="Option of an exporter. With several exporters it goes to those that know it; "
    "NAME.KEY=VALUE goes to one.",
)
@click.option(
    "-R",
    "--reader-option",
    "reading",
    metavar="KEY=VALUE",
    multiple=True,
    help="Option of the reader.",
)
@click.option(
    "--content",
    type=click.Choice([policy.value for policy in ContentPolicy]),
    default=ContentPolicy.DIGEST.value,
    show_default=True,
    help="What leaves of prompts, outputs and messages: their SHA-256, nothing, or the text.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["loss", "warning"]),
    help="Refuse an input whose conversion loses something, or that raises a warning.",
)
@click.option(
    "--log", metavar="FILE", help="Write every notice to this file, each as a line of JSON."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each input.")
def command(  # noqa: PLR0913 - click passes every option as an argument
    *,
    sources: Sequence[str],
    names: Sequence[str],
    outputs: Sequence[str],
    reader: str | None,
    options: Sequence[str],
    reading: Sequence[str],
    content: str,
    fail_on: Literal["loss", "warning"] | None,
    log: str | None,
    as_json: bool,
) -> int:
    """Convert the results in SRC (files, folders, patterns) to one or more formats.

    Every artifact is counted again from its own fields before it is put in place; its receipt
    stands in DIR/receipts. An input that is refused leaves nothing behind and does not stop
    the others.

    Standard output gets the paths of the files written, receipts last.
    """
    folder, more = split_outputs(outputs)
    targets = _targets(list(dict.fromkeys(names)), Path(folder), [*more, *options])
    context = default_context(ContentPolicy(content))
    found = Report()
    printer = _Printer(targets, as_json=as_json)
    with ExitStack() as stack:
        journal = None if log is None else stack.enter_context(_open_log(log))
        line = _progress_line()
        if line is not None:
            stack.callback(line.clear)
        inputs = each_input(sources, found, reader, reader_options(pairs(reading, "-R")))
        results = convert(inputs, targets, context, fail_on=fail_on, progress=line and line.update)
        for result in stack.enter_context(closing(results)):
            check()
            if line is not None:
                line.clear()
            printer.result(result)
            _write_log(journal, result.shown, result.notices)
        _write_log(journal, None, found.notices())
    printer.finish(found.notices())
    return printer.exit_code


def _targets(names: list[str], folder: Path, options: list[str]) -> list[Target]:
    specs = [exporters().get(name) for name in names]
    values = exporter_options(pairs(options, "-O"), specs)
    return [
        Target.named(name, folder / name if len(names) > 1 else folder, values[name])
        for name in names
    ]


class _Printer:
    """Prints each result as it comes, and what was noticed at the end."""

    def __init__(self, targets: Iterable[Target], *, as_json: bool) -> None:
        self._folders = {target.spec.name: target.folder for target in targets}
        self._as_json = as_json
        self._notices = Report()
        self.exit_code = 0

    def result(self, result: Converted) -> None:
        """Print what became of one input."""
        if self._as_json:
            emit_json(self._record(result))
        else:
            for path in self._paths(result):
                emit(path)
        if result.error is not None:
            code = fail(result.error, result.shown)
            self.exit_code = self.exit_code or code
        elif result.runs:
            for text in input_lines(result.shown, result.runs):
                say(one_line(text))
        self._notices.extend(result.notices)

    def finish(self, found: tuple[Notice, ...]) -> None:
        """Print the notices of everything together."""
        self._notices.extend(found)
        lines = list(notice_lines(self._notices.notices()))
        if lines:
            say("notices:")
            for text in lines:
                say(f"  {one_line(text.strip())}")

    def _paths(self, result: Converted) -> Iterable[str]:
        for name, receipt in result.receipts.items():
            for record in read_receipt(receipt).files:
                yield str(self._folders[name] / record.path)
        for receipt in result.receipts.values():
            yield str(receipt)

    def _record(self, result: Converted) -> dict[str, Any]:
        return {
            "input": result.shown,
            "files": list(self._paths(result)),
            "receipts": {name: str(path) for name, path in result.receipts.items()},
            "runs": [
                {
                    "id": run.id,
                    "suite": run.suite.name,
                    "subject": run.subject.id,
                    "counts": tally.counts.model_dump(mode="json"),
                    "findings": [finding.model_dump(mode="json") for finding in tally.findings],
                }
                for run, tally in result.runs
            ],
            "notices": [notice.model_dump(mode="json") for notice in result.notices],
            "error": error_record(result.error),
        }


def _progress_line() -> Any:
    """A progress line where somebody watches."""
    if not sys.stderr.isatty():
        return None
    from fullcount.cli._terminal import ProgressLine  # noqa: PLC0415 - rich is for terminals only

    return ProgressLine()


def _open_log(path: str) -> IO[str]:
    try:
        return Path(path).open("w", encoding="utf-8")
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: str, error: OSError) -> SinkError:
    return SinkError(f"{path}: cannot be written: {error.strerror or error}")


def _write_log(journal: IO[str] | None, shown: str | None, notices: Iterable[Notice]) -> None:
    if journal is None:
        return
    try:
        for notice in notices:
            record = {"input": shown, **notice.model_dump(mode="json")}
            journal.write(json.dumps(record) + "\n")
        journal.flush()
    except OSError as error:
        with suppress(OSError):  # it would be written once more
            journal.close()
        raise _unwritable(journal.name, error) from error
