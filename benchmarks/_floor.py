"""Parses the bytes of a log and does nothing with them: what no reader can beat.

python benchmarks/_floor.py samples LOG.eval      every sample member
python benchmarks/_floor.py summaries LOG.eval    summaries.json alone
python benchmarks/_floor.py document LOG.json     the whole file
python benchmarks/_floor.py lines FOLDER          each line of its .jsonl files
python benchmarks/_floor.py documents FOLDER      each of its .json files whole
"""

from __future__ import annotations

import sys
import zipfile
import zlib
from pathlib import Path

import zstandard
from pydantic_core import from_json

_ZSTD = 93


def _members(path: Path, prefix: str) -> int:
    """Unpack and parse every member whose name starts so; gives how many."""
    decoder = zstandard.ZstdDecompressor()
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        chosen = [info for info in archive.infolist() if info.filename.startswith(prefix)]
        for info in chosen:
            file.seek(info.header_offset + 26)
            name, extra = file.read(2), file.read(2)
            file.seek(int.from_bytes(name, "little") + int.from_bytes(extra, "little"), 1)
            packed = file.read(info.compress_size)
            if info.compress_type == _ZSTD:
                data = decoder.decompressobj().decompress(packed)
            else:
                data = zlib.decompress(packed, wbits=-zlib.MAX_WBITS)
            from_json(data)
        return len(chosen)


def main() -> None:
    """Parse what the command line names."""
    kind, log = sys.argv[1], Path(sys.argv[2])
    if kind == "document":
        from_json(log.read_bytes())
    elif kind == "documents":
        for path in log.rglob("*.json"):
            from_json(path.read_bytes())
    elif kind == "lines":
        for path in log.rglob("*.jsonl"):
            with path.open("rb") as file:
                for line in file:
                    from_json(line)
    elif not _members(log, {"samples": "samples/", "summaries": "summaries.json"}[kind]):
        sys.exit(f"{log.name} holds no {kind}")


if __name__ == "__main__":
    main()
