"""The aggregate file around its results: dataset, settings, times, where it all comes from."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from fullcount.model import Run, Trial

if TYPE_CHECKING:
    from collections.abc import Callable


def run(*evaluators: dict[str, Any], **more: Any) -> Run:
    base = {
        "id": "run-1",
        "source": {"format": "test"},
        "harness": {"name": "harness"},
        "subject": {"id": "acme/anvil"},
        "suite": {"name": "suite"},
        "evaluators": evaluators,
    }
    return Run.model_validate({**base, **more})


def acc(**metric: Any) -> dict[str, Any]:
    scale = {"minimum": 0, "maximum": 1, **metric}
    return {"name": "acc", "metrics": [{"name": "acc", **scale}]}


def score(state: str, value: float | None = None, **more: Any) -> dict[str, Any]:
    return {"evaluator": "acc", "metric": "acc", "state": state, "value": value, **more}


def trial(case: str, *scores: dict[str, Any], **more: Any) -> Trial:
    return Trial.model_validate({"case_id": case, "scores": scores, **more})


MIXED = (
    trial("a", score("scored", 1, outcome="passed")),
    trial("b", score("scored", 1, outcome="passed")),
    trial("c", score("scored", 0, outcome="failed")),
    trial("d", score("nan", raw="NaN", raw_type="number")),
    trial("e", score("not_measured"), status="harness_error", status_reason="sandbox"),
    trial("f", score("skipped")),
)


def test_judge_is_named_only_where_it_is_known(export: Callable[..., Any]) -> None:
    def judged(**evaluator: Any) -> Any:
        given = run({**acc(), **evaluator})
        return export(given, (trial("a", score("scored", 1)),)).result("acc")["metric_config"]

    scoring = judged(kind="model", model="acme/judge", rubric_revision="r9")["llm_scoring"]
    assert scoring == {
        "judges": [
            {
                "model_info": {
                    "name": "acme/judge",
                    "id": "acme/judge",
                    "additional_details": {
                        "deployment_type": "unknown",
                        "model_availability": "unknown",
                    },
                }
            }
        ],
        "input_prompt": "not recorded",
    }
    assert "llm_scoring" not in judged(kind="model")
    assert "llm_scoring" not in judged(kind="rule", model="acme/judge")
    assert judged(kind="human")["additional_details"]["evaluator_kind"] == "human"


@pytest.mark.parametrize(
    ("suite", "expected"),
    [
        ({"name": "s"}, {"dataset_name": "s", "source_type": "other"}),
        (
            {"name": "s", "dataset": "d", "split": "test", "cases": 7},
            {
                "dataset_name": "d",
                "source_type": "other",
                "additional_details": {"suite": "s", "split": "test", "samples_number": "7"},
            },
        ),
        (
            {
                "name": "s",
                "dataset": "d",
                "dataset_location": "owner/d",
                "split": "test",
                "cases": 7,
            },
            {
                "dataset_name": "d",
                "source_type": "hf_dataset",
                "hf_repo": "owner/d",
                "hf_split": "test",
                "samples_number": 7,
            },
        ),
        (
            {"name": "s", "dataset_location": "https://huggingface.co/datasets/owner/d.v1"},
            {"source_type": "hf_dataset", "hf_repo": "owner/d.v1"},
        ),
        (
            {"name": "s", "dataset_location": "hf://datasets/owner/d"},
            {"source_type": "hf_dataset", "hf_repo": "owner/d"},
        ),
        (
            {"name": "s", "dataset_location": "https://example.org/d", "dataset_revision": "v2"},
            {
                "source_type": "url",
                "url": ["https://example.org/d"],
                "additional_details": {"suite": "s", "dataset_revision": "v2"},
            },
        ),
        (
            {"name": "s", "dataset_location": "data/questions.jsonl"},
            {
                "source_type": "other",
                "additional_details": {"suite": "s", "location": "data/questions.jsonl"},
            },
        ),
    ],
)
def test_dataset(
    suite: dict[str, Any], expected: dict[str, Any], export: Callable[..., Any]
) -> None:
    out = export(run(acc(), suite=suite), MIXED)
    for result in out.aggregate["evaluation_results"]:
        assert result["evaluation_name"] == "s"
        assert expected.items() <= result["source_data"].items()


def test_generation(export: Callable[..., Any]) -> None:
    generation = {
        "temperature": 0.5,
        "top_k": 4,
        "max_tokens": 0,
        "seed": 2**70,
        "tools": ["bash"],
        "time_limit": 2**62,
        "sandbox": "docker",
        "solver": "react",
    }
    given = run(acc(), generation=generation, plan={"attempts": 3})
    out = export(given, MIXED)
    expected = {
        "generation_args": {
            "temperature": 0.5,
            "top_k": 4,
            "agentic_eval_config": {"available_tools": [{"name": "bash"}]},
            "eval_plan": {"name": "react"},
            "eval_limits": {"time_limit": 2**62},
            "sandbox": {"type": "docker"},
        },
        "additional_details": {
            "seed": str(2**70),
            "max_tokens": "0",
            "attempts_per_case": "3",
        },
    }
    for name in ("acc", "verdict", "trials.n_total"):
        assert out.result(name)["generation_config"] == expected
    assert "generation_config" not in out.result("acc.n_total")
    assert "generation_config" not in export(run(acc()), MIXED).result("acc")


def test_run_facts(export: Callable[..., Any]) -> None:
    given = run(
        acc(),
        status="error",
        error={"type": "RunError", "message": {"text": "private"}},
        tags=["nightly"],
        reported=[{"evaluator": "acc", "metric": "acc", "statistic": "accuracy", "value": 1}],
        harness={"name": "h", "version": "1.2", "packages": {"p": "3"}},
        source={"format": "test", "sha256": "a" * 64},
        plan={"trials": 9},
    )
    out = export(given, MIXED)
    assert out.aggregate["eval_library"] == {
        "name": "h",
        "version": "1.2",
        "additional_details": {"packages": '{"p":"3"}'},
    }
    details = out.aggregate["source_metadata"]["additional_details"]
    digest = hashlib.sha256(b"private").hexdigest()
    assert json.loads(details["run_error"]) == {"type": "RunError", "message": f"sha256:{digest}"}
    assert (details["run_status"], details["source_sha256"]) == ("error", "a" * 64)
    assert (details["n_total"], details["verdict.n_unverified"]) == ("6", "2")
    assert json.loads(details["reported"])[0]["value"] == 1
    codes = [finding["code"] for finding in json.loads(details["findings"])]
    assert codes == ["coverage.partial", "reported.differs", "plan.differs"]


def test_harness_without_version_is_unknown(export: Callable[..., Any]) -> None:
    assert export(run(acc()), MIXED).aggregate["eval_library"] == {
        "name": "harness",
        "version": "unknown",
    }


@pytest.mark.parametrize(
    ("time", "seconds"),
    [
        (datetime(2026, 1, 1, tzinfo=UTC), "1767225600"),
        (datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), "1767225600"),
        (datetime(2026, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC), "1767225600.5"),
        (datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC), "1767225600.000001"),
        (datetime(1969, 12, 31, 23, 59, 58, 500_000, tzinfo=UTC), "-1.5"),
        (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC), "253402300799"),
    ],
)
def test_times_are_unix_seconds(time: datetime, seconds: str, export: Callable[..., Any]) -> None:
    out = export(run(acc(), started_at=time), MIXED)
    assert out.aggregate["evaluation_timestamp"] == seconds
    assert out.aggregate["retrieved_timestamp"] == "0"
    moment = out.aggregate["evaluation_id"].split("/")[-1]
    assert moment == f"{seconds}-{out.path.stem[:8]}"


def test_samples_are_referred_to(export: Callable[..., Any]) -> None:
    out = export(run(acc()), MIXED)
    samples = out.path.with_name(f"{out.path.stem}_samples.jsonl").read_bytes()
    details = out.aggregate["detailed_evaluation_results"]
    assert details["file_path"] == f"data/suite/acme/anvil/{out.path.stem}_samples.jsonl"
    assert details["checksum"] == hashlib.sha256(samples).hexdigest()
    # Three numbers, and five verdicts: one trial was skipped.
    assert details["total_rows"] == samples.count(b"\n") == 8
    assert samples.endswith(b"\n")


def test_samples_can_be_left_out(export: Callable[..., Any]) -> None:
    out = export(run(acc()), MIXED, samples="false")
    assert out.rows == []
    assert "detailed_evaluation_results" not in out.aggregate
    assert out.counts == export(run(acc()), MIXED).counts
    assert out.notices["eee.no_samples"].severity == "loss"
