"""Where the records of a log stand: summaries, journal, samples, chunks, late headers."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from fullcount.errors import DamagedInputError
from fullcount.model import ScoreState, TrialStatus, digest_text
from fullcount.plugin import ContentPolicy
from fullcount.readers.inspect import logs

if TYPE_CHECKING:
    from pathlib import Path


def write(path: Path, members: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, value in members.items():
            file.writestr(name, json.dumps(value))
    return path


def outcome(trials: list[Any]) -> list[tuple[str, int, str]]:
    return [
        (trial.case_id, trial.attempt, trial.scores[0].label or trial.status.value)
        for trial in trials
    ]


def test_a_log_of_nothing_but_samples(kit: Any, tmp_path: Path) -> None:
    log = kit.Log([kit.sample("a", "C"), kit.sample("b", "I")], scores=[kit.reported()])
    samples = {f"samples/{s['id']}_epoch_1.json": s for s in log.samples}
    path = write(tmp_path / "log.eval", {**samples, "header.json": log.header})
    assert outcome(kit.read(path).trials()) == [("a", 1, "C"), ("b", 1, "I")]


def test_a_sample_that_the_summaries_leave_out_is_read(kit: Any, tmp_path: Path) -> None:
    log = kit.Log([kit.sample("a", "C"), kit.sample("b/1", "I")], scores=[kit.reported()])
    samples = {f"samples/{s['id']}_epoch_1.json": s for s in log.samples}
    path = write(
        tmp_path / "log.eval",
        {**samples, "summaries.json": [kit.summary(log.samples[0])], "header.json": log.header},
    )
    trials = kit.read(path).trials()
    assert outcome(trials) == [("a", 1, "C"), ("b/1", 1, "I")]
    assert [trial.pointer for trial in trials] == [
        "summaries.json#/0",
        "samples/b/1_epoch_1.json#",
    ]


def test_the_journal_is_read_in_its_order(kit: Any, tmp_path: Path) -> None:
    log = kit.Log(ids=["a", "b"])
    start = {name: log.head[name] for name in ("version", "eval", "plan")}
    first, second = kit.sample("a", "I"), kit.sample("a", "C")
    journal = {
        "_journal/summaries/10.json": [kit.summary(second)],
        "_journal/summaries/9.json": [kit.summary(first)],
        "_journal/summaries/notes.json": "not one of them",
    }
    path = write(tmp_path / "log.eval", {"_journal/start.json": start, **journal})
    read = kit.read(path)
    assert outcome(read.trials()) == [("a", 1, "C"), ("b", 1, "not_run")]
    run, tally = read.tally()
    assert run.status == "started"
    assert tally.counts.statuses[TrialStatus.NOT_RUN] == 1
    assert "input.replaced" in read.codes()


@pytest.mark.parametrize("late", [("results",), ("results", "invalidated"), ("eval", "stats")])
def test_a_header_that_goes_on_behind_the_samples(
    kit: Any, tmp_path: Path, late: tuple[str, ...]
) -> None:
    log = kit.Log(
        [kit.sample("a", "C"), kit.sample("b", ...)],
        scores=[kit.reported()],
        extra={"invalidated": False},
    )
    header = log.header
    document = {key: value for key, value in header.items() if key not in late}
    document["samples"] = log.samples
    document.update({key: header[key] for key in late})
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document))
    run, _ = kit.read(path).tally()
    assert kit.read(path).states() == {"match": {"scored": 1, "missing": 1}}
    assert run.reported[0].value == 1.0


def test_ids_that_look_alike_share_a_member_of_an_archive(kit: Any, tmp_path: Path) -> None:
    number, text = kit.sample(1, "C"), kit.sample("1", "I")
    log = kit.Log([number, text], ids=[1, "1"], scores=[kit.reported()])
    path = write(
        tmp_path / "log.eval",
        {
            "samples/1_epoch_1.json": text,
            "summaries.json": [kit.summary(number), kit.summary(text)],
            "header.json": log.header,
        },
    )
    read = kit.read(path)
    first, second = read.trials(ContentPolicy.INCLUDE)
    assert (first.case_id, first.case_id_type, first.scores[0].label) == ("1", "number", "C")
    assert (second.case_id, second.case_id_type, second.scores[0].label) == ('"1"', "string", "I")
    assert (first.content.messages, len(second.content.messages)) == (None, 2)
    assert "input.ambiguous_ids" in read.codes()


def test_an_absent_id_is_told_from_one_that_looks_like_it(kit: Any) -> None:
    log = kit.Log([kit.sample(1, "C")], ids=[1, "1"], scores=[kit.reported()])
    for read in kit.both(log):
        trials = read.trials()
        assert outcome(trials) == [("1", 1, "C"), ('"1"', 1, "not_run")]


def test_a_large_sample_is_read_without_its_events(
    kit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = kit.Log(
        [kit.sample("a", "C", events=[{"event": "model"}] * 9, store={"x": 1}, attachments={})],
        scores=[kit.reported()],
    )
    whole = kit.archive(log).trials(ContentPolicy.INCLUDE)
    monkeypatch.setattr(logs, "_PARSED_WHOLE", 10)
    assert kit.archive(log).trials(ContentPolicy.INCLUDE) == whole
    assert whole[0].content.outputs[0].text == "It is Paris."


def test_invalidated_samples_are_found_in_an_archive(kit: Any, tmp_path: Path) -> None:
    void = kit.sample("a", "C", invalidation={"author": "me", "reason": "wrong key"})
    log = kit.Log(
        [void, kit.sample("b", "C")], scores=[kit.reported()], extra={"invalidated": True}
    )
    first, second = kit.archive(log).trials()
    assert (first.invalidated, first.scores[0].state) == (True, ScoreState.NOT_MEASURED)
    assert (second.invalidated, second.scores[0].value) == (False, 1.0)
    path = write(
        tmp_path / "bare.eval",
        {"summaries.json": list(map(kit.summary, log.samples)), "header.json": log.header},
    )
    read = kit.read(path)
    assert [trial.invalidated for trial in read.trials()] == [False, False]
    assert "input.invalidation_unknown" in read.codes()


def chunked(log: Any, kit: Any) -> dict[str, Any]:
    """The log's first sample as inspect_ai 0.3.285 chunks it, with one item to a chunk."""
    sample = dict(log.samples[0])
    messages = sample.pop("messages")
    shell = {**sample, "input": "attachment://1", "message_refs": [[1, 2], [0, 1], [2, 3]]}
    items = [messages[1], messages[0], *messages[2:]]
    stem = f"samples/{sample['id']}_epoch_1"
    return {
        f"{stem}/sample.json": shell,
        f"{stem}/skeleton.json": {},
        **{f"{stem}/messages/{n}.json": [item] for n, item in enumerate(items)},
        f"{stem}/events/0.json": [{}],
        f"{stem}/events/stats.json": {},
        f"{stem}/attachments/0.json": ["of no interest"],
        f"{stem}/attachments/1.json": ["x" * 6000, "attached"],
        "summaries.json": [
            {**kit.summary(log.samples[0]), "input": "x" * 5120 + "...\n(content truncated)"}
        ],
        "header.json": log.header,
    }


def chunked_log(kit: Any) -> Any:
    messages = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "attachment://2"},
        {"role": "assistant", "content": "last"},
    ]
    sample = kit.sample("s/1", "C", messages=messages, input="x" * 6000)
    return kit.Log([sample], scores=[kit.reported()])


def test_a_chunked_sample_is_put_together(kit: Any, tmp_path: Path) -> None:
    log = chunked_log(kit)
    path = write(tmp_path / "log.eval", chunked(log, kit))
    for policy in ContentPolicy:
        (trial,) = kit.read(path).trials(policy)
        (wanted,) = kit.document(log).trials(policy)
        assert trial.sample_hash == wanted.sample_hash
    (trial,) = kit.read(path).trials(ContentPolicy.INCLUDE)
    assert trial.pointer == "samples/s/1_epoch_1/sample.json#"
    assert trial.content.input.text == "x" * 6000
    assert [m.content.text for m in trial.content.messages] == ["first", "attached", "last"]
    (trial,) = kit.read(path).trials(ContentPolicy.DIGEST)
    assert trial.content.input.sha256 == digest_text("x" * 6000)


def test_a_chunked_sample_without_summary_is_read(kit: Any, tmp_path: Path) -> None:
    members = chunked(chunked_log(kit), kit)
    del members["summaries.json"]
    (trial,) = kit.read(write(tmp_path / "log.eval", members)).trials()
    assert (trial.case_id, trial.scores[0].value) == ("s/1", 1.0)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"messages/1.json": None}, r"messages/1\.json: has no such member"),
        ({"messages/1.json": []}, r"messages/1\.json: holds no items"),
        ({"messages/0.json": {}}, r"messages/0\.json: .*array"),
        ({"sample.json": []}, r"sample\.json: must be an object"),
        ({"attachments/0.json": None}, r"attachments/0\.json: has no such member"),
        ({"message_refs": [[0, 10**12]]}, "/message_refs: must be ranges of at most"),
        ({"message_refs": [[2, 1]]}, "/message_refs: must be ranges of at most"),
        ({"message_refs": [5]}, "/message_refs: must be ranges of messages, not 5"),
    ],
)
def test_chunks_that_do_not_fit_are_refused(
    kit: Any, tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    members = chunked(chunked_log(kit), kit)
    stem = "samples/s/1_epoch_1"
    for name, value in change.items():
        if name == "message_refs":
            members[f"{stem}/sample.json"]["message_refs"] = value
        elif value is None:
            del members[f"{stem}/{name}"]
        else:
            members[f"{stem}/{name}"] = value
    with pytest.raises(DamagedInputError, match=problem) as caught:
        kit.read(write(tmp_path / "log.eval", members)).trials(ContentPolicy.INCLUDE)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("where", ["archive", "document"])
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"scores": [1]}, "scores"),
        ({"scores": {"": {"value": 1}}}, "scores"),
        ({"scores": {"m": {"value": {"": 1}}}}, "scores"),
        ({"error": {"message": "x"}, "limit": 5}, "limit"),
        ({"error": 5}, "error"),
        ({"id": 1.5}, "id"),
        ({"epoch": True}, "epoch"),
    ],
)
def test_a_record_of_other_types_is_refused(
    kit: Any, tmp_path: Path, where: str, change: dict[str, Any], field: str
) -> None:
    log = kit.Log([kit.sample("a", "C")], ids=["a"], scores=[kit.reported()])
    bad = {**kit.sample("b", "C"), **change}
    if where == "document":
        path, pointer, member = tmp_path / "log.json", f"/samples/1/{field}", None
        path.write_text(json.dumps({**log.header, "samples": [*log.samples, bad]}))
    else:
        path, pointer, member = tmp_path / "log.eval", f"/1/{field}", "summaries.json"
        write(path, {"summaries.json": [log.samples[0], bad], "header.json": log.header})
    with pytest.raises(DamagedInputError) as caught:
        kit.read(path).tally()
    assert (caught.value.member, caught.value.pointer) == (member, pointer)


def test_an_archive_of_something_else_is_refused(kit: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "log.eval", {"notes.json": {}})
    with pytest.raises(DamagedInputError, match=r"neither header\.json nor _journal/start\.json"):
        kit.read(path).tally()
    path = write(tmp_path / "log.eval", {"header.json": []})
    with pytest.raises(DamagedInputError, match=r"header\.json: must be an object"):
        kit.read(path).tally()
