"""The text of a sample: what the subject was given, and what it gave."""

from __future__ import annotations

import json
from typing import Any

from fullcount.content import excerpt
from fullcount.model import digest_text
from fullcount.plugin import ContentPolicy
from fullcount.readers._fields import as_dict, as_list

__all__ = ["ATTACHMENT", "content_fields", "input_text", "is_exact", "references"]

ATTACHMENT = "attachment://"
LONGEST_IN_SUMMARY = 5_120
_ATTACHMENTS = (ATTACHMENT, "tc://")
_CUT = "...\n(content truncated)"


def is_exact(record: dict[str, Any]) -> bool:
    """Whether a summary's input and target are the sample's own.

    Longer texts were cut; parts of messages that are no text were replaced by their kind, as
    they are here (`log/_util.py` of inspect_ai 0.3.138 to 0.3.285).
    """
    given = record.get("input")
    if isinstance(given, list):
        for message in given:
            content = message.get("content") if isinstance(message, dict) else None
            for part in content if isinstance(content, list) else (content,):
                if not _is_whole(part.get("text") if isinstance(part, dict) else part):
                    return False
    elif not _is_whole(given):
        return False
    target = record.get("target")
    return all(map(_is_whole, target)) if isinstance(target, list) else _is_whole(target)


def _is_whole(text: Any) -> bool:
    return (
        isinstance(text, str)
        and len(text) <= LONGEST_IN_SUMMARY
        and not text.startswith(_ATTACHMENTS)
    )


def input_text(record: dict[str, Any]) -> str | None:
    """The input as one text, over which digest and join key are made; None if it was cut.

    A conversation is the compact JSON of its roles and texts, `[{"role": …, "content": …}]`,
    where parts that are no text stand as their kind, such as `(Image)`: so Inspect writes them
    in summaries. Version 0.3.200 does so in the samples themselves, and cuts long texts there;
    0.3.245 does not.
    """
    given = record.get("input")
    if isinstance(given, str):
        return _resolved(given, record)
    if not isinstance(given, list):
        return None
    messages = []
    for message in map(as_dict, given):
        content = message.get("content")
        parts = content if isinstance(content, list) else [content]
        texts = [_said(part, record) for part in parts]
        if any(text is not None and _is_cut(text) for text in texts):
            return None
        joined = "\n".join(filter(None, texts)) if isinstance(content, list) else texts[0]
        messages.append({"role": str(message.get("role")), "content": joined})
    return json.dumps(messages, separators=(",", ":"))


def _said(part: Any, record: dict[str, Any]) -> str | None:
    """The text of a part of a message, or its kind."""
    if isinstance(part, dict):
        kind = part.get("type")
        if kind != "text":
            return f"({str(kind).capitalize()})"
        part = part.get("text")
    return _resolved(part, record) if isinstance(part, str) else None


def _is_cut(text: str) -> bool:
    return len(text) == LONGEST_IN_SUMMARY + len(_CUT) and text.endswith(_CUT)


def references(record: dict[str, Any]) -> list[str]:
    """The target or targets."""
    target = record.get("target")
    return [
        _resolved(text, record)
        for text in (target if isinstance(target, list) else [target])
        if isinstance(text, str)
    ]


def content_fields(
    record: dict[str, Any], text: str | None, targets: list[str], policy: ContentPolicy
) -> dict[str, Any]:
    """The fields of a trial's `Content`, as far as the policy lets them go.

    Args:
        record: The sample or its summary.
        text: Its real input.
        targets: Its real targets.
        policy: How much text leaves.
    """
    fields: dict[str, Any] = {}
    turns = record.get("turn_count")
    if type(turns) is int and 0 <= turns < 2**63:
        fields["turns"] = turns
    if policy is ContentPolicy.OMIT:
        return fields
    if policy is ContentPolicy.DIGEST:  # without a model for each text, since all trials go here
        if text is not None:
            fields["input"] = {"sha256": digest_text(text)}
        if targets:
            fields["references"] = [{"sha256": digest_text(target)} for target in targets]
    else:
        if text is not None:
            fields["input"] = excerpt(text, policy)
        fields["references"] = [excerpt(target, policy) for target in targets]
        choices = [choice for choice in as_list(record.get("choices")) if isinstance(choice, str)]
        fields["choices"] = [excerpt(_resolved(choice, record), policy) for choice in choices]
        fields["outputs"] = [excerpt(output, policy) for output in _outputs(record)]
        messages = record.get("messages")
        if isinstance(messages, list):
            fields["messages"] = [
                _message(as_dict(message), record, policy) for message in messages
            ]
    return fields


def _outputs(record: dict[str, Any]) -> list[str]:
    output = as_dict(record.get("output"))
    texts = [
        _text(as_dict(as_dict(choice).get("message")).get("content"), record)
        for choice in as_list(output.get("choices"))
    ]
    completion = output.get("completion")
    if not texts and isinstance(completion, str) and completion:
        texts = [_resolved(completion, record)]
    return [text for text in texts if text is not None]


def _message(
    message: dict[str, Any], record: dict[str, Any], policy: ContentPolicy
) -> dict[str, Any]:
    content = message.get("content")
    text = _text(content, record)
    reasoning = [
        _resolved(thought, record)
        for part in map(as_dict, as_list(content))
        if part.get("type") == "reasoning" and (thought := _thought(part))
    ]
    fields: dict[str, Any] = {
        "role": str(message.get("role") or "unknown"),
        "content": None if text is None else excerpt(text, policy),
        "reasoning": excerpt("\n".join(reasoning), policy) if reasoning else None,
        "tool_calls": [
            {
                "id": str(call.get("id") or index),
                "name": str(call.get("function") or ""),
                "arguments": {
                    str(name): _argument(value, record)
                    for name, value in as_dict(call.get("arguments")).items()
                },
            }
            for index, call in enumerate(map(as_dict, as_list(message.get("tool_calls"))))
        ],
    }
    called = message.get("tool_call_id")
    return fields | ({"tool_call_id": called} if isinstance(called, str) else {})


def _thought(part: dict[str, Any]) -> str:
    """What can be read of reasoning: where the provider redacted it, its summary."""
    text = part.get("summary") if part.get("redacted") is True else part.get("reasoning")
    return text if isinstance(text, str) else ""


def _argument(value: Any, record: dict[str, Any]) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _resolved(text, record)


def _text(content: Any, record: dict[str, Any]) -> str | None:
    if isinstance(content, str):
        return _resolved(content, record)
    if not isinstance(content, list):
        return None
    parts = []
    for part in map(as_dict, content):
        kind = part.get("type")
        if kind == "text" and isinstance(part.get("text"), str):
            parts.append(_resolved(part["text"], record))
        elif kind != "reasoning":
            parts.append(f"[{kind}]")
    return "\n".join(parts)


def _resolved(text: str, record: dict[str, Any]) -> str:
    """The text that a reference to an attachment stands for."""
    if text.startswith(_ATTACHMENTS):
        attached = record.get("attachments")
        if attached is None:  # log version 1
            attached = as_dict(record.get("transcript")).get("content")
        content = as_dict(attached).get(text.partition("://")[2])
        if isinstance(content, str):
            return content
    return text
