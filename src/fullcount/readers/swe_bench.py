"""Reads SWE-bench evaluation reports of schema version 2.

The report lists instances by what became of them and holds no rate. An instance that is both
completed and in error left a report that cannot be read; it is an error. The file's name gives
model and run, which the report itself does not hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.errors import DamagedInputError, UnsupportedInputError, quoted
from fullcount.model import Run, Trial
from fullcount.plugin import Confidence, ReaderSpec, RunStream
from fullcount.readers._fields import as_count, check_absent, validated
from fullcount.readers._folders import object_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.plugin import Options, ReadRequest
    from fullcount.sources import Source

__all__ = ["SPEC", "read", "sniff"]

SPEC = ReaderSpec(
    name="swe-bench",
    title="SWE-bench evaluation reports",
    sniff="fullcount.readers.swe_bench:sniff",
    reader="fullcount.readers.swe_bench:read",
    versions="schema version 2",
)

_NAME = "resolved"
_MARKS = (b'"resolved_ids"', b'"total_instances"')
_SCORED: dict[str, dict[str, Any]] = {
    "resolved_ids": {
        "state": "scored", "value": 1.0, "outcome": "passed", "raw": "true", "raw_type": "boolean",
    },
    "unresolved_ids": {
        "state": "scored", "value": 0.0, "outcome": "failed", "raw": "false", "raw_type": "boolean",
    },
}  # fmt: skip

# In the order in which a list decides over an instance that several lists name.
_LISTS: dict[str, dict[str, Any]] = {
    "error_ids": {
        "status": "harness_error",
        "status_reason": "no_report",
        "scores": [{"state": "not_measured", "reason": "no_report"}],
    },
    "resolved_ids": {"scores": [_SCORED["resolved_ids"]]},
    "unresolved_ids": {"scores": [_SCORED["unresolved_ids"]]},
    "empty_patch_ids": {
        "status_reason": "empty_patch",
        "declared_verdict": "failed",
        "scores": [{"state": "not_measured", "reason": "empty_patch"}],
    },
    "completed_ids": {"scores": [{"state": "missing"}]},
    "submitted_ids": {"scores": [{"state": "missing"}]},
    "incomplete_ids": {
        "status": "not_run",
        "status_reason": "not_submitted",
        "scores": [{"state": "not_measured"}],
    },
}


def sniff(source: Source) -> Confidence:
    """An object with lists of instances."""
    if source.is_folder or not source.head.lstrip().startswith(b"{"):
        return Confidence(0)
    with source.open() as file:
        file.seek(max(0, source.size - 65_536))
        text = source.head + file.read()
    return (
        Confidence(90, "lists of resolved instances")
        if all(m in text for m in _MARKS)
        else Confidence(0)
    )


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """The report's one run.

    Raises:
        DamagedInputError: A list is no list of ids.
        UnsupportedInputError: The schema version is not 2.
    """
    del options, request
    report = object_of(source, "", required=True)
    version = report.get("schema_version", 2)
    if version != 2:
        raise UnsupportedInputError(
            f"schema version {quoted(version)} is not read; only 2",
            source=source.shown,
            pointer="/schema_version",
        )
    instances: dict[str, str] = {}
    for name in _LISTS:
        for instance in _ids(source, report, name):
            instances.setdefault(instance, name)
    model, _, run_name = source.path.stem.partition(".")
    planned = as_count(report.get("total_instances"))
    check_absent((planned or 0) - len(instances), source, "/total_instances")
    run = validated(
        Run,
        {
            "id": f"swe-bench-{source.sha256[:16]}",
            "source": {"format": "swe-bench", "format_version": "2"},
            "harness": {"name": "swebench"},
            "subject": {"id": model.replace("__", "/") or "unknown"},
            "suite": {"name": run_name or "swe-bench"},
            "evaluators": [
                {
                    "name": _NAME,
                    "kind": "rule",
                    "metrics": [{"name": _NAME, "minimum": 0.0, "maximum": 1.0}],
                }
            ],
            "plan": {"trials": planned},
            "reported_counts": {
                name: count
                for name, value in report.items()
                if name.endswith("_instances") and (count := as_count(value)) is not None
            },
        },
    )
    yield RunStream(run, _trials(instances, planned or 0))


def _trials(instances: dict[str, str], planned: int) -> Iterator[Trial]:
    for instance, name in instances.items():
        fields = _LISTS[name]
        scores = [{"evaluator": _NAME, "metric": _NAME} | score for score in fields["scores"]]
        yield validated(
            Trial, fields | {"case_id": instance, "scores": scores, "pointer": f"#/{name}"}
        )
    for number in range(1, planned - len(instances) + 1):
        yield validated(
            Trial,
            {
                "case_id": f"unrecorded-{number}",
                "case_id_type": "synthetic",
                "status": "not_run",
                "status_reason": "no_record",
            },
        )


def _ids(source: Source, report: dict[str, Any], name: str) -> list[str]:
    ids = report.get(name) or []
    if not isinstance(ids, list) or not all(isinstance(item, str) for item in ids):
        raise DamagedInputError(
            "must be a list of instance ids", source=source.shown, pointer=f"/{name}"
        )
    return ids
