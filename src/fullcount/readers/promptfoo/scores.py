"""From a row to the fields of a trial."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt
from fullcount.readers._fields import (
    as_count,
    as_dict,
    as_list,
    as_number,
    as_word,
    error_type,
    measured,
    present,
    raw_fields,
)
from fullcount.readers._texts import text_fields
from fullcount.readers.promptfoo.metrics import NAME, SCORE
from fullcount.readers.promptfoo.states import NOT_REACHED, base_type, in_sets, reading

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from fullcount.plugin import ContentPolicy
    from fullcount.readers.promptfoo.states import Graded, Reading

__all__ = ["fields_of"]

_NOTHING_FAILS = frozenset({"no_assertions", "no_weight"})
_REFERENCES = frozenset({"equals", "factuality", "model-graded-factuality", "similar"})
_STRIPPED = frozenset({"[output stripped]", "[prompt stripped]"})


def fields_of(
    row: dict[str, Any], sought: Collection[str], names: list[str], policy: ContentPolicy
) -> dict[str, Any]:
    """What a row says, as fields of its trial.

    Args:
        row: The row.
        sought: Named metrics that its test is scored on.
        names: All named metrics of its column.
        policy: How much text is wanted.
    """
    read_as = reading(row)
    own = _score(row, read_as, policy)
    scores = [own, *_named(row, read_as, sought, names)]
    fields: dict[str, Any] = {"scores": scores}
    if read_as.kind in NOT_REACHED:
        fields["status"], fields["status_reason"] = NOT_REACHED[read_as.kind]
        error = row.get("error")
        if read_as.kind != "no_output" and isinstance(error, str):
            fields["error"] = present(type=error_type(error), message=excerpt(error, policy))
    elif own["state"] == "scored":
        fields["declared_verdict"] = "passed" if row["success"] else "failed"
    elif read_as.failed:
        fields["declared_verdict"] = "failed"
    elif own["state"] == "error" and all(each["state"] != "scored" for each in scores):
        fields["status"], fields["status_reason"] = "evaluator_error", read_as.kind
    response = as_dict(row.get("response"))
    latency = as_number(row.get("latencyMs"))
    record = as_word(row.get("id"))
    return fields | present(
        duration=None if latency is None or latency < 0 else latency / 1000,
        usage=_usage(row, response),
        trace=None if record is None else {"record_id": record},
        **_texts(row, response, policy),
    )


def _score(row: dict[str, Any], read_as: Reading, policy: ContentPolicy) -> dict[str, Any]:
    """The row's own score, which is written as 0 where there is none."""
    kind = read_as.kind
    reason = as_dict(row.get("gradingResult")).get("reason")
    fields: dict[str, Any] = {"evaluator": NAME, "metric": SCORE} | present(
        explanation=excerpt(reason, policy) if isinstance(reason, str) else None,
        edited=read_as.rated or None,
    )
    if "score" not in row:
        fields["state"] = "missing"
    else:
        fields |= raw_fields(row["score"])
    if kind in NOT_REACHED:
        return fields | {"state": "not_measured", "reason": kind}
    if kind in _NOTHING_FAILS:
        return fields | {"state": "not_applicable", "reason": kind}
    if kind not in ("scored", "null"):
        return fields | {"state": "error", "reason": kind}
    if "score" in row:
        fields |= measured(row["score"])
    if fields["state"] == "scored":
        fields["outcome"] = "passed" if row["success"] else "failed"
    return fields


def _named(
    row: dict[str, Any], read_as: Reading, sought: Collection[str], names: list[str]
) -> Iterator[dict[str, Any]]:
    """A score for each named metric of the column."""
    if not names:
        return
    values = as_dict(row.get("namedScores"))
    weights = as_dict(as_dict(row.get("gradingResult")).get("namedScoreWeights"))
    behind: dict[str, list[Graded]] = {}
    nameless: list[Graded] = []
    for each in _with_parts(read_as.graded):
        if each.metric is not None and "{{" in each.metric:
            nameless.append(each)
        elif each.metric is not None:
            behind.setdefault(each.metric, []).append(each)
    for name in names:
        fields: dict[str, Any] = {"evaluator": name, "metric": name}
        if read_as.kind in NOT_REACHED or name not in values:
            yield fields | _without_value(name in sought, read_as)
        elif as_number(weights.get(name)) == 0:
            state = {"state": "not_applicable", "reason": "no_weight"}
            yield fields | raw_fields(values[name]) | state
        else:
            # A name with a placeholder may have become any that no other assertion has.
            graded = behind.get(name)
            yield fields | _value(values[name], graded or nameless, read_as, sure=bool(graded))


def _without_value(is_sought: bool, read_as: Reading) -> dict[str, Any]:  # noqa: FBT001 - of two
    if not is_sought:
        return {"state": "not_applicable"}
    if read_as.kind in NOT_REACHED:
        return {"state": "not_measured", "reason": read_as.kind}
    return {"state": "missing"}


def _value(value: Any, graded: list[Graded], read_as: Reading, *, sure: bool) -> dict[str, Any]:
    failure = next((each.failure for each in graded if each.failure), None)
    if failure is not None:
        return raw_fields(value) | {"state": "error", "reason": failure}
    fields = measured(value)
    passed = {each.passed for each in graded}
    # Where the score decides and is not there, no single assertion does.
    decided = sure and (read_as.kind == "scored" or not read_as.by_score)
    if fields["state"] == "scored" and decided and passed in ({True}, {False}):
        fields["outcome"] = "passed" if passed == {True} else "failed"
    return fields


def _with_parts(graded: tuple[Graded, ...]) -> Iterator[Graded]:
    for each in graded:
        yield each
        yield from _with_parts(each.parts)


def _usage(row: dict[str, Any], response: dict[str, Any]) -> dict[str, Any] | None:
    """What the subject took; tokens of the judges are not among them."""
    tokens = as_dict(response.get("tokenUsage")) or as_dict(row.get("tokenUsage"))
    cost = as_number(row.get("cost", response.get("cost")))
    details = as_dict(tokens.get("completionDetails"))
    fields = present(
        input_tokens=as_count(tokens.get("prompt")),
        output_tokens=as_count(tokens.get("completion")),
        total_tokens=as_count(tokens.get("total")),
        reasoning_tokens=as_count(details.get("reasoning")),
        cost=None if cost is None or cost < 0 else cost,
    )
    return fields or None


def _texts(row: dict[str, Any], response: dict[str, Any], policy: ContentPolicy) -> dict[str, Any]:
    """Content, and the key of the case over its real input and references."""
    raw = as_dict(row.get("prompt")).get("raw")
    prompt = raw if isinstance(raw, str) and raw not in _STRIPPED else None
    output = response.get("output")
    if not isinstance(output, str):
        output = None if output is None else json.dumps(output, ensure_ascii=False)
    assertions = as_list(as_dict(row.get("testCase")).get("assert"))
    references = [
        each["value"]
        for each in in_sets(assertions)
        if base_type(each) in _REFERENCES
        and isinstance(each.get("value"), str)
        and "{{" not in each["value"]
    ]
    outputs = [] if output is None or output in _STRIPPED else [output]
    return text_fields(prompt, references, outputs, policy)
