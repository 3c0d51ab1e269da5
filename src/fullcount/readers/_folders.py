"""Small JSON files of folders that harnesses write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.errors import DamagedInputError
from fullcount.readers._json import loads

if TYPE_CHECKING:
    from fullcount.sources import Source

__all__ = ["LARGEST", "object_of"]

LARGEST = 256 << 20


def object_of(source: Source, member: str, *, required: bool = False) -> dict[str, Any]:
    """The JSON object in a file of a folder, or in the source itself for an empty member.

    Args:
        source: The folder or file.
        member: Path below it, with `/`.
        required: Whether a file that is not there is an error and not an empty object.

    Raises:
        DamagedInputError: The file is missing, too large, or no object.
    """
    path = source.path / member if member else source.path
    named = member or None
    if not required and not path.is_file():
        return {}
    try:
        if path.stat().st_size > LARGEST:
            raise DamagedInputError(
                f"is larger than {LARGEST >> 20} MiB", source=source.shown, member=named
            )
        data = path.read_bytes()
    except OSError as error:
        raise DamagedInputError(
            f"cannot be read: {error.strerror}", source=source.shown, member=named
        ) from error
    value = loads(data, source=source.shown, member=named)
    if not isinstance(value, dict):
        raise DamagedInputError("must be a JSON object", source=source.shown, member=named)
    return value
