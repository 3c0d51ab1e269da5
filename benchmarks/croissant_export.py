"""What the Croissant export costs, against writing the same Parquet files bare.

    python benchmarks/croissant_export.py

Each size runs in a process of its own. `export` is the processor time in the exporter alone, from
the first trial to the closed files; `bare` is the time that Arrow takes to turn the same values,
held as Python lists, into the same row groups. `peak` is the largest resident set; `start` what
was resident before the first trial, Python and Arrow themselves.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.model import Run, Trial

__all__ = ["main"]

_CHUNK = 1_000
_START = datetime(2026, 3, 2, 9, tzinfo=UTC)
# Kibibytes on Linux, bytes on macOS.
_UNIT = 1 if sys.platform == "darwin" else 1024


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def _run() -> Run:
    from fullcount.model import Run  # noqa: PLC0415 - only in the process that is measured

    metric = {"minimum": 0.0, "maximum": 1.0, "threshold": 1.0}
    return Run.model_validate(
        {
            "id": "benchmark",
            "source": {"format": "benchmark"},
            "harness": {"name": "benchmark"},
            "subject": {"id": "acme/anvil-1"},
            "suite": {"name": "hammering"},
            "evaluators": [
                {"name": "exact", "kind": "rule", "metrics": [{"name": "exact", **metric}]},
                {"name": "judge", "kind": "model", "metrics": [{"name": "quality", **metric}]},
            ],
        }
    )


def _trials(count: int) -> Iterator[list[Trial]]:
    """Trials in chunks: one in ten has no score for a metric, as real runs have."""
    from fullcount.model import Trial  # noqa: PLC0415 - only in the process that is measured

    def trial(number: int) -> Trial:
        value = float(number % 3 == 0)
        scores: list[dict[str, Any]] = [
            {"evaluator": "exact", "metric": "exact", "state": "scored", "value": value},
            {"evaluator": "judge", "metric": "quality", "state": "scored", "value": number / count},
        ]
        if number % 10 == 0:
            scores[1] = {"evaluator": "judge", "metric": "quality", "state": "nan"}
        else:
            scores[1]["explanation"] = {"sha256": f"{number:064x}"}
        return Trial.model_validate(
            {
                "case_id": f"case-{number}",
                "status": "completed",
                "scores": scores,
                "started_at": _START + timedelta(seconds=number),
                "completed_at": _START + timedelta(seconds=number + 9),
                "duration": 9.0,
                "usage": {"input_tokens": 700 + number % 50, "output_tokens": number % 90},
                "trace": {"record_id": f"{number:022x}"},
                "content": {
                    "input": {"sha256": f"{number:064x}"},
                    "references": [{"sha256": f"{number + 1:064x}"}],
                    "outputs": [{"sha256": f"{number + 2:064x}"}],
                },
                "sample_hash": f"{number + 3:064x}",
            }
        )

    for start in range(0, count, _CHUNK):
        yield [trial(number) for number in range(start, min(start + _CHUNK, count))]


def _export(count: int, folder: Path) -> dict[str, float]:
    from fullcount.notices import Report  # noqa: PLC0415 - as above
    from fullcount.plugin import Context  # noqa: PLC0415 - as above
    from fullcount.sinks import DirectorySink  # noqa: PLC0415 - as above
    from fullcount.tally import TallyBuilder  # noqa: PLC0415 - as above
    from fullcount_croissant.options import CroissantOptions  # noqa: PLC0415 - as above
    from fullcount_croissant.writer import CroissantWriter  # noqa: PLC0415 - as above

    options = CroissantOptions(license="CC-BY-4.0", check=False)
    run = _run()
    with DirectorySink(folder) as sink:
        writer = CroissantWriter(sink, options, Report(), Context())
        tally = TallyBuilder(run)
        start = _peak()
        spent = -time.process_time()
        writer.begin(run)
        spent += time.process_time()
        for chunk in _trials(count):
            for trial in chunk:
                tally.add(trial)
            spent -= time.process_time()
            for trial in chunk:
                writer.add(trial)
            spent += time.process_time()
        spent -= time.process_time()
        writer.end(tally.build())
        writer.close()
        spent += time.process_time()
        sink.commit()
    size = sum(path.stat().st_size for path in folder.glob("*.parquet"))
    return {"export": spent, "peak": _peak(), "start": start, "size": size}


def _bare(folder: Path) -> dict[str, float]:
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    spent = 0.0
    for path in sorted(folder.glob("*.parquet")):
        with pq.ParquetFile(path) as source:
            schema = source.schema_arrow
            row = source.metadata.row_group(0) if source.num_row_groups else None
            columns = [] if row is None else [row.column(i) for i in range(row.num_columns)]
            by_dictionary = [c.path_in_schema for c in columns if c.has_dictionary_page]
            copy = folder / f"{path.name}.bare"
            with pq.ParquetWriter(
                copy, schema, compression="zstd", use_dictionary=by_dictionary
            ) as target:
                for group in range(source.num_row_groups):
                    values = source.read_row_group(group).to_pydict()
                    spent -= time.process_time()
                    arrays = [pa.array(values[field.name], field.type) for field in schema]
                    target.write_table(pa.Table.from_arrays(arrays, schema=schema))
                    spent += time.process_time()
            copy.unlink()
    return {"bare": spent}


def _read_back(folder: Path) -> dict[str, float]:
    from fullcount_croissant import readback  # noqa: PLC0415 - as above

    spent = -time.process_time()
    found = readback.main(folder, 100)
    assert found == {"errors": [], "warnings": [], "differences": []}, found
    return {"check": spent + time.process_time(), "check_peak": _peak()}


def _child(what: str, count: int, folder: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--what", what, str(count), folder]
    done = subprocess.run(command, check=True, capture_output=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    """Measure every size, or be the process that is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--what", choices=["export", "bare", "check"])
    parser.add_argument("numbers", nargs="*", default=["10000", "100000"])
    arguments = parser.parse_args()
    if arguments.what:
        count, folder = int(arguments.numbers[0]), Path(arguments.numbers[1])
        if arguments.what == "export":
            found = _export(count, folder)
        else:
            found = _bare(folder) if arguments.what == "bare" else _read_back(folder)
        print(json.dumps(found))
        return
    print("| trials | Parquet MB | export s | bare s | ratio | start MB | peak MB | check s | MB |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for count in map(int, arguments.numbers):
        with tempfile.TemporaryDirectory() as folder:
            result = _child("export", count, folder)
            result |= _child("bare", count, folder) | _child("check", count, folder)
        print(
            f"| {count} | {result['size'] / 1e6:.1f} | {result['export']:.2f} | "
            f"{result['bare']:.2f} | {result['export'] / result['bare']:.2f} | "
            f"{result['start'] / 1e6:.0f} | {result['peak'] / 1e6:.0f} | {result['check']:.1f} | "
            f"{result['check_peak'] / 1e6:.0f} |"
        )


if __name__ == "__main__":
    main()
