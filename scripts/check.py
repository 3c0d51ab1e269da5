"""Run every check: style, types, the direction of imports, and the tests.

All of them run, whatever fails before, and the tests come last. Arguments go to pytest.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHECKS = (
    ("ruff", "check", "--quiet"),
    ("ruff", "format", "--check", "--quiet"),
    ("mypy",),
    ("lint-imports", "--no-cache"),
    ("pytest", "-q", "-n", "2"),
)


def main() -> int:
    """Run them and give the number of those that fail."""
    failed = 0
    for name, *arguments in CHECKS:
        tool = Path(sys.executable).with_name(name)
        more = sys.argv[1:] if name == "pytest" else []
        print(f"== {' '.join([name, *arguments, *more])}", flush=True)
        done = subprocess.run([tool, *arguments, *more], cwd=ROOT, check=False)
        failed += done.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
