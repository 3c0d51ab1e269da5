"""What every result repeats: the dataset it is about and how the subject was sampled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount_eee.names import HF_REPOSITORY, HF_URL
from fullcount_eee.strings import compact, present, strings

if TYPE_CHECKING:
    from fullcount.model import Generation, Suite

__all__ = ["generation_config", "source_data"]


def source_data(suite: Suite) -> dict[str, Any]:
    """The dataset: on the Hugging Face hub, at a URL, or somewhere else.

    Only the first of the three has a typed place for the number of cases in the dataset.
    """
    location = suite.dataset_location
    name = suite.dataset or suite.name
    more: dict[str, str | int | None] = {
        "suite": suite.name,
        "suite_version": suite.version,
        "dataset_revision": suite.dataset_revision,
    }
    link = location and (HF_URL.fullmatch(location) or HF_REPOSITORY.fullmatch(location))
    if link:
        return present(
            {
                "dataset_name": name,
                "source_type": "hf_dataset",
                "hf_repo": link.group(link.lastindex or 0),
                "hf_split": suite.split,
                "samples_number": suite.cases,
                "additional_details": strings(more),
            }
        )
    more |= {"split": suite.split, "samples_number": suite.cases}
    if location and location.startswith(("http://", "https://")):
        return {
            "dataset_name": name,
            "source_type": "url",
            "url": [location],
            "additional_details": strings(more),
        }
    return {
        "dataset_name": name,
        "source_type": "other",
        "additional_details": strings({**more, "location": location}),
    }


def generation_config(generation: Generation, attempts: int | None) -> dict[str, Any]:
    """How the subject was sampled; empty where nothing is known."""
    tokens = generation.max_tokens
    limits = present(
        {
            "time_limit": generation.time_limit,
            "message_limit": generation.message_limit,
            "token_limit": generation.token_limit,
        }
    )
    args = present(
        {
            "temperature": generation.temperature,
            "top_p": generation.top_p,
            "top_k": generation.top_k,
            "max_tokens": tokens or None,
            "agentic_eval_config": {"available_tools": [{"name": t} for t in generation.tools]}
            if generation.tools
            else None,
            "eval_plan": generation.solver and {"name": generation.solver},
            "eval_limits": limits or None,
            "sandbox": generation.sandbox and {"type": generation.sandbox},
        }
    )
    more = strings(
        {
            "seed": None if generation.seed is None else compact(generation.seed),
            "reasoning_effort": generation.reasoning_effort,
            # The schema's least value is 1.
            "max_tokens": 0 if tokens == 0 else None,
            "attempts_per_case": attempts,
        }
    )
    return present({"generation_args": args or None, "additional_details": more or None})
