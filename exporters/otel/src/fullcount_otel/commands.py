"""`fullcount otel`: commands that the exporter brings along."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fullcount_otel.options import TransportOptions

__all__ = ["otel"]


@click.group(name="otel", short_help="Commands of the OpenTelemetry exporter.")
def otel() -> None:
    """Commands of the OpenTelemetry exporter."""


@otel.command(short_help="Send what a receiver did not accept.")
@click.argument("spools", metavar="SPOOL...", nargs=-1, required=True)
@click.option(
    "-o",
    "pairs",
    metavar="KEY=VALUE",
    multiple=True,
    help="As for convert: endpoint, headers, signals, compression, timeout, attempts, "
    "batch_bytes. Without an endpoint, the OTEL_EXPORTER_OTLP_* variables say where.",
)
def resend(*, spools: Sequence[str], pairs: Sequence[str]) -> int:
    """Send each SPOOL, a file or the folder that was written to, once more.

    A spool is never changed, and its records keep their ids: sending it twice gives duplicates
    with the same fullcount.record.id. Any file of OTLP/JSON lines can be sent in this way.
    Standard output gets one line for each signal; the exit code is 30 unless all was accepted.
    """
    from fullcount import __version__  # noqa: PLC0415 - this and the next: only when needed
    from fullcount.errors import MissingDependencyError, SinkError  # noqa: PLC0415
    from fullcount.notices import Report, Severity  # noqa: PLC0415
    from fullcount.plugin import Context  # noqa: PLC0415

    try:
        from fullcount_otel import resend as work  # noqa: PLC0415
    except ModuleNotFoundError as error:
        msg = f"resend needs {error.name!r}; run: pip install 'fullcount[otel]'"
        raise MissingDependencyError(msg) from None
    report = Report()
    accounts = work.resend(
        work.spool_files(map(Path, spools)),
        _options(pairs),
        os.environ,
        Context(tool_version=__version__),
        report,
    )
    for signal, account in accounts.items():
        click.echo(
            f"{signal:<7}  {account.sent} sent, {account.accepted} accepted, "
            f"{account.rejected} rejected, {account.spooled} not accepted"
        )
    left = sum(account.sent - account.accepted for account in accounts.values())
    if left:
        why = "; ".join(n.message for n in report.notices() if n.severity is Severity.WARNING)
        total = sum(account.sent for account in accounts.values())
        msg = f"{left} of {total} records were not accepted: {why}"
        raise SinkError(msg)
    return 0


def _options(pairs: Sequence[str]) -> TransportOptions:
    from pydantic import ValidationError  # noqa: PLC0415 - as above

    from fullcount.errors import OptionError, one_line, quoted  # noqa: PLC0415
    from fullcount_otel.options import TransportOptions  # noqa: PLC0415

    values = {"endpoint": "env"}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or key not in TransportOptions.model_fields:
            known = ", ".join(TransportOptions.model_fields)
            shown = quoted(key) if equals else "a value without ="
            msg = f"-o takes KEY=VALUE, not {shown}; known: {known}"
            raise OptionError(msg)
        values[key] = value
    try:
        return TransportOptions.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        msg = f"'otel', option {where!r}: {one_line(first['msg'], 200)}"
        raise OptionError(msg) from None
