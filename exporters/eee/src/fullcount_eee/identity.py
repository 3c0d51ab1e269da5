"""Where a run is filed: collection, developer, model, and ids that do not change.

The validator derives `data/<collection>/<developer>/<model>` from the ids in the file and warns
where the file stands elsewhere. It refuses names that some file system cannot hold, and
placeholders. A name that it refuses is written in a form that it takes, with a digest so that
two names stay two; the harness's own name is kept beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from fullcount_eee.names import (
    INVALID_IN_NAME,
    LONGEST_NAME,
    ROOT,
    SAMPLES_SUFFIX,
    UNKNOWN,
    WINDOWS_NAMES,
)

if TYPE_CHECKING:
    from fullcount.model import Run
    from fullcount.plugin import Context
    from fullcount_eee.options import EeeOptions

__all__ = ["UNSTATED_DEVELOPER", "Identity", "identify", "require_name", "unix_seconds"]

UNSTATED_DEVELOPER = "unspecified"
"""Folder of a model whose developer nobody states; the format refuses `unknown` there."""
_DIGEST = 8


@dataclass(frozen=True)
class Identity:
    """Where one run is filed, and under which ids.

    Attributes:
        collection: First folder below `data`.
        folder: The run's folder, from `data` on.
        model_id: As it is published; the harness's own where the format takes it.
        developer: As it is published; None where the id says it and nobody else does.
        uuid: Version 4, derived from the source and the run.
        evaluation_id: `collection/model/seconds-digest`.
        developer_stated: Whether an option, the id or the harness names the developer.
    """

    collection: str
    folder: str
    model_id: str
    developer: str | None
    uuid: str
    evaluation_id: str
    developer_stated: bool

    @property
    def aggregate_path(self) -> str:
        """Path of the aggregate file."""
        return f"{self.folder}/{self.uuid}.json"

    @property
    def samples_path(self) -> str:
        """Path of the samples file."""
        return f"{self.folder}/{self.uuid}{SAMPLES_SUFFIX}"


def identify(run: Run, options: EeeOptions, context: Context) -> Identity:
    """The identity of a run: the same for the same source, run and options."""
    suite, subject = run.suite, run.subject
    collection = _folder(
        _portable((options.collection or suite.dataset or suite.name).replace("/", "_"))
    )
    parts = [_portable(part) for part in (options.model_id or subject.id).split("/")]
    if len(parts) == 1:
        stated = options.developer or subject.provider
        developer = _portable((stated or UNSTATED_DEVELOPER).replace("/", "_"))
        folder, rest = developer, parts
    else:
        stated, developer = parts[0], options.developer or ""
        folder, rest = parts[0], parts[1:]
        if len("_".join(rest).encode()) > LONGEST_NAME:
            rest = [_portable("_".join(rest))]
        parts = [folder, *rest]
    model_id = "/".join(parts)
    uuid = str(context.uuid("eee", run.source.sha256 or "", run.id))
    time = run.started_at or run.created_at or run.completed_at
    # Runs of one suite can start in one second. Without a time the digest alone is stable.
    moment = uuid[:_DIGEST] if time is None else f"{unix_seconds(time)}-{uuid[:_DIGEST]}"
    return Identity(
        collection=collection,
        folder=f"{ROOT}/{collection}/{_folder(folder)}/{_folder('_'.join(rest))}",
        model_id=model_id,
        developer=developer or None,
        uuid=uuid,
        evaluation_id=f"{collection}/{model_id.replace('/', '_')}/{moment}",
        developer_stated=stated is not None,
    )


def unix_seconds(time: datetime) -> str:
    """Seconds since 1970 in decimal, exact to the microsecond."""
    micros = (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    seconds, rest = divmod(abs(micros), 1_000_000)
    fraction = f".{rest:06}".rstrip("0") if rest else ""
    return f"{'-' if micros < 0 else ''}{seconds}{fraction}"


def require_name(text: str) -> str:
    """The text, if every part of it can be a folder.

    Raises:
        ValueError: One cannot.
    """
    for part in text.split("/"):
        if not _is_portable(part):
            msg = f"{part!r} cannot be a folder of the format"
            raise ValueError(msg)
    return text


def _folder(name: str) -> str:
    return name.replace(":", "_")


def _is_portable(part: str) -> bool:
    name = _folder(part)
    return (
        bool(part)
        and part == part.strip()
        and part.isprintable()
        and name != ROOT
        and name.lower() != UNKNOWN
        and "/" not in part
        and not part.startswith(".")
        and not part.endswith(".")
        and INVALID_IN_NAME.search(part) is None
        and name.split(".", 1)[0].upper() not in WINDOWS_NAMES
        and len(name.encode()) <= LONGEST_NAME
    )


def _portable(part: str) -> str:
    """The part itself, or a name for it that every file system and the validator take."""
    if _is_portable(part):
        return part
    clean = "".join(char if char.isprintable() else "_" for char in part)
    clean = INVALID_IN_NAME.sub("_", clean).strip(" .") or UNKNOWN
    if clean.split(".", 1)[0].upper() in WINDOWS_NAMES:
        clean = f"_{clean}"
    room = LONGEST_NAME - _DIGEST - 1
    clean = clean.encode()[:room].decode("utf-8", "ignore").strip()
    digest = sha256(part.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{clean}-{digest}"
