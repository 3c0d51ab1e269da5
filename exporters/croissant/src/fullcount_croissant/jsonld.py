"""The nodes of a Croissant 1.1 description, as far as this exporter writes them.

A field that is None is left out; a zero is written, which mlcroissant's own writer drops.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "Activity",
    "Agent",
    "Annotation",
    "Dataset",
    "Entity",
    "Extract",
    "FileObject",
    "FileSet",
    "Node",
    "PropertyValue",
    "RecordField",
    "RecordSet",
    "Ref",
    "Reference",
    "Source",
    "identifier",
    "serialize",
]


def identifier(*parts: str) -> str:
    """An `@id` of names that may hold anything; whitespace is not allowed in one."""
    return "/".join(re.sub(r"[^a-zA-Z0-9_.-]", _escape, part) for part in parts)


def _escape(match: re.Match[str]) -> str:
    return "".join(f"~{byte:02X}" for byte in match.group().encode())


class Node(BaseModel):
    """A node of the graph."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True)


class Ref(Node):
    """A node that is described elsewhere."""

    id: str = Field(alias="@id")


class FileObject(Node):
    """One file of the dataset."""

    type: Literal["cr:FileObject"] = Field("cr:FileObject", alias="@type")
    id: str = Field(alias="@id")
    name: str
    description: str
    content_url: str = Field(alias="contentUrl")
    content_size: str = Field(alias="contentSize")
    """A text such as `123 B`; mlcroissant refuses a number."""
    encoding_format: tuple[str, ...] = Field(alias="encodingFormat")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class FileSet(Node):
    """Files of one form that are read as one.

    Without `containedIn`, the files lie in the folder of the description. mlcroissant 1.1 cannot
    read a set that is made of plain files given one by one.
    """

    type: Literal["cr:FileSet"] = Field("cr:FileSet", alias="@type")
    id: str = Field(alias="@id")
    name: str
    description: str
    encoding_format: tuple[str, ...] = Field(alias="encodingFormat")
    includes: tuple[str, ...]


class Extract(Node):
    """A column of a file."""

    column: str


class Source(Node):
    """Where a field's values come from."""

    file_object: Ref | None = Field(None, alias="fileObject")
    file_set: Ref | None = Field(None, alias="fileSet")
    extract: Extract


class Reference(Node):
    """The field of another record set whose values this one takes."""

    field: Ref


class Annotation(Node):
    """A constant that describes a record set, such as how many records are of a kind."""

    type: Literal["cr:Field"] = Field("cr:Field", alias="@type")
    id: str = Field(alias="@id")
    name: str
    description: str
    data_type: Literal["cr:Int64"] = Field("cr:Int64", alias="dataType")
    value: int


class RecordField(Node):
    """One column of a record set."""

    type: Literal["cr:Field"] = Field("cr:Field", alias="@type")
    id: str = Field(alias="@id")
    name: str
    description: str
    data_type: str = Field(alias="dataType")
    is_array: Literal[True] | None = Field(None, alias="isArray")
    array_shape: Literal["-1"] | None = Field(None, alias="arrayShape")
    references: Reference | None = None
    source: Source | None = None


class RecordSet(Node):
    """A table, or an enumeration that is given inline."""

    type: Literal["cr:RecordSet"] = Field("cr:RecordSet", alias="@type")
    id: str = Field(alias="@id")
    name: str
    description: str
    data_type: Literal["sc:Enumeration"] | None = Field(None, alias="dataType")
    key: tuple[Ref, ...]
    annotation: tuple[Annotation, ...] | None = None
    field: tuple[RecordField, ...]
    data: tuple[dict[str, str], ...] | None = None


class PropertyValue(Node):
    """A measured quantity, and the bounds it lies between."""

    type: Literal["PropertyValue"] = Field("PropertyValue", alias="@type")
    name: str
    description: str
    value: int | float | None = None
    min_value: int | float | None = Field(None, alias="minValue")
    max_value: int | float | None = Field(None, alias="maxValue")
    unit_text: str | None = Field(None, alias="unitText")
    measurement_technique: str | None = Field(None, alias="measurementTechnique")


class Agent(Node):
    """A person or an organization."""

    type: Literal["Person", "Organization"] = Field(alias="@type")
    name: str
    url: str | None = None


class Entity(Node):
    """Something that the dataset was made of."""

    type: Literal["prov:Entity"] = Field("prov:Entity", alias="@type")
    label: str = Field(alias="prov:label")
    identifier: str | None = None


class Activity(Node):
    """Something that was done to make the dataset."""

    type: Literal["prov:Activity"] = Field("prov:Activity", alias="@type")
    id: str = Field(alias="@id")
    label: str = Field(alias="prov:label")
    started_at: str | None = Field(None, alias="prov:startedAtTime")
    ended_at: str | None = Field(None, alias="prov:endedAtTime")


class Dataset(Node):
    """The dataset."""

    context: dict[str, Any] = Field(alias="@context")
    type: Literal["sc:Dataset"] = Field("sc:Dataset", alias="@type")
    name: str
    description: str
    conforms_to: tuple[str, ...] = Field(alias="conformsTo")
    license: str
    url: str | None = None
    creator: tuple[Agent, ...] | None = None
    date_published: str = Field(alias="datePublished")
    version: str
    cite_as: str = Field(alias="citeAs")
    keywords: tuple[str, ...]
    was_generated_by: tuple[Activity, ...] = Field(alias="prov:wasGeneratedBy")
    was_derived_from: tuple[Entity | Ref, ...] = Field(alias="prov:wasDerivedFrom")
    missing_data: str = Field(alias="rai:dataCollectionMissingData")
    imputation: str = Field(alias="rai:dataImputationProtocol")
    limitations: tuple[str, ...] = Field(alias="rai:dataLimitations")
    machine_annotation_tools: tuple[str, ...] | None = Field(
        None, alias="rai:machineAnnotationTools"
    )
    biases: str | None = Field(None, alias="rai:dataBiases")
    personal_sensitive_information: str | None = Field(
        None, alias="rai:personalSensitiveInformation"
    )
    use_cases: str | None = Field(None, alias="rai:dataUseCases")
    social_impact: str | None = Field(None, alias="rai:dataSocialImpact")
    has_synthetic_data: bool | None = Field(None, alias="rai:hasSyntheticData")
    variable_measured: tuple[PropertyValue, ...] | None = Field(None, alias="variableMeasured")
    distribution: tuple[FileObject | FileSet, ...]
    record_set: tuple[RecordSet, ...] = Field(alias="recordSet")


def serialize(node: Node) -> bytes:
    """The node as JSON."""
    document = node.model_dump(mode="json", by_alias=True, exclude_none=True)
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"
