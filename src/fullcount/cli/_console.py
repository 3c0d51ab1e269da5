"""What is printed, and where: data to standard output, words to standard error."""

from __future__ import annotations

import io
import json
import os
import sys
import traceback
from typing import Any

from fullcount.cli._stop import check
from fullcount.errors import FullcountError, one_line

__all__ = ["complain", "emit", "emit_json", "fail", "harden_streams", "say"]


def harden_streams() -> None:
    """Let no name out of a log or a file system break the output, whatever the locale."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def emit(text: str = "") -> None:
    """Print data, at once: another program may wait for it."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def emit_json(value: Any, indent: int | None = None) -> None:
    """Print one JSON document; in ASCII, so that it is valid in every locale."""
    emit(json.dumps(value, indent=indent, allow_nan=False))


def say(text: str) -> None:
    """Print a line for people."""
    sys.stderr.write(f"{text}\n")


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
