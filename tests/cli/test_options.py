"""Which option goes where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount.cli._options import exporter_options, pairs, reader_options, split_outputs
from fullcount.errors import OptionError, UsageError
from fullcount.plugin import ExporterSpec, Options
from fullcount.registry import make_options


class OneOptions(Options):
    """Options of an exporter."""

    endpoint: str = ""
    """Where to send."""
    tags: tuple[str, ...] = ()
    """Some words."""


class TwoOptions(Options):
    """Options of another exporter."""

    endpoint: str | None = None
    """Where to send."""
    rows: bool = True
    """Whether to write rows."""


ONE = ExporterSpec("one", "One", "m:W", "m:r", options=OneOptions)
TWO = ExporterSpec("two", "Two", "m:W", "m:r", options=TwoOptions)


@pytest.mark.parametrize(
    ("values", "folder", "options"),
    [
        (["out"], "out", []),
        (["out", "endpoint=http://a/b"], "out", ["endpoint=http://a/b"]),
        (["one.endpoint=x", "out"], "out", ["one.endpoint=x"]),
        (["a-b.endpoint=x", "out"], "out", ["a-b.endpoint=x"]),
        (["./temp=0.5"], "./temp=0.5", []),
        (["runs/temp=0.5"], "runs/temp=0.5", []),
        (["1=2"], "1=2", []),
    ],
)
def test_the_folder_and_the_options(values: list[str], folder: str, options: list[str]) -> None:
    assert split_outputs(values) == (folder, options)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([""], "-o needs one folder, found ''"),
        (["a", "b"], "-o needs one folder, found 'a' and 'b'"),
        (["temp=0.5"], "-o needs one folder, found none; for a folder write ./temp=0.5"),
    ],
)
def test_there_must_be_one_folder(values: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        split_outputs(values)
    assert str(caught.value) == message


@given(st.from_regex(r"[a-z_]+(\.[a-z]+)?", fullmatch=True), st.text())
def test_a_pair_is_cut_at_its_first_equals_sign(key: str, value: str) -> None:
    assert pairs([f"{key}={value}"], "-O") == [(key, value)]


@pytest.mark.parametrize("value", ["endpoint", "=x", ""])
def test_what_is_no_pair(value: str) -> None:
    with pytest.raises(UsageError) as caught:
        pairs([value], "-O")
    assert str(caught.value) == f"-O takes key=value, not {value!r}"


def test_an_option_goes_to_those_that_know_it() -> None:
    values = exporter_options([("endpoint", "e"), ("rows", "no"), ("one.tags", "t")], [ONE, TWO])
    assert values == {
        "one": {"endpoint": "e", "tags": ["t"]},
        "two": {"endpoint": "e", "rows": "no"},
    }
    assert make_options(TWO, values["two"]) == TwoOptions(endpoint="e", rows=False)


def test_an_option_that_holds_several_values_may_be_repeated() -> None:
    values = exporter_options([("tags", "a"), ("tags", "b=c,d")], [ONE])
    assert make_options(ONE, values["one"]) == OneOptions(tags=("a", "b=c,d"))


def test_one_that_holds_one_value_may_not() -> None:
    with pytest.raises(OptionError) as caught:
        exporter_options([("endpoint", "a"), ("one.endpoint", "b")], [ONE, TWO])
    assert str(caught.value) == "'one': option 'endpoint' is given twice"
    with pytest.raises(OptionError) as caught:
        reader_options([("strict", "a"), ("strict", "b")])
    assert str(caught.value) == "option 'strict' is given twice"


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("endpont", "'one' or 'two' has no option 'endpont'; did you mean 'endpoint'?"),
        ("one.rows", "'one' or 'two' has no option 'one.rows'; did you mean 'two.rows'?"),
        ("three.rows", "'one' or 'two' has no option 'three.rows'; did you mean 'two.rows'?"),
        ("xyzzy", "'one' or 'two' has no option 'xyzzy'; see 'fullcount formats one'"),
    ],
)
def test_an_option_that_none_knows(key: str, hint: str) -> None:
    with pytest.raises(OptionError) as caught:
        exporter_options([(key, "1")], [ONE, TWO])
    assert str(caught.value) == hint
