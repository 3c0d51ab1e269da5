"""What went into a trial and what came out, as one turn or as a list of messages.

The format has three kinds of interaction. `single_turn` has an output and no messages; the
other two have messages and no output.
"""

from __future__ import annotations

from json.encoder import encode_basestring_ascii as quote
from typing import TYPE_CHECKING, NamedTuple

from fullcount_eee.strings import compact, present, shown

if TYPE_CHECKING:
    from fullcount.model import Content, Excerpt, Message

__all__ = ["EMPTY", "Transcript", "transcript"]


class Transcript(NamedTuple):
    """JSON fragments of one trial's content.

    Attributes:
        fragment: `interaction_type`, `input`, and `output` or `messages`.
        counts: `num_turns` and `tool_calls_count`, each with a comma before it.
        answered: Whether `output.raw` holds something.
        details: Entries of the metadata: outputs that no message holds, and a number of turns
            that `num_turns` cannot take; each with a comma before it.
        left_out: Whether a message has no place, or has lost it.
    """

    fragment: str
    counts: str = ""
    answered: bool = False
    details: str = ""
    left_out: bool = False


_NOTHING = '""'
_ZERO_TURNS = ',"turns":"0"'

EMPTY = Transcript(
    ',"interaction_type":"single_turn","input":{"raw":"","reference":[]},"output":{"raw":[]}'
)


def transcript(content: Content) -> Transcript:
    """The content as the format has it.

    A conversation is `agentic` where a tool was called and `multi_turn` where the subject
    replied more than once, with no messages where only the turns are known. Everything else
    is a single turn.
    """
    given, messages, turns = content.input, content.messages, content.turns
    asked = f'"input":{{"raw":{_quoted(given) if given else _NOTHING},"reference":'
    asked += f"{_list(content.references)}}}"
    if content.choices:
        asked = f'{asked[:-1]},"choices":{_list(content.choices)}}}'
    kind = "single_turn" if messages is None and turns is None else _kind(messages, turns)
    if kind == "single_turn":
        output = f'"output":{{"raw":{_list(content.outputs)}}}'
        left_out = False
        if messages:
            reasoning = tuple(m.reasoning for m in messages if m.reasoning is not None)
            if reasoning:
                output = f'{output[:-1]},"reasoning_trace":{_list(reasoning)}}}'
            asked = f"{asked[:-1]}{_formatted(messages, given)}}}"
            left_out = _leftover(messages, content.outputs)
        return Transcript(
            f',"interaction_type":"single_turn",{asked},{output}',
            f',"num_turns":{turns}' if turns else "",
            bool(content.outputs),
            _ZERO_TURNS if turns == 0 else "",
            left_out,
        )
    return _conversation(kind, asked, content)


def _conversation(kind: str, asked: str, content: Content) -> Transcript:
    messages, turns = content.messages or (), content.turns
    counts = f',"num_turns":{turns}' if turns else ""
    # No calls can also mean that the content policy keeps them back, so 0 is not written.
    calls = sum(len(message.tool_calls) for message in messages)
    if calls:
        counts += f',"tool_calls_count":{calls}'
    details = _ZERO_TURNS if turns == 0 else ""
    told = {message.content for message in messages}
    elsewhere = [shown(output) for output in content.outputs if output not in told]
    if elsewhere:
        details += f',"outputs":{quote(compact(elsewhere))}'
    return Transcript(
        f',"interaction_type":"{kind}",{asked},"messages":[{_messages(messages)}]',
        counts,
        details=details,
    )


def _kind(messages: tuple[Message, ...] | None, turns: int | None) -> str:
    if messages and any(
        m.tool_calls or m.tool_call_id is not None or m.role == "tool" for m in messages
    ):
        return "agentic"
    if turns is not None and turns > 1:
        return "multi_turn"
    if messages and sum(m.role == "assistant" for m in messages) > 1:
        return "multi_turn"
    return "single_turn"


def _formatted(messages: tuple[Message, ...], given: Excerpt | None) -> str:
    """`input.formatted`: what the subject saw, where that is more than the input itself.

    One message is given as its text, several as a JSON list of roles and contents.
    """
    seen = [message for message in messages if message.role != "assistant"]
    if not seen or (len(seen) == 1 and seen[0].content in (given, None)):
        return ""
    if len(seen) == 1 and seen[0].content is not None:
        return f',"formatted":{_quoted(seen[0].content)}'
    told = [
        present({"role": message.role, "content": message.content and shown(message.content)})
        for message in seen
    ]
    return f',"formatted":{quote(compact(told))}'


def _leftover(messages: tuple[Message, ...], outputs: tuple[Excerpt, ...]) -> bool:
    """Whether a reply is no output, or something comes after it."""
    replies = [n for n, message in enumerate(messages) if message.role == "assistant"]
    if not replies:
        return False
    last = replies[-1]
    reply = messages[last].content
    return (reply is not None and reply not in outputs) or last < len(messages) - 1


def _messages(messages: tuple[Message, ...]) -> str:
    return ",".join(_message(index, message) for index, message in enumerate(messages))


def _message(index: int, message: Message) -> str:
    parts = [f'"turn_idx":{index},"role":{quote(message.role)}']
    if message.content is not None:
        parts.append(f'"content":{_quoted(message.content)}')
    if message.reasoning is not None:
        parts.append(f'"reasoning_trace":{_quoted(message.reasoning)}')
    if message.tool_calls:
        calls = [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ]
        parts.append(f'"tool_calls":{compact(calls)}')
    if message.tool_call_id is not None:
        parts.append(f'"tool_call_id":[{quote(message.tool_call_id)}]')
    return f"{{{','.join(parts)}}}"


def _quoted(excerpt: Excerpt) -> str:
    text = excerpt.text
    return f'"sha256:{excerpt.sha256}"' if text is None else quote(text)


def _list(excerpts: tuple[Excerpt, ...]) -> str:
    if len(excerpts) == 1:
        return f"[{_quoted(excerpts[0])}]"
    return f"[{','.join([_quoted(excerpt) for excerpt in excerpts])}]"
