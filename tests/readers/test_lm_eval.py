"""lm-evaluation-harness: results and samples, together and apart."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount.content import sample_hash
from fullcount.errors import FullcountError
from fullcount.notices import Report
from fullcount.pipeline import Input, find_inputs, tally_runs
from fullcount.testing import ReaderContract, Sample

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fullcount.model import Run, RunTally

DATE = "2026-01-01T00-00-00.000001"
SECRET = "whisper-it-quietly"  # noqa: S105 - a text that must not leave


def row(document: int, filter_name: str = "none", **values: Any) -> dict[str, Any]:
    extra = values.pop("row", {})
    return {
        "doc_id": document,
        "doc": {"q": SECRET},
        "target": "18",
        "arguments": {"gen_args_0": {"arg_0": f"{SECRET} {document}", "arg_1": {}}},
        "resps": [[SECRET]],
        "filtered_resps": [SECRET],
        "filter": filter_name,
        "metrics": list(values),
        **extra,
        **values,
    }


def write(
    folder: Path,
    table: dict[str, Any],
    rows: dict[str, list[dict[str, Any]]],
    **more: Any,
) -> Path:
    folder.mkdir(exist_ok=True)
    document = {
        "results": table,
        "group_subtasks": more.pop("groups", {}),
        "configs": more.pop("configs", {}),
        "versions": dict.fromkeys(table, 2.0),
        "n-shot": dict.fromkeys(table, 0),
        "n-samples": more.pop("counts", {}),
        "config": {"model": "hf", "model_sha": "abc"},
        "date": 1768964383.85,
        "model_name": "org/m",
        "lm_eval_version": "0.4.13",
        **more,
    }
    path = folder / f"results_{DATE}.json"
    path.write_text(json.dumps(document))
    for task, lines in rows.items():
        samples = folder / f"samples_{task}_{DATE}.jsonl"
        samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def tallies(path: Path) -> dict[str, tuple[Run, RunTally]]:
    report = Report()
    found = {}
    for item in find_inputs([path], report):
        assert isinstance(item, Input), item
        for run, tally in tally_runs(item, report):
            found[run.suite.name] = (run, tally)
    return found


def states(tally: RunTally) -> dict[str, dict[str, int]]:
    return {
        metric.name: {state.value: count for state, count in metric.states.items() if count}
        for metric in tally.metrics
    }


def test_each_task_is_a_run_and_each_document_a_trial(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"t": {"alias": "t", "acc,none": 0.5, "acc_stderr,none": 0.5}},
        {"t": [row(0, acc=1.0), row(1, acc=0.0)]},
        counts={"t": {"original": 2, "effective": 2}},
    )
    run, tally = tallies(path)["t"]
    assert (run.subject.id, run.subject.version, run.suite.version) == ("org/m", "abc", "2.0")
    (metric,) = tally.metrics
    assert (metric.name, metric.rate.value, metric.rate.n) == ("acc", 0.5, 2)
    assert (metric.passed, metric.failed) == (1, 1)
    assert tally.findings == ()


def test_filters_are_evaluators_of_one_trial(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"t": {"exact_match,strict": 0.0, "exact_match,flexible": 0.5}},
        {
            "t": [
                row(0, "strict", exact_match=0.0, row={"filtered_resps": ["[invalid]"]}),
                row(1, "strict", exact_match=0.0),
                row(0, "flexible", exact_match=1.0),
                row(1, "flexible", exact_match=0.0),
            ]
        },
    )
    _, tally = tallies(path)["t"]
    assert tally.counts.total == 2
    assert states(tally) == {
        "strict.exact_match": {"scored": 1, "error": 1},
        "flexible.exact_match": {"scored": 2},
    }


def test_a_metric_that_a_row_leaves_out_is_missing(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"t": {"sometimes,none": 1.0}},
        {"t": [row(n, **({"sometimes": 1.0} if n < 4 else {})) for n in range(6)]},
        counts={"t": {"original": 6, "effective": 6}},
    )
    _, tally = tallies(path)["t"]
    assert states(tally) == {"sometimes": {"scored": 4, "missing": 2}}
    assert (tally.metrics[0].rate.n, tally.metrics[0].rate.sought) == (4, 6)


@pytest.mark.parametrize(
    ("value", "state", "number"),
    [
        (math.nan, "nan", None),
        (None, "null", None),
        ("N/A", "null", None),
        (True, "scored", 1.0),
        ("True", "scored", 1.0),
        ("0.5", "scored", 0.5),
        ([-3.2, 7], "scored", None),
        (math.inf, "nan", None),
        (10**400, "nan", None),
    ],
)
def test_values(tmp_path: Path, value: Any, state: str, number: float | None) -> None:
    path = write(tmp_path, {"t": {"m,none": 0.5}}, {"t": [row(0, m=value)]})
    _, tally = tallies(path)["t"]
    assert states(tally) == {"m": {state: 1}}
    assert tally.metrics[0].rate.value == number


def test_predict_only_is_not_scored(tmp_path: Path) -> None:
    path = write(tmp_path, {"t": {"bypass,none": 999}}, {"t": [row(0, bypass=None)]})
    run, tally = tallies(path)["t"]
    assert states(tally) == {"bypass": {"skipped": 1}}
    assert (run.reported[0].value, run.reported[0].nonfinite) == (None, "null")
    assert [finding.code for finding in run.findings] == ["reported.sentinel"]


def test_documents_without_a_row_count(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"t": {"acc,none": 0.4, "acc_stderr,none": "N/A"}, "u": {"acc,none": 0.1}},
        {"t": [row(2, acc=1.0)]},
        counts={task: {"original": 4, "effective": 4} for task in "tu"},
    )
    found = tallies(path)
    _, tally = found["t"]
    assert states(tally) == {"acc": {"scored": 1, "not_measured": 3}}
    assert (tally.metrics[0].rate.lower, tally.metrics[0].rate.upper) == (0.25, 1.0)
    assert states(found["u"][1]) == {"acc": {"not_measured": 4}}
    assert found["u"][0].reported[0].value == 0.1


def test_a_group_is_kept_with_its_tasks(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        {"t": {"acc,none": 1.0}, "g": {"acc,none": 0.9, "sample_count": {"acc,none": 1}}},
        {"t": [row(0, acc=1.0)]},
        groups={"g": ["t"]},
    )
    found = tallies(path)
    assert list(found) == ["t"]
    assert [(r.group, r.value) for r in found["t"][0].reported] == [(None, 1.0), ("g", 0.9)]


def test_the_last_of_two_rows_of_a_document_counts(tmp_path: Path) -> None:
    path = write(tmp_path, {"t": {"acc,none": 1.0}}, {"t": [row(0, acc=0.0), row(0, acc=1.0)]})
    _, tally = tallies(path)["t"]
    assert (tally.counts.total, tally.metrics[0].rate.value) == (1, 1.0)


def test_a_metric_that_the_results_do_not_name(tmp_path: Path) -> None:
    path = write(tmp_path, {"t": {"acc,none": 1.0}}, {"t": [row(0, acc=1.0), row(1, other=1)]})
    _, tally = tallies(path)["t"]
    assert states(tally) == {
        "acc": {"scored": 1, "missing": 1},
        "other": {"scored": 1, "missing": 1},
    }


def test_samples_alone(tmp_path: Path) -> None:
    path = write(tmp_path, {"t": {}}, {"t": [row(5, acc=1.0), row(3, acc=0.0)]})
    path.unlink()
    _, tally = tallies(tmp_path / f"samples_t_{DATE}.jsonl")["t"]
    assert states(tally) == {"acc": {"scored": 2}}


def test_samples_beside_their_results_are_no_run_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path / "m", {"t": {"acc,none": 1.0}}, {"t": [row(0, acc=1.0)]})
    assert list(tallies(tmp_path)) == ["t"]
    (error,) = find_inputs([path.with_name(f"samples_t_{DATE}.jsonl")], Report())
    assert isinstance(error, FullcountError)
    assert path.name in str(error)


def test_the_join_key_is_over_prompt_and_target(tmp_path: Path) -> None:
    path = write(tmp_path, {"t": {"acc,none": 1.0}}, {"t": [row(0, acc=1.0)]})
    (stream,) = [
        list(stream.trials)
        for item in find_inputs([path], Report())
        if isinstance(item, Input)
        for stream in _open(item)
    ]
    assert stream[0].sample_hash == sample_hash(f"{SECRET} 0", ["18"])


def _open(item: Input) -> Iterable[Any]:
    from fullcount.pipeline import open_runs  # noqa: PLC0415 - one test needs it
    from fullcount.plugin import ContentPolicy, ReadRequest  # noqa: PLC0415

    return open_runs(item, ReadRequest(ContentPolicy.DIGEST, Report()))


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ('{"doc_id": "x", "doc": {}}', "line 1: /doc_id"),
        ('{"doc_id": -1, "doc": {}}', "line 1: /doc_id"),
        ('{"doc_id": 0, "doc": {}, "filter": 3}', "line 1: /filter"),
        ('{"doc_id": 0, "doc": {}, "filt', "line 1"),
        ("[1]", "line 1"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, line: str, where: str) -> None:
    path = write(tmp_path, {"t": {"acc,none": 1.0}}, {"t": []})
    samples = path.with_name(f"samples_t_{DATE}.jsonl")
    samples.write_text(line + "\n")
    with pytest.raises(FullcountError) as caught:
        tallies(path)
    assert where in str(caught.value)
    assert samples.name in str(caught.value)


class TestContract(ReaderContract):
    reader = "lm-eval"
    secrets: ClassVar = (SECRET,)
    examples = 30

    @pytest.fixture(autouse=True)
    def _prepare(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.folder = tmp_path_factory.mktemp("logs")

    def samples(self) -> Iterable[Sample]:
        path = write(
            self.folder,
            {"t": {"acc,none": 0.5}},
            {"t": [row(0, acc=1.0), row(1, acc=0.0), row(2, acc=math.nan), row(3)]},
            counts={"t": {"original": 5, "effective": 5}},
        )
        expected = {
            "total": 5,
            "statuses": {"completed": 4, "not_run": 1},
            "verdicts": {"passed": 1, "failed": 1, "unverified": 3},
            "metrics": {"acc": {"scored": 2, "nan": 1, "missing": 1, "not_measured": 1}},
        }
        yield Sample(path, [expected], beside=[self.folder / f"samples_t_{DATE}.jsonl"])

    def make_large(self, folder: Path, count: int) -> Path:
        rows = [row(number, acc=1.0) for number in range(count)]
        return write(folder, {"t": {"acc,none": 1.0}}, {"t": rows})

    def make_duplicates(self, folder: Path) -> Sample:
        path = write(folder, {"t": {"acc,none": 1.0}}, {"t": [row(0, acc=0.0), row(0, acc=1.0)]})
        expected = {
            "total": 1,
            "statuses": {"completed": 1},
            "verdicts": {"passed": 1},
            "metrics": {"acc": {"scored": 1}},
        }
        return Sample(path, [expected])
