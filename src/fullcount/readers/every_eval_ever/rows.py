"""Rows of a samples file, joined to trials.

The format wants a number and a boolean in every row, so a row that names no result of the
aggregate carries no measurement: converters write one for a sample that has no score. Its
`error` is kept as a text; it says nothing about the row's own number.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt, sample_hash
from fullcount.plugin import ContentPolicy
from fullcount.readers._fields import (
    as_count,
    as_dict,
    as_list,
    as_number,
    as_time,
    as_word,
    measured,
    one_of,
    present,
    raw_fields,
)
from fullcount.readers.every_eval_ever.results import UNKNOWN_LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fullcount.readers.every_eval_ever.results import Group

__all__ = ["attempts", "sample_of", "trial_fields"]

_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_HASH = re.compile(r"[0-9a-f]{64}")
_STATUSES = frozenset(
    {
        "blocked",
        "cancelled",
        "completed",
        "evaluator_error",
        "harness_error",
        "not_run",
        "subject_error",
    }
)
_VERDICTS = frozenset({"contradicted", "disputed", "failed", "partial", "passed", "unverified"})
_STATES = frozenset(
    {"error", "missing", "nan", "not_applicable", "not_measured", "null", "scored", "skipped"}
)


def sample_of(row: dict[str, Any]) -> str | None:
    """The id of the sample that a row is about."""
    return as_word(row.get("sample_id"))


def attempts(rows: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The rows of one sample by attempt.

    Rows that number their attempt go by it. Of the others, the next row of a result belongs to
    the next attempt, and one without a result is an attempt of its own.
    """
    numbered: dict[int, list[dict[str, Any]]] = {}
    found: list[tuple[set[str], list[dict[str, Any]]]] = []
    for row in rows:
        number = _attempt(row)
        if number is not None:
            numbered.setdefault(number, []).append(row)
            continue
        result = as_word(row.get("evaluation_result_id"))
        if result is None:
            found.append((set(), [row]))
            continue
        for taken, together in found:
            if taken and result not in taken:
                taken.add(result)
                together.append(row)
                break
        else:
            found.append(({result}, [row]))
    return [*numbered.values(), *(together for _, together in found)]


def trial_fields(
    rows: list[dict[str, Any]], number: int, group: Group, policy: ContentPolicy
) -> dict[str, Any]:
    """The fields of a `Trial` from all of its rows.

    Args:
        rows: Its rows, at least one.
        number: Which attempt at its case it is, where the rows do not say so.
        group: The results that they may belong to.
        policy: How much text is wanted.
    """
    first = rows[0]
    about = as_dict(first.get("metadata"))
    scores: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        key = group.of_row(row)
        if key is not None:
            scores[key] = _score(row, group.described[key], policy) | {
                "evaluator": key[0],
                "metric": key[1],
            }
    for score in _without_row(about, policy):
        key = (score["evaluator"], score["metric"])
        if key in group.described:
            scores.setdefault(key, score)
    performance = as_dict(first.get("performance"))
    latency = as_number(performance.get("latency_ms"))
    attempt = _attempt(first)
    return present(
        case_id=sample_of(first),
        case_id_type="number" if about.get("case_id_type") == "number" else None,
        attempt=number if attempt is None else attempt,
        status=one_of(about.get("status"), _STATUSES),
        status_reason=as_word(about.get("status_reason")),
        scores=[scores[key] for key in group.described if key in scores],
        declared_verdict=_declared(about),
        judge_verdict=one_of(about.get("judge_verdict"), _VERDICTS),
        self_report={"true": True, "false": False}.get(str(about.get("self_report"))),
        error=_error(first, about, policy),
        limit=as_word(about.get("limit")),
        invalidated=True if about.get("invalidated") == "true" else None,
        control=one_of(about.get("control"), ("positive", "negative", "trap")),
        pressure_round=_whole(about.get("pressure_round")),
        order=_whole(about.get("order")),
        seed=_whole(about.get("seed")),
        started_at=as_time(about.get("started_at")),
        completed_at=as_time(about.get("completed_at")),
        duration=None if latency is None or latency < 0 else latency / 1000,
        usage=_usage(as_dict(first.get("token_usage"))),
        trace=present(
            response_id=as_word(about.get("response_id")), record_id=as_word(about.get("record_id"))
        )
        or None,
        pointer=as_word(about.get("pointer")),
        **_content(first, policy),
    )


def _attempt(row: dict[str, Any]) -> int | None:
    return _whole(as_dict(row.get("metadata")).get("attempt")) or None


def _score(row: dict[str, Any], config: dict[str, Any], policy: ContentPolicy) -> dict[str, Any]:
    evaluation = as_dict(row.get("evaluation"))
    about = as_dict(row.get("metadata"))
    if "score" not in evaluation:
        return {"state": "missing"}
    value = evaluation["score"]
    if config.get("has_unknown_level") is True and value == UNKNOWN_LEVEL:
        return raw_fields(value) | {"state": "null", "reason": "unknown_level"}
    fields = measured(value)
    fields.pop("outcome", None)
    if fields["state"] != "scored":
        return fields
    outcome = _outcome(evaluation, about, config)
    answers = [
        attribution["extracted_value"]
        for attribution in map(as_dict, as_list(row.get("answer_attribution")))
        if isinstance(attribution.get("extracted_value"), str)
    ]
    answer = about["answer"] if isinstance(about.get("answer"), str) else None
    raw = about.get("raw")
    return fields | present(
        outcome=outcome,
        label=about["label"] if isinstance(about.get("label"), str) else None,
        raw=raw if isinstance(raw, str) else None,
        raw_type="string" if isinstance(raw, str) and raw.startswith('"') else None,
        reason=as_word(about.get("reason")),
        edited=True if about.get("edited") == "true" else None,
        answer=_excerpt(answers[-1] if answers else answer, policy),
        explanation=_excerpt(about.get("explanation"), policy),
    )


def _outcome(
    evaluation: dict[str, Any], about: dict[str, Any], config: dict[str, Any]
) -> str | None:
    """What `is_correct` says; false is no failure where there is no threshold.

    A record does not say whether there is one. A score that is neither 0 nor 1 on a scale that
    is not binary may be right, wrong or in between, so `false` is not taken for a failure there.
    """
    correct = evaluation.get("is_correct")
    if "is_correct_basis" in about or not isinstance(correct, bool):
        return None
    if correct:
        return "passed"
    if about.get("outcome") == "partial":
        return "partial"
    if "verdict_basis" in about:
        return "failed"
    binary = config.get("score_type") == "binary" or evaluation.get("score") in (0, 1)
    return "failed" if binary else None


def _without_row(about: dict[str, Any], policy: ContentPolicy) -> list[dict[str, Any]]:
    """Scores that have no row, which fullcount keeps beside those that have one."""
    text = about.get("scores_without_row")
    try:
        told = json.loads(text) if isinstance(text, str) else []
    except (ValueError, RecursionError):
        told = []
    found = []
    for score in as_list(told):
        if not isinstance(score, dict) or one_of(score.get("state"), _STATES) is None:
            continue
        evaluator, metric = as_word(score.get("evaluator")), as_word(score.get("metric"))
        label = score["label"] if isinstance(score.get("label"), str) else None
        if evaluator is None or metric is None or (score["state"] == "scored" and label is None):
            continue
        raw = score.get("raw")
        outcome = score.get("outcome")
        found.append(
            present(
                evaluator=evaluator,
                metric=metric,
                state=score["state"],
                label=label,
                outcome=outcome
                if score["state"] == "scored" and outcome in ("passed", "partial", "failed")
                else None,
                raw=raw if isinstance(raw, str) else None,
                reason=as_word(score.get("reason")),
                edited=True if score.get("edited") is True else None,
                answer=_excerpt(score.get("answer"), policy),
                explanation=_excerpt(score.get("explanation"), policy),
            )
        )
    return found


def _declared(about: dict[str, Any]) -> str | None:
    declared = about.get("verdict_basis") == "declared"
    return one_of(about.get("verdict"), _VERDICTS) if declared else None


def _error(
    row: dict[str, Any], about: dict[str, Any], policy: ContentPolicy
) -> dict[str, Any] | None:
    text = row.get("error")
    kind = as_word(about.get("error_type"))
    given = about.get("error_message")
    message = given if isinstance(given, str) else None
    if message is None and isinstance(text, str) and text and "status" not in about:
        message = text
    retries = _whole(about.get("error_retries"))
    fields = present(type=kind, message=_excerpt(message, policy), retries=retries)
    return fields or ({} if message is not None else None)


def _usage(given: dict[str, Any]) -> dict[str, Any] | None:
    names = {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "total_tokens": "total_tokens",
        "cache_read_tokens": "input_tokens_cache_read",
        "cache_write_tokens": "input_tokens_cache_write",
        "reasoning_tokens": "reasoning_tokens",
    }
    found = {ours: as_count(given.get(theirs)) for ours, theirs in names.items()}
    return {name: count for name, count in found.items() if count is not None} or None


def _content(row: dict[str, Any], policy: ContentPolicy) -> dict[str, Any]:
    given, output = as_dict(row.get("input")), as_dict(row.get("output"))
    text = given.get("raw")
    if not isinstance(text, str):
        return {}
    references = [part for part in as_list(given.get("reference")) if isinstance(part, str)]
    digested = _DIGEST.fullmatch(text)
    known = row.get("sample_hash")
    fields: dict[str, Any] = {}
    if not digested:
        fields["sample_hash"] = sample_hash(text, references)
    elif isinstance(known, str) and _HASH.fullmatch(known):
        fields["sample_hash"] = known
    if policy is ContentPolicy.OMIT:
        return fields
    choices = [part for part in as_list(given.get("choices")) if isinstance(part, str)]
    turns = as_count(as_dict(row.get("evaluation")).get("num_turns"))
    content = present(
        input=_excerpt(text, policy),
        references=[_excerpt(part, policy) for part in references],
        choices=[_excerpt(part, policy) for part in choices] or None,
        turns=turns,
    )
    if policy is ContentPolicy.INCLUDE:
        outputs = [part for part in as_list(output.get("raw")) if isinstance(part, str)]
        content["outputs"] = [_excerpt(part, policy) for part in outputs]
        if row.get("messages"):
            content["messages"] = [
                _message(message, policy)
                for message in map(as_dict, as_list(row.get("messages")))
                if as_word(message.get("role"))
            ]
    return fields | {"content": content}


def _message(message: dict[str, Any], policy: ContentPolicy) -> dict[str, Any]:
    ids = as_list(message.get("tool_call_id"))
    return present(
        role=as_word(message.get("role")),
        content=_excerpt(message.get("content"), policy),
        reasoning=_excerpt(message.get("reasoning_trace"), policy),
        tool_calls=[
            {
                "id": as_word(call.get("id")) or "unknown",
                "name": str(call.get("name", "")),
                "arguments": {
                    name: value if isinstance(value, str) else json.dumps(value)
                    for name, value in as_dict(call.get("arguments")).items()
                },
            }
            for call in map(as_dict, as_list(message.get("tool_calls")))
        ],
        tool_call_id=str(ids[0]) if ids else None,
    )


def _excerpt(text: Any, policy: ContentPolicy) -> Any:
    """A text, or the digest that stands for it."""
    if not isinstance(text, str) or policy is ContentPolicy.OMIT:
        return None
    digested = _DIGEST.fullmatch(text)
    return {"sha256": digested[1]} if digested else excerpt(text, policy)


def _whole(text: Any) -> int | None:
    """A whole number, which the map of the format holds as text."""
    if isinstance(text, str) and re.fullmatch(r"-?[0-9]{1,18}", text, re.ASCII):
        return int(text)
    return None
