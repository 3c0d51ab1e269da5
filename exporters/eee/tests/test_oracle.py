"""The official validator must find neither an error nor a warning."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from fullcount.convert import Target
from fullcount.plugin import ContentPolicy, Context
from fullcount.registry import make_options
from fullcount.testing import CORPUS, example, export_run, kitchen_sink
from fullcount.testing.planting import planted
from fullcount_eee import SPEC

if TYPE_CHECKING:
    from pathlib import Path

    from fullcount.model import Run, Trial

VALIDATOR = os.environ.get("FULLCOUNT_EEE_VALIDATOR")

pytestmark = pytest.mark.skipif(
    VALIDATOR is None, reason="FULLCOUNT_EEE_VALIDATOR does not name the command every_eval_ever"
)

NAMES = (
    "gpt2",
    "unknown",
    "Unknown/Unknown",
    "data/data",
    "a//b",
    "/a/b/",
    "CON/nul.txt",
    "com1:x/LPT9",
    "org/model:free",
    "org/a/b/c",
    ".hidden/..",
    "org/trailing. ",
    " org /model",
    'org/mo<d>e|l?*"\\',
    "org/\x00\x1b\u2028\u202e\U0001f600",
    "org/" + "x" * 300,
    "org/" + "/".join("é" * 50 for _ in range(6)),
    "org/[path:0123abcd]/model",
    "\u00a0",
)


def _write(run: Run, trials: tuple[Trial, ...], folder: Path, policy: ContentPolicy) -> None:
    target = Target(SPEC, make_options(SPEC, {}), folder)
    result = export_run(run, trials, target, context=Context(content=policy))
    assert result.error is None


def _validate(folder: Path) -> None:
    files = [path for path in (folder / "data").rglob("*") if path.is_file()]
    done = subprocess.run(
        [str(VALIDATOR), "validate", "--format", "json", f"{folder}/data/*/*/*/*.json*"],
        capture_output=True,
        text=True,
        check=False,
    )
    reports = json.loads(done.stdout)
    assert [report for report in reports if report["errors"] or report["warnings"]] == []
    assert done.returncode == 0
    assert len(reports) == len(files)


@pytest.mark.parametrize("policy", list(ContentPolicy))
def test_corpus(policy: ContentPolicy, tmp_path: Path) -> None:
    for name in CORPUS:
        _write(example(name).run, example(name).trials, tmp_path, policy)
    _write(*planted(*kitchen_sink()), tmp_path, policy)
    _validate(tmp_path)


def test_names(tmp_path: Path) -> None:
    plain = example("plain")
    for name in NAMES:
        subject = plain.run.subject.model_copy(update={"id": name})
        suite = plain.run.suite.model_copy(update={"name": name})
        run = plain.run.model_copy(update={"subject": subject, "suite": suite})
        _write(run, plain.trials, tmp_path, ContentPolicy.DIGEST)
        provider = subject.model_copy(update={"id": "flat", "provider": name})
        run = run.model_copy(update={"subject": provider})
        _write(run, plain.trials, tmp_path, ContentPolicy.DIGEST)
    _validate(tmp_path)
