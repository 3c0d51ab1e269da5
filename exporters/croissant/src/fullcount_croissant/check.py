"""Checks a dataset with mlcroissant before it is put in place, and when it is verified."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from fullcount.errors import MissingDependencyError, VerificationError, one_line
from fullcount_croissant.aggregates import TABLES

if TYPE_CHECKING:
    from fullcount_croissant.options import CroissantOptions

__all__ = ["check", "require"]

_LONGEST = 400
_MISSING = (
    "'croissant' needs 'mlcroissant' to check a dataset; run: pip install 'fullcount[croissant]', "
    "or convert with check=false"
)


def require(options: CroissantOptions) -> None:
    """Refuse to begin what cannot be checked.

    Raises:
        MissingDependencyError: The dataset is to be checked, and mlcroissant is not installed.
    """
    if options.check and find_spec("mlcroissant") is None:
        raise MissingDependencyError(_MISSING)


def check(files: tuple[Path, ...], options: CroissantOptions) -> None:
    """Let mlcroissant validate the dataset and read its first records back.

    Raises:
        VerificationError: mlcroissant refuses it or reads something else than the files hold, or
            a table of another conversion stands beside it.
        MissingDependencyError: mlcroissant is not installed.
    """
    folder = next((path.parent for path in files if path.name == "croissant.json"), None)
    if folder is None:
        msg = "croissant.json is not among the files"
        raise VerificationError(msg)
    _refuse_strangers(folder, files)
    if not options.check:
        return
    require(options)
    script = Path(__file__).with_name("readback.py")
    # -P: the script's own folder holds modules of common names.
    command = [sys.executable, "-P", str(script), str(folder), str(options.check_records)]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - our own
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
        msg = f"mlcroissant cannot read the dataset: {one_line(lines[-1], _LONGEST)}"
        raise VerificationError(msg) from error
    for problem in (*found["errors"], *found["differences"]):
        msg = f"mlcroissant does not accept the dataset: {one_line(problem, _LONGEST)}"
        raise VerificationError(msg)


def _refuse_strangers(folder: Path, files: tuple[Path, ...]) -> None:
    """A table left over from somebody else would be read with ours by any `trials*.parquet`."""
    ours = {path.name for path in files}
    for table in TABLES:
        for path in sorted(folder.glob(f"{table.name}*.parquet")):
            if path.name not in ours:
                msg = f"{path.name}: is no file of this dataset, and would be read as one; move it"
                raise VerificationError(msg)
