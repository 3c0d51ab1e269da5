"""What is read: files and folders, found from what the user names."""

from __future__ import annotations

import glob
import hashlib
import os
import stat
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from fullcount.errors import InputError, UnrecognizedInputError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Source", "discover", "expand"]

HEAD = 65_536
_CHUNK = 1 << 20


class Source:
    """One file or folder to be read.

    Args:
        path: Where it is.
        shown: How the user names it; used in messages.
        relative: How artifacts name it: relative to the folder that was searched, with `/`.
        listed: Whether the user named it; a file that was only found in a folder may turn out
            to be no evaluation result at all.
    """

    def __init__(
        self,
        path: Path,
        *,
        shown: str | None = None,
        relative: str | None = None,
        listed: bool = True,
    ) -> None:
        self.path = path
        self.shown = shown or str(path)
        self.relative = relative or _name(path)
        self.listed = listed

    def __repr__(self) -> str:
        return f"Source({self.shown!r})"

    @cached_property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.path.is_dir()

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB; empty for a folder."""
        if self.is_folder:
            return b""
        with self.open() as file:
            return file.read(HEAD)

    @cached_property
    def size(self) -> int:
        """Bytes of the file, or of all files of the folder."""
        try:
            return sum(path.stat().st_size for _, path in self.files())
        except OSError as error:
            raise _unreadable(self.shown, error) from error

    @cached_property
    def sha256(self) -> str:
        """Digest of the file, or of the names and digests of all files of the folder."""
        digests = [(name, _digest(path)) for name, path in self.files()]
        if not self.is_folder:
            return digests[0][1]
        listing = "".join(f"{digest}  {name}\n" for name, digest in digests)
        return hashlib.sha256(listing.encode("utf-8", "surrogateescape")).hexdigest()

    def open(self) -> BinaryIO:
        """The file, for reading.

        Raises:
            InputError: It cannot be opened, or reading it might never end.
        """
        try:
            mode = self.path.stat().st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                msg = "is a pipe or a device; write it to a file first, since it is read twice"
                raise UnrecognizedInputError(msg, source=self.shown)
            return self.path.open("rb")
        except OSError as error:
            raise _unreadable(self.shown, error) from error

    def files(self) -> Iterator[tuple[str, Path]]:
        """Every file with its name relative to the source, in the order of the names."""
        if self.is_folder:
            yield from _walk(self.path)
        else:
            yield self.path.name, self.path


def discover(arguments: Sequence[str | os.PathLike[str]]) -> Iterator[Source]:
    """The sources that files, folders and glob patterns stand for, in a stable order.

    A folder is given as itself, so that a reader of whole folders can claim it; the caller
    walks into it when none does, by `expand`.

    Raises:
        UnrecognizedInputError: A name matches nothing.
    """
    seen: set[str] = set()
    for given in arguments:
        argument = os.fspath(given)
        if os.path.exists(argument):  # noqa: PTH110 - the argument may be no valid Path
            names = [argument]
        else:
            names = sorted(glob.glob(argument, recursive=True))  # noqa: PTH207 - as above
            if not names:
                msg = "no such file or folder, and no pattern that matches one"
                raise UnrecognizedInputError(msg, source=quoted(argument))
        for name in names:
            real = os.path.realpath(name)
            if real not in seen:
                seen.add(real)
                yield Source(Path(name), shown=name)


def _name(path: Path) -> str:
    """Last part of a path, also of one like `.` that does not spell it out."""
    return path.name if path.name not in ("", "..") else path.resolve().name


def expand(folder: Source) -> Iterator[Source]:
    """The files and folders in a folder, each as a source of its own.

    A folder among them is given as itself, as by `discover`.
    """
    prefix = "" if folder.listed else f"{folder.relative}/"
    for path in _entries(folder.path):
        yield Source(
            path,
            shown=f"{folder.shown.rstrip(os.sep)}{os.sep}{path.name}",
            relative=f"{prefix}{path.name}",
            listed=False,
        )


def _walk(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file below a folder, with its relative name."""
    for entry in _entries(folder):
        if entry.is_dir():
            for name, path in _walk(entry):
                yield f"{entry.name}/{name}", path
        else:
            yield entry.name, entry


def _entries(folder: Path) -> list[Path]:
    """Files and folders in a folder, sorted; hidden ones and symbolic links are passed over."""
    try:
        return [
            entry
            for entry in sorted(folder.iterdir())
            if not entry.name.startswith(".")
            and not entry.is_symlink()
            and (entry.is_dir() or entry.is_file())
        ]
    except OSError as error:
        raise _unreadable(str(folder), error) from error


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise _unreadable(str(path), error) from error
    return digest.hexdigest()


def _unreadable(shown: str, error: OSError) -> InputError:
    return UnrecognizedInputError(f"cannot be read: {error.strerror or error}", source=shown)
