"""Writes the results and samples of an lm-evaluation-harness run of any size.

    python benchmarks/generate_lm_eval.py FOLDER --samples 100000

One generation task with five worked examples in each prompt and one filter, scored by exact match;
laid out as lm-eval 0.4.13 does.
"""

from __future__ import annotations

import argparse
import json
import random
from hashlib import sha256
from pathlib import Path
from typing import Any

__all__ = ["generate"]

_DATE = "2026-03-02T09-00-00.000000"
_MODEL = "open-lab/small-1b"
_TASK = "sums"
_SHOTS = 5


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _worked(draw: random.Random) -> str:
    """A question of the prompt, with its answer step by step."""
    first, second, third = (draw.randrange(1_000) for _ in range(3))
    return (
        f"Question: A baker sells {first} loaves on the first day, {second} on the second and "
        f"{third} on the third. Each loaf takes half a kilogram of flour and is sold before the "
        "shop closes. How many loaves does the baker sell in the three days together?\n"
        f"Answer: On the first two days the baker sells {first} + {second} = {first + second} "
        f"loaves. With the third day that makes {first + second} + {third} = "
        f"{first + second + third} loaves, whatever the flour. The answer is "
        f"{first + second + third}."
    )


def _row(index: int, draw: random.Random) -> dict[str, Any]:
    first, second = draw.randrange(1_000), draw.randrange(1_000)
    target = str(first + second)
    question = f"Ada has {first} apples and is given {second} more. How many apples does she have?"
    reply = target if draw.random() < 0.6 else str(draw.randrange(2_000))
    shots = "\n\n".join(_worked(draw) for _ in range(_SHOTS))
    return {
        "doc_id": index,
        "doc": {"question": question, "answer": target},
        "target": target,
        "arguments": {
            "gen_args_0": {
                "arg_0": f"{shots}\n\nQuestion: {question}\nAnswer:",
                "arg_1": {"until": ["\n\n"], "do_sample": False, "max_gen_toks": 256},
            }
        },
        "resps": [[f" {_worked(draw)} The answer is {reply}."]],
        "filtered_resps": [reply],
        "filter": "first-number",
        "metrics": ["exact_match"],
        "doc_hash": _digest(question),
        "prompt_hash": _digest(f"prompt {question}"),
        "target_hash": _digest(target),
        "exact_match": float(reply == target),
    }


def generate(folder: Path, samples: int, seed: int = 0) -> None:
    """Write both files; equal arguments give equal bytes."""
    draw = random.Random(seed)  # noqa: S311 - made-up answers
    place = folder / _MODEL.replace("/", "__")
    place.mkdir(parents=True)
    right = 0.0
    with (place / f"samples_{_TASK}_{_DATE}.jsonl").open("w", encoding="utf-8") as file:
        for index in range(samples):
            row = _row(index, draw)
            right += row["exact_match"]
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    mean = right / samples
    results = {
        "results": {
            _TASK: {
                "name": _TASK,
                "alias": _TASK,
                "sample_len": samples,
                "exact_match,first-number": mean,
                "exact_match_stderr,first-number": (mean * (1 - mean) / (samples - 1)) ** 0.5,
            }
        },
        "group_subtasks": {_TASK: []},
        "configs": {
            _TASK: {
                "task": _TASK,
                "dataset_path": "open-lab/sums",
                "test_split": "test",
                "output_type": "generate_until",
                "metric_list": [
                    {"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}
                ],
                "generation_kwargs": {"until": ["\n\n"], "do_sample": False, "max_gen_toks": 256},
                "repeats": 1,
                "num_fewshot": _SHOTS,
                "metadata": {"version": 1.0},
            }
        },
        "versions": {_TASK: 1.0},
        "n-shot": {_TASK: _SHOTS},
        "higher_is_better": {_TASK: {"exact_match": True}},
        "n-samples": {_TASK: {"original": samples, "effective": samples}},
        "config": {
            "model": "hf",
            "model_args": f"pretrained={_MODEL}",
            "model_dtype": "torch.bfloat16",
            "batch_size": "8",
            "device": "cpu",
            "limit": None,
            "bootstrap_iters": 0,
            "random_seed": 0,
        },
        "git_hash": None,
        "date": 1772442000.0,
        "lm_eval_version": "0.4.13",
        "transformers_version": "5.0.0",
        "task_hashes": {_TASK: _digest(_TASK)},
        "model_source": "hf",
        "model_name": _MODEL,
        "model_name_sanitized": _MODEL.replace("/", "__"),
        "total_evaluation_time_seconds": "812.5",
    }
    (place / f"results_{_DATE}.json").write_text(json.dumps(results, indent=2), encoding="utf-8")


def main() -> None:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    generate(chosen.folder, chosen.samples, chosen.seed)


if __name__ == "__main__":
    main()
