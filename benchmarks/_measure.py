"""What a command costs: processor seconds and peak memory of the process itself.

    python benchmarks/_measure.py --repeats 3 fullcount convert LOG --to eee -o OUT

Wall time says little on a machine that does other work; what the kernel has charged to the
process (`getrusage`) says much more. A child that the command starts and waits for is counted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Measured", "measure"]

# Kibibytes on Linux, bytes on macOS.
_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass
class Measured:
    """What some runs of one command cost.

    Attributes:
        user: Seconds in the program's own code, for each run.
        system: Seconds in the kernel on its behalf, for each run.
        peak: The largest resident set of any run, in bytes.
        status: Exit status of the last run.
        last_line: Last line that it wrote to its standard error.
    """

    user: list[float] = field(default_factory=list)
    system: list[float] = field(default_factory=list)
    peak: int = 0
    status: int = 0
    last_line: str = ""

    @property
    def processor(self) -> list[float]:
        """User and system seconds of each run."""
        return [user + system for user, system in zip(self.user, self.system, strict=True)]


def measure(
    command: Sequence[str | os.PathLike[str]],
    result: Measured,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Run a command once, and add what it cost.

    The peak of a process is never below that of the process which started it, so the caller
    must stay small: it should not read a log itself.

    Args:
        command: Program and arguments.
        result: Where to add it.
        environ: All variables of the command; by default those of this process.
    """
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=environ,
        )
        _, code, usage = os.wait4(process.pid, 0)
        # The process is gone; without this, Popen would look for it again.
        process.returncode = os.waitstatus_to_exitcode(code)
        result.last_line = _last_line(errors.fileno())
    result.status = process.returncode
    result.user.append(usage.ru_utime)
    result.system.append(usage.ru_stime)
    result.peak = max(result.peak, usage.ru_maxrss * _UNIT)


def _last_line(handle: int) -> str:
    end = os.lseek(handle, 0, os.SEEK_END)
    tail = os.pread(handle, 4096, max(0, end - 4096)).decode(errors="replace").strip()
    return tail.rpartition("\n")[2].strip()


def main() -> None:
    """Measure the command of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=1, help="default 1")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    chosen = parser.parse_args()
    if not chosen.command:
        parser.error("name a command")
    result = Measured()
    for _ in range(chosen.repeats):
        measure(chosen.command, result)
        if result.status:
            break
    for name, values in (
        ("user", result.user),
        ("system", result.system),
        ("user + system", result.processor),
    ):
        print(f"{name:14}{min(values):9.2f} s min{median(values):9.2f} s median")
    print(f"{'peak':14}{result.peak / 1e6:9.1f} MB")
    if result.status:
        print(f"exit status {result.status}: {result.last_line}")
    sys.exit(result.status)


if __name__ == "__main__":
    main()
