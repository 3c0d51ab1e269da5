"""Reports and folders of SWE-bench, JUnit, Harbor and Stagehand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount import registry
from fullcount.errors import InputError
from fullcount.notices import Report
from fullcount.pipeline import Input, open_runs, tally_runs
from fullcount.plugin import ContentPolicy, ReadRequest
from fullcount.sources import Source
from fullcount.testing import ReaderContract, Sample

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fullcount.model import Run, RunTally, Trial

SECRET = "whisper-it-quietly"  # noqa: S105 - a text that must not leave


def item(reader: str, path: Path) -> Input:
    spec = registry.readers().get(reader)
    return Input(Source(path), spec, spec.options())


def tallies(reader: str, path: Path) -> list[tuple[Run, RunTally]]:
    return tally_runs(item(reader, path), Report())


def trials(reader: str, path: Path) -> dict[str, Trial]:
    request = ReadRequest(ContentPolicy.DIGEST, Report())
    streams = open_runs(item(reader, path), request)
    return {f"{t.case_id}/{t.attempt}": t for stream in streams for t in stream.trials}


def nonzero(counts: Any) -> dict[str, int]:
    return {key.value: count for key, count in counts.items() if count}


REPORT = {
    "total_instances": 6,
    "submitted_instances": 4,
    "completed_instances": 3,
    "resolved_instances": 1,
    "completed_ids": ["a", "b", "d"],
    "incomplete_ids": ["e"],
    "empty_patch_ids": ["c"],
    "submitted_ids": ["a", "b", "c", "d"],
    "resolved_ids": ["a"],
    "unresolved_ids": ["b"],
    "error_ids": ["d"],
    "schema_version": 2,
}


def test_swe_bench(tmp_path: Path) -> None:
    path = tmp_path / "org__model.run7.json"
    path.write_text(json.dumps(REPORT))
    ((run, tally),) = tallies("swe-bench", path)
    assert (run.subject.id, run.suite.name) == ("org/model", "run7")
    assert nonzero(tally.counts.statuses) == {"completed": 3, "harness_error": 1, "not_run": 2}
    assert nonzero(tally.counts.verdicts) == {"passed": 1, "failed": 2, "unverified": 3}
    (metric,) = tally.metrics
    assert nonzero(metric.states) == {"scored": 2, "not_measured": 4}
    assert (metric.rate.value, metric.rate.lower, metric.rate.upper) == (0.5, 1 / 6, 5 / 6)
    assert tally.pass_rate.lower == 1 / 6


@pytest.mark.parametrize(
    ("change", "where"),
    [({"schema_version": 9}, "/schema_version"), ({"resolved_ids": [1]}, "/resolved_ids")],
)
def test_bad_swe_bench_reports(tmp_path: Path, change: dict[str, Any], where: str) -> None:
    path = tmp_path / "m.r.json"
    path.write_text(json.dumps(REPORT | change))
    with pytest.raises(InputError) as caught:
        tallies("swe-bench", path)
    assert caught.value.pointer == where


XML = f"""<?xml version="1.0"?>
<testsuites><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="6" time="1.0"
 timestamp="2026-01-01T00:00:00+00:00">
<testcase classname="c" name="ok" time="0.25"/>
<testcase classname="c" name="bad" time="0.5"><failure message="{SECRET}">x</failure></testcase>
<testcase classname="c" name="left" time="0"><skipped type="pytest.skip" message="no"/></testcase>
<testcase classname="c" name="torn" time="0.1"/>
<testcase classname="c" name="torn" time="0.1"><error message="on teardown">y</error></testcase>
<testcase classname="c" name="setup"><error message="failed on setup">OSError</error></testcase>
<testcase classname="c" name="again" time="0.1"><failure message="m"/></testcase>
<testcase classname="c" name="again" time="0.1"/>
</testsuite></testsuites>"""


def test_junit(tmp_path: Path) -> None:
    path = tmp_path / "j.xml"
    path.write_text(XML)
    ((run, tally),) = tallies("junit", path)
    assert run.reported_counts == {"tests": 6, "failures": 1, "errors": 1, "skipped": 1}
    assert "reported.repeated" in [finding.code for finding in tally.findings]
    assert tally.counts.total == 7
    assert nonzero(tally.metrics[0].states) == {"scored": 5, "not_measured": 1, "skipped": 1}
    assert nonzero(tally.counts.verdicts) == {"passed": 3, "failed": 2, "unverified": 1}
    found = trials("junit", path)
    assert found["c.torn/1"].status == "harness_error"
    assert found["c.torn/1"].scores[0].value == 1.0
    assert [found[f"c.again/{n}"].scores[0].value for n in (1, 2)] == [0.0, 1.0]
    assert found["c.ok/1"].duration == 0.25


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('<!DOCTYPE x [<!ENTITY a "b">]><testsuite/>', "declares a document type"),
        ("<testsuite><testcase></testsuite>", "is no XML"),
        ("<testsuite>", "is no XML"),
        ('<?xml version="1.0" encoding="utf-4"?><testsuite/>', "names an encoding"),
        ('<?xml version="1.0" encoding="big5"?><testsuite/>', "names an encoding"),
    ],
)
def test_bad_xml(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "j.xml"
    path.write_text(text)
    with pytest.raises(InputError, match=what):
        tallies("junit", path)


def harbor_trial(name: str, reward: Any, error: str | None = None) -> dict[str, Any]:
    return {
        "id": f"id-{name}",
        "task_name": "hello",
        "trial_name": name,
        "source": "bench",
        "agent_info": {"name": "codex", "model_info": {"name": "gpt-5", "provider": "openai"}},
        "agent_result": {"n_input_tokens": 10, "cost_usd": None},
        "verifier_result": None if reward is ... else {"rewards": reward},
        "exception_info": error and {"exception_type": error, "exception_message": SECRET},
        "started_at": "2026-08-01T00:00:00Z",
        "finished_at": "2026-08-01T00:05:00Z",
    }


def write_harbor(folder: Path) -> Path:
    job = {"id": "job", "n_total_trials": 5, "stats": {"n_trials": 5, "n_errors": 2}}
    (folder / "result.json").write_text(json.dumps(job))
    for trial in (
        harbor_trial("a", {"reward": 1.0}),
        harbor_trial("b", {"reward": 0.8}, "AgentTimeoutError"),
        harbor_trial("c", ..., "EnvironmentStartTimeoutError"),
        harbor_trial("d", {"reward": None}),
        harbor_trial("e", None),
    ):
        place = folder / trial["trial_name"]
        place.mkdir()
        (place / "result.json").write_text(json.dumps(trial))
    return folder


def test_harbor(tmp_path: Path) -> None:
    ((run, tally),) = tallies("harbor", write_harbor(tmp_path))
    assert (run.subject.id, run.suite.name, run.plan.trials) == ("codex+openai/gpt-5", "bench", 5)
    assert nonzero(tally.metrics[0].states) == {"scored": 2, "null": 2, "not_measured": 1}
    assert tally.metrics[0].rate.value == pytest.approx(0.9)
    assert tally.scored_and_errored == 1
    found = trials("harbor", tmp_path)
    assert (found["hello/2"].status, found["hello/2"].status_reason) == ("subject_error", "timeout")
    assert found["hello/3"].status == "harness_error"
    assert found["hello/1"].duration == 300.0


def write_stagehand(folder: Path) -> Path:
    def trial(name: str, result: Any, gates: Any = None, status: str = "complete") -> None:
        place = folder / "group" / name / "run-1"
        (place / "scores").mkdir(parents=True)
        (place / "trajectory.json").write_text(json.dumps({"status": status}))
        (place / "task_data.json").write_text(json.dumps({"id": name}))
        if result is not None:
            (place / "scores" / "result.json").write_text(json.dumps(result))
        if gates is not None:
            (place / "scores" / "gates.json").write_text(json.dumps(gates))

    criteria = [
        {"criterion": "x", "maxPoints": 2, "earnedPoints": 2},
        {"criterion": "y", "maxPoints": 1, "earnedPoints": 1, "evidenceInsufficient": True},
    ]
    graded = {"outcomeSuccess": True, "processScore": 0.92, "explanation": SECRET}
    trial("a", {**graded, "perCriterion": criteria})
    trial("b", {"graded": False, "verifierError": SECRET, "agentReportedSuccess": True})
    trial("c", None)
    trial(
        "d",
        {"outcomeSuccess": False, "processScore": 1.0, "judge": {"outcomeSuccess": True}},
        {"outcomeGates": ["no_final_answer"]},
    )
    trial("e", {**graded, "taskValidity": {"isInvalid": True}})
    trial("f", {**graded, "outcomeSuccess": False}, status="stalled")
    return folder


def test_stagehand(tmp_path: Path) -> None:
    ((_, tally),) = tallies("stagehand", write_stagehand(tmp_path))
    assert nonzero(tally.counts.verdicts) == {"passed": 1, "failed": 2, "unverified": 2}
    assert tally.counts.no_verdict == 1
    outcome, process = tally.metrics
    assert nonzero(outcome.states) == {"scored": 3, "error": 2, "not_applicable": 1}
    assert (outcome.rate.value, outcome.rate.n) == (pytest.approx(1 / 3), 3)
    assert process.rate.value == pytest.approx((0.92 + 1.0 + 0.92) / 3)
    assert "1 of 2 criteria have full credit" in tally.findings[0].message
    found = trials("stagehand", tmp_path)
    assert (found["b/1"].self_report, found["b/1"].verdict) == (True, "unverified")
    assert (found["d/1"].judge_verdict, found["d/1"].declared_verdict) == ("passed", "failed")
    assert [(gate.name, gate.fired) for gate in found["d/1"].gates] == [("no_final_answer", True)]
    assert found["f/1"].status_reason == "stalled"


class ReportContract(ReaderContract):
    examples = 30

    @pytest.fixture(autouse=True)
    def _prepare(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.folder = tmp_path_factory.mktemp("logs")


class TestSweBench(ReportContract):
    reader = "swe-bench"

    def samples(self) -> Iterable[Sample]:
        path = self.folder / "m.r.json"
        path.write_text(json.dumps(REPORT))
        expected = {
            "total": 6,
            "statuses": {"completed": 3, "harness_error": 1, "not_run": 2},
            "verdicts": {"passed": 1, "failed": 2, "unverified": 3},
            "metrics": {"resolved": {"scored": 2, "not_measured": 4}},
        }
        yield Sample(path, [expected])


class TestJunit(ReportContract):
    reader = "junit"
    secrets: ClassVar = (SECRET,)

    def samples(self) -> Iterable[Sample]:
        path = self.folder / "j.xml"
        path.write_text(XML)
        expected = {
            "total": 7,
            "statuses": {"completed": 4, "harness_error": 2, "not_run": 1},
            "verdicts": {"passed": 3, "failed": 2, "unverified": 1},
            "no_verdict": 1,
            "metrics": {"test": {"scored": 5, "not_measured": 1, "skipped": 1}},
        }
        yield Sample(path, [expected])

    def make_large(self, folder: Path, count: int) -> Path:
        path = folder / "j.xml"
        cases = "".join(f'<testcase classname="c" name="n{n}" time="0.1"/>' for n in range(count))
        path.write_text(f'<testsuite name="s">{cases}</testsuite>')
        return path


class TestHarbor(ReportContract):
    reader = "harbor"

    def samples(self) -> Iterable[Sample]:
        folder = self.folder / "job"
        if not folder.exists():
            folder.mkdir()
            write_harbor(folder)
        expected = {
            "total": 5,
            "statuses": {"completed": 3, "subject_error": 1, "harness_error": 1},
            "verdicts": {"passed": 1, "unverified": 3},
            "no_verdict": 1,
            "metrics": {"verifier.reward": {"scored": 2, "null": 2, "not_measured": 1}},
        }
        yield Sample(folder, [expected])


class TestStagehand(ReportContract):
    reader = "stagehand"
    secrets: ClassVar = (SECRET,)

    def samples(self) -> Iterable[Sample]:
        folder = self.folder / "evals"
        if not folder.exists():
            folder.mkdir()
            write_stagehand(folder)
        states = {"scored": 3, "error": 2, "not_applicable": 1}
        expected = {
            "total": 6,
            "statuses": {"completed": 3, "subject_error": 1, "evaluator_error": 2},
            "verdicts": {"passed": 1, "failed": 2, "unverified": 2},
            "no_verdict": 1,
            "metrics": {"verifier.outcome": states, "verifier.process_score": states},
        }
        yield Sample(folder, [expected])
