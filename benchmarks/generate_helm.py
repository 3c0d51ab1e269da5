"""Writes a HELM run folder of any size.

    python benchmarks/generate_helm.py FOLDER --samples 5000

A multiple-choice scenario of one train trial with the stats that HELM 0.5 computes by itself,
laid out and indented as it does.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["generate"]

_MODEL = "open-lab/small-1b"
_NAME = "sums:method=multiple_choice_joint,model=open-lab_small-1b"
_FIXED = {
    "num_references": 4,
    "num_train_trials": 1,
    "num_prompt_tokens": 333,
    "num_completion_tokens": 1,
    "num_output_tokens": 1,
    "batch_size": 1,
    "finish_reason_length": 0,
    "finish_reason_stop": 0,
    "finish_reason_endoftext": 0,
    "finish_reason_unknown": 1,
    "num_train_instances": 5,
    "prompt_truncated": 0,
    "max_prob": 1.0,
    "logprob": 0.0,
    "num_perplexity_tokens": 1,
    "num_bytes": 2,
}
_EMPTY = ("training_co2_cost", "training_energy_cost")
_MATCHES = (
    "exact_match",
    "exact_match@5",
    "quasi_exact_match",
    "quasi_exact_match@5",
    "prefix_exact_match",
    "prefix_exact_match@5",
    "quasi_prefix_exact_match",
    "quasi_prefix_exact_match@5",
)
_ADAPTER = {
    "method": "multiple_choice_joint",
    "instructions": "The following are multiple choice questions about sums.\n",
    "max_train_instances": 5,
    "num_outputs": 5,
    "num_train_trials": 1,
    "num_trials": 1,
    "model_deployment": "open-lab/small-1b",
    "model": _MODEL,
    "temperature": 0.0,
    "max_tokens": 1,
    "stop_sequences": ["\n"],
}


def _stat(name: str, value: float) -> dict[str, Any]:
    return {
        "name": {"name": name, "split": "test"},
        "count": 1,
        "sum": value,
        "sum_squared": value * value,
        "min": value,
        "max": value,
        "mean": float(value),
        "variance": 0.0,
        "stddev": 0.0,
    }


def _stats(values: dict[str, float]) -> list[dict[str, Any]]:
    empty = [
        {"name": {"name": name, "split": "test"}, "count": 0, "sum": 0, "sum_squared": 0}
        for name in _EMPTY
    ]
    return [_stat(name, value) for name, value in values.items()] + empty


def _instance(index: int, draw: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """The request state of an instance, and its stats."""
    first, second = draw.randrange(1_000), draw.randrange(1_000)
    question = f"Ada has {first} apples and is given {second} more. How many are there?"
    choices = [str(first + second + add) for add in (0, 1, 10, 100)]
    letter = "ABCD"[draw.randrange(4)]
    examples = "".join(
        f"Question: What is {n} and {n}?\nA. {2 * n}\nB. 0\nC. 1\nD. {n}\nAnswer: A\n\n"
        for n in range(1, 6)
    )
    state = {
        "instance": {
            "input": {"text": question},
            "references": [
                {"output": {"text": choice}, "tags": ["correct"] if number == 0 else []}
                for number, choice in enumerate(choices)
            ],
            "split": "test",
            "id": f"id{index}",
        },
        "train_trial_index": 0,
        "output_mapping": dict(zip("ABCD", choices, strict=True)),
        "request": {
            "model_deployment": _ADAPTER["model_deployment"],
            "model": _MODEL,
            "embedding": False,
            "prompt": f"{_ADAPTER['instructions']}\n{examples}Question: {question}\nAnswer:",
            "temperature": 0.0,
            "num_completions": 1,
            "top_k_per_token": 5,
            "max_tokens": 1,
            "stop_sequences": [],
            "echo_prompt": False,
            "top_p": 1,
            "presence_penalty": 0,
            "frequency_penalty": 0,
        },
        "result": {
            "success": True,
            "embedding": [],
            "completions": [
                {
                    "text": f" {letter}",
                    "logprob": 0.0,
                    "tokens": [{"text": f" {letter}", "logprob": 0.0}],
                }
            ],
            "cached": False,
            "request_time": 0.5,
            "request_datetime": 1772442000 + index,
        },
        "num_train_instances": 5,
        "prompt_truncated": False,
        "num_conditioning_tokens": 0,
    }
    match = int(letter == "A")
    values = _FIXED | {"inference_runtime": 0.5} | dict.fromkeys(_MATCHES, match)
    return state, {"instance_id": f"id{index}", "train_trial_index": 0, "stats": _stats(values)}


def _write_array(path: Path, before: str, items: Iterable[Any], after: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(before)
        for number, item in enumerate(items):
            file.write(",\n" if number else "\n")
            file.write(json.dumps(item, indent=2))
        file.write(after)


def generate(folder: Path, samples: int, seed: int = 0) -> None:
    """Write the five files of a run; equal arguments give equal bytes."""
    folder.mkdir(parents=True)

    def drawn(part: int) -> Iterable[Any]:
        draw = random.Random(seed)  # noqa: S311 - made-up answers
        return (_instance(index, draw)[part] for index in range(samples))

    _write_array(
        folder / "scenario_state.json",
        f'{{"adapter_spec": {json.dumps(_ADAPTER)}, "request_states": [',
        drawn(0),
        "\n]}\n",
    )
    _write_array(folder / "per_instance_stats.json", "[", drawn(1), "\n]\n")
    matches = [
        next(stat["mean"] for stat in found["stats"] if stat["name"]["name"] == "exact_match")
        for found in drawn(1)
    ]
    mean = sum(matches) / samples
    values = _FIXED | {"inference_runtime": 0.5} | dict.fromkeys(_MATCHES, mean)
    specification = {
        "name": _NAME,
        "scenario_spec": {"class_name": "open_lab.scenarios.SumsScenario", "args": {}},
        "adapter_spec": _ADAPTER,
        "metric_specs": [
            {
                "class_name": "helm.benchmark.metrics.basic_metrics.BasicGenerationMetric",
                "args": {"names": [name for name in _MATCHES if "@" not in name]},
            }
        ],
        "data_augmenter_spec": {"perturbation_specs": [], "seeds_per_instance": 1},
        "groups": ["sums"],
    }
    scenario = {"name": "sums", "description": "Sums in words", "tags": ["arithmetic"]}
    for name, document in {
        "stats": _stats(values | {"num_instances": samples}),
        "run_spec": specification,
        "scenario": scenario,
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(document, indent=2), encoding="utf-8")


def main() -> None:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    generate(chosen.folder, chosen.samples, chosen.seed)


if __name__ == "__main__":
    main()
