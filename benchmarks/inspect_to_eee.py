"""Compares `fullcount convert` with the converter of Every Eval Ever, on the same Inspect logs.

    python benchmarks/inspect_to_eee.py --peer ../eee-venv/bin/every_eval_ever

Generates the logs, runs every command in a process of its own, and prints one table.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from _compare import FULLCOUNT, PEER, PEER_VARIABLE, Row, growth, program, run, table
from _measure import Measured, measure

__all__ = ["main"]

_HERE = Path(__file__).resolve().parent
_ONCE = 50_000
"""Logs of so many samples are converted once: the noise is small beside the time."""
_NAN_SAMPLES = 1_000
_WARM_UP = 20
_FLOORS = {
    ".eval": {
        "parse every sample member": "samples",
        "parse summaries.json alone": "summaries",
    },
    ".json": {"parse the document": "document"},
}


@dataclass(frozen=True)
class _Bench:
    """The programs that are compared, and where they may write."""

    fullcount: str
    peer: str | None
    logs: Path
    seed: int
    repeats: int

    def log(self, samples: int, suffix: str, nan_rate: float) -> Path:
        """A generated log; one of the same settings is used again."""
        share = f"{nan_rate:g}".replace(".", "_")
        path = self.logs / f"open-questions-{samples}-nan{share}-seed{self.seed}{suffix}"
        if not path.exists():
            print(f"generating {path.name}", file=sys.stderr)
            partial = path.with_stem(f"partial-{path.stem}")
            command = [sys.executable, str(_HERE / "generate_inspect.py"), str(partial)]
            settings = [f"--samples={samples}", f"--nan-rate={nan_rate}", f"--seed={self.seed}"]
            measure([*command, *settings], result := Measured())
            if result.status:
                sys.exit(f"generate_inspect.py fails: {result.last_line}")
            partial.rename(path)
        return path

    def rows(self, log: Path, samples: int, *, floors: bool = True) -> list[Row]:
        """Everything measured on one log."""
        out = self.logs / "out"
        commands: dict[str, list[str | Path]] = {
            FULLCOUNT: [self.fullcount, "convert", log, "--to", "eee", "-o", out]
        }
        if self.peer:
            commands[PEER] = [
                *(self.peer, "convert", "inspect"),
                *("--log_path", log, "--output_dir", out / "data"),
            ]
        if floors:
            for what, kind in _FLOORS[log.suffix].items():
                commands[what] = [sys.executable, _HERE / "_floor.py", kind, log]
        rows = [Row(log.suffix, log, samples, what, Measured()) for what in commands]
        repeats = 1 if samples >= _ONCE else self.repeats
        run(rows, commands, out, self.logs / "bytecode", repeats)
        return rows


def main(arguments: list[str] | None = None) -> None:
    """Print the table; the exit status is 1 if fullcount fails on any log."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--peer",
        default=os.environ.get(PEER_VARIABLE),
        help=f"every_eval_ever program; ${PEER_VARIABLE}",
    )
    parser.add_argument("--fullcount", help="fullcount program; default: the installed one")
    parser.add_argument("--samples", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--formats", nargs="+", choices=list(_FLOORS), default=list(_FLOORS))
    parser.add_argument("--repeats", type=int, default=3, help="for logs below 50000 samples")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--logs", type=Path, help="folder in which generated logs are kept")
    chosen = parser.parse_args(arguments)
    fullcount = program(FULLCOUNT, chosen.fullcount)
    if fullcount is None:
        parser.error("no fullcount program; install the project or name one with --fullcount")
    peer = program(PEER, chosen.peer)
    with tempfile.TemporaryDirectory() as temporary:
        logs = chosen.logs or Path(temporary)
        logs.mkdir(parents=True, exist_ok=True)
        bench = _Bench(fullcount, peer, logs, chosen.seed, chosen.repeats)
        # Not measured: after this, both programs have been compiled.
        bench.rows(bench.log(_WARM_UP, ".eval", 0.0), _WARM_UP, floors=True)
        rows: list[Row] = []
        for suffix in chosen.formats:
            for samples in chosen.samples:
                rows += bench.rows(bench.log(samples, suffix, 0.0), samples)
        with_nan: list[Row] = []
        for suffix in chosen.formats:
            log = bench.log(_NAN_SAMPLES, suffix, 0.01)
            with_nan += bench.rows(log, _NAN_SAMPLES, floors=False)
        if peer is None:
            where = (
                f"{chosen.peer} is no program" if chosen.peer else "no such program is installed"
            )
            print(f"{PEER} is not measured: {where}; name it with --peer or ${PEER_VARIABLE}\n")
        print("Logs without NaN scores, which every_eval_ever 0.3.0 cannot convert:\n")
        print(table(rows))
        print("\nThe same kind of log, the judge giving NaN on one sample in a hundred:\n")
        print(table(with_nan))
        print("", *growth(rows), sep="\n")
    if any(row.result.status for row in rows + with_nan if row.what == FULLCOUNT):
        sys.exit(1)


if __name__ == "__main__":
    main()
