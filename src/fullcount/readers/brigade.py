"""Reads brigade model trials: a folder with `plan.json`, `summary.json` and `cells/`.

Checked against the schemas `brigade.eval_cell.v1` and `brigade.eval_summary.v1`. A cell's state
comes first and its graders second: graders also run on the empty output of a cell that failed,
and what they gave there is kept as `raw` only. Planned cells without a record are trials that
were not run; cells that the plan does not have are stale, and are passed over.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt
from fullcount.errors import DamagedInputError, quoted
from fullcount.model import Run, Trial
from fullcount.notices import Severity
from fullcount.plugin import Confidence, ReaderSpec, RunStream
from fullcount.readers._fields import (
    as_count,
    as_dict,
    as_list,
    as_number,
    as_time,
    as_word,
    measured,
    nonfinite,
    one_of,
    present,
    raw_fields,
    validated,
)
from fullcount.readers._folders import object_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fullcount.plugin import ContentPolicy, Options, ReadRequest
    from fullcount.sources import Source

__all__ = ["SPEC", "STATES", "read", "sniff"]

SPEC = ReaderSpec(
    name="brigade",
    title="brigade model trials",
    sniff="fullcount.readers.brigade:sniff",
    reader="fullcount.readers.brigade:read",
    versions="eval_cell.v1",
)

_CELL = "brigade.eval_cell.v1"

STATES: dict[str, tuple[str, str | None, str | None]] = {
    "accepted": ("completed", None, "passed"),
    "rejected": ("completed", None, "failed"),
    "unscored": ("completed", "unscored", None),
    "execution_error": ("subject_error", "execution_error", "failed"),
    "adapter_error": ("harness_error", "adapter_error", None),
    "grader_error": ("evaluator_error", "grader_error", None),
    "running": ("cancelled", "running", None),
}
"""For each state of a cell: status, its reason, and the verdict it declares.

An `execution_error` whose failure reason is `timeout` is a `subject_error` for that reason, and
declares no verdict: brigade counts it among its measurement failures.
"""

_GRADED = frozenset({"accepted", "rejected"})


def sniff(source: Source) -> Confidence:
    """A folder with a plan or summary of brigade, or with its cells."""
    if not source.is_folder or not (source.path / "cells").is_dir():
        return Confidence(0)
    for name in ("plan.json", "summary.json"):
        path = source.path / name
        if path.is_file() and b"brigade.eval_" in path.read_bytes()[:65_536]:
            return Confidence(95, f"{name} of brigade")
    return Confidence(0)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """One run for each seat, since a seat is what is evaluated.

    Raises:
        DamagedInputError: A file is not what it must be.
    """
    del options
    plan = object_of(source, "plan.json")
    summary = object_of(source, "summary.json")
    cells = _planned(source, plan)
    present_cells = {path.name: path for path in _folders(source.path / "cells")}
    stale = 0
    seats: dict[str, dict[str, dict[str, Any]]] = {}
    for name, planned in cells.items():
        seats.setdefault(str(planned.get("seat") or "unknown"), {})[name] = planned
    for name, path in present_cells.items():
        if name in cells:
            continue
        if cells:
            stale += 1
            continue
        cell = _cell(source, path)
        seats.setdefault(str(cell.get("seat") or "unknown"), {})[name] = {}
    if stale:
        request.report.add(
            "input.stale",
            Severity.WARNING,
            "cells that the plan does not have were passed over",
            path="cells",
            count=stale,
            plugin="brigade",
        )
    if not seats:
        raise DamagedInputError("holds no cell", source=source.shown, member="cells")
    for seat, planned_cells in seats.items():
        run = _run(
            source, plan, summary if len(seats) == 1 else {}, seat, planned_cells, present_cells
        )
        names = [evaluator.name for evaluator in run.evaluators]
        trials = _trials(source, planned_cells, present_cells, names, request.content)
        yield RunStream(run, trials)


def _planned(source: Source, plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The cells of the plan by their ids; one that was passed over would be missed by nobody."""
    listed = plan.get("cells", [])
    if not isinstance(listed, list):
        raise DamagedInputError(
            f"must be an array, not {quoted(listed)}",
            source=source.shown,
            member="plan.json",
            pointer="/cells",
        )
    cells = {}
    for index, cell in enumerate(map(as_dict, listed)):
        name = cell.get("cell_id")
        if not isinstance(name, str) or not name:
            raise DamagedInputError(
                f"must be a cell's id, not {quoted(name)}",
                source=source.shown,
                member="plan.json",
                pointer=f"/cells/{index}/cell_id",
            )
        cells[name] = cell
    return cells


def _run(
    source: Source,
    plan: dict[str, Any],
    summary: dict[str, Any],
    seat: str,
    planned: dict[str, dict[str, Any]],
    found: dict[str, Path],
) -> Run:
    graders: dict[str, dict[str, Any]] = {}
    graded: list[float] = []
    environmental = 0
    for name, cell in planned.items():
        for grader_id in _sought(cell):
            graders.setdefault(grader_id, {})
        record = _cell(source, found[name]) if name in found else {}
        for grader in _graders(record):
            graders[grader["grader_id"]] = grader
            score = as_number(grader.get("score"))
            if score is not None and grader.get("status") != "grader_error":
                environmental += not _measured(record) and record.get("state") != "grader_error"
                if one_of(record.get("state"), _GRADED):
                    graded.append(score)
    scores = as_dict(summary.get("scores"))
    findings = []
    if "mean" in scores:
        ours = f"{fsum(graded) / len(graded):.4g} over {len(graded)}" if graded else "no value"
        findings.append(
            {
                "code": "reported.pooled",
                "message": f"the harness reports a mean of {quoted(scores['mean'])} that covers "
                f"{quoted(scores.get('count'))} values, {environmental} of them from environmental "
                f"cells; accepted and rejected cells alone give {ours}",
                "count": environmental,
            }
        )
    return validated(
        Run,
        {
            "id": f"{as_word(plan.get('manifest_digest')) or source.sha256[:16]}/{seat}",
            "source": {"format": "brigade", "format_version": "1"},
            "harness": {"name": "brigade"},
            "subject": {"id": seat},
            "suite": present(
                name=as_word(plan.get("name")) or source.path.name,
                version=as_word(plan.get("manifest_digest")),
            ),
            "evaluators": [
                {
                    "name": name,
                    "kind": "rule",
                    "metrics": [
                        present(
                            name=name,
                            minimum=as_number(grader.get("score_min")),
                            maximum=as_number(grader.get("score_max")),
                        )
                    ],
                }
                for name, grader in sorted(graders.items())
            ],
            "status": "unknown",
            "plan": {"trials": len(planned)},
            "reported_counts": {
                name: value
                for name, given in (
                    *as_dict(summary.get("counts")).items(),
                    ("measurement_failures", summary.get("measurement_failures")),
                )
                if (value := as_count(given)) is not None
            },
            "findings": findings,
        },
    )


def _trials(
    source: Source,
    planned: dict[str, dict[str, Any]],
    found: dict[str, Path],
    graders: list[str],
    policy: ContentPolicy,
) -> Iterator[Trial]:
    for name, plan in planned.items():
        fields: dict[str, Any]
        if name in found:
            cell = _cell(source, found[name])
            fields = _fields(source, cell, policy)
        else:
            cell = plan
            fields = {"status": "not_run", "status_reason": "no_record", "scores": []}
        if plan:
            sought = {*_sought(plan), *(score["evaluator"] for score in fields["scores"])}
            fields["scores"] += [
                {"evaluator": grader, "metric": grader, "state": "not_applicable"}
                for grader in graders
                if grader not in sought
            ]
        yield validated(
            Trial,
            {
                "case_id": as_word(cell.get("case_id")) or name,
                "attempt": max(1, as_count(cell.get("trial")) or 1),
                "pointer": f"cells/{name}/cell.json",
                "trace": {"record_id": name},
            }
            | fields,
        )


def _fields(source: Source, cell: dict[str, Any], policy: ContentPolicy) -> dict[str, Any]:
    state = str(cell.get("state"))
    if state not in STATES:
        raise DamagedInputError(
            f"state {quoted(state)} is none of {', '.join(STATES)}",
            source=source.shown,
            member=f"cells/{cell.get('cell_id')}/cell.json",
            pointer="/state",
        )
    status, reason, verdict = STATES[state]
    failure = as_word(cell.get("failure_reason"))
    if failure == "timeout" and state == "execution_error":
        reason, verdict = "timeout", None
    elif failure is not None:
        reason = failure
    prompt = cell.get("prompt")
    text = excerpt(prompt, policy) if isinstance(prompt, str) else None
    retries = (as_count(cell.get("attempt")) or 1) - 1
    return present(
        status=status,
        status_reason=reason,
        declared_verdict=verdict,
        scores=[
            {"evaluator": grader["grader_id"], "metric": grader["grader_id"]}
            | _score(grader, cell, policy)
            for grader in _graders(cell)
        ],
        error=present(type=failure, retries=retries or None) or None,
        started_at=as_time(cell.get("started_at")),
        duration=as_number(cell.get("duration_seconds")),
        content=None if text is None else {"input": text},
    )


def _score(grader: dict[str, Any], cell: dict[str, Any], policy: ContentPolicy) -> dict[str, Any]:
    detail = grader.get("detail")
    fields = present(explanation=excerpt(detail, policy) if isinstance(detail, str) else None)
    if grader.get("status") == "grader_error":
        return (
            fields | raw_fields(grader.get("score")) | {"state": "error", "reason": "grader_error"}
        )
    if not _measured(cell):
        reason = {"state": "not_measured", "reason": cell["state"]}
        return fields | raw_fields(grader.get("score")) | reason
    fields |= measured(grader.get("score"))
    checks = [as_dict(check).get("passed") for check in as_list(grader.get("component_checks"))]
    if fields["state"] == "scored" and checks and nonfinite(grader.get("score")) is None:
        fields["outcome"] = "passed" if all(checks) else "partial" if any(checks) else "failed"
    return fields


def _measured(cell: dict[str, Any]) -> bool:
    """Whether what the graders gave speaks of the subject, and not of its environment."""
    if cell.get("state") == "execution_error":
        return cell.get("failure_reason") != "timeout"
    return one_of(cell.get("state"), _GRADED) is not None


def _graders(cell: dict[str, Any]) -> list[dict[str, Any]]:
    """Results of graders; while a cell runs, their place holds what they are to check."""
    return [
        grader
        for grader in as_list(cell.get("graders"))
        if isinstance(grader, dict)
        and isinstance(grader.get("grader_id"), str)
        and grader["grader_id"]
    ]


def _sought(planned: dict[str, Any]) -> list[str]:
    """Ids of the graders that the plan asks for."""
    return [
        f"{as_dict(grader).get('type')}:{number}"
        for number, grader in enumerate(as_list(planned.get("graders")), 1)
    ]


def _cell(source: Source, folder: Path) -> dict[str, Any]:
    member = f"cells/{folder.name}/cell.json"
    cell = object_of(source, member)
    if cell.get("schema") != _CELL:
        raise DamagedInputError(
            f"schema {quoted(cell.get('schema'))} is not {_CELL}",
            source=source.shown,
            member=member,
            pointer="/schema",
        )
    return cell


def _folders(folder: Path) -> list[Path]:
    return [
        path
        for path in sorted(folder.iterdir())
        if path.is_dir() and not path.is_symlink() and (path / "cell.json").is_file()
    ]
