"""Every Eval Ever records, fullcount's own and those of others."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount import api, registry
from fullcount.content import sample_hash
from fullcount.errors import InputError, UnsupportedInputError
from fullcount.notices import Report
from fullcount.pipeline import Input, find_inputs, open_runs, tally_runs
from fullcount.plugin import ContentPolicy, ReadRequest
from fullcount.sources import Source
from fullcount.testing import ReaderContract, Sample

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fullcount.model import Run, RunTally, Trial

SECRET = "whisper-it-quietly"  # noqa: S105 - a text that must not leave
NAME = "f3a1c0de-4b2e-4c1a-9f6d-1b7e5a2c8d40"
LOG = Path(__file__).resolve().parents[2] / "examples" / "capitals.eval"


def result(
    identity: str | None = "acc", score: Any = 0.5, name: str = "bench", **config: Any
) -> dict[str, Any]:
    details = config.pop("score_details", {})
    data = config.pop("source_data", {})
    entry: dict[str, Any] = {
        "evaluation_name": name,
        "source_data": {"dataset_name": "bench", "source_type": "other", **data},
        "metric_config": {
            "metric_name": "accuracy",
            "metric_kind": "accuracy",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
            **config,
        },
        "score_details": {"score": score, **details},
    }
    return entry | ({} if identity is None else {"evaluation_result_id": identity})


def row(sample: str, score: Any, identity: str | None = "acc", **more: Any) -> dict[str, Any]:
    correct = more.pop("correct", score == 1)
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "bench/org_m/1",
        "model_id": "org/m",
        "evaluation_name": "bench",
        "evaluation_result_id": identity,
        "sample_id": sample,
        "interaction_type": "single_turn",
        "input": {"raw": f"{SECRET} {sample}", "reference": ["4"]},
        "output": {"raw": [SECRET]},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": correct},
        **more,
    }


def write(
    folder: Path, results: list[Any], rows: list[dict[str, Any]] | None = None, **more: Any
) -> Path:
    folder.mkdir(exist_ok=True)
    document = {
        "schema_version": "0.3.0",
        "evaluation_id": "bench/org_m/1",
        "retrieved_timestamp": "1760492095.5",
        "evaluation_timestamp": "1760492000",
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": "lab",
            "evaluator_relationship": "third_party",
        },
        "eval_library": {"name": "lm_eval", "version": "0.4.13"},
        "model_info": {"name": "m", "id": "org/m", "additional_details": {}},
        "evaluation_results": results,
        **more,
    }
    path = folder / f"{NAME}.json"
    path.write_text(json.dumps(document))
    if rows is not None:
        lines = "".join(json.dumps(each) + "\n" for each in rows)
        (folder / f"{NAME}_samples.jsonl").write_text(lines)
    return path


def item(path: Path) -> Input:
    spec = registry.readers().get("eee")
    return Input(Source(path), spec, spec.options())


def tallies(path: Path) -> list[tuple[Run, RunTally]]:
    return tally_runs(item(path), Report())


def trials(path: Path, policy: ContentPolicy = ContentPolicy.DIGEST) -> list[Trial]:
    streams = open_runs(item(path), ReadRequest(policy, Report()))
    return [trial for stream in streams for trial in stream.trials]


def states(tally: RunTally) -> dict[str, dict[str, int]]:
    return {
        metric.name: {s.value: count for s, count in metric.states.items() if count}
        for metric in tally.metrics
    }


def test_rows_are_recounted_beside_the_score_of_the_record(tmp_path: Path) -> None:
    details = {"uncertainty": {"num_samples": 4, "standard_error": {"value": 0.25}}}
    path = write(
        tmp_path,
        [result(score=0.75, score_details=details)],
        [row("1", 1.0), row("2", 0.0), row("3", 0.0), row("4", 1.0)],
    )
    ((run, tally),) = tallies(path)
    assert (run.subject.id, run.harness.name, run.suite.name) == ("org/m", "lm_eval", "bench")
    assert run.created_at is not None
    assert (tally.metrics[0].rate.value, tally.metrics[0].passed, tally.metrics[0].failed) == (
        0.5,
        2,
        2,
    )
    assert [(r.statistic, r.value, r.scored) for r in run.reported] == [
        ("accuracy", 0.75, 4),
        ("stderr", 0.25, 4),
    ]
    assert "the harness reports 0.75, the trials give 0.5" in tally.findings[0].message


def test_a_row_without_a_result_is_no_score(tmp_path: Path) -> None:
    rows = [row("1", 1.0), row("2", 0.0, None, error="sandbox died"), row("3", 1.0, None)]
    ((_, tally),) = tallies(write(tmp_path, [result(score=1.0)], rows))
    assert states(tally) == {"accuracy": {"scored": 1, "missing": 2}}
    (metric,) = tally.metrics
    assert (metric.rate.value, metric.rate.lower, metric.rate.upper) == (1.0, 1 / 3, 1.0)
    assert tally.counts.verdicts["unverified"] == 2


def test_an_error_beside_a_score_takes_nothing_away(tmp_path: Path) -> None:
    ((_, tally),) = tallies(write(tmp_path, [result()], [row("1", 1.0, error="late")]))
    assert states(tally) == {"accuracy": {"scored": 1}}
    assert (tally.scored_and_errored, tally.measurement_failures) == (1, 0)


@pytest.mark.parametrize(
    ("score", "config", "state", "outcome"),
    [
        (1.0, {}, "scored", "passed"),
        (0.0, {}, "scored", "failed"),
        (0.3, {}, "scored", None),
        (0.3, {"score_type": "binary"}, "scored", "failed"),
        (None, {}, "null", None),
        (math.nan, {}, "nan", None),
        (10**400, {}, "nan", None),
        (-1, {"score_type": "levels", "has_unknown_level": True}, "null", None),
        (-1, {"min_score": None, "max_score": None}, "scored", None),
    ],
)
def test_what_a_score_is(
    tmp_path: Path, score: Any, config: dict[str, Any], state: str, outcome: str | None
) -> None:
    (trial,) = trials(write(tmp_path, [result(**config)], [row("1", score)]))
    assert (trial.scores[0].state, trial.scores[0].outcome) == (state, outcome)


def test_a_score_of_minus_one_is_no_mean(tmp_path: Path) -> None:
    ((run, tally),) = tallies(write(tmp_path, [result(score=-1)], [row("1", 1.0)]))
    assert (run.reported[0].value, run.reported[0].nonfinite) == (None, "null")
    assert "reported.sentinel" in [finding.code for finding in tally.findings]


def test_rows_of_one_sample_far_apart_are_one_trial(tmp_path: Path) -> None:
    results = [result("acc"), result("f1", metric_name="f1", metric_kind="f1")]
    rows = [
        *(row(str(n), float(n % 2)) for n in range(5)),
        *(row(str(n), n / 10, "f1", correct=False) for n in range(5)),
    ]
    ((_, tally),) = tallies(write(tmp_path, results, rows))
    assert tally.counts.total == 5
    assert states(tally) == {"accuracy": {"scored": 5}, "f1": {"scored": 5}}
    assert [metric.rate.value for metric in tally.metrics] == [0.4, pytest.approx(0.2)]


def test_a_result_that_comes_again_is_another_attempt(tmp_path: Path) -> None:
    rows = [row("1", 1.0), row("2", 1.0), row("1", 0.0), row("2", 0.0, None, error="x")]
    found = trials(write(tmp_path, [result()], rows))
    assert [(t.case_id, t.attempt, [s.value for s in t.scores]) for t in found] == [
        ("1", 1, [1.0]),
        ("1", 2, [0.0]),
        ("2", 1, [1.0]),
        ("2", 2, [None]),
    ]


def test_each_evaluation_name_is_a_run(tmp_path: Path) -> None:
    results = [result("a"), result("b", name="other")]
    rows = [row("1", 1.0, "a"), {**row("1", 0.0, "b"), "evaluation_name": "other"}]
    found = tallies(write(tmp_path, results, rows))
    assert [(run.id, run.suite.name, tally.metrics[0].rate.value) for run, tally in found] == [
        ("bench/org_m/1/bench", "bench", 1.0),
        ("bench/org_m/1/other", "other", 0.0),
    ]


def test_samples_that_were_used_and_have_no_row_are_counted(tmp_path: Path) -> None:
    data = {"source_type": "hf_dataset", "hf_repo": "org/bench", "sample_ids": ["1", "2", "3"]}
    path = write(tmp_path, [result(source_data=data)], [row("2", 1.0)])
    ((run, tally),) = tallies(path)
    assert run.suite.dataset_location == "org/bench"
    assert states(tally) == {"accuracy": {"scored": 1, "not_measured": 2}}
    assert [trial.case_id for trial in trials(path)] == ["2", "1", "3"]


def test_an_aggregate_alone_has_its_samples_unrecorded(tmp_path: Path) -> None:
    details = {"uncertainty": {"num_samples": 3}}
    ((run, tally),) = tallies(write(tmp_path, [result(score=0.9, score_details=details)]))
    assert run.reported[0].value == 0.9
    assert states(tally) == {"accuracy": {"not_measured": 3}}
    assert tally.metrics[0].rate.value is None


def test_rows_alone(tmp_path: Path) -> None:
    path = write(tmp_path, [result()], [row("1", 1.0), row("2", 0.0)])
    path.unlink()
    ((_, tally),) = tallies(tmp_path / f"{NAME}_samples.jsonl")
    assert states(tally) == {"acc": {"scored": 2}}


def test_rows_beside_their_aggregate_are_read_with_it(tmp_path: Path) -> None:
    write(tmp_path, [result()], [row("1", 1.0)])
    found = [each for each in find_inputs([tmp_path], Report()) if isinstance(each, Input)]
    assert [each.source.path.name for each in found] == [f"{NAME}.json"]


def test_a_join_key_is_over_the_text(tmp_path: Path) -> None:
    (trial,) = trials(write(tmp_path, [result()], [row("1", 1.0, sample_hash="f" * 64)]))
    assert trial.sample_hash == sample_hash(f"{SECRET} 1", ["4"])


@pytest.mark.parametrize("policy", ["digest", "include", "omit"])
def test_a_record_of_fullcount_comes_back_whole(tmp_path: Path, policy: str) -> None:
    ((first, before),) = api.tally(LOG)
    api.convert(LOG, "eee", tmp_path, content=policy)
    (path,) = (tmp_path / "data").rglob("*.json")
    ((run, tally),) = tallies(path)
    assert tally.counts == before.counts
    assert tally.metrics == before.metrics
    assert tally.pass_rate == before.pass_rate
    assert run.reported == first.reported
    assert [finding.code for finding in tally.findings] == [
        finding.code for finding in before.findings
    ]


def test_a_record_of_fullcount_without_rows_keeps_its_total(tmp_path: Path) -> None:
    api.convert(LOG, "eee", tmp_path, options={"samples": "false"})
    (path,) = (tmp_path / "data").rglob("*.json")
    ((run, tally),) = tallies(path)
    assert tally.counts.total == 10
    assert run.reported_counts["verdict.n_passed"] == 6
    assert states(tally) == {"judge": {"not_measured": 10}}


@pytest.mark.parametrize(
    ("change", "error", "where"),
    [
        ({"schema_version": "9.9"}, UnsupportedInputError, "/schema_version"),
        ({"evaluation_results": 3}, InputError, "/evaluation_results"),
        ({"evaluation_results": [3]}, InputError, "/evaluation_results/0/evaluation_name"),
    ],
)
def test_bad_aggregates(
    tmp_path: Path, change: dict[str, Any], error: type[Exception], where: str
) -> None:
    path = write(tmp_path, [result()], [], **change)
    with pytest.raises(error) as caught:
        tallies(path)
    assert where in str(caught.value)


@pytest.mark.parametrize(
    ("line", "where"),
    [("[1]", "line 2"), ('{"evaluation_name": "bench", "sample_id": 3.5e', "line 2")],
)
def test_bad_rows(tmp_path: Path, line: str, where: str) -> None:
    path = write(tmp_path, [result()], [row("1", 1.0)])
    samples = tmp_path / f"{NAME}_samples.jsonl"
    samples.write_text(samples.read_text() + line + "\n")
    with pytest.raises(InputError, match=where):
        tallies(path)


@pytest.mark.parametrize(
    "field", ["status", "verdict", "verdict_basis", "judge_verdict", "control"]
)
def test_metadata_of_another_kind_says_nothing(tmp_path: Path, field: str) -> None:
    path = write(tmp_path, [result()], [row("1", 1.0, metadata={field: {"a": [1]}})])
    (trial,) = trials(path)
    assert (trial.status, trial.verdict, trial.control) == ("completed", "passed", None)


class TestContract(ReaderContract):
    reader = "eee"
    secrets: ClassVar = (SECRET,)
    examples = 30

    @pytest.fixture(autouse=True)
    def _prepare(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.folder = tmp_path_factory.mktemp("logs")

    def samples(self) -> Iterable[Sample]:
        rows = [row("1", 1.0), row("2", 0.0), row("3", 0.0, None, error=SECRET), row("1", math.nan)]
        path = write(self.folder, [result()], rows)
        expected = {
            "total": 4,
            "statuses": {"completed": 4},
            "verdicts": {"passed": 1, "failed": 1, "unverified": 2},
            "metrics": {"accuracy": {"scored": 2, "nan": 1, "missing": 1}},
        }
        yield Sample(path, [expected], beside=[self.folder / f"{NAME}_samples.jsonl"])

    def make_large(self, folder: Path, count: int) -> Path:
        return write(folder, [result()], [row(str(n), 1.0) for n in range(count)])
