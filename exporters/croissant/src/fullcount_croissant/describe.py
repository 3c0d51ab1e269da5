"""Makes the Croissant description out of runs, tallies and the files written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fullcount.notices import Report, Severity
from fullcount_croissant import vocabulary, words
from fullcount_croissant.jsonld import (
    Activity,
    Agent,
    Dataset,
    Entity,
    Extract,
    FileObject,
    FileSet,
    RecordField,
    RecordSet,
    Ref,
    Reference,
    Source,
)
from fullcount_croissant.measures import count_annotations, variables
from fullcount_croissant.options import CroissantOptions, parse_creator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fullcount.plugin import Context
    from fullcount_croissant.columns import Column
    from fullcount_croissant.tables import Part, TableWriter
    from fullcount_croissant.words import Counted

__all__ = ["EVALUATION", "Facts", "build", "facts_of"]

EVALUATION = "evaluation"


@dataclass(frozen=True)
class Facts:
    """What a title page says."""

    name: str
    description: str
    license: str
    url: str | None
    creators: tuple[Agent, ...]
    citation: str
    version: str
    date: str
    keywords: tuple[str, ...]


def facts_of(runs: Sequence[Counted], options: CroissantOptions, context: Context) -> Facts:
    """The facts of a dataset: what the options say, else what the runs say."""
    name = options.name or words.dataset_name(runs)
    date = (options.date or context.now.date()).isoformat()
    creators = tuple(
        Agent(type="Person" if kind == "Person" else "Organization", name=name, url=url)
        for kind, name, url in map(parse_creator, options.creators)
    )
    parts = [", ".join(agent.name for agent in creators), name, f"version {options.version}"]
    citation = ". ".join(filter(None, [*parts, date, options.url]))
    return Facts(
        name=name,
        description=options.description or words.describe(runs, context.content),
        license=options.license or "",
        url=options.url,
        creators=creators,
        citation=options.citation or citation,
        version=options.version,
        date=date,
        keywords=tuple(
            dict.fromkeys(
                [*options.keywords, "evaluation", *words.suites(runs), *words.subjects(runs)]
            )
        )[: words.LONGEST],
    )


def build(
    runs: Sequence[Counted],
    tables: Sequence[TableWriter],
    options: CroissantOptions,
    context: Context,
    report: Report,
) -> Dataset:
    """The description of the dataset; what it lacks is reported."""
    facts = facts_of(runs, options, context)
    _report_missing(options, report)
    _report_rounded(tables, report)
    machine = {
        words.technique(evaluator)
        for run, _ in runs
        for evaluator in run.evaluators
        if evaluator.kind == "model"
    }
    return Dataset(
        context=vocabulary.CONTEXT,
        name=facts.name,
        description=facts.description,
        conforms_to=vocabulary.CONFORMS_TO,
        license=facts.license,
        url=facts.url,
        creator=facts.creators or None,
        date_published=facts.date,
        version=facts.version,
        cite_as=facts.citation,
        keywords=facts.keywords,
        was_generated_by=(*_activities(runs, context), _conversion(runs, context)),
        was_derived_from=tuple(_sources(runs)),
        missing_data=words.missing_data(runs),
        imputation=words.IMPUTATION,
        limitations=words.limitations(runs, options.data_limitations),
        machine_annotation_tools=tuple(sorted(machine)) or None,
        biases=options.data_biases,
        personal_sensitive_information=options.personal_sensitive_information,
        use_cases=options.data_use_cases,
        social_impact=options.data_social_impact,
        has_synthetic_data=options.has_synthetic_data,
        variable_measured=tuple(variables(runs, report)) or None,
        distribution=tuple(
            node for table in tables for node in _distribution(table, options, report)
        ),
        record_set=(
            *(_record_set(table, runs, report) for table in tables),
            *(_enumeration(name) for name in vocabulary.ENUMERATIONS),
        ),
    )


def _report_missing(options: CroissantOptions, report: Report) -> None:
    required = [name for name in ("url", "creators") if not getattr(options, name)]
    if required:
        report.add(
            "croissant.property_missing",
            Severity.INFO,
            f"Croissant 1.1 asks for {' and '.join(required)}; set them as options",
            plugin="croissant",
        )
    absent = [
        f"{term} ({name})"
        for name, term in vocabulary.NEURIPS_RAI.items()
        if getattr(options, name) is None
    ]
    if absent:
        report.add(
            "croissant.rai_missing",
            Severity.INFO,
            f"the minimal RAI set of NeurIPS asks for {', '.join(absent)}; set them as options",
            count=len(absent),
            plugin="croissant",
        )


def _report_rounded(tables: Sequence[TableWriter], report: Report) -> None:
    for table in tables:
        for column in table.rounded:
            report.add(
                "croissant.integer_rounded",
                Severity.WARNING,
                f"{table.table.name}.{column} holds an integer above 2**53 beside a null; the "
                "Parquet file is exact, mlcroissant and pandas round it or fail on it",
                path=f"{table.table.name}.{column}",
                plugin="croissant",
            )


def _activities(runs: Sequence[Counted], context: Context) -> Iterator[Activity]:
    for run, _ in runs[: words.LONGEST]:
        harness = " ".join(filter(None, (run.harness.name, run.harness.version)))
        yield Activity(
            id=context.uuid("croissant", EVALUATION, run.source.sha256 or "", run.id).urn,
            label=f"Evaluation of {words.run_title(run)} with {harness}, run {run.id}",
            started_at=run.started_at and run.started_at.isoformat(),
            ended_at=run.completed_at and run.completed_at.isoformat(),
        )


def _conversion(runs: Sequence[Counted], context: Context) -> Activity:
    more = len(runs) - words.LONGEST
    also = f"; {more} more evaluations are in runs.parquet" if more > 0 else ""
    return Activity(
        id=context.uuid("croissant", "conversion", *(run.id for run, _ in runs)).urn,
        label=f"Conversion by {context.tool} {context.tool_version}{also}",
        ended_at=context.now.isoformat(),
    )


def _sources(runs: Sequence[Counted]) -> Iterator[Entity | Ref]:
    seen: set[str] = set()
    for run, _ in runs:
        location = run.suite.dataset_location
        if location and location.startswith(("https://", "http://")) and not _has_space(location):
            if location not in seen:
                seen.add(location)
                yield Ref(id=location)
        elif run.suite.dataset and run.suite.dataset not in seen:
            seen.add(run.suite.dataset)
            yield Entity(label=f"Dataset {run.suite.dataset}")
    for run, _ in runs[: words.LONGEST]:
        source = run.source
        key = f"sha256:{source.sha256}"
        if key in seen:
            continue
        seen.add(key)
        yield Entity(
            label=f"Log {source.path or ''} of format {source.format}",
            identifier=key if source.sha256 else None,
        )


def _has_space(text: str) -> bool:
    return any(char.isspace() for char in text)


def _distribution(
    table: TableWriter, options: CroissantOptions, report: Report
) -> Iterator[FileObject | FileSet]:
    base = options.base_url
    for part in table.parts:
        yield FileObject(
            id=part.path,
            name=part.path,
            description=_part_words(part),
            content_url=part.path if base is None else f"{base.rstrip('/')}/{part.path}",
            content_size=f"{part.size} B",
            encoding_format=vocabulary.PARQUET,
            sha256=part.sha256,
        )
    if len(table.parts) > 1:
        if base is not None:
            report.add(
                "croissant.local_set",
                Severity.INFO,
                "mlcroissant reads a table of several files only from a downloaded folder; "
                "with partition=false and a larger max_file_size each table is one file",
                plugin="croissant",
            )
        yield FileSet(
            id=_set_id(table),
            name=_set_id(table),
            description=f"Every file of {table.table.name}.",
            encoding_format=vocabulary.PARQUET,
            includes=tuple(part.path for part in table.parts),
        )


def _part_words(part: Part) -> str:
    runs = f"run {part.runs[0]}" if len(part.runs) == 1 else f"{len(part.runs)} runs"
    return f"{part.table} of {runs}: {part.rows} rows."


def _set_id(table: TableWriter) -> str:
    return f"{table.table.name}-files"


def _record_set(table: TableWriter, runs: Sequence[Counted], report: Report) -> RecordSet:
    name = table.table.name
    return RecordSet(
        id=name,
        name=name,
        description=table.table.description,
        key=tuple(Ref(id=f"{name}/{column}") for column in table.table.key),
        annotation=tuple(count_annotations(name, runs, report)) or None,
        field=tuple(_field(table, column) for column in table.columns),
    )


def _field(table: TableWriter, column: Column) -> RecordField:
    many = column.kind in ("texts", "integers", "flags")
    meaning = "An empty list: there is none." if many else "Never null."
    if column.null:
        meaning = f"Null: {column.null}."
    extract = Extract(column=column.name)
    return RecordField(
        id=f"{table.table.name}/{column.name}",
        name=column.name,
        description=f"{column.description} {meaning}",
        data_type=vocabulary.DATA_TYPES[column.kind],
        is_array=True if many else None,
        array_shape="-1" if many else None,
        references=Reference(field=Ref(id=column.references)) if column.references else None,
        source=Source(file_object=Ref(id=table.parts[0].path), extract=extract)
        if len(table.parts) == 1
        else Source(file_set=Ref(id=_set_id(table)), extract=extract),
    )


def _enumeration(name: str) -> RecordSet:
    description, members = vocabulary.ENUMERATIONS[name]
    texts = {"name": "Name.", "kind": "Kind.", "definition": "What it means."}
    return RecordSet(
        id=name,
        name=name,
        description=description,
        data_type="sc:Enumeration",
        key=(Ref(id=f"{name}/name"),),
        field=tuple(
            RecordField(id=f"{name}/{column}", name=column, description=what, data_type="sc:Text")
            for column, what in texts.items()
        ),
        data=tuple(
            {f"{name}/name": member, f"{name}/kind": kind, f"{name}/definition": definition}
            for member, (kind, definition) in members.items()
        ),
    )
