"""HELM run folders."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount import registry
from fullcount.errors import InputError
from fullcount.notices import Report
from fullcount.pipeline import Input, tally_runs
from fullcount.sources import Source
from fullcount.testing import ReaderContract, Sample

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fullcount.model import Run, RunTally

SECRET = "whisper-it-quietly"  # noqa: S105 - a text that must not leave


def statistic(name: str, mean: float | None, split: str = "test", **more: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": {"name": name, "split": split, **more}}
    if mean is None:
        return entry | {"count": 0, "sum": 0, "sum_squared": 0}
    return entry | {"count": 1, "sum": mean, "mean": mean}


def instance(number: int, statistics: list[Any], **more: Any) -> dict[str, Any]:
    return {"instance_id": f"id{number}", "train_trial_index": 0, "stats": statistics, **more}


def state(number: int, result: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "instance": {
            "id": f"id{number}",
            "split": "test",
            "input": {"text": f"{SECRET} {number}"},
            "references": [{"output": {"text": SECRET}, "tags": ["correct"]}],
            **more.pop("instance", {}),
        },
        "train_trial_index": 0,
        "result": result or {"success": True, "completions": [{"text": SECRET}]},
        **more,
    }


def write(
    folder: Path,
    instances: list[Any],
    states: list[Any],
    aggregate: list[Any] | None = None,
    metrics: list[Any] | None = None,
) -> Path:
    folder.mkdir(exist_ok=True)
    spec = {
        "name": "mmlu:subject=x,model=openai_gpt2",
        "adapter_spec": {"model": "openai/gpt2", "num_train_trials": 1, "temperature": 0.0},
        "metric_specs": metrics or [],
    }
    for name, value in (
        ("run_spec", spec),
        ("per_instance_stats", instances),
        ("scenario_state", {"adapter_spec": {}, "request_states": states}),
        ("stats", aggregate or []),
    ):
        (folder / f"{name}.json").write_text(json.dumps(value))
    return folder


def tallies(folder: Path, **options: Any) -> list[tuple[Run, RunTally]]:
    spec = registry.readers().get("helm")
    item = Input(Source(folder), spec, registry.make_options(spec, options))
    return tally_runs(item, Report())


def states(tally: RunTally) -> dict[str, dict[str, int]]:
    return {
        metric.name: {s.value: count for s, count in metric.states.items() if count}
        for metric in tally.metrics
    }


def test_scores_and_bookkeeping(tmp_path: Path) -> None:
    numbers = [statistic("exact_match", 1.0), statistic("num_prompt_tokens", 600.0)]
    folder = write(tmp_path, [instance(1, numbers)], [state(1)], [statistic("exact_match", 1.0)])
    ((run, tally),) = tallies(folder)
    assert states(tally) == {"exact_match": {"scored": 1}}
    assert (run.subject.id, run.suite.name, run.suite.split) == (
        "openai/gpt2",
        "mmlu:subject=x",
        "test",
    )
    assert tally.findings == ()
    ((_, tally),) = tallies(folder, all_statistics="true")
    assert list(states(tally)) == ["exact_match", "num_prompt_tokens"]


def test_a_failed_request_was_not_graded(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        [instance(n, [statistic("exact_match", float(n))]) for n in (0, 1)],
        [state(0, {"success": False, "error": "content filter", "completions": []}), state(1)],
        [statistic("exact_match", 0.5)],
    )
    ((_, tally),) = tallies(folder)
    assert states(tally) == {"exact_match": {"scored": 1, "not_measured": 1}}
    assert (tally.metrics[0].rate.value, tally.metrics[0].rate.lower) == (1.0, 0.5)
    assert "the harness reports 0.5, the trials give 1" in " ".join(
        finding.message for finding in tally.findings
    )


def test_a_deleted_statistic_was_nan(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        [
            instance(1, [statistic("f1_score", 0.9)]),
            instance(2, []),
            instance(3, [statistic("f1_score", None)]),
        ],
        [state(n) for n in (1, 2, 3)],
        [statistic("num_instances", 3.0)],
    )
    ((run, tally),) = tallies(folder)
    assert run.suite.split == "test"
    assert states(tally) == {"f1_score": {"scored": 1, "null": 1, "missing": 1}}
    assert "reported.absent" in [finding.code for finding in tally.findings]


def test_an_instance_without_statistics_is_counted(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        [instance(1, [statistic("exact_match", 1.0)])],
        [state(1), state(2), state(3, {"success": False, "error": "quota"})],
    )
    ((_, tally),) = tallies(folder)
    assert tally.counts.total == 3
    assert states(tally) == {"exact_match": {"scored": 1, "missing": 1, "not_measured": 1}}
    assert (tally.metrics[0].rate.lower, tally.metrics[0].rate.upper) == (1 / 3, 1.0)


def test_a_statistic_that_one_instance_lacks_is_missing(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        [
            instance(1, [statistic("a", 1.0), statistic("b", 1.0)]),
            instance(2, [statistic("a", 0.0)]),
        ],
        [state(1), state(2)],
    )
    ((_, tally),) = tallies(folder)
    assert states(tally) == {"a": {"scored": 2}, "b": {"scored": 1, "missing": 1}}


def test_perturbed_copies_are_a_run_of_their_own(tmp_path: Path) -> None:
    typos = {"perturbation": {"name": "typos", "robustness": True}}
    folder = write(
        tmp_path,
        [
            instance(1, [statistic("exact_match", 1.0)]),
            instance(1, [statistic("exact_match", 0.0, **typos)], **typos),
        ],
        [state(1), state(1, instance=typos)],
    )
    found = {run.suite.name: tally.metrics[0].rate.value for run, tally in tallies(folder)}
    assert found == {"mmlu:subject=x": 1.0, "mmlu:subject=x+typos": 0.0}


def test_splits_are_runs_of_their_own(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        [
            instance(1, [statistic("exact_match", 1.0)]),
            instance(2, [statistic("exact_match", 0.0, "valid")]),
        ],
        [state(1), state(2)],
    )
    assert [(run.suite.split, tally.counts.total) for run, tally in tallies(folder)] == [
        ("test", 1),
        ("valid", 1),
    ]


def test_a_jury_that_failed_gave_no_zero(tmp_path: Path) -> None:
    jury = {
        "class_name": "helm.benchmark.metrics.llm_jury_metrics.LLMJuryMetric",
        "args": {"metric_name": "safety", "scenario_name": "s", "annotator_models": {"judge": {}}},
    }
    folder = write(
        tmp_path,
        [instance(n, [statistic("safety", score)]) for n, score in ((1, 0.0), (2, 0.5))],
        [
            state(1, annotations={"s": {"judge": None}}),
            state(2, annotations={"s": {"judge": {"r": {"score": 0.5}}}}),
        ],
        metrics=[jury],
    )
    ((run, tally),) = tallies(folder)
    assert states(tally) == {"safety": {"scored": 1, "error": 1}}
    assert tally.metrics[0].rate.value == 0.5
    assert (run.evaluators[0].kind, run.evaluators[0].model) == ("model", "judge")


def test_records_of_one_instance_are_merged(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        [instance(1, [statistic("a", 1.0)]), instance(1, [statistic("b", 0.0)])],
        [state(1)],
    )
    ((_, tally),) = tallies(folder)
    assert (tally.counts.total, states(tally)) == (1, {"a": {"scored": 1}, "b": {"scored": 1}})


@pytest.mark.parametrize("name", ["run_spec", "per_instance_stats"])
def test_a_folder_that_is_not_whole(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path, [instance(1, [])], [state(1)])
    (folder / f"{name}.json").unlink()
    with pytest.raises(InputError, match=name):
        tallies(folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("run_spec", {"adapter_spec": {}}),
        ("per_instance_stats", [3]),
        ("per_instance_stats", [{"instance_id": "x", "train_trial_index": 0, "stats": [1]}]),
        ("scenario_state", {"request_states": [{"instance": {}}]}),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, value: Any) -> None:
    folder = write(tmp_path, [instance(1, [])], [state(1)])
    (folder / f"{name}.json").write_text(json.dumps(value))
    with pytest.raises(InputError, match=f"{name}.json"):
        tallies(folder)


class TestContract(ReaderContract):
    reader = "helm"
    secrets: ClassVar = (SECRET,)
    examples = 30

    @pytest.fixture(autouse=True)
    def _prepare(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.folder = tmp_path_factory.mktemp("logs") / "run"

    def samples(self) -> Iterable[Sample]:
        write(
            self.folder,
            [
                instance(1, [statistic("exact_match", 1.0)]),
                instance(2, [statistic("exact_match", 0.0)]),
                instance(3, [statistic("exact_match", None)]),
            ],
            [state(1), state(2, {"success": False, "error": SECRET}), state(3)],
        )
        expected = {
            "total": 3,
            "statuses": {"completed": 2, "harness_error": 1},
            "verdicts": {"passed": 1, "unverified": 2},
            "metrics": {"exact_match": {"scored": 1, "null": 1, "not_measured": 1}},
        }
        yield Sample(self.folder, [expected])
