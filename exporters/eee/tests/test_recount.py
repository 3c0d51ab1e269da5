"""A changed artifact must not pass for what was written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fullcount.errors import VerificationError
from fullcount.testing import example, kitchen_sink
from fullcount_eee.recount import recount

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

METRIC = "metric/judge/quality/"


@pytest.fixture
def path(export: Callable[..., Any]) -> Path:
    written: Path = export(*kitchen_sink()).path
    return written


def change(path: Path, name: str, score: Any) -> None:
    document = json.loads(path.read_bytes())
    (result,) = [r for r in document["evaluation_results"] if r["evaluation_result_id"] == name]
    result["score_details"]["score"] = score
    path.write_text(json.dumps(document))


def refused(path: Path, match: str) -> None:
    with pytest.raises(VerificationError, match=match) as caught:
        recount((path,))
    assert str(caught.value).startswith(f"{path.name}: ")
    assert "\n" not in str(caught.value)


def test_numbers_that_became_floats_are_the_same(path: Path) -> None:
    before = recount((path,))
    document = json.loads(path.read_bytes())
    for result in document["evaluation_results"]:
        details = result["score_details"]
        details["score"] = float(details["score"])
    path.write_text(json.dumps(document, indent=3))
    assert recount((path,)) == before


@pytest.mark.parametrize(
    ("name", "score", "match"),
    [
        (f"{METRIC}n_state_scored", 2, "does not add up: .*states of judge.quality"),
        (f"{METRIC}n_scored", 2, "judge.quality: n_scored is 2, its parts add up to 1"),
        (f"{METRIC}n_unverified", 0, "judge.quality: n_unverified is 0, its parts add up to 2"),
        (f"{METRIC}n_total", 4, "judge.quality: n_total is 4, its parts add up to 3"),
        (f"{METRIC}n_valued", 2, "judge.quality: more trials have a number than are scored"),
        (f"{METRIC}n_valued", 0, f"{METRIC}mean has 0 values here and 1 rows"),
        ("trials/n_total", 4, "does not add up: .*statuses add up to 3, not to the total 4"),
        ("trials/n_status_not_run", -1, "does not add up"),
        ("verdict/n_unverified", 1, "does not add up: .*verdicts add up to 2"),
        (f"{METRIC}n_state_nan", 0.5, "score is 0.5, not a number of trials"),
        (f"{METRIC}n_state_nan", "0", "score is '0', not a number of trials"),
        (f"{METRIC}n_state_nan", None, "score is None, not a number of trials"),
        (f"{METRIC}n_state_nan", True, "score is True, not a number of trials"),
        (f"{METRIC}n_state_nan", float("nan"), "score is nan, not a number of trials"),
        (f"{METRIC}n_state_nan", float("inf"), "score is inf, not a number of trials"),
    ],
)
def test_changed_number_is_refused(path: Path, name: str, score: Any, match: str) -> None:
    change(path, name, score)
    refused(path, match)


@pytest.mark.parametrize(
    "name", [f"{METRIC}n_state_nan", f"{METRIC}n_valued", "trials/n_total", "verdict/n_none"]
)
def test_number_that_is_gone_or_there_twice_is_refused(path: Path, name: str) -> None:
    document = json.loads(path.read_bytes())
    results = document["evaluation_results"]
    (found,) = [r for r in results if r["evaluation_result_id"] == name]
    quantity = name.rpartition("/")[2]
    path.write_text(json.dumps({**document, "evaluation_results": [*results, found]}))
    refused(path, f"gives '{quantity}' again")
    results.remove(found)
    path.write_text(json.dumps(document))
    refused(path, f"holds no result for the count '{quantity}'")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        '{"source_metadata": 1}',
        "[" * 100_000,
        "\ufeff{}",
        '{"a": "\ud800"}',
    ],
)
def test_file_that_is_none_of_ours_is_refused(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    refused(path, "is no aggregate file of this exporter")


def test_missing_file_is_refused(path: Path) -> None:
    path.unlink()
    refused(path, "cannot be read")


def test_rows_must_be_there(path: Path) -> None:
    samples = path.with_name(f"{path.stem}_samples.jsonl")
    lines = samples.read_bytes().splitlines(keepends=True)
    samples.write_bytes(b"".join(lines[1:]))
    refused(path, "claims 4 rows, the samples file has 3")
    samples.write_bytes(b"".join([*lines[1:], lines[1]]))
    refused(path, "values here and . rows in the samples file")
    samples.write_bytes(b"".join([*lines[1:], b"{}\n"]))
    refused(path, "a row names no result")
    samples.unlink()
    refused(path, "_samples.jsonl: cannot be read")


def test_each_run_has_its_own_counts(export: Callable[..., Any]) -> None:
    one = export(example("plain").run, example("plain").trials)
    two = export(*kitchen_sink())
    found = recount((one.path, two.path))
    assert found == (one.counts, two.counts)
    samples = two.path.with_name(f"{two.path.stem}_samples.jsonl")
    assert recount((samples, two.path)) == (two.counts,)
