"""Reads EvalPort ResultSets, checked against 1.0.0-rc.3.

The set's own summary counts null scores and errors as failures, so it is kept as reported and
never used. A grader's null is an error where its metadata names one, a skip where it names a
reason to skip, and else null. `passed: false` beside a null says nothing (rule 6 of the
specification): such a result has a verdict only as far as its scored graders give one. A
`verdict`, which the specification does not have yet, is taken from the result or its metadata.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt
from fullcount.errors import DamagedInputError, UnsupportedInputError, quoted
from fullcount.model import Run, Trial
from fullcount.plugin import Confidence, ContentPolicy, ReaderSpec, RunStream
from fullcount.readers._fields import (
    as_count,
    as_dict,
    as_list,
    as_number,
    as_time,
    as_word,
    measured,
    nonfinite,
    present,
    raw_fields,
    validated,
)
from fullcount.readers._json import walk_object
from fullcount.readers._seen import Attempts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.plugin import Options, ReadRequest
    from fullcount.sources import Source

__all__ = ["SPEC", "read", "sniff"]

SPEC = ReaderSpec(
    name="evalport",
    title="EvalPort ResultSets",
    sniff="fullcount.readers.evalport:sniff",
    reader="fullcount.readers.evalport:read",
    versions="1.0",
)

_MARKS = (b'"suite_id"', b'"run_id"', b'"grader_results"')
_VERDICTS = {
    "contradicted": "contradicted",
    "disputed": "disputed",
    "fail": "failed",
    "failed": "failed",
    "inconclusive": "unverified",
    "partial": "partial",
    "pass": "passed",
    "passed": "passed",
    "unknown": "unverified",
    "unscored": "unverified",
    "unverified": "unverified",
}
_ERRORS = {
    "timeout": ("subject_error", "timeout"),
    "provider_error": ("harness_error", "provider_error"),
    "runner_error": ("harness_error", "runner_error"),
}
_KINDS = {"llm_judge": "model", "human": "human", "composite": "composite", "custom": "unknown"}


def sniff(source: Source) -> Confidence:
    """An object with a suite, a run and results of graders."""
    if source.head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and all(
        mark in source.head for mark in _MARKS
    ):
        return Confidence(85, "suite_id, run_id and grader_results")
    return Confidence(0)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """The set's one run. The file is read twice: for its graders, and for its results.

    Raises:
        DamagedInputError: The file is no ResultSet.
    """
    del options
    head: dict[str, Any] = {}
    graders: dict[str, str] = {}
    count = 0
    attempts = Attempts()
    for index, result in _results(source, head):
        attempts.note(_case(source, index, result))
        for grader in as_list(result.get("grader_results")):
            graders.setdefault(_grader(source, index, grader), str(as_dict(grader).get("type")))
        count += 1
    yield RunStream(_run(source, head, graders, count), _trials(source, request, attempts))


def _results(source: Source, head: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    index = 0
    with source.open() as file:
        for part in walk_object(file, {"results"}, source=source.shown):
            if part.kind == "value":
                head[part.key] = part.value
            elif part.kind == "item":
                if not isinstance(part.value, dict):
                    raise DamagedInputError(
                        f"must be an object, not {quoted(part.value)}",
                        source=source.shown,
                        pointer=f"/results/{index}",
                    )
                yield index, part.value
                index += 1
    version = head.get("version")
    if not isinstance(version, str) or not version.startswith("1."):
        raise UnsupportedInputError(
            f"version {quoted(version)} is not read; only 1.x",
            source=source.shown,
            pointer="/version",
        )


def _grader(source: Source, index: int, grader: Any) -> str:
    name = as_word(as_dict(grader).get("grader_id"))
    if name is None:
        raise DamagedInputError(
            "a grader's result must name its grader",
            source=source.shown,
            pointer=f"/results/{index}/grader_results/*/grader_id",
        )
    return name


def _run(source: Source, head: dict[str, Any], graders: dict[str, str], count: int) -> Run:
    provider, runner = as_dict(head.get("provider")), as_dict(head.get("runner"))
    summary = as_dict(head.get("summary"))
    return validated(
        Run,
        {
            "id": as_word(head.get("run_id")) or source.sha256[:16],
            "source": present(format="evalport", format_version=as_word(head.get("version"))),
            "harness": present(
                name=as_word(runner.get("name")) or "evalport",
                version=as_word(runner.get("version")),
            ),
            "subject": {"id": as_word(provider.get("model")) or "unknown"},
            "suite": present(
                name=as_word(head.get("suite_id")) or "unknown",
                version=as_word(head.get("suite_version")),
            ),
            "evaluators": [
                {
                    "name": name,
                    "kind": _KINDS.get(kind, "rule"),
                    "metrics": [{"name": name, "minimum": 0.0, "maximum": 1.0}],
                }
                for name, kind in graders.items()
            ],
            "generation": present(
                temperature=as_number(provider.get("temperature")),
                max_tokens=as_count(provider.get("max_tokens")),
            ),
            "started_at": as_time(head.get("started_at")),
            "completed_at": as_time(head.get("completed_at")),
            "plan": {"trials": count},
            "reported": [
                {
                    "evaluator": name,
                    "metric": name,
                    "statistic": "mean",
                    "value": as_number(entry.get("avg_score")),
                    "nonfinite": nonfinite(entry.get("avg_score")),
                }
                for name, entry in as_dict(summary.get("by_grader")).items()
                if name in graders and isinstance(entry, dict) and "avg_score" in entry
            ],
            "reported_counts": {
                name: value
                for name in ("total", "passed", "failed", "skipped")
                if (value := as_count(summary.get(name))) is not None
            },
        },
    )


def _trials(source: Source, request: ReadRequest, attempts: Attempts) -> Iterator[Trial]:
    for index, result in _results(source, {}):
        case = _case(source, index, result)
        yield validated(
            Trial,
            {"case_id": case, "attempt": attempts.next(case), "pointer": f"#/results/{index}"}
            | _fields(source, index, result, request.content),
        )


def _case(source: Source, index: int, result: dict[str, Any]) -> str:
    case = as_word(result.get("test_case_id"))
    if case is None:
        raise DamagedInputError(
            "must be the id of a test case",
            source=source.shown,
            pointer=f"/results/{index}/test_case_id",
        )
    return case


def _fields(
    source: Source, index: int, result: dict[str, Any], policy: ContentPolicy
) -> dict[str, Any]:
    error = result.get("error")
    fields: dict[str, Any] = {}
    if isinstance(error, dict):
        kind = str(error.get("type"))
        fields["status"], fields["status_reason"] = _ERRORS.get(kind, ("harness_error", "error"))
        fields["error"] = present(
            type=as_word(error.get("type")),
            message=_text(error.get("message"), policy),
        )
    scores = []
    for grader in as_list(result.get("grader_results")):
        name = _grader(source, index, grader)
        scores.append({"evaluator": name, "metric": name} | _score(grader, policy))
    fields["scores"] = list({score["evaluator"]: score for score in scores}.values())
    verdict = _verdict(result, scores, errored=isinstance(error, dict))
    duration = as_number(result.get("duration_ms"))
    metadata = as_dict(result.get("metadata"))
    own = as_dict(metadata.get("openeval"))
    violations = as_list(result.get("constraint_violations", metadata.get("constraint_violations")))
    output = _text(result.get("actual_output"), policy)
    return fields | present(
        declared_verdict=verdict,
        duration=None if duration is None or duration < 0 else duration / 1000,
        usage=_usage(as_dict(own.get("cost"))),
        trace=_trace(own.get("trace_id") or metadata.get("trace_id")),
        gates=[{"name": name, "fired": True} for name in _names(violations)] or None,
        content={"outputs": [output]} if output is not None else None,
    )


def _score(grader: dict[str, Any], policy: ContentPolicy) -> dict[str, Any]:
    value = grader.get("score")
    metadata = as_dict(grader.get("metadata"))
    fields = {} if "score" in grader else {"state": "missing"}
    if value is None and "score" in grader:
        fields = raw_fields(None)
        if metadata.get("error"):
            fields |= {"state": "error", "reason": "grader_error"}
        elif metadata.get("skip_reason"):
            fields |= {"state": "skipped", "reason": "skip_reason"}
        else:
            fields |= {"state": "null"}
    elif "score" in grader:
        fields = measured(value)
        if fields["state"] == "scored" and isinstance(grader.get("passed"), bool):
            fields["outcome"] = "passed" if grader["passed"] else "failed"
    return fields | present(explanation=_text(grader.get("reason"), policy))


def _verdict(result: dict[str, Any], scores: list[dict[str, Any]], *, errored: bool) -> str | None:
    """What the result states, as far as it states anything."""
    own = as_dict(as_dict(result.get("metadata")).get("openeval"))
    for stated in (result.get("verdict"), own.get("verdict")):
        if isinstance(stated, dict):
            stated = stated.get("value")  # noqa: PLW2901 - the same statement, unwrapped
        if isinstance(stated, str) and stated.lower() in _VERDICTS:
            return _VERDICTS[stated.lower()]
    scored = [score for score in scores if score["state"] == "scored"]
    if errored or not scored:
        return None
    if result.get("passed") is True:
        return "passed"
    complete = len(scored) == len(scores)
    return "failed" if complete and result.get("passed") is False else None


def _names(violations: list[Any]) -> list[str]:
    found = (
        as_word(entry) or as_word(as_dict(entry).get("constraint_id", as_dict(entry).get("name")))
        for entry in violations
    )
    return [name or "constraint" for name in found]


def _text(value: Any, policy: ContentPolicy) -> Any:
    return excerpt(value, policy) if isinstance(value, str) else None


def _usage(cost: dict[str, Any]) -> dict[str, Any] | None:
    fields = present(
        input_tokens=as_count(cost.get("input_tokens")),
        output_tokens=as_count(cost.get("output_tokens")),
        cost=as_number(cost.get("estimated_cost_usd")),
    )
    return fields or None


def _trace(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str) and len(value) == 32 and set(value) <= set("0123456789abcdef"):
        return {"trace_id": value}
    return {"record_id": value} if isinstance(value, str) and value else None
