"""What the tests of the exporter share."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft7Validator

from fullcount.convert import Target
from fullcount.plugin import ContentPolicy, Context
from fullcount.registry import make_options
from fullcount.testing import export_run
from fullcount_eee import SPEC
from fullcount_eee.recount import recount

if TYPE_CHECKING:
    from fullcount.model import Counts, Run, Trial
    from fullcount.notices import Notice

_SCHEMAS = Path(__file__).parent / "schema"


def _validator(name: str) -> Draft7Validator:
    return Draft7Validator(json.loads((_SCHEMAS / name).read_text()))


_AGGREGATE = _validator("eval.schema.json")
_INSTANCE = _validator("instance_level_eval.schema.json")


def _no_constant(name: str) -> None:
    msg = f"{name} is no JSON"
    raise ValueError(msg)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    assert len(found) == len(pairs), "an object has a key twice"
    return found


def read_json(data: bytes) -> Any:
    """The value, by the strict rules of the upstream validator."""
    assert data.isascii()
    return json.loads(data, parse_constant=_no_constant, object_pairs_hook=_no_duplicates)


@dataclass(frozen=True)
class Exported:
    """What was written for one run."""

    folder: Path
    path: Path
    aggregate: Any
    rows: list[Any]
    counts: Counts
    notices: dict[str, Notice]

    def result(self, name: str) -> Any:
        """The result of a metric name, which must be the only one."""
        (found,) = [
            result
            for result in self.aggregate["evaluation_results"]
            if result["metric_config"]["metric_name"] == name
        ]
        return found

    def names(self) -> list[str]:
        return [r["metric_config"]["metric_name"] for r in self.aggregate["evaluation_results"]]

    def score(self, name: str) -> Any:
        return self.result(name)["score_details"]["score"]

    def rows_of(self, name: str) -> list[Any]:
        wanted = self.result(name)["evaluation_result_id"]
        return [row for row in self.rows if row["evaluation_result_id"] == wanted]


def check_folder(folder: Path) -> None:
    """Hold every file below a folder to the official schemas, and pairs to each other."""
    files = sorted((folder / "data").rglob("*.json*"))
    assert files
    for path in files:
        if path.name.endswith("_samples.jsonl"):
            assert path.with_name(path.name.replace("_samples.jsonl", ".json")) in files
            continue
        document = read_json(path.read_bytes())
        assert [error.message for error in _AGGREGATE.iter_errors(document)] == []
        ids = [result["evaluation_result_id"] for result in document["evaluation_results"]]
        assert len(set(ids)) == len(ids)
        samples = path.with_name(f"{path.stem}_samples.jsonl")
        assert samples.exists() is ("detailed_evaluation_results" in document)
        if samples.exists():
            for line in samples.read_bytes().splitlines():
                row = read_json(line)
                assert [error.message for error in _INSTANCE.iter_errors(row)] == []
                assert row["evaluation_id"] == document["evaluation_id"]
                assert row["model_id"] == document["model_info"]["id"]
                assert row["evaluation_result_id"] in ids


Export = Callable[..., Exported]


@pytest.fixture(name="check_folder")
def _check_folder() -> Callable[[Path], None]:
    return check_folder


@pytest.fixture
def export(tmp_path: Path) -> Export:
    def call(
        run: Run,
        trials: tuple[Trial, ...],
        policy: ContentPolicy = ContentPolicy.DIGEST,
        **options: Any,
    ) -> Exported:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        target = Target(SPEC, make_options(SPEC, options), folder)
        outcome = export_run(run, trials, target, context=Context(content=policy))
        if outcome.error is not None:
            raise outcome.error
        check_folder(folder)
        (path,) = (folder / "data").rglob("*.json")
        samples = path.with_name(f"{path.stem}_samples.jsonl")
        lines = samples.read_bytes().splitlines() if samples.exists() else []
        (counts,) = recount((path,))
        return Exported(
            folder,
            path,
            read_json(path.read_bytes()),
            [read_json(line) for line in lines],
            counts,
            {notice.code: notice for notice in outcome.notices},
        )

    return call
