"""From a log to its run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.model import Run
from fullcount.notices import Severity
from fullcount.plugin import Confidence, RunStream
from fullcount.readers._fields import (
    as_count,
    as_list,
    as_number,
    as_time,
    as_word,
    nonfinite,
    present,
    validated,
)
from fullcount.readers.openai_evals.events import COUNTS, MATCH, METASCORE, Index
from fullcount.readers.openai_evals.trials import trials

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.plugin import Options, ReadRequest
    from fullcount.sources import Source

__all__ = ["read", "sniff"]

_REQUESTS = "invalid_request_"
_REFUSED = "invalid_request_during_completion"


def sniff(source: Source) -> Confidence:
    """A first line with a `spec` that names completion functions and an eval."""
    first = source.head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0]
    if first.startswith(b'{"spec"') and b'"eval_name"' in first and b'"run_id"' in first:
        return Confidence(95, "spec with eval_name")
    return Confidence(0)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """One run; its events are gone through twice.

    Raises:
        DamagedInputError: A line is no event, or there is no spec.
    """
    del options
    index = Index(source)
    if index.passed_over:
        request.report.add(
            "input.passed_over",
            Severity.WARNING,
            "metrics whose values are neither numbers nor known to be choices were not read",
            count=index.passed_over,
            plugin="openai-evals",
        )
    run = validated(Run, _run(source, index))
    yield RunStream(run, trials(source, index, request.content))


def _run(source: Source, index: Index) -> dict[str, Any]:
    spec, report = index.spec, index.report
    functions = [name for each in as_list(spec.get("completion_fns")) if (name := as_word(each))]
    counts = {
        name: count
        for name, value in (report or {}).items()
        if name.startswith((COUNTS, _REQUESTS)) and (count := as_count(value)) is not None
    }
    return present(
        id=as_word(spec.get("run_id")) or source.sha256[:16],
        source={"format": "openai-evals"},
        harness={"name": "openai/evals"},
        subject={"id": "+".join(functions) or "unknown"},
        suite=present(
            name=as_word(spec.get("eval_name")) or source.path.stem or "unknown",
            split=as_word(spec.get("split")),
        ),
        evaluators=[_evaluator(name, choices) for name, choices in index.metrics.items()],
        status="started" if report is None else "success",
        created_at=as_time(spec.get("created_at")),
        reported=list(_reported(index)),
        reported_counts=counts,
        findings=list(_findings(report, counts)),
    )


def _reported(index: Index) -> Iterator[dict[str, Any]]:
    """The numbers of the report that belong to one metric."""
    for name, value in (index.report or {}).items():
        kind, _, rest = name.partition("/")
        if name in index.metrics:
            metric, statistic = name, "mean"
        elif name in ("accuracy", "boostrap_std"):
            metric, statistic = MATCH, name
        elif kind == "metascore":
            metric, statistic = rest + METASCORE, "mean"
        elif kind == "score":
            # Of choices: the mean of what the eval makes of each.
            metric, statistic = rest, kind
        else:
            continue
        if metric in index.metrics:
            yield {
                "evaluator": metric,
                "metric": metric,
                "statistic": statistic,
                "value": as_number(value),
                "nonfinite": nonfinite(value),
            }


def _findings(report: dict[str, Any] | None, counts: dict[str, int]) -> Iterator[dict[str, Any]]:
    if report is None:
        message = "there is no final report: the run did not end"
        yield {"code": "run.unfinished", "message": message}
    if refused := counts.get(_REFUSED):
        yield {
            "code": "plan.unknown",
            "message": f"the request was refused for {refused} samples; those without any other "
            "event are not in the file, so it is unknown which they are",
            "count": refused,
        }


def _evaluator(name: str, choices: bool) -> dict[str, Any]:  # noqa: FBT001 - of two
    metric: dict[str, Any] = {"name": name, "categorical": choices}
    if name == MATCH:
        metric |= {"minimum": 0.0, "maximum": 1.0}
    return {"name": name, "kind": "rule" if name == MATCH else "unknown", "metrics": [metric]}
