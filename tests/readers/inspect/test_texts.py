"""Texts of samples: which are the real ones, and what leaves of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fullcount.content import sample_hash
from fullcount.plugin import ContentPolicy
from fullcount.readers.inspect.texts import input_text, is_exact

if TYPE_CHECKING:
    from pathlib import Path

CUT = "...\n(content truncated)"


def said(content: Any, role: str = "user") -> dict[str, Any]:
    return {"id": "m1", "role": role, "content": content}


@pytest.mark.parametrize(
    ("given", "target", "exact"),
    [
        ("q", "t", True),
        ("q", ["t", "u"], True),
        ("q" * 5120, "t", True),
        ("q" * 5121, "t", False),
        ("q" * 5120 + CUT, "t", False),
        ("q", "t" * 5121, False),
        ("q", ["t", "u" * 5121], False),
        ("q", None, False),
        ("attachment://0", "t", False),
        ("tc://0", "t", False),
        ([said("s", "system"), said("q")], "t", True),
        ([said("q" * 5121)], "t", False),
        ([said([{"type": "text", "text": "q"}, {"type": "text", "text": "(Image)"}])], "t", True),
        ([said([{"type": "text", "text": "q" * 5121}])], "t", False),
        ([said([{"type": "image", "image": "data:"}])], "t", False),
        ([said(None)], "t", False),
        ([5], "t", False),
        (None, "t", False),
    ],
)
def test_a_summary_may_have_altered_a_text(given: Any, target: Any, exact: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert is_exact({"input": given, "target": target}) is exact


def test_a_conversation_is_one_text_whether_whole_or_thinned() -> None:
    whole = [said([{"type": "text", "text": "look"}, {"type": "image", "image": "data:…"}])]
    thinned = [said([{"type": "text", "text": "look"}, {"type": "text", "text": "(Image)"}])]
    text = '[{"role":"user","content":"look\\n(Image)"}]'
    assert input_text({"input": whole}) == input_text({"input": thinned}) == text


def test_a_conversation_with_plain_texts() -> None:
    assert input_text({"input": [said("be brief", "system"), said("q")]}) == (
        '[{"role":"system","content":"be brief"},{"role":"user","content":"q"}]'
    )


def test_a_conversation_needs_no_samples(kit: Any, tmp_path: Path) -> None:
    given = [said("be brief", "system"), said("q")]
    log = kit.Log([kit.sample("a", "C", input=given)], scores=[kit.reported()])
    read = kit.archive(log)
    (trial,) = read.trials()
    (wanted,) = kit.document(log).trials()
    assert trial.sample_hash == wanted.sample_hash
    assert trial.sample_hash == sample_hash(str(input_text({"input": given})), ["Paris"])
    assert trial.pointer == "summaries.json#/0"
    assert read.codes() == []


def test_a_conversation_that_the_harness_cut_has_no_digest(kit: Any) -> None:
    """Version 0.3.200 cuts texts of conversations in the samples themselves."""
    log = kit.Log([kit.sample("a", "C", input=[said("q" * 5120 + CUT)])], scores=[kit.reported()])
    for read in kit.both(log):
        (trial,) = read.trials()
        assert (trial.sample_hash, trial.content.input) == (None, None)
        assert "content.not_exact" in read.codes()


@pytest.mark.parametrize("policy", list(ContentPolicy))
def test_the_join_key_does_not_depend_on_the_policy(kit: Any, policy: ContentPolicy) -> None:
    log = kit.Log([kit.sample("a", "C", input="q" * 9000)], scores=[kit.reported()])
    for read in kit.both(log):
        (trial,) = read.trials(policy)
        assert trial.sample_hash == sample_hash("q" * 9000, ["Paris"])


def test_a_whole_conversation_leaves_when_asked_for(kit: Any) -> None:
    hidden = {"type": "reasoning", "reasoning": "c2VjcmV0", "redacted": True, "summary": "in short"}
    log = kit.Log(
        [
            kit.sample(
                "a",
                "C",
                messages=[
                    said([{"type": "text", "text": "tc://h"}, {"type": "audio", "audio": "x"}]),
                    said(
                        [hidden, {"type": "reasoning", "reasoning": "attachment://h"}], "assistant"
                    ),
                    {
                        "role": "assistant",
                        "tool_calls": [{"function": "f", "arguments": {"n": [1]}}],
                    },
                ],
                output={"completion": "attachment://h", "choices": []},
                attachments={"h": "attached"},
            )
        ],
        scores=[kit.reported()],
    )
    for read in kit.both(log):
        (trial,) = read.trials(ContentPolicy.INCLUDE)
        first, second, third = trial.content.messages
        assert first.content.text == "attached\n[audio]"
        assert (second.role, second.content.text) == ("assistant", "")
        assert second.reasoning.text == "in short\nattached"
        assert third.content is None
        (call,) = third.tool_calls
        assert (call.id, call.name, call.arguments) == ("0", "f", {"n": "[1]"})
        assert [output.text for output in trial.content.outputs] == ["attached"]


def test_attachments_of_log_version_1(kit: Any, tmp_path: Path) -> None:
    sample = {
        "id": 1,
        "epoch": 1,
        "input": "tc://h",
        "target": "t",
        "score": {"value": "C"},
        "transcript": {"events": [], "content": {"h": "the real question"}},
    }
    document = {
        **kit.Log([kit.sample(1)], version=1).head,
        "results": {"scorer": {"name": "match"}, "metrics": {}},
        "samples": [sample],
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document))
    (trial,) = kit.read(path).trials()
    assert trial.sample_hash == sample_hash("the real question", ["t"])
