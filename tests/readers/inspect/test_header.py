"""What the header of a log tells of its run."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from fullcount.errors import DamagedInputError, OptionError, UnsupportedInputError
from fullcount.readers.inspect.runs import exception_name

if TYPE_CHECKING:
    from pathlib import Path


def with_eval(kit: Any, folder: Path, log: Any, **changes: Any) -> Any:
    """The log with other facts of its eval; None takes one away."""
    header = log.header
    header["eval"] = {k: v for k, v in {**header["eval"], **changes}.items() if v is not None}
    path = folder / "changed.json"
    path.write_text(json.dumps({**header, "samples": log.samples}))
    return kit.read(path)


def one(kit: Any, **more: Any) -> Any:
    return kit.Log([kit.sample("a", "C")], scores=[kit.reported()], **more)


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, "eval-1"),
        ({"eval_id": None, "task_id": "task-1"}, "run-1.task-1"),
        ({"eval_id": "", "run_id": None, "task_id": "task-1"}, "task-1"),
    ],
)
def test_a_run_has_the_id_of_its_eval(
    kit: Any, tmp_path: Path, changes: dict[str, Any], wanted: str
) -> None:
    assert with_eval(kit, tmp_path, one(kit), **changes).tally()[0].id == wanted


def test_a_run_without_any_id_has_one_of_its_content(kit: Any, tmp_path: Path) -> None:
    read = with_eval(kit, tmp_path, one(kit), eval_id=None, run_id=None)
    run, _ = read.tally()
    assert run.id == f"inspect-{read.item.source.sha256[:16]}"


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("allenai/ai2_arc", "allenai/ai2_arc"),
        ("https://example.org/set.csv", "https://example.org/set.csv"),
        ("https://user:secret@example.org/set.csv", None),
        ("/home/me/set.json", None),
        ("data/questions.csv", None),
        ("./data/questions", None),
        ("../data/questions", None),
        ("data/deeper/questions", None),
        ("C:\\data\\questions", None),
        ("questions", None),
        (None, None),
    ],
)
def test_only_a_public_dataset_is_located(
    kit: Any, tmp_path: Path, location: str | None, shown: str | None
) -> None:
    read = with_eval(kit, tmp_path, one(kit), dataset={"name": "d", "location": location})
    assert read.tally()[0].suite.dataset_location == shown


@pytest.mark.parametrize(
    ("dataset", "config", "total", "planned"),
    [
        ({"samples": 100, "sample_ids": ["a", "b"]}, {"epochs": 3}, 1, 6),
        ({"samples": 100, "sample_ids": ["a"]}, {"epochs": 4}, 2340, 2340),
        ({"samples": 100}, {}, 8, 8),
        ({"samples": 100}, {}, None, 100),
        ({"samples": 5}, {"epochs": 2}, None, 10),
        ({"samples": 100}, {"limit": 10}, None, 10),
        ({"samples": 5}, {"limit": 10}, None, 5),
        ({"samples": 100}, {"limit": [90, 120], "epochs": 2}, None, 20),
        ({"samples": 100}, {"limit": "x"}, None, None),
        ({"samples": 100}, {"sample_id": ["a"]}, None, None),
        ({}, {}, None, None),
    ],
)
def test_the_plan(
    kit: Any,
    tmp_path: Path,
    dataset: dict[str, Any],
    config: dict[str, Any],
    total: int | None,
    planned: int | None,
) -> None:
    log = one(kit, results={"total_samples": total})
    run, tally = with_eval(kit, tmp_path, log, dataset=dataset, config=config).tally()
    assert run.plan.trials == planned
    assert tally.counts.total == (planned or 1)
    assert tally.metrics[0].scored == 1


def test_a_record_that_nobody_planned_does_not_hide_an_absent_one(kit: Any) -> None:
    log = kit.Log(
        [kit.sample("a", "C"), kit.sample("x", "C")], ids=["a", "b"], scores=[kit.reported()]
    )
    for read in kit.both(log):
        assert [(t.case_id, t.status.value) for t in read.trials()] == [
            ("a", "completed"),
            ("x", "completed"),
            ("b", "not_run"),
        ]
        _, tally = read.tally()
        assert "plan.differs" in [finding.code for finding in tally.findings]


def test_a_plan_without_end_is_refused(kit: Any) -> None:
    read = kit.archive(one(kit, results={"total_samples": 10**15}))
    with pytest.raises(UnsupportedInputError, match="999,999,999,999,999 trials"):
        read.tally()


def test_scorers_of_one_name_are_numbered(kit: Any) -> None:
    log = kit.Log(
        [
            kit.sample("a", scores={"match": {"value": "C"}, "match1": {"value": "I"}}),
            kit.sample("b", scores={"match": {"value": "C"}}, error="ValueError('x')"),
        ],
        scorers=("match", "match"),
    )
    for read in kit.both(log):
        run, _ = read.tally()
        assert [(e.name, e.kind, e.metrics[0].maximum) for e in run.evaluators] == [
            ("match", "rule", 1.0),
            ("match1", "rule", 1.0),
        ]
        assert read.states() == {
            "match": {"scored": 2},
            "match1": {"scored": 1, "error": 1},
        }


def test_scorers_of_two_packages_stay_apart(kit: Any) -> None:
    log = kit.Log(
        [kit.sample("a", scores={"p/match": {"value": "C"}, "q/match": {"value": "I"}})],
        scores=[kit.reported("p/match"), kit.reported("q/match", accuracy=0.0)],
        scorers=(),
    )
    for read in kit.both(log):
        _, tally = read.tally()
        assert [(m.evaluator, m.rate.value) for m in tally.metrics] == [
            ("p/match", 1.0),
            ("q/match", 0.0),
        ]
        assert "reported.differs" not in [finding.code for finding in tally.findings]


def accuracy(name: str = "inspect_ai/accuracy") -> list[dict[str, str]]:
    return [{"name": name}]


@pytest.mark.parametrize(
    ("scorer", "kind", "model", "scale"),
    [
        ({"name": "match"}, "rule", None, (0.0, 1.0)),
        ({"name": "f1", "metrics": [{"name": "inspect_ai/mean"}]}, "rule", None, (0.0, 1.0)),
        ({"name": "perplexity"}, "rule", None, (None, None)),
        ({"name": "cascade", "metrics": accuracy()}, "composite", None, (0.0, 1.0)),
        ({"name": "mine", "metrics": accuracy()}, "unknown", None, (0.0, 1.0)),
        ({"name": "mine", "metrics": accuracy("accuracy")}, "unknown", None, (0.0, 1.0)),
        ({"name": "mine", "metrics": accuracy("other/accuracy")}, "unknown", None, (None, None)),
        ({"name": "mine", "metrics": 5}, "unknown", None, (None, None)),
        ({"name": "model_graded_qa"}, "model", "openai/judge", (0.0, 1.0)),
        ({"name": "model_graded_qa", "options": {"model_role": "x"}}, "model", None, (0.0, 1.0)),
        (
            {"name": "model_graded_fact", "options": {"model": "openai/o3"}},
            "model",
            "openai/o3",
            (0.0, 1.0),
        ),
        (
            {"name": "mine", "options": {"model": {"model": "a/b", "base_url": "http://x.corp"}}},
            "model",
            "a/b",
            (None, None),
        ),
        ({"name": "mine", "options": {"model": ["a/b", "c/d"]}}, "model", None, (None, None)),
        (
            {"name": "mine", "options": {"model_role": "grader"}},
            "model",
            "openai/judge",
            (None, None),
        ),
    ],
)
def test_kind_model_and_scale_of_a_scorer(
    kit: Any,
    tmp_path: Path,
    scorer: dict[str, Any],
    kind: str,
    model: str | None,
    scale: tuple[float | None, float | None],
) -> None:
    log = kit.Log([kit.sample("a", scores={scorer["name"]: {"value": 1.0}})])
    roles = {"grader": {"model": "openai/judge", "base_url": "http://judge.corp"}}
    run, _ = with_eval(kit, tmp_path, log, scorers=[scorer], model_roles=roles).tally()
    (evaluator,) = run.evaluators
    (metric,) = evaluator.metrics
    assert (evaluator.kind, evaluator.model) == (kind, model)
    assert (metric.minimum, metric.maximum) == scale
    assert "corp" not in run.model_dump_json()


def test_the_scale_of_a_key_is_that_of_its_pattern(kit: Any, tmp_path: Path) -> None:
    log = kit.Log([kit.sample("a", scores={"multi": {"value": {"acc": 1, "len": 40}}})])
    scorer = {
        "name": "multi",
        "metrics": {"a*": accuracy(), "*": [{"name": "inspect_ai/mean"}]},
    }
    run, _ = with_eval(kit, tmp_path, log, scorers=[scorer]).tally()
    assert [(m.name, m.maximum) for m in run.evaluators[0].metrics] == [
        ("acc", 1.0),
        ("len", None),
    ]


def test_a_pattern_is_no_metric(kit: Any, tmp_path: Path) -> None:
    """Inspect writes the pattern as a score's name where nothing was scored."""
    log = kit.Log(
        [kit.sample("a", ..., error="ValueError('x')")],
        scores=[kit.reported("x", "multi"), kit.reported("*", "multi", math.nan)],
    )
    scorer = {"name": "multi", "metrics": {"x": accuracy(), "*": accuracy()}}
    read = with_eval(kit, tmp_path, log, scorers=[scorer])
    assert read.states() == {"multi.x": {"not_measured": 1}}
    assert [reported.metric for reported in read.tally()[0].reported] == ["x", "*"]


def test_what_the_eval_sets_stands_above_the_model(kit: Any, tmp_path: Path) -> None:
    log = one(kit)
    log.extra["plan"] = {
        "steps": [{"solver": "inspect_ai/use_tools"}, {"solver": "pkg/agent"}],
        "config": {"temperature": 0.5},
    }
    run, _ = with_eval(
        kit,
        tmp_path,
        log,
        model_generate_config={"temperature": 1.0, "top_p": 0.9, "seed": 7},
        config={"max_messages": 30, "token_limit": 1000},
        sandbox=["docker", "compose.yaml"],
    ).tally()
    generation = run.generation
    assert (generation.temperature, generation.top_p, generation.seed) == (0.5, 0.9, 7)
    assert (generation.message_limit, generation.token_limit) == (30, 1000)
    assert (generation.sandbox, generation.solver) == ("docker", "use_tools, pkg/agent")


def test_tags_are_those_after_every_edit(kit: Any, tmp_path: Path) -> None:
    assert with_eval(kit, tmp_path, one(kit), tags=["a", "b"]).tally()[0].tags == ("a", "b")
    edited = one(kit, extra={"tags": []})
    assert with_eval(kit, tmp_path, edited, tags=["a", "b"]).tally()[0].tags == ()


def test_what_ended_a_run_is_kept(kit: Any) -> None:
    error = {"message": "RuntimeError('out of /home/me/disk')", "traceback": "…"}
    read = kit.archive(kit.Log([kit.sample("a", "C")], status="error", extra={"error": error}))
    run, _ = read.tally()
    assert (run.status, run.error.type) == ("error", "RuntimeError")
    assert "disk" not in run.model_dump_json()


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("ValueError('boom')", "ValueError"),
        ('PermissionDenied("no")', "PermissionDenied"),
        ("openai.RateLimitError('429')", "RateLimitError"),
        ("Cancelled()", "Cancelled"),
        ("LimitExceeded(", "LimitExceeded"),
        ("ValueError: boom", "ValueError"),
        ("the sandbox (docker) died", None),
        ("f(x) is not defined", None),
        ("", None),
    ],
)
def test_the_class_of_an_exception(message: str, name: str | None) -> None:
    assert exception_name(message) == name


@pytest.mark.parametrize("status", ["paused", ""])
def test_an_unknown_status_is_unknown(kit: Any, status: str) -> None:
    assert kit.archive(one(kit, status=status)).tally()[0].status == "unknown"


@pytest.mark.parametrize(
    ("where", "value", "pointer"),
    [
        (("version",), True, "/version"),
        (("version",), "2", "/version"),
        (("status",), 5, "/status"),
        (("results",), [], "/results"),
        (("results", "scores"), {}, "/results/scores"),
        (("results", "scores"), [5], "/results/scores/0/name"),
        (("results", "scores"), [{"name": ""}], "/results/scores/0/name"),
        (("eval", "config"), 5, "/eval/config"),
        (("eval", "config", "epochs"), "x", "/eval/config/epochs"),
        (("eval", "config", "epochs"), 0, "/eval/config/epochs"),
        (("eval", "config", "epochs"), 10**30, "/eval/config/epochs"),
        (("eval", "dataset"), 5, "/eval/dataset"),
        (("eval", "dataset", "sample_ids"), "abc", "/eval/dataset/sample_ids"),
        (("eval", "dataset", "sample_ids"), ["a", {}], "/eval/dataset/sample_ids/1"),
        (("eval", "dataset", "sample_ids"), [True], "/eval/dataset/sample_ids/0"),
    ],
)
def test_a_header_of_other_types_is_refused(
    kit: Any, tmp_path: Path, where: tuple[str, ...], value: Any, pointer: str
) -> None:
    log = one(kit)
    document = {**log.header, "samples": log.samples}
    place = document
    for key in where[:-1]:
        place = place[key]
    place[where[-1]] = value
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document))
    with pytest.raises((DamagedInputError, UnsupportedInputError)) as caught:
        kit.read(path).tally()
    assert caught.value.pointer == pointer
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "extra",
    [{"plan": 5}, {"stats": 5}, {"error": 5}, {"tags": 5}, {"unheard_of": {"of": 1}}],
)
def test_what_is_not_needed_may_be_anything(kit: Any, extra: dict[str, Any]) -> None:
    for read in kit.both(one(kit, extra=extra)):
        assert read.states() == {"match": {"scored": 1}}


def test_a_value_that_is_no_number_is_refused_as_an_option(kit: Any) -> None:
    path = kit.document(one(kit)).path
    with pytest.raises(OptionError, match="values"):
        _ = kit.read(path, values="yes:many").item
