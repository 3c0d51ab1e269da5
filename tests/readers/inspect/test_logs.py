"""The ways in which a log is stored, whole, broken off and hostile."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import pytest

from fullcount.content import sample_hash
from fullcount.errors import DamagedInputError, InputError, UnsupportedInputError
from fullcount.model import TrialStatus, digest_text
from fullcount.plugin import ContentPolicy
from fullcount.readers.inspect.sniff import sniff

SHARED = Path(__file__).parents[4] / "shared" / "logs" / "inspect"


def plain(trials: list[Any]) -> list[dict[str, Any]]:
    return [
        trial.model_dump(mode="json", exclude={"pointer", "trace", "started_at", "completed_at"})
        for trial in trials
    ]


def test_archive_and_document_of_one_log_give_the_same_trials(kit: Any) -> None:
    log = kit.Log(
        [
            kit.sample("a", "C"),
            kit.sample("b", math.nan, error="ValueError('x')"),
            kit.sample("c", ..., limit="time"),
            kit.sample(7, {"x": 1}, error_retries=[{"message": "m", "traceback": "t"}]),
        ],
    )
    for policy in ContentPolicy:
        one, other = (read.trials(policy) for read in kit.both(log))
        assert plain(one) == plain(other)


@pytest.mark.skipif(not SHARED.is_dir(), reason="real logs are not here")
@pytest.mark.parametrize("name", ["epochs1_default", "demo_2epochs"])
def test_real_logs_agree_in_both_forms(kit: Any, name: str) -> None:
    unlike = {"duration", "working_time"}
    one, other = (
        sorted(
            (
                {key: value for key, value in trial.items() if key not in unlike}
                for trial in plain(kit.read(SHARED / f"{name}.{kind}").trials())
            ),
            key=lambda trial: (trial["case_id"], trial["attempt"]),
        )
        for kind in ("eval", "json")
    )
    assert one == other


@pytest.mark.skipif(not SHARED.is_dir(), reason="real logs are not here")
def test_a_real_log_with_every_kind_of_hole(kit: Any) -> None:
    _, tally = kit.read(SHARED / "epochs1_default.eval").tally()
    (metric,) = tally.metrics
    assert tally.counts.total == 5
    assert {state.value: n for state, n in metric.states.items() if n} == {
        "scored": 2,
        "nan": 1,
        "missing": 1,
        "not_measured": 1,
    }
    assert (metric.rate.value, metric.rate.lower, metric.rate.upper) == (0.5, 0.2, 0.8)


def test_a_crashed_log_is_read_from_its_journal(kit: Any) -> None:
    log = kit.Log([kit.sample(n, "C") for n in range(6)], epochs=2)
    read = kit.archive(log, crashed=True)
    run, tally = read.tally()
    assert run.status == "started"
    # Three samples have a summary, three only their own member, six were never begun.
    assert tally.counts.total == 12
    assert tally.counts.statuses[TrialStatus.NOT_RUN] == 6
    assert tally.metrics[0].scored == 6


def test_a_log_without_summaries_is_read_from_its_journal(kit: Any) -> None:
    log = kit.Log([kit.sample(n, "C") for n in range(5)], scores=[kit.reported()])
    assert kit.archive(log, summaries=False).states() == {"match": {"scored": 5}}


def test_planned_samples_without_a_record_count(kit: Any) -> None:
    log = kit.Log(
        [kit.sample("a", "C"), kit.sample("a", "I", epoch=2), kit.sample("b", "C")],
        ids=["a", "b", "c"],
        epochs=2,
        scores=[kit.reported(accuracy=0.75)],
    )
    for read in kit.both(log):
        trials = read.trials()
        assert [(trial.case_id, trial.attempt, trial.status.value) for trial in trials] == [
            ("a", 1, "completed"),
            ("a", 2, "completed"),
            ("b", 1, "completed"),
            ("b", 2, "not_run"),
            ("c", 1, "not_run"),
            ("c", 2, "not_run"),
        ]


def test_planned_samples_without_an_id_count(kit: Any) -> None:
    log = kit.Log(
        [kit.sample("a", "C")], ids=["a"], scores=[kit.reported()], results={"total_samples": 3}
    )
    for read in kit.both(log):
        named = [(trial.case_id, trial.case_id_type) for trial in read.trials()]
        assert named[1:] == [("unrecorded-1", "synthetic"), ("unrecorded-2", "synthetic")]


def test_the_dataset_is_not_the_plan(kit: Any) -> None:
    run, tally = kit.archive(
        kit.Log([kit.sample("a", "C")], ids=["a"], scores=[kit.reported()])
    ).tally()
    assert (run.suite.cases, run.plan.trials, tally.counts.total) == (100, 1, 1)


def test_a_log_that_keeps_no_samples_has_only_its_plan(kit: Any, tmp_path: Path) -> None:
    log = kit.Log(ids=["a", "b"], scores=[kit.reported(accuracy=0.5)])
    document = {**log.header, "samples": None, "reductions": None}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document))
    run, tally = kit.read(path).tally()
    assert tally.counts.statuses[TrialStatus.NOT_RUN] == 2
    assert run.reported[0].value == 0.5


def test_of_two_records_of_a_sample_the_last_counts(kit: Any, tmp_path: Path) -> None:
    log = kit.Log(
        [kit.sample("a", "I"), kit.sample("b", "C"), kit.sample("a", "C")],
        ids=["a", "b"],
        scores=[kit.reported()],
        results={"total_samples": 2},
    )
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive = kit.archive(log)
    for read in (archive, kit.document(log)):
        _, tally = read.tally()
        assert tally.counts.total == 2
        assert tally.metrics[0].rate.value == 1.0
        assert "input.replaced" in read.codes()


def test_ids_that_look_alike_stay_apart(kit: Any) -> None:
    log = kit.Log([kit.sample(1, "C"), kit.sample("1", "I")], ids=[1, "1"], scores=[kit.reported()])
    for read in (kit.document(log),):
        named = [(trial.case_id, trial.case_id_type) for trial in read.trials()]
        assert named == [("1", "number"), ('"1"', "string")]
        assert read.tally()[1].counts.total == 2


def test_an_id_with_a_slash(kit: Any) -> None:
    log = kit.Log([kit.sample("s/1", "C")], scores=[kit.reported()], inspect_version="0.3.60")
    (trial,) = kit.archive(log).trials()
    assert trial.case_id == "s/1"
    assert trial.pointer == "samples/s/1_epoch_1.json#"


def test_log_version_1(kit: Any, tmp_path: Path) -> None:
    document = {
        **kit.Log([kit.sample("a")], version=1).head,
        "results": {
            "scorer": {"name": "match"},
            "metrics": {"accuracy": {"name": "accuracy", "value": 1.0}},
        },
        "samples": [
            {"id": "a", "epoch": 1, "input": "q", "target": "t", "score": {"value": "C"}},
        ],
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document))
    run, tally = kit.read(path).tally()
    assert run.source.format_version == "1"
    assert [(m.name, m.rate.value) for m in tally.metrics] == [("match", 1.0)]
    assert run.reported[0].value == 1.0


def test_samples_before_the_header(kit: Any, tmp_path: Path) -> None:
    log = kit.Log([kit.sample("a", "C")], scores=[kit.reported()])
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"samples": log.samples, **log.header}))
    assert kit.read(path).states() == {"match": {"scored": 1}}


@pytest.mark.parametrize("where", ["archive", "document"])
def test_a_newer_version_is_refused(kit: Any, where: str) -> None:
    log = kit.Log([kit.sample("a", "C")], scores=[kit.reported()], version=99)
    with pytest.raises(UnsupportedInputError, match="/version: log version 99 is not read"):
        getattr(kit, where)(log).tally()


@pytest.mark.parametrize("where", ["archive", "document"])
def test_version_3_of_a_development_build(kit: Any, where: str) -> None:
    pooled = kit.sample("a", "C", message_pool=[{"role": "user", "content": "hello"}])
    samples = [pooled, kit.sample("b")]
    built = "0.3.135.dev2+g715e750e"
    log = kit.Log(samples, scores=[kit.reported()], version=3, inspect_version=built)
    read = getattr(kit, where)(log)
    run, _ = read.tally()
    assert run.source.format_version == "3"
    assert read.states() == {"match": {"scored": 1, "null": 1}}


@pytest.mark.parametrize("built", ["0.3.286", "0.4.0.dev1", "0.3.1350", None])
def test_version_3_of_a_release_is_refused(kit: Any, built: Any) -> None:
    log = kit.Log([kit.sample("a", "C")], version=3, inspect_version=built)
    with pytest.raises(UnsupportedInputError, match="/version: log version 3 is not read"):
        kit.archive(log).tally()


def test_digest_and_join_key_are_over_the_real_text(kit: Any) -> None:
    long = "x" * 6000
    for version in ("0.3.285", "0.3.60"):
        real = kit.sample("a", "C", input=long, target=["t1", "t2"])
        log = kit.Log([real], scores=[kit.reported()], inspect_version=version)
        archive = kit.folder / "cut.eval"
        short = {**kit.summary(real), "input": long[:5120] + "...\n(content truncated)"}
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("samples/a_epoch_1.json", json.dumps(real))
            file.writestr("summaries.json", json.dumps([short]))
            file.writestr("header.json", json.dumps(log.header))
        (trial,) = kit.read(archive).trials()
        assert trial.content.input.sha256 == digest_text(long)
        assert [r.sha256 for r in trial.content.references] == [
            digest_text("t1"),
            digest_text("t2"),
        ]
        assert trial.sample_hash == sample_hash(long, ["t1", "t2"])


def test_a_cut_text_without_its_sample_has_no_digest(kit: Any, tmp_path: Path) -> None:
    real = kit.sample("a", "C", input="x" * 6000)
    log = kit.Log([real], scores=[kit.reported()])
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("summaries.json", json.dumps([kit.summary(real)]))
        file.writestr("header.json", json.dumps(log.header))
    read = kit.read(path)
    (trial,) = read.trials()
    assert trial.sample_hash is None
    assert trial.content is not None
    assert (trial.content.input, trial.content.references) == (None, ())
    assert "content.not_exact" in read.codes()


def test_content_leaves_only_when_asked_for(kit: Any) -> None:
    log = kit.Log(
        [
            kit.sample(
                "a",
                "C",
                score={"answer": "Paris", "explanation": "as expected"},
                attachments={"h1": "a long question"},
                input="attachment://h1",
                choices=["Paris", "Rome"],
                messages=[
                    {"role": "user", "content": [{"type": "text", "text": "attachment://h1"}]},
                    {
                        "role": "assistant",
                        "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "image"}],
                        "tool_calls": [
                            {"id": "c1", "function": "look", "arguments": {"q": "x", "n": 3}}
                        ],
                    },
                    {"role": "tool", "content": "found", "tool_call_id": "c1"},
                ],
            )
        ],
        scores=[kit.reported()],
    )
    read = kit.document(log)
    (trial,) = read.trials(ContentPolicy.OMIT)
    assert trial.content.model_dump(exclude_defaults=True) == {"turns": 1}
    assert trial.sample_hash == sample_hash("a long question", ["Paris"])
    (trial,) = read.trials(ContentPolicy.INCLUDE)
    assert trial.content.input.text == "a long question"
    assert [choice.text for choice in trial.content.choices] == ["Paris", "Rome"]
    first, second, third = trial.content.messages
    assert first.content.text == "a long question"
    assert (second.content.text, second.reasoning.text) == ("[image]", "hm")
    assert second.tool_calls[0].arguments == {"q": "x", "n": "3"}
    assert (third.tool_call_id, third.content.text) == ("c1", "found")
    assert trial.scores[0].answer.text == "Paris"
    assert trial.scores[0].explanation.text == "as expected"


def test_the_endpoint_stays(kit: Any) -> None:
    run, _ = kit.archive(kit.Log([kit.sample("a", "C")], scores=[kit.reported()])).tally()
    assert "example.org" not in run.model_dump_json()


def test_times_usage_and_headline_numbers(kit: Any) -> None:
    entry = kit.reported(accuracy=math.nan, scored_samples=3, unscored_samples=2, reducer="mean")
    log = kit.Log([kit.sample("a", "C", started_at="2026-01-01T00:00:01+00:00")], scores=[entry])
    for read in kit.both(log):
        run, _ = read.tally()
        (headline,) = run.reported
        assert (headline.value, headline.nonfinite, headline.reducer) == (None, "nan", "mean")
        assert (headline.scored, headline.unscored) == (3, 2)
        assert run.started_at is not None
        assert run.started_at.isoformat() == "2026-01-01T00:00:00+00:00"
        (trial,) = read.trials()
        assert trial.usage is not None
        assert (trial.usage.input_tokens, trial.usage.total_tokens) == (5, 12)
        assert trial.duration == 1.5


def test_a_time_without_an_offset_is_noted(kit: Any) -> None:
    log = kit.Log(
        [kit.sample("a", "C")],
        scores=[kit.reported()],
        extra={"stats": {"started_at": "2024-11-05T13:31:45", "completed_at": ""}},
    )
    read = kit.archive(log)
    run, _ = read.tally()
    assert run.started_at is not None
    assert run.started_at.isoformat() == "2024-11-05T13:31:45+00:00"
    assert run.completed_at is None
    assert "time.zone_unknown" in read.codes()


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"eval": None}, "/eval/task"),
        ({"eval": {"task": "t", "model": ""}}, "/eval/model"),
        ({"samples": [3]}, "/samples/0"),
        ({"samples": [{"id": None}]}, "/samples/0/id"),
        ({"samples": [{"id": "a", "epoch": 0}]}, "/samples/0/epoch"),
        ({"samples": [{"id": "a", "epoch": "x"}]}, "/samples/0/epoch"),
    ],
)
def test_what_every_log_has_must_be_there(
    kit: Any, tmp_path: Path, change: dict[str, Any], pointer: str
) -> None:
    log = kit.Log([kit.sample("a", "C")], scores=[kit.reported()])
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**log.header, "samples": log.samples, **change}))
    with pytest.raises(DamagedInputError) as caught:
        kit.read(path).tally()
    assert caught.value.pointer == pointer
    assert "\n" not in str(caught.value)


def test_a_member_that_is_not_what_its_name_says(kit: Any, tmp_path: Path) -> None:
    log = kit.Log([kit.sample("a", "C")], scores=[kit.reported()])
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("samples/a_epoch_1.json", json.dumps(kit.sample("b", "C")))
        file.writestr("summaries.json", json.dumps([kit.summary(log.samples[0])]))
        file.writestr("header.json", json.dumps(log.header))
    with pytest.raises(DamagedInputError, match=r"samples/a_epoch_1\.json: holds sample 'b'"):
        kit.read(path).trials(ContentPolicy.INCLUDE)


def test_an_archive_that_leads_elsewhere_is_refused(kit: Any, tmp_path: Path) -> None:
    log = kit.Log([kit.sample("a", "C")], scores=[kit.reported()])
    path = kit.archive(log).path
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("samples/../../etc/x.json", "{}")
    with pytest.raises(InputError, match=r"\.\."):
        kit.read(path).tally()


def test_an_archive_that_was_cut_is_refused(kit: Any) -> None:
    path = kit.archive(kit.Log([kit.sample("a", "C")], scores=[kit.reported()])).path
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DamagedInputError, match=r"log\.eval"):
        kit.read(path).tally()


def test_a_lone_surrogate_and_a_large_text_are_read(kit: Any) -> None:
    log = kit.Log(
        [
            kit.sample("a\ud800", "C", input="\udfff" + "y" * 10_000_000),
            kit.sample("b", "\ud800"),
        ],
        scores=[kit.reported()],
    )
    read = kit.document(log)
    first, second = read.trials()
    assert first.case_id == "a\\ud800"
    assert first.content.input.sha256 == digest_text("\udfff" + "y" * 10_000_000)
    assert second.scores[0].label == "\\ud800"


def test_a_byte_order_mark_is_passed_over(kit: Any, tmp_path: Path) -> None:
    log = kit.Log([kit.sample("a", "C")], scores=[kit.reported()])
    path = kit.document(log).path
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert kit.read(path).states() == {"match": {"scored": 1}}


def test_a_document_is_known_behind_a_long_list_of_ids(kit: Any) -> None:
    log = kit.Log([kit.sample("a", "C")], ids=["x" * 90_000], scores=[kit.reported()])
    read = kit.document(log)
    assert sniff(read.item.source).score == 90
