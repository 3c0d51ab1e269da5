"""Text that may be private: prompts, references, outputs, messages."""

from __future__ import annotations

from hashlib import sha256
from typing import Self

from pydantic import model_validator

from fullcount.model._base import Count, Model, Sha256, Text, Word

__all__ = ["Content", "Excerpt", "Message", "ToolCall", "digest_text"]


def digest_text(text: str) -> str:
    """SHA-256 over the UTF-8 bytes of the real text, in lower-case hexadecimal.

    A lone surrogate, which UTF-8 cannot carry, is hashed as its three-byte form.
    """
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Excerpt(Model):
    """One text, given as itself, as its digest, or both."""

    sha256: Sha256 | None = None
    """Digest of the real text."""
    text: Text | None = None
    """The text; present only where the content policy is `include`."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.sha256 is None and self.text is None:
            msg = "an excerpt needs a text or a digest"
            raise ValueError(msg)
        return self


class ToolCall(Model):
    """A call that the subject made to a tool."""

    id: Word
    name: Text
    arguments: dict[Text, Text] = {}
    """Argument values as text; what was not a string is its JSON."""


class Message(Model):
    """One message of a conversation, in order."""

    role: Word
    content: Excerpt | None = None
    reasoning: Excerpt | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    """Present only where the content policy is `include`."""
    tool_call_id: Text | None = None


class Content(Model):
    """What went into a trial and what came out of it."""

    input: Excerpt | None = None
    references: tuple[Excerpt, ...] = ()
    choices: tuple[Excerpt, ...] = ()
    outputs: tuple[Excerpt, ...] = ()
    messages: tuple[Message, ...] | None = None
    """The conversation; None where the source was not read for it."""
    turns: Count | None = None
    """Replies of the subject, where the source counts them."""
