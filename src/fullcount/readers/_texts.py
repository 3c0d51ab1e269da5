"""Input, references and outputs of a trial, as far as the content policy lets them go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt, sample_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fullcount.plugin import ContentPolicy

__all__ = ["excerpts", "text_fields"]


def excerpts(texts: Sequence[str], policy: ContentPolicy) -> list[Any]:
    """The texts that may go."""
    kept = (excerpt(text, policy) for text in texts)
    return [each for each in kept if each is not None]


def text_fields(
    given: str | None, references: Sequence[str], outputs: Sequence[str], policy: ContentPolicy
) -> dict[str, Any]:
    """`content` and `sample_hash` of a trial.

    Args:
        given: What the subject was asked; None where the source does not say.
        references: What was expected of it.
        outputs: What it gave.
        policy: How much text is wanted; the join key is over the real text under any.
    """
    content = {
        "input": None if given is None else excerpt(given, policy),
        "references": excerpts(references, policy),
        "outputs": excerpts(outputs, policy),
    }
    fields: dict[str, Any] = {name: value for name, value in content.items() if value}
    joined = {} if given is None else {"sample_hash": sample_hash(given, references)}
    return joined | ({"content": fields} if fields else {})
