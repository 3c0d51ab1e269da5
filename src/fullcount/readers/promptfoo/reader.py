"""From rows to runs and trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.model import Run, Trial
from fullcount.notices import Severity
from fullcount.plugin import RunStream
from fullcount.readers._fields import (
    as_count,
    as_dict,
    as_list,
    as_number,
    as_time,
    as_word,
    check_absent,
    nonfinite,
    present,
    validated,
)
from fullcount.readers._seen import Seen
from fullcount.readers.promptfoo.files import rows
from fullcount.readers.promptfoo.metrics import NAME, SCORE, evaluators
from fullcount.readers.promptfoo.scores import fields_of
from fullcount.readers.promptfoo.states import NOT_REACHED
from fullcount.readers.promptfoo.survey import case_of, key_of, shape_of, survey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.plugin import ContentPolicy, Options, ReadRequest
    from fullcount.readers.promptfoo.survey import Column, Key, Survey
    from fullcount.sources import Source

__all__ = ["read"]

_COUNTS = ("testPassCount", "testFailCount", "testErrorCount")


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """A run for each column. The file is gone through once, and once more for each column.

    Raises:
        DamagedInputError: The file is not what it must be.
        UnsupportedInputError: It has another version.
    """
    del options
    found = survey(source)
    if found.replaced:
        request.report.add(
            "input.replaced",
            Severity.WARNING,
            "rows of a test and prompt that a later row replaces; the last one counts",
            count=len(found.replaced),
            plugin="promptfoo",
        )
    for key, column in found.columns.items():
        yield RunStream(_run(source, found, column), _trials(source, found, key, request.content))


def _run(source: Source, found: Survey, column: Column) -> Run:
    head = found.head
    metadata = as_dict(head.get("metadata"))
    prompts = as_list(head.get("results/prompts"))
    index = column.index if found.distinct else None
    prompt = as_dict(prompts[index]) if index is not None and index < len(prompts) else {}
    totals = as_dict(prompt.get("metrics"))
    names = found.metrics(column)
    absent = found.absent(column)
    check_absent(absent, source, "testIdx")
    number = index if index is not None else list(found.columns.values()).index(column)
    return validated(
        Run,
        present(
            id=f"{as_word(head.get('evalId')) or source.sha256[:16]}/{number}",
            source=present(format="promptfoo", format_version=as_word(head.get("results/version"))),
            harness=present(name="promptfoo", version=as_word(metadata.get("promptfooVersion"))),
            subject=present(id=column.provider, name=column.label or None),
            suite={
                "name": as_word(head.get("config/description")) or source.path.stem or "promptfoo"
            },
            evaluators=evaluators(found, column),
            environment=present(
                prompt=as_word(prompt.get("id")) or column.prompt or None,
                platform=as_word(metadata.get("platform")),
                arch=as_word(metadata.get("arch")),
                node=as_word(metadata.get("nodeVersion")),
            ),
            created_at=as_time(metadata.get("evaluationCreatedAt"))
            or as_time(head.get("results/timestamp")),
            plan={"trials": column.rows + absent},
            reported=list(_reported(totals, names)),
            reported_counts={
                name: count for name in _COUNTS if (count := as_count(totals.get(name))) is not None
            },
            findings=list(_findings(found, column, totals)),
        ),
    )


def _reported(totals: dict[str, Any], names: list[str]) -> Iterator[dict[str, Any]]:
    """The totals that promptfoo gives of a column, which are sums and no means."""
    if "score" in totals:
        yield _sum(NAME, SCORE, totals["score"])
    counts = as_dict(totals.get("namedScoresCount"))
    for name, value in as_dict(totals.get("namedScores")).items():
        if name in names:
            yield _sum(name, name, value) | present(scored=as_count(counts.get(name)))


def _sum(evaluator: str, metric: str, value: Any) -> dict[str, Any]:
    return {
        "evaluator": evaluator,
        "metric": metric,
        "statistic": "sum",
        "value": as_number(value),
        "nonfinite": nonfinite(value),
    }


def _findings(found: Survey, column: Column, totals: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for success, what in ((False, "failures"), (True, "successes")):
        kinds = {
            kind: count
            for (kind, succeeded), count in column.kinds.items()
            if succeeded is success and (kind not in NOT_REACHED or kind == "no_output")
        }
        unmeasured = {kind: count for kind, count in sorted(kinds.items()) if kind != "scored"}
        if unmeasured:
            count = sum(unmeasured.values())
            listed = ", ".join(f"{count} {kind}" for kind, count in unmeasured.items())
            yield {
                "code": f"reported.{what}",
                "message": f"{count} of the {sum(kinds.values())} {what} that promptfoo counts "
                f"were not measured ({listed})",
                "count": count,
            }
    counts = [as_count(totals.get(name)) for name in _COUNTS]
    stated = sum(count for count in counts if count is not None)
    if None not in counts and stated != column.rows:
        yield {
            "code": "reported.rows",
            "message": f"promptfoo counts {stated} rows of this prompt and provider, the file "
            f"holds {column.rows}",
            "count": abs(stated - column.rows),
        }
    if column.index is not None and not found.full and column.rows < found.tests:
        missing = found.tests - column.rows
        yield {
            "code": "plan.unknown",
            "message": f"{missing} tests have no row under this prompt and provider; as some tests "
            "are for certain ones only, it is unknown which of them were planned",
            "count": missing,
        }


def _trials(source: Source, found: Survey, key: Key, policy: ContentPolicy) -> Iterator[Trial]:
    column = found.columns[key]
    names = found.metrics(column)
    for row in rows(source, {}):
        if row.number in found.replaced or key_of(row, source) != key:
            continue
        value = row.value
        case = case_of(value)
        pointer = f"line {row.line}" if row.line is not None else f"#{row.pointer()}"
        yield validated(
            Trial,
            {
                "case_id": case,
                "case_id_type": "synthetic",
                "attempt": column.attempts.next(case),
                "pointer": pointer,
            }
            | fields_of(value, found.named[shape_of(value)], names, policy),
        )
    if found.absent(column):
        for test in range(found.tests):
            if Seen.key(key, test) not in found.cells:
                yield validated(
                    Trial,
                    {
                        "case_id": f"unrecorded-{test}",
                        "case_id_type": "synthetic",
                        "status": "not_run",
                        "status_reason": "no_record",
                    },
                )
