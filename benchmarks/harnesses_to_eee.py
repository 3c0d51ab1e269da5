"""Compares `fullcount convert` with the converter of Every Eval Ever on lm-eval and HELM runs.

    python benchmarks/harnesses_to_eee.py --peer ../eee-venv/bin/every_eval_ever

Generates the runs, converts each with its samples, every command in a process of its own, and
prints one table. The converter for HELM is an extra of every-eval-ever that does not go well with
the one for Inspect, so `--helm-peer` may name a program of another environment.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import generate_helm
import generate_lm_eval
from _compare import FULLCOUNT, PEER, PEER_VARIABLE, Row, growth, program, run, table
from _measure import Measured

__all__ = ["main"]

_HERE = Path(__file__).resolve().parent
_ONCE = 50_000
"""Runs of so many samples are converted once: the noise is small beside the time."""


def _made(kind: str, samples: int, logs: Path) -> Path:
    """A folder with a run; one that was made before is used again."""
    folder = logs / f"{kind}-{samples}"
    if not folder.exists():
        print(f"generating {folder.name}", file=sys.stderr)
        # A process of its own, so that this one, which every command starts from, stays small.
        generator = {"lm-eval": generate_lm_eval, "helm": generate_helm}[kind]
        name = "sums:method=multiple_choice_joint,model=open-lab_small-1b"
        place = folder / name if kind == "helm" else folder
        if (child := os.fork()) == 0:
            generator.generate(place, samples)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit(f"{generator.__name__} fails")
    return folder


def _commands(
    kind: str, folder: Path, out: Path, fullcount: str, peer: str | None
) -> dict[str, list[str | Path]]:
    floor = {"lm-eval": "lines", "helm": "documents"}[kind]
    commands: dict[str, list[str | Path]] = {
        FULLCOUNT: [fullcount, "convert", folder, "--to", "eee", "-o", out]
    }
    if peer:
        log = next(folder.iterdir()) if kind == "helm" else folder
        commands[PEER] = [
            *(peer, "convert", kind.replace("-", "_")),
            *("--log_path", log, "--output_dir", out / "data"),
            *(["--include_samples"] if kind == "lm-eval" else []),
        ]
    commands[f"parse its {floor}"] = [sys.executable, _HERE / "_floor.py", floor, folder]
    return commands


def main(arguments: list[str] | None = None) -> None:
    """Print the table; the exit status is 1 if fullcount fails on any run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--peer",
        default=os.environ.get(PEER_VARIABLE),
        help=f"every_eval_ever program; ${PEER_VARIABLE}",
    )
    parser.add_argument("--helm-peer", help="the same with its HELM extra; default: --peer")
    parser.add_argument("--fullcount", help="fullcount program; default: the installed one")
    parser.add_argument("--lm-eval", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--helm", type=int, nargs="*", default=[1_000, 5_000])
    parser.add_argument("--repeats", type=int, default=3, help="for runs below 50000 samples")
    parser.add_argument("--logs", type=Path, help="folder in which generated runs are kept")
    chosen = parser.parse_args(arguments)
    fullcount = program(FULLCOUNT, chosen.fullcount)
    if fullcount is None:
        parser.error("no fullcount program; install the project or name one with --fullcount")
    peer = program(PEER, chosen.peer)
    peers = {"lm-eval": peer, "helm": program(PEER, chosen.helm_peer) or peer}
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as temporary:
        logs = chosen.logs or Path(temporary)
        logs.mkdir(parents=True, exist_ok=True)
        out = logs / "out"
        for kind, sizes in (("lm-eval", chosen.lm_eval), ("helm", chosen.helm)):
            for samples in sizes:
                folder = _made(kind, samples, logs)
                commands = _commands(kind, folder, out, fullcount, peers[kind])
                new = [Row(kind, folder, samples, what, Measured()) for what in commands]
                repeats = 1 if samples >= _ONCE else chosen.repeats
                run(new, commands, out, logs / "bytecode", repeats)
                rows += new
        print(table(rows))
        print("", *growth(rows), sep="\n")
    if any(row.result.status for row in rows if row.what == FULLCOUNT):
        sys.exit(1)


if __name__ == "__main__":
    main()
