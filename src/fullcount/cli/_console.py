"""What is printed, and where: data to standard output, words to standard error."""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullcount.cli._stop import check
from fullcount.errors import FullcountError, SinkError, one_line

if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["complain", "discard", "emit", "emit_json", "fail", "flush", "harden_streams", "say"]


def harden_streams() -> None:
    """Let no name out of a log or a file system break the output, whatever the locale."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller: nobody wants to read it
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end
            setattr(sys, name, nowhere)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def emit(text: str = "") -> None:
    """Print data, at once: another program may wait for it."""
    try:
        sys.stdout.write(f"{text}\n")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _lost(error) from error
    flush()


def flush() -> None:
    """Hand all data over.

    Raises:
        SinkError: It cannot be written.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _lost(error) from error


def _lost(error: OSError) -> SinkError:
    discard(sys.stdout)
    return SinkError(f"standard output: cannot be written: {error.strerror or error}")


def discard(stream: TextIO) -> None:
    """Send what is left of a broken stream nowhere, so that the flush at exit stays quiet."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def emit_json(value: Any, indent: int | None = None) -> None:
    """Print one JSON document; in ASCII, so that it is valid in every locale."""
    emit(json.dumps(value, indent=indent, allow_nan=False))


def say(text: str) -> None:
    """Print a line for people; where it cannot be written, the exit code has to tell."""
    try:
        sys.stderr.write(f"{text}\n")
    except OSError:
        discard(sys.stderr)


def complain(text: str) -> None:
    """Print one line of trouble."""
    say(f"fullcount: {one_line(text)}")


def fail(error: Exception, about: str = "") -> int:
    """Print an error on one line, and give its exit code.

    Args:
        error: What went wrong.
        about: The input concerned, for an error that does not name it.

    Returns:
        The exit code. `FULLCOUNT_DEBUG=1` prints the traceback as well.

    Raises:
        Stopped: The error is what became of a signal.
    """
    check()
    debug = os.environ.get("FULLCOUNT_DEBUG", "") not in ("", "0")
    if debug:
        sys.stderr.write("".join(traceback.format_exception(error)))
    if isinstance(error, FullcountError):
        start = f"{about}: " if about and about not in str(error) else ""
        complain(f"error: {start}{error}")
        return error.exit_code
    hint = "" if debug else "; FULLCOUNT_DEBUG=1 shows where"
    complain(f"error: a fault of fullcount itself: {type(error).__name__}: {error}{hint}")
    return 70
