"""Lets mlcroissant validate a dataset and read it back; run as a script of its own.

mlcroissant takes some two seconds and 100 MiB to import and loads whole files, so none of that
happens in the process that converts. The script prints one JSON object: `errors` and `warnings`
as mlcroissant words them, and `differences` between what it reads and what the files hold.

A table in which an integer that no double can hold stands beside a null is only validated: pandas
rounds that integer, or fails on it. The exporter raises a notice when it writes one.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

__all__ = ["main", "plain"]

_EXACT = 2**53
_SHOWN = 3


def main(folder: Path, records: int) -> dict[str, list[str]]:
    """Validate the dataset of a folder and compare the first records of each RecordSet."""
    import mlcroissant  # noqa: PLC0415 - see above

    path = folder / "croissant.json"
    document = json.loads(path.read_bytes())
    # Files published under absolute URLs are read from here, not from there.
    mapping = {
        node["@id"]: str(folder / node["name"])
        for node in document["distribution"]
        if node["@type"] == "cr:FileObject"
    }
    try:
        dataset = mlcroissant.Dataset(str(path), mapping=mapping)
    except mlcroissant.ValidationError as error:
        return {"errors": [str(error)], "warnings": [], "differences": []}
    issues = dataset.metadata.issues
    differences: list[str] = []
    if records:
        for node in document["recordSet"]:
            if "data" not in node and _rounded(node, folder, document):
                continue
            read = itertools.islice(dataset.records(node["@id"]), records)
            expected = itertools.islice(_expected(node, folder, document), records)
            differences += itertools.islice(_compare(node["@id"], read, expected), _SHOWN)
    return {
        "errors": sorted(map(str, issues.errors)),
        "warnings": sorted(map(str, issues.warnings)),
        "differences": differences,
    }


def _expected(node: dict[str, Any], folder: Path, document: dict[str, Any]) -> Any:
    if "data" in node:
        yield from node["data"]
        return
    columns = {field["name"]: field["@id"] for field in node["field"]}
    for path in _files(node, folder, document):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(1000, columns=list(columns), use_threads=False):
                for row in batch.to_pylist():
                    yield {columns[column]: value for column, value in row.items()}


def _files(node: dict[str, Any], folder: Path, document: dict[str, Any]) -> list[Path]:
    """The files that mlcroissant reads for a RecordSet, in its order: by name."""
    source = node["field"][0]["source"]
    names = [source["fileObject"]["@id"]] if "fileObject" in source else []
    for entry in document["distribution"]:
        if entry["@id"] == source.get("fileSet", {}).get("@id"):
            names = sorted(entry["includes"])
    return [folder / name for name in names]


def _rounded(node: dict[str, Any], folder: Path, document: dict[str, Any]) -> bool:
    large, null = set(), set()
    for path in _files(node, folder, document):
        metadata = pq.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
        integers = {field.name for field in schema if field.type == "int64"}
        for group, index in itertools.product(
            range(metadata.num_row_groups), range(metadata.num_columns)
        ):
            column = metadata.row_group(group).column(index)
            statistics = column.statistics
            if column.path_in_schema in integers and statistics is not None:
                if statistics.null_count:
                    null.add(column.path_in_schema)
                bounds = (statistics.min, statistics.max) if statistics.has_min_max else ()
                if any(abs(bound) > _EXACT for bound in bounds):
                    large.add(column.path_in_schema)
    return bool(large & null)


def _compare(name: str, read: Any, expected: Any) -> Any:
    for index, (left, right) in enumerate(itertools.zip_longest(read, expected)):
        if left is None or right is None:
            yield f"{name}: record {index} is {'absent' if left is None else 'one too many'}"
            return
        if left.keys() != right.keys():
            yield f"{name}: record {index} has other fields: {sorted(left.keys() ^ right.keys())}"
            continue
        for field, value in right.items():
            found = plain(left[field])
            if type(found) is not type(value) or found != value:
                yield f"{field}: record {index} reads {found!r}, the file holds {value!r}"


def plain(value: Any) -> Any:
    """A value as mlcroissant gives it, as a plain Python one."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list):
        return [plain(element) for element in value]
    if hasattr(value, "to_pydatetime"):
        return value.to_pydatetime()
    return value.item() if hasattr(value, "item") else value


if __name__ == "__main__":
    result = main(Path(sys.argv[1]), int(sys.argv[2]))
    sys.stdout.write(json.dumps(result))
