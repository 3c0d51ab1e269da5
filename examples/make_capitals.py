"""Make `capitals.eval`: ten questions, of which the judge scored seven.

The log has the form that Inspect 0.3.285 writes, with members deflated. Its header says
`accuracy 0.857` and `completed_samples 9`; the mean is over seven samples, and only a look at
every sample tells what became of the other three.

    python examples/make_capitals.py examples/capitals.eval
"""

from __future__ import annotations

import json
import math
import sys
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

MODEL = "mockllm/model"
SCORER = "judge"
NOT_GIVEN = object()
FLUSH = 4
"""Samples whose summaries go into the journal together."""


@dataclass(frozen=True)
class Question:
    """One sample: what was asked, what the model said, what the judge made of it."""

    country: str
    capital: str
    answer: str | None
    value: Any = "C"


QUESTIONS = (
    Question("France", "Paris", "Paris"),
    Question("Japan", "Tokyo", "Tokyo"),
    Question("Kenya", "Nairobi", "Nairobi"),
    Question("Peru", "Lima", "Lima"),
    Question("Norway", "Oslo", "Oslo"),
    Question("Egypt", "Cairo", "Cairo"),
    Question("Australia", "Canberra", "Sydney", "I"),
    # The judge gave no grade: Inspect keeps NaN.
    Question("Bolivia", "Sucre", "Sucre, though La Paz is the seat of government", math.nan),
    # The scorer returned None: Inspect keeps no score at all.
    Question("Nauru", "none (Yaren)", "Nauru has no official capital", NOT_GIVEN),
    # The sandbox failed before the model was asked.
    Question("Canada", "Ottawa", None, NOT_GIVEN),
)


def identifier(*parts: str) -> str:
    """A stable id in the place of Inspect's random ones."""
    return sha256("/".join(parts).encode()).hexdigest()[:22]


def moment(second: int) -> str:
    """A time of the run."""
    return f"2026-03-02T09:00:{second:02d}+00:00"


def score(question: Question) -> dict[str, Any]:
    """The `scores` of a sample."""
    if question.value is NOT_GIVEN:
        return {}
    record: dict[str, Any] = {"value": question.value, "answer": question.answer}
    if question.value in ("C", "I"):
        record["explanation"] = f"GRADE: {question.value}"
    else:
        record |= {
            "explanation": "I cannot grade this answer.",
            "reason": "grade_parse_failure",
            "metadata": {"unscored_reason": "grade_parse_failure"},
        }
    return {SCORER: {**record, "history": []}}


def usage(question: Question) -> dict[str, Any]:
    """The `model_usage` of a sample."""
    if question.answer is None:
        return {}
    asked, said = 6, len(question.answer.split())
    return {MODEL: {"input_tokens": asked, "output_tokens": said, "total_tokens": asked + said}}


def sample(number: int, question: Question) -> dict[str, Any]:
    """A member of `samples/`."""
    prompt = f"What is the capital of {question.country}?"
    messages = [
        {
            "id": identifier("message", prompt),
            "content": prompt,
            "source": "input",
            "role": "user",
        }
    ]
    output: dict[str, Any] = {"model": MODEL, "choices": [], "completion": ""}
    if question.answer is not None:
        reply = {
            "id": identifier("message", question.answer),
            "content": question.answer,
            "source": "generate",
            "role": "assistant",
            "model": MODEL,
        }
        messages.append(reply)
        output = {
            "model": MODEL,
            "choices": [{"message": reply, "stop_reason": "stop"}],
            "completion": question.answer,
            "usage": usage(question)[MODEL],
            "time": 0.25,
        }
    record: dict[str, Any] = {
        "id": str(number),
        "epoch": 1,
        "input": prompt,
        "target": question.capital,
        "messages": messages,
        "output": output,
        "scores": score(question),
        "metadata": {},
        "store": {},
        "events": [],
        "model_usage": usage(question),
        "role_usage": {},
        "started_at": moment(2 * number),
        "completed_at": moment(2 * number + 1),
        "total_time": 1.0,
        "working_time": 0.75,
        "uuid": identifier("sample", str(number)),
    }
    if question.answer is None:
        record["error"] = {
            "message": "RuntimeError('the sandbox died')",
            "traceback": "RuntimeError: the sandbox died\n",
            "traceback_ansi": "RuntimeError: the sandbox died\n",
        }
    return record | {
        "error_retries": [],
        "attachments": {},
        "events_data": {"messages": [], "calls": []},
        "turn_count": int(question.answer is not None),
    }


def summary(record: dict[str, Any]) -> dict[str, Any]:
    """The entry of `summaries.json` for a sample."""
    kept = (
        "id epoch input target metadata scores model_usage role_usage started_at completed_at "
        "total_time working_time uuid"
    )
    entry = {key: record[key] for key in kept.split()}
    if "error" in record:
        entry["error"] = record["error"]["message"]
    return entry | {
        "retries": 0,
        "completed": True,
        "message_count": len(record["messages"]),
        "turn_count": record["turn_count"],
    }


def start() -> dict[str, Any]:
    """The member `_journal/start.json`."""
    metrics = [{"name": f"inspect_ai/{name}", "options": {}} for name in ("accuracy", "stderr")]
    return {
        "version": 2,
        "eval": {
            "eval_id": identifier("eval"),
            "run_id": identifier("run"),
            "created": moment(0),
            "task": "capitals",
            "task_id": identifier("task"),
            "task_version": 0,
            "task_file": "capitals.py",
            "task_display_name": "capitals",
            "task_registry_name": "capitals",
            "task_attribs": {},
            "task_args": {},
            "task_args_passed": {},
            "dataset": {
                "name": "capitals",
                "samples": len(QUESTIONS),
                "sample_ids": [str(number) for number in range(1, len(QUESTIONS) + 1)],
                "shuffled": False,
            },
            "model": MODEL,
            "model_generate_config": {},
            "model_args": {},
            "config": {
                "epochs": 1,
                "fail_on_error": False,
                "continue_on_fail": False,
                "score_on_error": False,
                "sandbox_cleanup": True,
                "log_samples": True,
                "log_images": True,
                "score_display": True,
            },
            "packages": {"inspect_ai": "0.3.285"},
            "scorers": [{"name": SCORER, "options": {}, "metrics": metrics, "metadata": {}}],
        },
        "plan": {
            "name": "plan",
            "steps": [
                {
                    "solver": "generate",
                    "params": {"tool_calls": "loop"},
                    "params_passed": {},
                }
            ],
            "config": {},
        },
    }


def header(records: list[dict[str, Any]]) -> dict[str, Any]:
    """The member `header.json`, with the numbers that Inspect computes."""
    points = [{"C": 1.0, "I": 0.0}[q.value] for q in QUESTIONS if q.value in ("C", "I")]
    mean = sum(points) / len(points)
    variance = sum((point - mean) ** 2 for point in points) / (len(points) - 1)
    metrics = {"accuracy": mean, "stderr": math.sqrt(variance / len(points))}
    totals = {
        key: sum(record["model_usage"].get(MODEL, {}).get(key, 0) for record in records)
        for key in ("input_tokens", "output_tokens", "total_tokens")
    }
    first = start()
    return {
        "version": 2,
        "status": "success",
        "eval": first["eval"],
        "plan": first["plan"],
        "results": {
            "total_samples": len(records),
            "completed_samples": sum("error" not in record for record in records),
            "scores": [
                {
                    "name": SCORER,
                    "scorer": SCORER,
                    "scored_samples": len(points),
                    "unscored_samples": 1,
                    "params": {},
                    "metrics": {
                        name: {"name": name, "value": value, "params": {}}
                        for name, value in metrics.items()
                    },
                }
            ],
            "headline": {"scorer": SCORER, "score": SCORER, "metric": "accuracy"},
        },
        "stats": {
            "started_at": moment(0),
            "completed_at": moment(30),
            "model_usage": {MODEL: totals},
            "role_usage": {},
            "connection_limit_history": [],
        },
        "invalidated": False,
        "tags": [],
        "metadata": {},
    }


def reductions() -> list[dict[str, Any]]:
    """The member `reductions.json`."""
    samples = [
        {
            **score(question)[SCORER],
            "value": {"C": 1.0, "I": 0.0}.get(question.value, question.value),
            "sample_id": str(number),
        }
        for number, question in enumerate(QUESTIONS, start=1)
        if question.value is not NOT_GIVEN
    ]
    return [{"scorer": SCORER, "samples": samples}]


def members() -> dict[str, Any]:
    """Every member of the log, in the order in which Inspect writes them."""
    records = [sample(number, question) for number, question in enumerate(QUESTIONS, start=1)]
    summaries = [summary(record) for record in records]
    found: dict[str, Any] = {"_journal/start.json": start()}
    for flush, begin in enumerate(range(0, len(records), FLUSH), start=1):
        for record in records[begin : begin + FLUSH]:
            found[f"samples/{record['id']}_epoch_1.json"] = record
        found[f"_journal/summaries/{flush}.json"] = summaries[begin : begin + FLUSH]
    found["summaries.json"] = summaries
    found["reductions.json"] = reductions()
    found["header.json"] = header(records)
    return found


def main() -> None:
    """Write the log to the path that the command line names."""
    with zipfile.ZipFile(Path(sys.argv[1]), "w") as archive:
        for name, content in members().items():
            member = zipfile.ZipInfo(name, (2026, 3, 2, 9, 0, 30))
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o600 << 16
            archive.writestr(member, json.dumps(content, separators=(",", ":")))


if __name__ == "__main__":
    main()
