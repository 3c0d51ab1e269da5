"""Hypothesis strategies for everything in the model.

The values are adversarial but valid: unicode of every plane, numbers at the ends of their
range, every state, status and verdict, and every optional field set and unset.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from fullcount.model import (
    Content,
    Error,
    Evaluator,
    Excerpt,
    Finding,
    Gate,
    Generation,
    Harness,
    Message,
    Metric,
    Outcome,
    Plan,
    ReportedMetric,
    Run,
    Score,
    ScoreState,
    Source,
    Subject,
    Suite,
    ToolCall,
    TraceRef,
    Trial,
    TrialStatus,
    Usage,
    Verdict,
)
from fullcount.testing.values import (
    COUNTS,
    NOT_NEGATIVE,
    RAW,
    SHA256,
    dicts,
    floats,
    maybe,
    texts,
    timestamps,
    tuples,
    words,
)

__all__ = [
    "contents",
    "evaluators",
    "floats",
    "metrics",
    "runs",
    "scores",
    "texts",
    "timestamps",
    "trials",
    "words",
]


def _excerpts() -> st.SearchStrategy[Excerpt]:
    return st.builds(Excerpt, text=texts()) | st.builds(Excerpt, sha256=SHA256, text=st.none())


def contents() -> st.SearchStrategy[Content]:
    """Inputs, references, choices, outputs and messages."""
    calls = st.builds(ToolCall, id=words(), name=texts(), arguments=dicts(texts()))
    messages = st.builds(
        Message,
        role=words(),
        content=maybe(_excerpts()),
        reasoning=maybe(_excerpts()),
        tool_calls=tuples(calls),
        tool_call_id=maybe(texts()),
    )
    return st.builds(
        Content,
        input=maybe(_excerpts()),
        references=tuples(_excerpts()),
        choices=tuples(_excerpts()),
        outputs=tuples(_excerpts()),
        messages=maybe(tuples(messages)),
        turns=maybe(COUNTS),
    )


def _errors() -> st.SearchStrategy[Error]:
    return st.builds(Error, type=maybe(words()), message=maybe(_excerpts()), retries=maybe(COUNTS))


def _usages() -> st.SearchStrategy[Usage]:
    return st.builds(
        Usage,
        input_tokens=maybe(COUNTS),
        output_tokens=maybe(COUNTS),
        total_tokens=maybe(COUNTS),
        cache_read_tokens=maybe(COUNTS),
        cache_write_tokens=maybe(COUNTS),
        reasoning_tokens=maybe(COUNTS),
        cost=maybe(NOT_NEGATIVE),
    )


@st.composite
def metrics(draw: st.DrawFn, name: str | None = None) -> Metric:
    """A metric with an open, half-open or closed scale."""
    ends = sorted((draw(floats()), draw(floats())))
    return Metric(
        name=draw(words()) if name is None else name,
        minimum=ends[0] if draw(st.booleans()) else None,
        maximum=ends[1] if draw(st.booleans()) else None,
        lower_is_better=draw(st.booleans()),
        unit=draw(maybe(words())),
        threshold=draw(maybe(floats())),
        categorical=draw(st.booleans()),
    )


@st.composite
def evaluators(draw: st.DrawFn, name: str | None = None) -> Evaluator:
    """A grader with up to two metrics."""
    names = draw(st.lists(words(), unique=True, max_size=2))
    return Evaluator(
        name=draw(words()) if name is None else name,
        kind=draw(st.sampled_from(("rule", "model", "human", "composite", "unknown"))),
        model=draw(maybe(words())),
        version=draw(maybe(words())),
        rubric_revision=draw(maybe(words())),
        independence=draw(maybe(words())),
        calibration=draw(maybe(words())),
        limits=draw(maybe(words())),
        metrics=tuple(draw(metrics(name)) for name in names),
    )


@st.composite
def scores(
    draw: st.DrawFn, evaluator: str = "judge", metric: str = "score", *, scored: bool = True
) -> Score:
    """A score in any state; `scored` allows it to be scored."""
    state = draw(st.sampled_from([s for s in ScoreState if scored or s is not ScoreState.SCORED]))
    values: dict[str, Any] = {}
    if state is ScoreState.SCORED:
        value, label = draw(st.sampled_from(((True, False), (True, True), (False, True))))
        values["value"] = draw(floats()) if value else None
        values["label"] = draw(texts()) if label else None
        values["outcome"] = draw(maybe(st.sampled_from(Outcome)))
    return Score(
        evaluator=evaluator,
        metric=metric,
        state=state,
        raw=draw(maybe(RAW)),
        raw_type=draw(
            st.sampled_from(("absent", "null", "boolean", "number", "string", "array", "object"))
        ),
        reason=draw(maybe(words())),
        answer=draw(maybe(_excerpts())),
        explanation=draw(maybe(_excerpts())),
        edited=draw(st.booleans()),
        **values,
    )


_REST_OF_TRIAL = st.fixed_dictionaries(
    {},
    optional={
        "case_id_type": st.sampled_from(("string", "number", "synthetic")),
        "status_reason": st.just("timeout") | words(),
        "declared_verdict": st.sampled_from(Verdict),
        "judge_verdict": st.sampled_from(Verdict),
        "self_report": st.booleans(),
        "gates": tuples(
            st.builds(Gate, name=words(), fired=maybe(st.booleans()), invalidates=st.booleans())
        ),
        "error": _errors(),
        "limit": words(),
        "invalidated": st.booleans(),
        "control": st.sampled_from(("positive", "negative", "trap")),
        "pressure_round": COUNTS,
        "order": COUNTS,
        "seed": st.sampled_from((0, -1, 2**70)) | st.integers(),
        "started_at": timestamps(),
        "completed_at": timestamps(),
        "duration": NOT_NEGATIVE,
        "working_time": NOT_NEGATIVE,
        "usage": _usages(),
        "trace": st.builds(
            TraceRef,
            trace_id=maybe(st.binary(min_size=16, max_size=16).map(bytes.hex)),
            span_id=maybe(st.binary(min_size=8, max_size=8).map(bytes.hex)),
            response_id=maybe(words()),
            record_id=maybe(words()),
        ),
        "content": contents(),
        "sample_hash": SHA256,
        "pointer": texts(),
    },
)


@st.composite
def trials(
    draw: st.DrawFn,
    keys: tuple[tuple[str, str], ...] = (),
    case_id: str | None = None,
    attempt: int | None = None,
) -> Trial:
    """A trial that is scored on exactly these (evaluator, metric), in this order."""
    status = draw(st.sampled_from(TrialStatus))
    scored = status is not TrialStatus.NOT_RUN
    return Trial(
        case_id=draw(texts()) if case_id is None else case_id,
        attempt=draw(st.integers(1, 3)) if attempt is None else attempt,
        status=status,
        scores=tuple(draw(scores(*key, scored=scored)) for key in keys),
        **draw(_REST_OF_TRIAL),
    )


@st.composite
def _reported(draw: st.DrawFn, keys: tuple[tuple[str, str], ...]) -> ReportedMetric:
    evaluator, metric = draw(st.sampled_from(keys) if keys else st.tuples(words(), words()))
    value = draw(maybe(floats()))
    return ReportedMetric(
        evaluator=evaluator,
        metric=metric,
        statistic=draw(st.sampled_from(("accuracy", "mean", "stderr")) | words()),
        value=value,
        nonfinite=None
        if value is not None
        else draw(st.sampled_from(("null", "nan", "inf", "-inf"))),
        reducer=draw(maybe(st.just("mean") | words())),
        group=draw(maybe(words())),
        scored=draw(maybe(COUNTS)),
        unscored=draw(maybe(COUNTS)),
    )


_REST_OF_RUN = st.fixed_dictionaries(
    {},
    optional={
        "environment": dicts(texts()),
        "generation": st.builds(
            Generation,
            temperature=maybe(floats()),
            top_p=maybe(floats()),
            top_k=maybe(floats()),
            max_tokens=maybe(COUNTS),
            seed=maybe(st.integers()),
            reasoning_effort=maybe(words()),
            time_limit=maybe(COUNTS),
            message_limit=maybe(COUNTS),
            token_limit=maybe(COUNTS),
            sandbox=maybe(words()),
            solver=maybe(words()),
            tools=tuples(words()),
        ),
        "status": st.sampled_from(("success", "error", "cancelled", "started", "unknown")),
        "error": _errors(),
        "created_at": timestamps(),
        "started_at": timestamps(),
        "completed_at": timestamps(),
        "plan": st.builds(Plan, cases=maybe(COUNTS), attempts=maybe(COUNTS), trials=maybe(COUNTS)),
        "reported_counts": dicts(COUNTS),
        "usage": dicts(_usages()),
        "tags": tuples(texts()),
        "invalidated": st.booleans(),
        "findings": tuples(
            st.builds(
                Finding,
                code=words(),
                severity=st.sampled_from(("info", "warning")),
                message=words(),
                evaluator=maybe(words()),
                metric=maybe(words()),
                count=maybe(COUNTS),
            )
        ),
    },
)


@st.composite
def runs(draw: st.DrawFn, most_trials: int = 4) -> tuple[Run, tuple[Trial, ...]]:
    """A run, and trials that are scored on exactly the metrics it declares, in order.

    Cases repeat; no two trials are the same attempt at the same case.
    """
    names = draw(st.lists(words(), unique=True, max_size=3))
    graders = tuple(draw(evaluators(name)) for name in names)
    keys = tuple((grader.name, metric.name) for grader in graders for metric in grader.metrics)
    run = Run(
        id=draw(words()),
        source=Source(format=draw(words()), format_version=draw(maybe(words()))),
        harness=Harness(name=draw(words()), version=draw(maybe(words())), packages={}),
        subject=draw(
            st.builds(
                Subject,
                id=words(),
                name=maybe(words()),
                version=maybe(words()),
                provider=maybe(words()),
                draft=maybe(st.booleans()),
                modified_at=maybe(timestamps()),
            )
        ),
        suite=draw(
            st.builds(
                Suite,
                name=words(),
                version=maybe(words()),
                dataset=maybe(words()),
                dataset_location=maybe(texts()),
                dataset_revision=maybe(words()),
                split=maybe(words()),
                cases=maybe(COUNTS),
            )
        ),
        evaluators=graders,
        reported=draw(tuples(_reported(keys))),
        **draw(_REST_OF_RUN),
    )
    attempts: dict[str, int] = {}
    made = []
    for case in draw(st.lists(st.sampled_from(("1", "2")) | texts(), max_size=most_trials)):
        attempts[case] = attempts.get(case, 0) + 1
        made.append(draw(trials(keys, case, attempts[case])))
    return run, tuple(made)
