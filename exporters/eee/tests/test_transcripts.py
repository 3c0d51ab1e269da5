"""What went into a trial and what came out, in the forms that the format has."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from fullcount.model import Content, Run, Trial, Verdict
from fullcount.plugin import ContentPolicy, Context
from fullcount.testing import strategies
from fullcount_eee.identity import identify
from fullcount_eee.options import EeeOptions
from fullcount_eee.rows import RowBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

RUN = Run.model_validate(
    {
        "id": "run-1",
        "source": {"format": "test"},
        "harness": {"name": "harness"},
        "subject": {"id": "acme/anvil"},
        "suite": {"name": "suite"},
        "evaluators": [{"name": "acc", "metrics": [{"name": "acc"}]}],
    }
)


def scored(value: float = 1, **more: Any) -> dict[str, Any]:
    return {"evaluator": "acc", "metric": "acc", "state": "scored", "value": value, **more}


def trial(**more: Any) -> Trial:
    return Trial.model_validate({"case_id": "a", "scores": [scored(outcome="passed")], **more})


def digest(text: str) -> str:
    return f"sha256:{sha256(text.encode()).hexdigest()}"


TALK = {
    "input": {"text": "q"},
    "references": [{"text": "A"}, {"text": "B"}],
    "choices": [{"text": "yes"}, {"text": "no"}],
    "outputs": [{"text": "o"}],
}


def test_single_turn_by_policy(export: Callable[..., Any]) -> None:
    answered = trial(
        scores=[scored(outcome="passed", answer={"text": "A"}, explanation={"text": "why"})],
        content=TALK,
    )
    row = export(RUN, (answered,), ContentPolicy.INCLUDE).rows_of("acc")[0]
    assert row["interaction_type"] == "single_turn"
    assert row["input"] == {"raw": "q", "reference": ["A", "B"], "choices": ["yes", "no"]}
    assert row["output"] == {"raw": ["o"]}
    assert row["answer_attribution"] == [
        {
            "turn_idx": 0,
            "source": "output.raw",
            "extracted_value": "A",
            "extraction_method": "acc",
            "is_terminal": True,
        }
    ]
    assert row["metadata"]["explanation"] == "why"
    assert "answer" not in row["metadata"]

    row = export(RUN, (answered,), ContentPolicy.DIGEST).rows_of("acc")[0]
    assert row["input"] == {
        "raw": digest("q"),
        "reference": [digest("A"), digest("B")],
        "choices": [digest("yes"), digest("no")],
    }
    assert row["output"] == {"raw": [digest("o")]}
    assert row["answer_attribution"] == []
    assert row["metadata"]["answer"] == digest("A")
    assert row["metadata"]["explanation"] == digest("why")

    row = export(RUN, (answered,), ContentPolicy.OMIT).rows_of("acc")[0]
    assert row["input"] == {"raw": "", "reference": []}
    assert row["output"] == {"raw": []}
    assert not {"answer", "explanation"} & row["metadata"].keys()


def test_conversation(export: Callable[..., Any]) -> None:
    messages = [
        {"role": "system", "content": {"text": "be brief"}},
        {"role": "user", "content": {"text": "q"}},
        {"role": "assistant", "content": {"text": "which?"}, "reasoning": {"text": "hm"}},
        {"role": "user"},
        {"role": "assistant", "content": {"text": "o"}},
    ]
    content = {**TALK, "messages": messages, "turns": 2}
    out = export(RUN, (trial(content=content),), ContentPolicy.INCLUDE)
    row = out.rows[0]
    assert row["interaction_type"] == "multi_turn"
    assert "output" not in row
    assert row["messages"] == [
        {"turn_idx": 0, "role": "system", "content": "be brief"},
        {"turn_idx": 1, "role": "user", "content": "q"},
        {"turn_idx": 2, "role": "assistant", "content": "which?", "reasoning_trace": "hm"},
        {"turn_idx": 3, "role": "user"},
        {"turn_idx": 4, "role": "assistant", "content": "o"},
    ]
    assert row["evaluation"]["num_turns"] == 2
    assert "tool_calls_count" not in row["evaluation"]
    # The output is the last message.
    assert "outputs" not in row["metadata"]
    assert "eee.message_without_place" not in out.notices


def test_agent(export: Callable[..., Any]) -> None:
    calls = [
        {"id": "1", "name": "bash", "arguments": {"cmd": "ls"}},
        {"id": "2", "name": "bash"},
    ]
    messages = [
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "content": {"text": "x"}, "tool_call_id": "1"},
    ]
    content = {"outputs": [{"text": "o"}], "messages": messages}
    row = export(RUN, (trial(content=content),), ContentPolicy.INCLUDE).rows[0]
    assert row["interaction_type"] == "agentic"
    assert row["input"] == {"raw": "", "reference": []}
    assert row["messages"] == [
        {
            "turn_idx": 0,
            "role": "assistant",
            "tool_calls": [
                {"id": "1", "name": "bash", "arguments": {"cmd": "ls"}},
                {"id": "2", "name": "bash", "arguments": {}},
            ],
        },
        {"turn_idx": 1, "role": "tool", "content": "x", "tool_call_id": ["1"]},
    ]
    assert row["evaluation"]["tool_calls_count"] == 2
    assert json.loads(row["metadata"]["outputs"]) == ["o"]

    row = export(RUN, (trial(content=content),), ContentPolicy.DIGEST).rows[0]
    assert row["interaction_type"] == "agentic"
    assert "tool_calls_count" not in row["evaluation"]
    assert row["messages"][1]["content"] == digest("x")


@pytest.mark.parametrize(
    ("content", "kind", "turns", "told"),
    [
        ({"turns": 0}, "single_turn", None, "0"),
        ({"turns": 1}, "single_turn", 1, None),
        ({"turns": 12}, "multi_turn", 12, None),
        ({"messages": [], "turns": 0}, "single_turn", None, "0"),
        ({"messages": [{"role": "tool"}], "turns": 0}, "agentic", None, "0"),
    ],
)
def test_turns(
    content: dict[str, Any],
    kind: str,
    turns: int | None,
    told: str | None,
    export: Callable[..., Any],
) -> None:
    row = export(RUN, (trial(content=content),), ContentPolicy.INCLUDE).rows[0]
    assert row["interaction_type"] == kind
    assert row["evaluation"].get("num_turns") == turns
    assert row["metadata"].get("turns") == told


def test_single_exchange_keeps_what_the_subject_saw(export: Callable[..., Any]) -> None:
    ask = {"role": "user", "content": {"text": "q"}}
    reply = {"role": "assistant", "content": {"text": "o"}, "reasoning": {"text": "hm"}}

    def row(*messages: dict[str, Any], lost: bool = False) -> Any:
        content = {**TALK, "messages": messages}
        out = export(RUN, (trial(content=content),), ContentPolicy.INCLUDE)
        assert ("eee.message_without_place" in out.notices) is lost
        assert out.rows[0]["interaction_type"] == "single_turn"
        assert out.rows[0]["input"]["raw"] == "q"
        return out.rows[0]

    plain = row(ask, reply)
    assert "formatted" not in plain["input"]
    assert plain["output"] == {"raw": ["o"], "reasoning_trace": ["hm"]}
    assert row({"role": "user", "content": {"text": "Q: q"}}, reply)["input"]["formatted"] == "Q: q"
    told = row({"role": "system", "content": {"text": "be brief"}}, ask, reply)["input"]
    assert json.loads(told["formatted"]) == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "q"},
    ]
    assert "formatted" not in row({"role": "user"})["input"]
    row(ask, {"role": "assistant", "content": {"text": "another"}}, lost=True)
    row(reply, ask, lost=True)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(strategies.contents())
def test_no_text_is_lost_from_a_conversation(content: Content) -> None:
    told = Trial(case_id="a", declared_verdict=Verdict.PASSED, content=content)
    builder = RowBuilder(RUN, identify(RUN, EeeOptions(), Context()))
    (line,) = builder.lines(told)
    row = json.loads(line)
    row["outputs"] = json.loads(row["metadata"].get("outputs", "[]"))
    held = json.dumps(row, sort_keys=True)
    parts = [content.input, *content.references, *content.choices, *content.outputs]
    for message in content.messages or ():
        if message.role != "assistant" or not builder.messages_left_out:
            parts.append(message.content)
        parts.append(message.reasoning)
    for part in parts:
        if part is not None:
            text = f"sha256:{part.sha256}" if part.text is None else part.text
            assert json.dumps(text) in held
