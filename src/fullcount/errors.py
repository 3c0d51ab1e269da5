"""Everything that fullcount raises on purpose.

    FullcountError                   exit code
    ├── UsageError                    2  the call itself does not fit
    ├── PluginError
    │   ├── UnknownFormatError       10  no reader or exporter has that name
    │   ├── DuplicateFormatError     11  two distributions provide one name
    │   ├── BrokenPluginError        12  a plugin fails to load, or breaks its contract
    │   ├── MissingDependencyError   13  an extra is not installed
    │   └── OptionError              14  an option is unknown or has a bad value
    ├── InputError                   20  the input is not there, or holds nothing to read
    │   ├── UnrecognizedInputError   20  no reader knows the input, or several claim it
    │   ├── DamagedInputError        21  the input breaks its own format
    │   └── UnsupportedInputError    22  a version or feature that is not read
    ├── OutputError
    │   ├── SinkError                30  the target cannot be written
    │   └── ExportError              31  the target format cannot hold this run
    ├── VerificationError            40  an artifact does not hold what its receipt says
    └── LossError                    41  a loss that the caller asked to make fatal

Exit code 0 is success, and 70 is a fault of fullcount itself.
"""

from __future__ import annotations

__all__ = [
    "BrokenPluginError",
    "DamagedInputError",
    "DuplicateFormatError",
    "ExportError",
    "FullcountError",
    "InputError",
    "LossError",
    "MissingDependencyError",
    "OptionError",
    "OutputError",
    "PluginError",
    "SinkError",
    "UnknownFormatError",
    "UnrecognizedInputError",
    "UnsupportedInputError",
    "UsageError",
    "VerificationError",
]


class FullcountError(Exception):
    """Base of everything that fullcount raises on purpose; its text is one line."""

    exit_code = 70

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class UsageError(FullcountError):
    """The call itself does not fit."""

    exit_code = 2


class PluginError(FullcountError):
    """A reader or exporter cannot be used."""


class UnknownFormatError(PluginError):
    """No reader or exporter has that name."""

    exit_code = 10


class DuplicateFormatError(PluginError):
    """Two distributions provide one name."""

    exit_code = 11


class BrokenPluginError(PluginError):
    """A plugin fails to load, or breaks its contract."""

    exit_code = 12


class MissingDependencyError(PluginError):
    """An extra is not installed."""

    exit_code = 13


class OptionError(PluginError):
    """An option is unknown or has a bad value."""

    exit_code = 14


class InputError(FullcountError):
    """Something is wrong with what is read.

    Args:
        problem: What was found, and what to do about it.
        source: The file or folder, as the user named it.
        member: Member of an archive, or file of a folder.
        line: Line number, from 1.
        pointer: JSON pointer or field path.
    """

    exit_code = 20

    def __init__(
        self,
        problem: str,
        *,
        source: str | None = None,
        member: str | None = None,
        line: int | None = None,
        pointer: str | None = None,
    ) -> None:
        where = [part for part in (source, member) if part]
        if line is not None:
            where.append(f"line {line}")
        if pointer:
            where.append(pointer)
        super().__init__(": ".join([*where, problem]))
        self.problem = problem
        self.source = source
        self.member = member
        self.line = line
        self.pointer = pointer


class UnrecognizedInputError(InputError):
    """No reader knows the input, or several claim it."""

    exit_code = 20


class DamagedInputError(InputError):
    """The input breaks its own format."""

    exit_code = 21


class UnsupportedInputError(InputError):
    """A version or feature that is not read."""

    exit_code = 22


class OutputError(FullcountError):
    """Something is wrong with what is written."""


class SinkError(OutputError):
    """The target cannot be written."""

    exit_code = 30


class ExportError(OutputError):
    """The target format cannot hold this run."""

    exit_code = 31


class VerificationError(FullcountError):
    """An artifact does not hold what its receipt says."""

    exit_code = 40


class LossError(FullcountError):
    """A loss that the caller asked to make fatal."""

    exit_code = 41


def one_line(text: str, longest: int | None = None) -> str:
    """The text on one line, printable, and not longer than asked.

    Names and values from a hostile file end up in messages: control characters would let them
    rewrite the terminal.
    """
    clean = "".join(
        char if char.isprintable() else " " if char.isspace() else f"\\x{ord(char):02x}"
        for char in text
    )
    if longest is not None and len(clean) > longest:
        clean = clean[: longest - 1] + "…"
    return clean


def quoted(value: object) -> str:
    """A value from a file, short and printable, for use inside a message."""
    return one_line(repr(value), 80)
