"""Runs that have broken converters: the corpus of the exporter contract."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from fullcount.model import Run, Trial
from fullcount.testing.kitchen import kitchen_sink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["CORPUS", "Example", "example"]

_UNICODE = (
    "na\u00efve \u4f60\u597d \U0001f600\u200d\U0001f680 e\u0301",
    "a\u2028b\u2029c\u0085d",
    "\u202eright to left \u05e9\u05dc\u05d5\u05dd",
    "\x00\x01\x1b[31mred\x7f\t\r\n",
    "\ufeffbom \ufffd \uffff \U0010ffff",
    "\"quoted' \\ back\\\\slash `tick` ${x} %s {0}",
    "<tag attr='1'>&amp;</tag> --> ]]>",
    "=cmd|' /C calc'!A0",
    "-",
    "  spaces  ",
)
_PATHS = (
    "../../etc/passwd",
    "/a",
    "CON",
    "nul.json",
    "a\\b",
    "C:x",
    ".",
    "..",
    "",
    "x" * 300,
    "\u00e9" * 300,
    "a/b/c",
    "A",
    "a",
    "trailing.",
    "%2e%2e%2f",
)


@dataclass(frozen=True)
class Example:
    """A run and its trials.

    Attributes:
        name: What is special about it.
        run: The run.
        trials: Each is scored on every metric of the run, in order.
    """

    name: str
    run: Run
    trials: tuple[Trial, ...]


def _run(evaluators: list[dict[str, Any]], **more: Any) -> Run:
    return Run.model_validate(
        {
            "id": "run",
            "source": {"format": "corpus"},
            "harness": {"name": "harness"},
            "subject": {"id": "acme/anvil"},
            "suite": {"name": "suite"},
            "evaluators": evaluators,
            **more,
        }
    )


def _one_metric(**metric: Any) -> list[dict[str, Any]]:
    return [{"name": "match", "metrics": [{"name": "accuracy", **metric}]}]


_UNIT = _one_metric(minimum=0.0, maximum=1.0)


def _trials(scores: Iterable[dict[str, Any]], **more: Any) -> tuple[Trial, ...]:
    """A trial for each score of `match.accuracy`."""
    return tuple(
        Trial.model_validate(
            {
                "case_id": f"case-{number}",
                "scores": [{"evaluator": "match", "metric": "accuracy", **score}],
                **more,
            }
        )
        for number, score in enumerate(scores)
    )


def _value(value: float) -> dict[str, Any]:
    return {"state": "scored", "value": value}


def _plain() -> tuple[Run, tuple[Trial, ...]]:
    scores = [_value(1.0), _value(0.0), {"state": "null", "raw": "null", "raw_type": "null"}]
    return _run(_UNIT), _trials(scores)


def _empty() -> tuple[Run, tuple[Trial, ...]]:
    return _run(_UNIT), ()


def _no_evaluators() -> tuple[Run, tuple[Trial, ...]]:
    return _run([]), (Trial(case_id="a"), Trial(case_id="b"))


def _nothing() -> tuple[Run, tuple[Trial, ...]]:
    return _run([]), ()


def _one_trial() -> tuple[Run, tuple[Trial, ...]]:
    return _run(_UNIT), _trials([_value(1.0)])


def _all_unverified() -> tuple[Run, tuple[Trial, ...]]:
    states = ("null", "nan", "error", "missing", "not_measured")
    return _run(_UNIT), _trials({"state": state} for state in states)


def _all_excluded() -> tuple[Run, tuple[Trial, ...]]:
    states = ("skipped", "not_applicable")
    return _run(_UNIT), _trials({"state": state} for state in states)


def _statuses_and_verdicts() -> tuple[Run, tuple[Trial, ...]]:
    statuses = (
        "completed",
        "subject_error",
        "harness_error",
        "evaluator_error",
        "blocked",
        "cancelled",
    )
    verdicts = ("passed", "partial", "failed", "contradicted", "disputed", "unverified", None)
    trials = [
        trial.model_copy(update={"case_id": f"{status}-{verdict}"})
        for status in statuses
        for verdict in verdicts
        for trial in _trials([_value(0.5)], status=status, declared_verdict=verdict)
    ]
    return _run(_UNIT), (*trials, *_trials([{"state": "not_measured"}], status="not_run"))


def _raw_numbers() -> tuple[Run, tuple[Trial, ...]]:
    number = {"raw_type": "number"}
    return _run(_UNIT), _trials(
        [
            {"state": "nan", "raw": "NaN", **number},
            {"state": "nan", "raw": "Infinity", **number},
            {"state": "nan", "raw": "-Infinity", **number},
            {"state": "nan", "raw": "1e400", **number},
            {**_value(float(2**70)), "raw": str(2**70), **number},
            {**_value(0.1), "raw": "0.1000000000000000055511151231257827", **number},
            {**_value(1.0), "raw": "true", "raw_type": "boolean"},
            {**_value(1.0), "raw": '"C"', "raw_type": "string", "label": "C"},
        ]
    )


def _huge_numbers() -> tuple[Run, tuple[Trial, ...]]:
    """Values whose sum no double can hold, and integers that no 64 bits can."""
    values = (1e308, 1e308, 1.7976931348623157e308, -1e308, 5e-324, -0.0)
    trials = _trials(map(_value, values))
    return _run(_one_metric()), (trials[0].model_copy(update={"seed": 2**70}), *trials[1:])


def _out_of_scale() -> tuple[Run, tuple[Trial, ...]]:
    return _run(_UNIT), _trials(map(_value, (-0.5, 0.5, 1.5, 100.0)))


def _out_of_scale_and_unverified() -> tuple[Run, tuple[Trial, ...]]:
    """Bounds on one side alone: what is not there may be beyond the other end too."""
    return _run(_UNIT), _trials([_value(4.2), {"state": "null"}])


def _labels_only() -> tuple[Run, tuple[Trial, ...]]:
    labels = [{"state": "scored", "label": label} for label in ("yes", "no", "", "yes")]
    return _run(_one_metric(categorical=True)), _trials([*labels, {"state": "null"}])


def _unicode() -> tuple[Run, tuple[Trial, ...]]:
    """Each awkward string in every field that takes one."""
    joined = " ".join(_UNICODE)
    run = _run(
        [
            {"name": text, "model": text, "version": text, "metrics": [{"name": text}]}
            for text in _UNICODE
        ],
        id=joined,
        source={"format": joined, "format_version": joined, "path": joined},
        harness={"name": joined, "version": joined, "packages": {joined: joined}},
        subject={"id": joined, "name": joined, "version": joined, "provider": joined},
        suite={"name": joined, "version": joined, "dataset": joined, "split": joined},
        environment={joined: joined},
        generation={"solver": joined, "sandbox": joined, "tools": [joined]},
        reported_counts={joined: 1},
        tags=list(_UNICODE),
        findings=[{"code": joined, "message": joined}],
        error={"type": joined, "message": {"text": joined}},
    )
    trials = tuple(
        Trial.model_validate(
            {
                "case_id": text,
                "status_reason": text,
                "limit": text,
                "gates": [{"name": text}],
                "error": {"type": text, "message": {"text": text}},
                "trace": {"response_id": text, "record_id": text},
                "content": {"input": {"text": text}, "outputs": [{"text": text}]},
                "pointer": text,
                "scores": [
                    {
                        "evaluator": name,
                        "metric": name,
                        "state": "scored",
                        "label": text,
                        "reason": text,
                        "raw": text,
                        "answer": {"text": text},
                    }
                    for name in _UNICODE
                ],
            }
        )
        for text in _UNICODE
    )
    return run, trials


def _names() -> tuple[Run, tuple[Trial, ...]]:
    """Names that collide once they are joined, cut or turned into file names."""
    metrics = ("a.b", "a b", "a/b", "a\\b", 'a"b', "A.B", "a_b", "n_scored", "x" * 300)
    evaluators = ("a", "a.b", "a b", "verdict", "x" * 300)
    run = _run(
        [{"name": e, "metrics": [{"name": m} for m in metrics]} for e in evaluators],
    )
    scores = [
        {"evaluator": e, "metric": m, **(_value(float(i)) if i % 2 else {"state": "null"})}
        for i, (e, m) in enumerate(run.metric_keys)
    ]
    return run, (Trial.model_validate({"case_id": "1", "scores": scores}),)


def _one_metric_name_twice() -> tuple[Run, tuple[Trial, ...]]:
    run = _run([{"name": name, "metrics": [{"name": "score"}]} for name in ("alice", "bob")])
    scores = [
        {"evaluator": "alice", "metric": "score", **_value(1.0)},
        {"evaluator": "bob", "metric": "score", "state": "null"},
    ]
    return run, (Trial.model_validate({"case_id": "1", "scores": scores}),)


def _many_evaluators() -> tuple[Run, tuple[Trial, ...]]:
    run = _run([{"name": f"e{n}", "metrics": [{"name": "m"}]} for n in range(50)])
    states = ({"state": "null"}, _value(0.25), {"state": "skipped"})
    trials = tuple(
        Trial.model_validate(
            {
                "case_id": str(case),
                "scores": [
                    {"evaluator": f"e{n}", "metric": "m", **states[(n + case) % 3]}
                    for n in range(50)
                ],
            }
        )
        for case in range(4)
    )
    return run, trials


def _case_ids_like_paths() -> tuple[Run, tuple[Trial, ...]]:
    trials = _trials(_value(1.0) for _ in _PATHS)
    return _run(_UNIT), tuple(
        trial.model_copy(update={"case_id": case, "pointer": case})
        for trial, case in zip(trials, _PATHS, strict=True)
    )


def _scored_though_it_failed() -> tuple[Run, tuple[Trial, ...]]:
    error = {"error": {"type": "SandboxError"}, "status": "harness_error"}
    limit = {"limit": "tokens", "status": "subject_error", "status_reason": "timeout"}
    pairs = [
        *_trials([_value(1.0)], **error),
        *_trials([_value(0.0)], **limit),
        *_trials([{"state": "error", "reason": "judge"}], status="evaluator_error"),
        *_trials([_value(1.0)], invalidated=True),
    ]
    return _run(_UNIT), tuple(
        trial.model_copy(update={"case_id": str(n)}) for n, trial in enumerate(pairs)
    )


def _attempts() -> tuple[Run, tuple[Trial, ...]]:
    values = (1.0, 0.0, 1.0, None, 0.5, 1.0)
    trials = _trials({"state": "null"} if v is None else _value(v) for v in values)
    return _run(_UNIT, plan={"cases": 2, "attempts": 3, "trials": 6}), tuple(
        trial.model_copy(update={"case_id": str(n % 2), "attempt": n // 2 + 1})
        for n, trial in enumerate(trials)
    )


def _one_attempt_twice() -> tuple[Run, tuple[Trial, ...]]:
    """Two records of one attempt: both count, whatever they are called."""
    return _run(_UNIT), tuple(
        trial.model_copy(update={"case_id": "same"})
        for trial in _trials([_value(1.0), _value(0.0), _value(1.0)])
    )


def _synthetic_ids() -> tuple[Run, tuple[Trial, ...]]:
    trials = _trials([_value(1.0), {"state": "missing"}], case_id_type="synthetic")
    return _run(_UNIT), trials


def _edges_of_time() -> tuple[Run, tuple[Trial, ...]]:
    first, last = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"
    times = {"started_at": first, "completed_at": last, "duration": 1e308}
    return _run(_UNIT, created_at=first, started_at=first, completed_at=last), _trials(
        [_value(1.0)], **times
    )


_MAKERS: dict[str, Callable[[], tuple[Run, tuple[Trial, ...]]]] = {
    "plain": _plain,
    "empty": _empty,
    "nothing": _nothing,
    "no-evaluators": _no_evaluators,
    "one-trial": _one_trial,
    "all-unverified": _all_unverified,
    "all-excluded": _all_excluded,
    "statuses-and-verdicts": _statuses_and_verdicts,
    "raw-numbers": _raw_numbers,
    "huge-numbers": _huge_numbers,
    "out-of-scale": _out_of_scale,
    "out-of-scale-and-unverified": _out_of_scale_and_unverified,
    "labels-only": _labels_only,
    "unicode": _unicode,
    "names": _names,
    "one-metric-name-twice": _one_metric_name_twice,
    "many-evaluators": _many_evaluators,
    "case-ids-like-paths": _case_ids_like_paths,
    "scored-though-it-failed": _scored_though_it_failed,
    "attempts": _attempts,
    "one-attempt-twice": _one_attempt_twice,
    "synthetic-ids": _synthetic_ids,
    "edges-of-time": _edges_of_time,
    "kitchen-sink": kitchen_sink,
}

CORPUS: tuple[str, ...] = tuple(_MAKERS)
"""The names of all examples."""


@cache
def example(name: str) -> Example:
    """An example by its name."""
    run, trials = _MAKERS[name]()
    return Example(name, run, trials)
