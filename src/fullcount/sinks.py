"""Where artifacts go: files appear together, complete, or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import tempfile
import time
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Self

from fullcount.errors import SinkError, quoted
from fullcount.interrupts import DeferredInterrupts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

__all__ = ["STAGING", "DirectorySink", "StagedFile", "safe_name", "settle"]

STAGING = ".fullcount-staging-"
_JOURNAL = "commit.json"
"""What is being put in place; a process that is killed meanwhile leaves it to be completed."""
_ABANDONED = 3600.0
"""Seconds after which a staging folder without a lock is nobody's."""
_FORBIDDEN = re.compile('[\x00-\x1f\x7f<>:"|?*\\\\\ud800-\udfff]')
_UNSAFE = re.compile(r"[^A-Za-z0-9._+=@-]+")
_DEVICE = re.compile(r"CON|PRN|AUX|NUL|(?:COM|LPT)[0-9]", re.IGNORECASE)
_LONGEST = 120
_BUFFER = 1 << 18


def safe_name(text: str, fallback: str = "unnamed") -> str:
    """A file name for an identifier from a log, whatever stands in it.

    A name that had to be changed carries a digest, so that two identifiers stay two names.
    """
    name = _UNSAFE.sub("_", text).strip("._")[:_LONGEST] or fallback
    if _DEVICE.fullmatch(name.partition(".")[0]):
        name = f"x-{name}"
    if name != text:
        name += f"-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    return name


class StagedFile(io.RawIOBase):
    """A new file that knows its digest and size while it is written."""

    def __init__(self, path: Path, shown: str) -> None:
        super().__init__()
        self.path = path
        self.size = 0
        self._shown = shown
        self._digest = hashlib.sha256()
        self._buffer: list[bytes] = []
        self._buffered = 0
        try:
            self._file = path.open("xb", buffering=0)
        except OSError as error:
            raise _failed(shown, error) from error

    @property
    def sha256(self) -> str:
        """Digest of everything written so far."""
        self.flush()
        return self._digest.hexdigest()

    def writable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """Bytes written so far."""
        return self.size

    def write(self, data: object) -> int:
        """Write all of the bytes."""
        if self.closed:
            msg = f"{self._shown}: is written to after it was closed"
            raise ValueError(msg)
        data = data if isinstance(data, bytes) else bytes(data)  # type: ignore[call-overload]
        self._buffer.append(data)
        self.size += len(data)
        self._buffered += len(data)
        if self._buffered >= _BUFFER:
            self.flush()
        return len(data)

    def flush(self) -> None:
        """Hand everything to the operating system."""
        if not self._buffer:
            return
        data = memoryview(b"".join(self._buffer))
        self._buffer.clear()
        self._buffered = 0
        self._digest.update(data)
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:
            raise _failed(self._shown, error) from error

    def close(self) -> None:
        """Complete the file and make it durable."""
        if self.closed:
            return
        try:
            self.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _failed(self._shown, error) from error
        finally:
            # The base class flushes again, which must not hide the first failure.
            self._buffer.clear()
            self._file.close()
            super().close()


class DirectorySink:
    """Files below one folder, staged beside their places and renamed there at the end.

    Use it as a context manager and call `commit` when all is well; leaving it without removes
    whatever was staged and leaves what was there before.

    Args:
        root: The folder; made if it is not there.

    Raises:
        SinkError: It cannot be written.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, StagedFile] = {}
        self._made: list[Path] = []
        self._replaced: list[tuple[Path, Path | None]] = []
        self._committed = False
        self._lock = None
        try:
            self._make(root)
            _tidy_up(root)
            self._staging = Path(tempfile.mkdtemp(prefix=STAGING, dir=root))
        except (OSError, ValueError) as error:
            self._unmake()
            raise _failed(str(root), error) from error
        # Some file systems have no locks; there, nobody tidies up after a killed process.
        with contextlib.suppress(OSError):
            self._lock = _lock(self._staging, os.O_CREAT | os.O_RDWR)

    def open(self, path: str) -> StagedFile:
        """A new file at a path relative to the folder.

        Raises:
            SinkError: The path leaves the folder, is taken, or cannot be written.
        """
        parts = PurePosixPath(path).parts
        if (
            not parts
            or path.startswith("/")
            or _FORBIDDEN.search(path)
            or any(part in (".", "..") or len(os.fsencode(part)) > 255 for part in parts)
        ):
            msg = f"{quoted(path)} is no file name that can be written below {self.root}"
            raise SinkError(msg)
        name = "/".join(parts)
        if name in self.files:
            msg = f"{self.root}/{name} would be written twice in one conversion"
            raise SinkError(msg)
        place = self._staging / "new" / name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _failed(f"{self.root}/{name}", error) from error
        staged = StagedFile(place, f"{self.root}/{name}")
        self.files[name] = staged
        return staged

    def staged(self, path: str) -> Path:
        """Where a closed file stands until the commit."""
        return self.files[path].path

    def commit(self, superseded: Iterable[str] = ()) -> None:
        """Rename every file to its place, in the order in which they were opened.

        Args:
            superseded: Files of an earlier artifact that this one does not have; they go.

        Raises:
            SinkError: A file cannot be put in place; those before it are taken back.
        """
        superseded = list(superseded)
        if self._committed:
            msg = f"{self.root}: what was staged has been put in place already"
            raise SinkError(msg)
        try:
            for staged in self.files.values():
                staged.close()
            self._begin(superseded)
            for index, (name, staged) in enumerate(self.files.items()):
                target = self.root / name
                self._make(target.parent)
                backup = None
                if target.exists() or target.is_symlink():
                    backup = self._staging / f"{index}.before"
                    _keep(target, backup)
                self._replaced.append((target, backup))
                staged.path.replace(target)
            for index, name in enumerate(superseded, len(self.files)):
                target, backup = self.root / name, self._staging / f"{index}.before"
                target.replace(backup)
                self._replaced.append((target, backup))
            (self._staging / _JOURNAL).unlink()
        except OSError as error:
            self.revert()
            raise _failed(str(self.root), error) from error
        self._committed = True

    def revert(self) -> None:
        """Put back what stood there before `commit`, for as long as the sink is open."""
        with contextlib.suppress(OSError):
            (self._staging / _JOURNAL).unlink(missing_ok=True)
        for target, backup in reversed(self._replaced):
            with contextlib.suppress(OSError):
                if backup is not None:
                    backup.replace(target)
                else:
                    target.unlink(missing_ok=True)
        self._replaced.clear()
        self._committed = False

    def _begin(self, superseded: list[str]) -> None:
        """Note down durably what comes now; from here on a killed commit is completed."""
        note = self._staging / f"{_JOURNAL}.part"
        with note.open("x", encoding="utf-8") as file:
            json.dump({"files": list(self.files), "superseded": superseded}, file)
            file.flush()
            os.fsync(file.fileno())
        note.replace(self._staging / _JOURNAL)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with DeferredInterrupts():
            for staged in self.files.values():
                if not staged.closed:
                    # A full disk fails here again, and has been reported.
                    with contextlib.suppress(SinkError):
                        staged.close()
            _remove(self._staging)
            if self._lock is not None:
                os.close(self._lock)
            self._unmake()

    def _make(self, folder: Path) -> None:
        missing = []
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            self._made.append(path)

    def _unmake(self) -> None:
        """Remove the folders that were made for nothing."""
        if self._committed:
            return
        for folder in reversed(self._made):
            with contextlib.suppress(OSError):
                folder.rmdir()


def _failed(shown: str, error: OSError | ValueError) -> SinkError:
    return SinkError(f"{shown}: cannot be written: {getattr(error, 'strerror', None) or error}")


def _keep(target: Path, backup: Path) -> None:
    """A second name for the old file, which stays in place until the new one replaces it."""
    try:
        os.link(target, backup, follow_symlinks=False)
    except OSError:
        shutil.copy2(target, backup, follow_symlinks=False)


def _lock(staging: Path, flags: int = os.O_RDWR) -> int | None:
    """Hold a lock for as long as this process lives, where the system has such locks."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return None
    handle = os.open(staging / "lock", flags, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def settle(root: Path) -> None:
    """Complete what killed processes were putting in place below a folder."""
    if any(root.glob(f"{STAGING}*/{_JOURNAL}")):
        _tidy_up(root)


def _tidy_up(root: Path) -> None:
    """Complete or remove what a killed process has left; a living one still holds its lock.

    A process that is killed before it has its lock leaves an empty folder. One that is about to
    take it has such a folder too, so only an old one goes.
    """
    for staging in root.glob(f"{STAGING}*"):
        try:
            handle = _lock(staging)
        except FileNotFoundError:
            with contextlib.suppress(OSError):
                if time.time() - staging.stat().st_mtime > _ABANDONED:
                    _remove(staging)
            continue
        except OSError:
            continue
        if handle is not None:
            # What cannot be completed now, or is not of our making, is left for another time.
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                _complete(staging, root)
                _remove(staging)
            os.close(handle)


def _complete(staging: Path, root: Path) -> None:
    """Put in place what a killed process had not come to: its files were whole."""
    journal = staging / _JOURNAL
    if not journal.is_file():
        return
    plan = json.loads(journal.read_bytes())
    names, superseded = list(map(str, plan["files"])), list(map(str, plan["superseded"]))
    if any(
        name.startswith("/") or ".." in PurePosixPath(name).parts for name in [*names, *superseded]
    ):
        msg = f"{journal} names what is not below {root}"
        raise ValueError(msg)
    for name in names:
        new = staging / "new" / name
        if new.is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            new.replace(root / name)
    for name in superseded:
        (root / name).unlink(missing_ok=True)
    journal.unlink()


def _remove(staging: Path) -> None:
    """Remove a staging folder, its lock last: a process killed here leaves it to be found."""
    with contextlib.suppress(OSError):
        for path in staging.iterdir():
            if path.name != "lock":
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)
    shutil.rmtree(staging, ignore_errors=True)
