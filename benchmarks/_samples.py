"""Samples of a question-answering task, shaped as inspect_ai 0.3.285 writes them."""

from __future__ import annotations

import math
from datetime import timedelta
from functools import cache
from hashlib import blake2b
from random import Random
from typing import Any

from _facts import JUDGE, LIMITS, MODEL, NUMBERS, STARTED, Facts, Settings, facts_of

__all__ = ["reduction_of", "sample_of", "summary_of"]

_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_ID = 22
_POOL = 1 << 16
_WORDS = (  # noqa: SIM905 - a hundred words read better as text
    "the of and a to in is that it for as was with on are by this be from which or an at not have "
    "has model answer question result value method number system given first between water energy "
    "force field cell protein reaction temperature pressure surface charge electron light wave "
    "current density velocity mass rate change increase decrease because therefore however when "
    "while each other more most than same different large small high low known shown found used "
    "measured expected observed consider suppose determine explain equal approximately naïve café"
).split()
_TRACE = "".join(
    f'  File "/srv/evals/lib/{name}.py", line {line}, in {function}\n    {code}\n'
    for name, line, function, code in (
        ("inspect_ai/_eval/task/run", 2847, "run", "state = await plan(state, generate)"),
        ("inspect_ai/solver/_plan", 109, "__call__", "state = await solver(state, generate)"),
        ("inspect_ai/solver/_generate", 33, "solve", "return await generate(state)"),
        ("inspect_ai/model/_model", 912, "generate", "output = await self._generate(messages)"),
    )
)


@cache
def _pool(seed: int) -> str:
    """Prose, of which every text is a slice."""
    rng = Random(f"{seed}/pool")  # noqa: S311 - as above
    parts: list[str] = []
    size = 0
    while size < _POOL:
        words = rng.choices(_WORDS, k=rng.randrange(6, 18))
        end = rng.choices((". ", ".\n\n", '." ', "? "), (12, 3, 1, 2))[0]
        parts.append(" ".join(words).capitalize() + end)
        size += len(parts[-1])
    return "".join(parts)


class _Draw:
    """Texts, ids and times of one sample."""

    def __init__(self, settings: Settings, index: int, rng: Random) -> None:
        self._rng = rng
        self._prose = _pool(settings.seed)
        self._ids = "".join(rng.choices(_ALPHABET, k=_ID * 32))
        self._used = 0
        self.start = STARTED + timedelta(milliseconds=230 * index + rng.randrange(200))
        self.seconds = rng.randrange(900, 9000) / 1000

    def text(self, least: int, most: int) -> str:
        size = self._rng.randrange(least, most)
        start = self._rng.randrange(_POOL - size)
        return self._prose[start : start + size].strip()

    def identifier(self) -> str:
        self._used += _ID
        return self._ids[self._used - _ID : self._used]

    def at(self, share: float) -> str:
        """The time when this share of the sample is over."""
        moment = self.start + timedelta(seconds=self.seconds * share)
        return moment.isoformat(timespec="microseconds")

    def integer(self, least: int, most: int) -> int:
        return self._rng.randrange(least, most)


def sample_of(settings: Settings, index: int) -> tuple[dict[str, Any], Facts]:
    """One `EvalSample` as a document, its keys in Inspect's order, and its facts."""
    facts, rng = facts_of(settings, index)
    draw = _Draw(settings, index, rng)
    question, answer, target = draw.text(100, 240), draw.text(60, 200), draw.text(8, 40)
    metadata = {
        "category": ("physics", "chemistry", "biology", "law", "history")[draw.integer(0, 5)],
        "difficulty": draw.integer(1, 6),
        "source": draw.text(30, 60),
    }
    system = _message(draw, "system", draw.text(60, 120))
    user = _message(draw, "user", question, source="input")
    messages = [system, user]
    output: dict[str, Any] = {"model": MODEL, "choices": [], "completion": ""}
    if facts.error != "solver":
        output = _output(draw, answer, facts)
        messages.append(output["choices"][0]["message"])
        if draw.integer(0, 2):
            messages.insert(2, _message(draw, "user", draw.text(60, 160)))
    scores = {name: _score(draw, grade, answer) for name, grade in facts.grades.items()}
    error = _error(facts) if facts.error else None
    attachments: dict[str, str] = {}
    sample: dict[str, Any] = {
        "id": index + 1,
        "epoch": 1,
        "input": question,
        "target": target,
        "messages": messages,
        "output": output,
        "scores": scores,
        "metadata": metadata,
        "store": {},
        "events": [],
        "model_usage": facts.usage,
        "role_usage": {"grader": facts.usage[JUDGE]} if JUDGE in facts.usage else {},
        "started_at": draw.at(0),
        "completed_at": draw.at(1),
        "total_time": draw.seconds,
        "working_time": round(draw.seconds * 0.9, 3),
        "uuid": draw.identifier(),
    }
    sample["events"] = _events(draw, facts, sample, error, attachments)
    if error:
        sample["error"] = error
    asked = [message for message in messages if message["role"] != "assistant"]
    sample |= {
        "error_retries": [],
        "attachments": attachments,
        "events_data": {"messages": asked, "calls": [_call(message) for message in asked]},
    }
    if facts.limit:
        ceiling, reason = LIMITS[facts.limit]
        sample["limit"] = {"type": facts.limit, "limit": ceiling, "reason": reason}
    sample["turn_count"] = 0 if facts.error == "solver" else 1
    return sample, facts


def _message(draw: _Draw, role: str, content: str, **more: str) -> dict[str, Any]:
    return {"id": draw.identifier(), "content": content} | more | {"role": role}


def _call(message: dict[str, Any]) -> dict[str, Any]:
    return {"role": message["role"], "content": message["content"]}


def _output(draw: _Draw, answer: str, facts: Facts) -> dict[str, Any]:
    message = _message(draw, "assistant", answer, source="generate") | {"model": MODEL}
    return {
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [{"message": message, "stop_reason": "stop"}],
        "completion": answer,
        "usage": facts.usage[MODEL],
        "time": draw.seconds / 2,
    }


def _score(draw: _Draw, grade: str, answer: str) -> dict[str, Any]:
    explanation = draw.text(40, 140)
    if grade == "NaN":
        return {
            "value": math.nan,
            "answer": answer,
            "explanation": f"Grade not found in model output: {explanation}",
            "reason": "grader_failed",
            "metadata": {"unscored_reason": "grader_failed"},
            "history": [],
        }
    explanation += f"\n\nGRADE: {grade}"
    return {"value": grade, "answer": answer, "explanation": explanation, "history": []}


def _error(facts: Facts) -> dict[str, str]:
    message = {
        "solver": "RateLimitError('Error code: 429 - Rate limit reached for requests')",
        "scorer": "JSONDecodeError('Expecting value: line 1 column 1 (char 0)')",
    }[facts.error]
    kind, _, said = message.removesuffix("')").partition("('")
    trace = f"Traceback (most recent call last):\n\n{_TRACE}\n{kind}: {said}\n"
    return {
        "message": message,
        "traceback": trace,
        "traceback_ansi": "\x1b[31m" + trace.replace("\n", "\x1b[0m\n\x1b[31m") + "\x1b[0m",
    }


def _events(
    draw: _Draw,
    facts: Facts,
    sample: dict[str, Any],
    error: dict[str, str] | None,
    attachments: dict[str, str],
) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []

    def attached(text: str) -> str:
        """Text of more than 100 characters stands in the attachments."""
        if len(text) <= 100:
            return text
        name = blake2b(text.encode(), digest_size=16).hexdigest()
        attachments[name] = text
        return f"attachment://{name}"

    def event(kind: str, share: float, span: str, **more: object) -> None:
        events.append(
            {
                "uuid": draw.identifier(),
                "span_id": span,
                "timestamp": draw.at(share),
                "working_start": round(draw.seconds * share * 0.9, 6),
                "event": kind,
            }
            | more
        )

    output, metadata = sample["output"], sample["metadata"]
    setup, solver, scorer = (draw.identifier() for _ in range(3))
    about = {"input": attached(sample["input"])}
    about |= {key: sample[key] for key in ("target", "id", "metadata")}
    event("span_begin", 0.01, setup, id=setup, type="init", name="init")
    event("sample_init", 0.01, setup, sample=about, state={"messages": [], "metadata": metadata})
    event("span_end", 0.02, setup, id=setup)
    event("span_begin", 0.03, solver, id=solver, type="solver", name="generate")
    if output["choices"]:
        short = output | {"completion": attached(output["completion"])}
        message = short["choices"][0]["message"] | {"content": short["completion"]}
        short["choices"] = [{"message": message, "stop_reason": "stop"}]
        refs = [[0, len(sample["messages"]) - 1]]
        event(
            "model",
            0.04,
            solver,
            model=MODEL,
            input=[],
            input_refs=refs,
            tools=[],
            tool_choice="none",
            config={"temperature": 0.0},
            output=short,
            call={
                "request": {"model": "gpt-4o-mini", "temperature": 0.0, "tools": None},
                "response": {"id": f"chatcmpl-{draw.identifier()}", "model": output["model"]},
                "call_refs": refs,
                "call_key": "messages",
            },
            completed=draw.at(0.6),
            working_time=output["time"],
        )
    event("span_end", 0.61, solver, id=solver)
    if facts.error != "solver":
        event("span_begin", 0.62, scorer, id=scorer, type="scorers", name="scorers")
        for name, score in sample["scores"].items():
            short = {
                key: attached(value) if key in ("answer", "explanation") else value
                for key, value in score.items()
            }
            given = {"score": short, "target": sample["target"], "intermediate": False}
            event("score", 0.9, scorer, **given, scorer=name)
        event("span_end", 0.95, scorer, id=scorer)
    if error:
        event("error", 0.99, scorer, error=error)
    return events


def reduction_of(sample: dict[str, Any], facts: Facts) -> dict[str, dict[str, Any]]:
    """For each scorer, the sample's item of `reductions.json`."""
    return {
        scorer: score | {"value": NUMBERS[facts.grades[scorer]], "sample_id": sample["id"]}
        for scorer, score in sample["scores"].items()
    }


def _folded(record: dict[str, Any]) -> dict[str, Any]:
    """Inspect folds the white space of what it keeps in a summary."""
    return {
        key: " ".join(value.split()) if isinstance(value, str) else value
        for key, value in record.items()
    }


_IN_SUMMARY = (
    *("id", "epoch", "input", "target", "metadata", "scores", "model_usage", "role_usage"),
    *("started_at", "completed_at", "total_time", "working_time", "uuid"),
)


def summary_of(sample: dict[str, Any]) -> dict[str, Any]:
    """The sample's item of `summaries.json`."""
    summary = {key: sample[key] for key in _IN_SUMMARY}
    summary["metadata"] = _folded(sample["metadata"])
    summary["scores"] = {name: _folded(score) for name, score in sample["scores"].items()}
    if "error" in sample:
        summary["error"] = sample["error"]["message"]
    if "limit" in sample:
        summary["limit"] = sample["limit"]["type"]
        summary["limit_reason"] = sample["limit"]["reason"]
    return summary | {
        "retries": 0,
        "completed": True,
        "message_count": len(sample["messages"]),
        "turn_count": sample["turn_count"],
    }
