"""What a conversion wrote, and the means to check it again."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from fullcount.errors import (
    DamagedInputError,
    FullcountError,
    OptionError,
    VerificationError,
    one_line,
    quoted,
)
from fullcount.model import Counts, Model, ScoreState, Source, TrialStatus, Verdict
from fullcount.model._base import Count, Sha256, Text, Timestamp, Word
from fullcount.notices import Notice
from fullcount.registry import exporters, load_object, make_options
from fullcount.sinks import STAGING, settle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["RECEIPTS", "FileRecord", "Receipt", "find_receipts", "read_receipt", "verify"]

RECEIPTS = "receipts"
"""Folder of the receipts, below the folder of the artifacts."""
_SUFFIX = ".receipt.json"
_CHUNK = 1 << 20


class FileRecord(Model):
    """One file of an artifact."""

    path: Word
    """Relative to the folder of the artifacts, with `/`."""
    sha256: Sha256
    size: Count


class Receipt(Model):
    """What one exporter wrote for one source, or for all of them."""

    receipt_version: Literal[1] = 1
    tool: Word
    exporter: Word
    exporter_distribution: Word
    converted_at: Timestamp
    content: Word
    """The content policy."""
    options: dict[Text, object] = {}
    """The exporter's options; secrets are masked."""
    sources: tuple[Source, ...]
    files: tuple[FileRecord, ...]
    counts_written: tuple[Counts, ...]
    """The tally of every run, as the source gives it."""
    counts_read_back: tuple[Counts, ...]
    """The same, recounted from the artifact's own typed fields."""
    details: dict[Text, object] = {}
    """What the exporter adds, such as how many records a server accepted."""
    notices: tuple[Notice, ...] = ()


def find_receipts(artifact: Path) -> Iterator[Path]:
    """The receipts of a folder, of a file an exporter wrote, or a receipt itself.

    A folder may be that of several exporters, each with a folder of its own in it.

    Raises:
        VerificationError: There is none.
    """
    if artifact.name.endswith(_SUFFIX) and artifact.is_file():
        settle(root_of(artifact))
        yield artifact
        return
    if artifact.is_dir():
        for folder in (artifact, *{path.parent for path in artifact.glob(f"*/{STAGING}*")}):
            settle(folder)
        found = [
            path
            for pattern in (RECEIPTS, f"*/{RECEIPTS}")
            for place in sorted(artifact.glob(pattern))
            for path in sorted(place.rglob(f"*{_SUFFIX}"))
        ]
        if found:
            yield from found
            return
    for folder in artifact.absolute().parents:
        if (folder / RECEIPTS).is_dir():
            settle(folder)
        for path in sorted((folder / RECEIPTS).rglob(f"*{_SUFFIX}")):
            files = {folder / record.path for record in read_receipt(path).files}
            if artifact.absolute() in files or any(
                artifact.absolute() in file.parents for file in files
            ):
                yield path
                return
    msg = f"{artifact}: no receipt is below it or names it; was it written by fullcount?"
    raise VerificationError(msg)


def read_receipt(path: Path) -> Receipt:
    """A receipt from its file.

    Raises:
        DamagedInputError: It cannot be read or is no receipt.
    """
    try:
        return Receipt.model_validate_json(path.read_bytes())
    except OSError as error:
        raise DamagedInputError(f"cannot be read: {error.strerror}", source=str(path)) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        pointer = "/" + "/".join(map(str, first["loc"]))
        raise DamagedInputError(
            f"is no receipt: {first['msg']}", source=str(path), pointer=pointer
        ) from error


def root_of(receipt: Path) -> Path:
    """The folder that the receipt's paths are relative to."""
    for folder in receipt.absolute().parents:
        if folder.name == RECEIPTS:
            return folder.parent
    msg = f"{receipt}: a receipt must stand in its folder {RECEIPTS!r}"
    raise VerificationError(msg)


def verify(path: Path) -> Receipt:
    """Check files against a receipt, and recount them.

    Raises:
        VerificationError: A file is not there or was changed, its counts are not the ones that
            were written, or it breaks its format's own rules.
    """
    receipt = read_receipt(path)
    root = root_of(path)
    files = tuple(_place(root, record, path) for record in receipt.files)
    for file, record in zip(files, receipt.files, strict=True):
        _check(file, record)
    spec = exporters().get(receipt.exporter)
    recount = load_object(spec, spec.recount)
    with _attributed(path, f"exporter {spec.name!r} cannot recount what it wrote"):
        recounted = tuple(recount(files))
    compare(receipt.counts_written, recounted, str(path))
    if spec.check:
        check = load_object(spec, spec.check)
        try:
            options = make_options(spec, receipt.options)
        except OptionError:  # those of another version of the exporter
            options = spec.options()
        with _attributed(path, f"exporter {spec.name!r} cannot check what it wrote"):
            check(files, options)
    return receipt


@contextmanager
def _attributed(path: Path, problem: str) -> Iterator[None]:
    try:
        yield
    except FullcountError:
        raise
    except Exception as error:
        msg = f"{path}: {problem}: {type(error).__name__}: {one_line(str(error), 300)}"
        raise VerificationError(msg) from error


def superseded(path: Path, kept: set[str]) -> tuple[str, ...]:
    """The files of an earlier artifact that a new one in its place does not have.

    A table left over from it would be read as part of the new one. What somebody changed since
    is not ours to remove.
    """
    try:
        receipt = read_receipt(path)
    except DamagedInputError:
        return ()
    found = []
    for record in receipt.files:
        if record.path not in kept:
            try:
                _check(_place(root_of(path), record, path), record)
            except VerificationError:
                continue
            found.append(record.path)
    return tuple(found)


def compare(written: tuple[Counts, ...], recounted: tuple[Counts, ...], shown: str) -> None:
    """Hold what an artifact gives back against what the source gave.

    Raises:
        VerificationError: They differ; the message names the first difference.
    """
    expected = sorted(written, key=_order)
    found = sorted(recounted, key=_order)
    if expected == found:
        return
    msg = f"{shown}: {_difference(expected, found)}"
    raise VerificationError(msg)


def _order(counts: Counts) -> tuple[str, str]:
    return counts.run_id, json.dumps(counts.model_dump(mode="json"), sort_keys=True)


def _difference(expected: list[Counts], found: list[Counts]) -> str:
    missing = Counter(counts.run_id for counts in expected)
    missing.subtract(counts.run_id for counts in found)
    if any(missing.values()):
        only = ", ".join(quoted(run_id) for run_id, count in sorted(missing.items()) if count)
        return f"runs differ between source and artifact: {only}"
    for left, right in zip(expected, found, strict=True):
        for place, value, other in _fields(left, right):
            if value != other:
                return f"run {quoted(left.run_id)}: {place} is {value} in the source, {other} here"
    return "the counts differ"


def _fields(left: Counts, right: Counts) -> Iterator[tuple[str, object, object]]:
    """Each count of two runs, the smallest that can be named."""
    yield "total", left.total, right.total
    for status in TrialStatus:
        yield f"status {status.value}", left.statuses[status], right.statuses[status]
    for verdict in Verdict:
        yield f"verdict {verdict.value}", left.verdicts[verdict], right.verdicts[verdict]
    yield "no_verdict", left.no_verdict, right.no_verdict
    names = [metric.name for metric in left.metrics]
    yield "the list of metrics", names, [metric.name for metric in right.metrics]
    for ours, theirs in zip(left.metrics, right.metrics, strict=True):
        for state in ScoreState:
            place = f"{quoted(ours.name)} {state.value}"
            yield place, ours.states[state], theirs.states[state]


def _place(root: Path, record: FileRecord, receipt: Path) -> Path:
    parts = PurePosixPath(record.path).parts
    if record.path.startswith("/") or ".." in parts or "\\" in record.path or ":" in record.path:
        msg = f"{receipt}: names {quoted(record.path)}, which is not below its folder"
        raise VerificationError(msg)
    return root / record.path


def _check(path: Path, record: FileRecord) -> None:
    digest = hashlib.sha256()
    size = 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                size += len(chunk)
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror or error}"
        raise VerificationError(msg) from error
    if digest.hexdigest() != record.sha256:
        msg = f"{path}: was changed after it was written ({size} bytes, receipt says {record.size})"
        raise VerificationError(msg)
