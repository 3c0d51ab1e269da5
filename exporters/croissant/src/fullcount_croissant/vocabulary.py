"""Every name that is somebody else's: Croissant 1.1, its RAI and Tasks vocabularies, PROV.

Sources: the Croissant 1.1 specification (2026-01-29) and RAI 1.0, as mlcroissant 1.1.1 reads
them; the Croissant Tasks ontology 0.1.0; the minimal RAI set that NeurIPS 2026 asks for.
"""

from __future__ import annotations

from typing import Any

from fullcount.model import ScoreState, TrialStatus, Verdict

__all__ = [
    "CONFORMS_TO",
    "CONTEXT",
    "DATA_TYPES",
    "ENUMERATIONS",
    "NEURIPS_RAI",
    "PARQUET",
    "TASKS_CONTEXT",
]

CONFORMS_TO = (
    "http://mlcommons.org/croissant/1.1",
    "http://mlcommons.org/croissant/RAI/1.0",
)

# With the http://schema.org/ of the specification's appendix, mlcroissant finds no dataset.
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "annotation": "cr:annotation",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "prov": "http://www.w3.org/ns/prov#",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}

PARQUET = ("application/vnd.apache.parquet", "application/x-parquet")
"""The registered media type, and the only one that mlcroissant 1.1 reads."""

DATA_TYPES = {
    "text": "sc:Text",
    "enum": "sc:Text",
    "integer": "cr:Int64",
    "float": "cr:Float64",
    "flag": "sc:Boolean",
    "time": "sc:DateTime",
    "texts": "sc:Text",
    "integers": "cr:Int64",
    "flags": "sc:Boolean",
}

NEURIPS_RAI = {
    "data_biases": "rai:dataBiases",
    "personal_sensitive_information": "rai:personalSensitiveInformation",
    "data_use_cases": "rai:dataUseCases",
    "data_social_impact": "rai:dataSocialImpact",
    "has_synthetic_data": "rai:hasSyntheticData",
}
"""The properties of the minimal set that only options can give, by option.

`rai:dataLimitations`, `prov:wasDerivedFrom` and `prov:wasGeneratedBy` are always written.
"""

# A term without a language: a language-tagged string is no xsd:string, and SHACL refuses it.
TASKS_CONTEXT: dict[str, Any] = {
    "croissant": "http://mlcommons.org/croissant/",
    "schema": "https://schema.org/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}

_STATES = {
    ScoreState.SCORED: ("scored", "It gave a finite number or a label."),
    ScoreState.NULL: ("unverified", "It was asked and gave null."),
    ScoreState.NAN: (
        "unverified",
        "It gave NaN, an infinity, or a number that no double can hold.",
    ),
    ScoreState.ERROR: ("unverified", "The evaluator failed."),
    ScoreState.MISSING: (
        "unverified",
        "The trial was ready to be evaluated; the source holds no value.",
    ),
    ScoreState.NOT_MEASURED: (
        "unverified",
        "The trial never reached the evaluator, or what it measured was invalidated.",
    ),
    ScoreState.SKIPPED: ("excluded", "Left out on purpose."),
    ScoreState.NOT_APPLICABLE: (
        "excluded",
        "The case cannot be judged by this evaluator.",
    ),
}
_VERDICTS = {
    Verdict.PASSED: ("decided", "The evidence supports success."),
    Verdict.PARTIAL: ("decided", "The evidence supports partial success."),
    Verdict.FAILED: ("decided", "The evidence supports failure."),
    Verdict.CONTRADICTED: ("decided", "The evidence speaks against the claimed outcome."),
    Verdict.DISPUTED: ("undecided", "Evaluators disagree and nothing settles it."),
    Verdict.UNVERIFIED: (
        "undecided",
        "A verdict was sought and the evidence cannot support one: neither passed nor failed.",
    ),
}
_STATUSES = {
    TrialStatus.COMPLETED: ("subject", "The subject ran to its end."),
    TrialStatus.SUBJECT_ERROR: (
        "subject",
        "The subject stopped short: it crashed, ran out of time or hit a limit.",
    ),
    TrialStatus.HARNESS_ERROR: (
        "environment",
        "The harness, its sandbox or its provider failed.",
    ),
    TrialStatus.EVALUATOR_ERROR: (
        "environment",
        "The subject was done; grading it failed.",
    ),
    TrialStatus.BLOCKED: (
        "environment",
        "A precondition was not met, so the trial could not start.",
    ),
    TrialStatus.CANCELLED: ("cancelled", "Somebody stopped it."),
    TrialStatus.NOT_RUN: ("not_run", "Planned, and the source holds no record of it."),
}

ENUMERATIONS: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "states": (
        "States of a score. unverified: sought and not there; excluded: not sought.",
        {state.value: entry for state, entry in _STATES.items()},
    ),
    "verdicts": (
        "Verdicts on a trial. Only decided ones count in a pass rate; the others bound it.",
        {verdict.value: entry for verdict, entry in _VERDICTS.items()},
    ),
    "statuses": (
        "Statuses of a trial. environment: not to be read as the subject's performance.",
        {status.value: entry for status, entry in _STATUSES.items()},
    ),
}
"""RecordSets of inline text: name, description, and for each member its kind and definition."""
