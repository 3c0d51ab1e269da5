"""`fullcount sniff`."""

from __future__ import annotations

from pathlib import Path

import click

from fullcount.cli._console import emit, emit_json, say
from fullcount.errors import UnrecognizedInputError, one_line
from fullcount.registry import load_object, readers
from fullcount.sources import Source

__all__ = ["command"]


@click.command(name="sniff", short_help="Say what a file is, or propose a mapping for it.")
@click.argument("file", metavar="FILE")
@click.option("--mapping", "wanted", is_flag=True, help="Propose a mapping in any case.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, file: str, wanted: bool, as_json: bool) -> int:
    """Say which readers know FILE, and how sure they are.

    For rows that no reader knows, a mapping in TOML is proposed on standard output, to start
    from: it loads, its guesses are comments, and reader `records` takes it with
    `--from records -R mapping=MAPPING`.
    """
    path = Path(file)
    if not path.exists():
        raise UnrecognizedInputError("no such file or folder", source=one_line(file, 200))
    source = Source(path, shown=file)
    candidates = _candidates(source)
    proposal = None
    if not source.is_folder and (wanted or not candidates):
        from fullcount.readers.records.propose import propose  # noqa: PLC0415 - only when needed

        proposal = propose(source)
    if as_json:
        emit_json({"candidates": candidates, "mapping": proposal})
        return 0
    for found in candidates:
        line = f"{found['reader']}  {found['confidence']}  {found['reason']}".rstrip()
        emit(f"# {line}" if proposal else line)
    if proposal:
        emit(proposal.rstrip("\n"))
    elif not candidates:
        raise UnrecognizedInputError("no reader knows it, and it holds no rows", source=file)
    else:
        say(f"read it with: fullcount show {file}")
    return 0


def _candidates(source: Source) -> list[dict[str, object]]:
    """Readers that claim the source, the surest first."""
    found = []
    for entry in readers().entries():
        if entry.problem is not None or entry.spec is None:
            continue
        confidence = load_object(entry.spec, entry.spec.sniff)(source)
        if confidence.score > 0 or confidence.part_of:
            reason = confidence.reason
            if confidence.part_of:
                reason = f"{reason}, read with {confidence.part_of}".lstrip(", ")
            found.append({"reader": entry.name, "confidence": confidence.score, "reason": reason})
    return sorted(found, key=lambda each: (-int(str(each["confidence"])), str(each["reader"])))
