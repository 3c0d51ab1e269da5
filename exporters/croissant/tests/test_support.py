"""The support table names columns that are there."""

from __future__ import annotations

import re

import pytest

from fullcount.losses import support_keys
from fullcount_croissant import SPEC
from fullcount_croissant.aggregates import TABLES

COLUMNS = {table.name: {column.name for column in table.columns} for table in TABLES}


@pytest.mark.parametrize("key", support_keys())
def test_every_place_is_there(key: str) -> None:
    place = SPEC.support[key].target
    assert SPEC.support[key].kind in ("carried", "renamed")
    found = re.findall(r"\b(trials|scores|summary|runs|reported|findings)\.([a-z0-9_*]+)", place)
    for table, column in found:
        pattern = re.compile(column.replace("*", ".*"))
        assert any(pattern.fullmatch(name) for name in COLUMNS[table]), place
    named = re.findall(r"[a-z]+", place)
    assert found or named[0] in COLUMNS or place.endswith("of every table"), place


def test_every_column_of_trials_and_scores_has_its_field_or_is_derived() -> None:
    places = " ".join(support.target for support in SPEC.support.values())
    derived = {"run_id", "subject", "suite", "trial", "verdict_basis", "measurement_failure"}
    derived |= {"retry", "errored"}
    for table in ("trials", "scores"):
        for name in COLUMNS[table] - derived - {"case_id", "attempt"}:
            column = name.removesuffix("_sha256")
            globs = re.findall(rf"\b{table}\.([a-z0-9_]*\*[a-z0-9_]*)", places)
            assert f"{table}.{column}" in places or any(
                re.fullmatch(glob.replace("*", ".*"), column) for glob in globs
            ), name
