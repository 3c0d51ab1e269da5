"""Whether a file is an Inspect log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fullcount.plugin import Confidence

if TYPE_CHECKING:
    from fullcount.sources import Source

__all__ = ["is_archive", "sniff"]

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_JOURNAL = (b"_journal/start.json", b"header.json")
_TASK = re.compile(rb'"eval"\s*:\s*\{')
_KEYS = (b'"status"', b'"task"')  # what follows may lie behind a long list of sample ids


def is_archive(head: bytes) -> bool:
    """Whether a file that starts like this is an archive."""
    return head.startswith(_ZIP)


def sniff(source: Source) -> Confidence:
    """An archive with Inspect's members, or an object with `eval` and `status`."""
    head = source.head
    if is_archive(head):
        with source.open() as file:
            file.seek(max(0, source.size - 65_536))
            tail = file.read()
        if any(name in head or name in tail for name in _JOURNAL):
            return Confidence(95, "archive with the members of an Inspect log")
        if source.path.suffix == ".eval":
            return Confidence(40, "archive named .eval")
        return Confidence(0)
    if head.startswith(b"\xef\xbb\xbf"):
        head = head[3:]
    if head.lstrip().startswith(b"{") and _TASK.search(head) and all(k in head for k in _KEYS):
        return Confidence(90, "object with eval and status")
    return Confidence(0)
