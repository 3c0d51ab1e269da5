"""Installs a back end from PyPI into a venv of its own, and runs it for a while."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fullcount.convert import Target
from fullcount.model import TraceRef
from fullcount.plugin import Context
from fullcount.receipts import read_receipt, verify
from fullcount.testing import CORPUS, example, export_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

CONTEXT = Context(tool_version="0")


def installed(requirement: str, folder: str | None) -> Path:
    """The folder of the programs of a venv that has the requirement."""
    place = Path(folder) if folder else Path(tempfile.mkdtemp()) / "venv"
    programs = place / "bin"
    if not (programs / "python").exists():
        print(f"installing {requirement} into {place}", flush=True)
        venv.create(place, with_pip=True)
    subprocess.run([programs / "pip", "install", "--quiet", requirement], check=True)
    return programs


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextlib.contextmanager
def running(command: list[str], health: str, environment: Mapping[str, str]) -> Iterator[None]:
    """A server, from the moment it answers until the block is left."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env={**os.environ, **environment}
        )
        try:
            for _ in range(240):
                if process.poll() is not None:
                    break
                with contextlib.suppress(OSError):
                    fetch(health)
                    break
                time.sleep(0.5)
            if process.poll() is not None:
                log.seek(0)
                sys.exit(f"the server ended:\n{log.read()[-2000:]}")
            yield
        finally:
            process.terminate()
            process.wait(30)


def fetch(url: str) -> Any:
    """A JSON document, or None where the answer is none."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        content = answer.read()
    try:
        return json.loads(content)
    except ValueError:
        return None


def eventually(get: Callable[[], int], wanted: int) -> int:
    """What `get` gives, once it is `wanted` or has had its time."""
    for _ in range(60):
        with contextlib.suppress(urllib.error.URLError):
            if get() >= wanted:
                break
        time.sleep(0.5)
    time.sleep(1)
    return get()


def convert(folder: Path, options: Mapping[str, Any], **trace: str) -> list[dict[str, Any]]:
    """Every run of the corpus converted; for each, what its receipt says of the delivery."""
    details = []
    for name in CORPUS:
        run, trials = example(name).run, example(name).trials
        run = run.model_copy(update={"id": f"{name}-{run.id}"})
        if trace:
            ref = TraceRef(**trace)
            trials = tuple(t.model_copy(update={"trace": ref}) for t in trials)
        target = Target.named("otel", folder / name, options)
        result = export_run(run, trials, target, context=CONTEXT)
        assert result.error is None, result.error
        receipt = verify(*result.receipts.values())
        assert receipt.counts_read_back == receipt.counts_written
        details.append(read_receipt(*result.receipts.values()).details.get("delivery", {}))
    return details


def lines(folder: Path, signal: str) -> Iterator[dict[str, Any]]:
    """The records of one signal in the files of a conversion."""
    outer, middle, inner = {
        "logs": ("resourceLogs", "scopeLogs", "logRecords"),
        "traces": ("resourceSpans", "scopeSpans", "spans"),
    }[signal]
    for path in sorted(folder.rglob(f"*.{signal}.jsonl")):
        with path.open(encoding="utf-8") as file:
            for line in file:
                for resource in json.loads(line)[outer]:
                    for scope in resource[middle]:
                        yield from scope[inner]


def total(details: list[dict[str, Any]], signal: str) -> dict[str, int]:
    """The numbers of all receipts for one signal, added up."""
    found: dict[str, int] = {}
    for detail in details:
        for name, number in detail[signal].items():
            found[name] = found.get(name, 0) + number
    return found
