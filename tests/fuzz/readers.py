"""Feeds damaged logs to a reader, guided by coverage; needs atheris, on Linux or macOS.

    pip install atheris
    python tests/fuzz/readers.py inspect --seconds 60
    python tests/fuzz/readers.py --all --seconds 60 --seeds LOGS

Seeds are the example log, the logs of the public bug reports, what they become in our own formats,
and the files below `--seeds` that the reader knows. Of a log that is a folder, one file is damaged
at a time. A reader may refuse an input; anything else that it raises, two trials of one record, a
total that is not the number of trials, 2 GiB of memory or 20 seconds end the run.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import atheris

with atheris.instrument_imports(include=["fullcount"], enable_loader_override=False):
    from fullcount import api, registry
    from fullcount.errors import InputError, OptionError
    from fullcount.notices import Report
    from fullcount.pipeline import Input, find_inputs, open_runs
    from fullcount.plugin import ContentPolicy, ReadRequest, SurveyNeeded
    from fullcount.sources import Source
    from fullcount.tally import TallyBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
BUGS = ROOT / "tests" / "data" / "public_bugs"
EXAMPLE = ROOT / "examples" / "capitals.eval"
SMALL = {
    "swe-bench": '{"total_instances": 2, "submitted_ids": ["a"], "completed_ids": ["a"], '
    '"resolved_ids": ["a"], "unresolved_ids": [], "error_ids": [], "empty_patch_ids": [], '
    '"incomplete_ids": ["b"], "schema_version": 2}',
    "pydantic-evals": '{"name": "t", "cases": [{"name": "a [1/2]", "inputs": 1, "scores": {"s": '
    '{"name": "s", "value": 1.0, "source": {"name": "E"}}}, "labels": {}, "assertions": {}, '
    '"source_case_name": "a", "evaluator_failures": [{"name": "E"}]}], "failures": [{"name": "b", '
    '"error_message": "x"}], "report_evaluator_failures": []}',
}


def seeds(reader: str, given: Path | None) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Logs of this reader, with the options to read them."""
    for folder in sorted(BUGS.iterdir()):
        about = tomllib.loads((folder / "expected.toml").read_text("utf-8"))
        if about["format"] == reader:
            options = about.get("options", {})
            if "mapping" in options:
                options["mapping"] = str(folder / options["mapping"])
            yield (folder / about["input"]).resolve(), options
    place = Path(tempfile.mkdtemp())
    if reader == "inspect":
        yield EXAMPLE, {}
    elif reader in ("eee", "native"):
        api.convert(EXAMPLE, reader, place)
        suffix = "*.json" if reader == "eee" else "*.jsonl"
        yield next(p for p in sorted(place.rglob(suffix)) if "receipt" not in p.name), {}
    elif reader in SMALL:
        path = place / "model.run.json"
        path.write_text(SMALL[reader])
        yield path, {}
    if given is not None:
        for item in find_inputs([given], Report()):
            if isinstance(item, Input) and item.reader.name == reader:
                yield item.source.path, {}


def victims(log: Path) -> list[Path]:
    """The files that make up a log: those of a folder, or one and its companions."""
    if log.is_dir():
        return sorted(path for path in log.rglob("*") if path.is_file())
    beside = [p for p in log.parent.iterdir() if p != log and p.name.startswith(log.stem[:20])]
    samples = [p for p in log.parent.glob("samples_*.jsonl") if p != log]
    return sorted({log, *beside, *samples}, key=lambda path: (path != log, path.name))


def check(reader: str, log: Path, options: dict[str, Any]) -> None:
    """Read a log; whatever it is, every trial counts once."""
    spec = registry.readers().get(reader)
    item = Input(Source(log), spec, registry.make_options(spec, options))
    for survey in (False, True):
        try:
            for stream in open_runs(item, ReadRequest(ContentPolicy.DIGEST, Report(), survey)):
                tally = TallyBuilder(stream.run)
                seen: Counter[tuple[object, ...]] = Counter()
                for trial in stream.trials:
                    # The record it was made of; what we wrote keeps the place in the first file.
                    place = len(seen) if reader in ("eee", "native") else trial.pointer
                    seen[place, trial.case_id, trial.case_id_type, trial.attempt] += 1
                    tally.add(trial)
                twice = [key for key, count in seen.items() if count > 1]
                assert not twice, f"counted twice: {twice[:3]}"
                assert tally.build().counts.total == seen.total()
        except SurveyNeeded:
            assert not survey
        except (InputError, OptionError):
            return
        else:
            return


def fuzz(reader: str, chosen: argparse.Namespace) -> None:
    """Fuzz one reader in this process; ends by itself."""
    known = list(seeds(reader, chosen.seeds))
    corpus = Path(tempfile.mkdtemp())
    place = Path(tempfile.mkdtemp())
    targets: list[tuple[Path, Path, dict[str, Any]]] = []
    for log, options in known:
        copy = place / str(len(targets)) / log.name
        copy.parent.mkdir()
        files = victims(log)
        if log.is_dir():
            shutil.copytree(log, copy)
        else:
            for path in files:
                shutil.copy(path, copy.parent / path.name)
        for path in files:
            inner = path.relative_to(log) if log.is_dir() else Path("..") / path.name
            target = (copy / inner).resolve() if log.is_dir() else copy.parent / path.name
            if len(targets) < 256 and path.stat().st_size < 1 << 20:
                (corpus / str(len(targets))).write_bytes(bytes([len(targets)]) + path.read_bytes())
                targets.append((copy, target, options))
    whole = [target.read_bytes() for _, target, _ in targets]

    def one(data: bytes) -> None:
        number = data[0] % len(targets) if data else 0
        log, target, options = targets[number]
        target.write_bytes(data[1:])
        try:
            check(reader, log, options)
        finally:
            target.write_bytes(whole[number])

    arguments = [sys.argv[0], f"-max_total_time={chosen.seconds}", "-timeout=20"]
    arguments += ["-rss_limit_mb=2048", "-max_len=1048576", "-print_final_stats=1", str(corpus)]
    atheris.Setup(arguments, one)
    atheris.Fuzz()


def main() -> None:
    """Fuzz the reader that is named, or each in a process of its own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("reader", nargs="?")
    parser.add_argument("--all", action="store_true", help="every reader in turn")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seeds", type=Path, help="folder with more logs")
    chosen = parser.parse_args()
    if not chosen.all:
        if chosen.reader is None:
            parser.error("name a reader, or --all")
        fuzz(chosen.reader, chosen)
        return
    failed = []
    for name in registry.readers().names():
        command = [sys.executable, __file__, name, f"--seconds={chosen.seconds}"]
        command += [f"--seeds={chosen.seeds}"] if chosen.seeds else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        stats = [line for line in done.stderr.splitlines() if "number_of_executed_units" in line]
        units = stats[0].split()[-1] if stats else "?"
        print(f"{name:16} {'ok' if done.returncode == 0 else 'FAILS'} {units} inputs", flush=True)
        if done.returncode:
            failed.append(name)
            print(done.stderr[-3000:])
    with contextlib.suppress(FileNotFoundError):
        for path in Path().glob("slow-unit-*"):
            path.unlink()
    sys.exit(len(failed))


if __name__ == "__main__":
    main()
