from __future__ import annotations

import io
import json
import math
import random
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount.errors import DamagedInputError, UnsupportedInputError
from fullcount.readers import _json_text, _json_value
from fullcount.readers._json import Part, iter_array, loads, walk_object

if TYPE_CHECKING:
    from collections.abc import Callable


class Dribble:
    """A stream that gives fewer bytes than it is asked for."""

    def __init__(self, data: bytes, seed: int = 0, most: int = 7) -> None:
        self._file = io.BytesIO(data)
        self._random = random.Random(seed)  # noqa: S311 - sizes of reads
        self._most = most
        self.taken = 0

    def read(self, size: int, /) -> bytes:
        data = self._file.read(min(size, self._random.randint(1, self._most)))
        self.taken += len(data)
        return data


numbers = st.integers() | st.floats() | st.integers(min_value=10**25, max_value=10**30)
text = st.text(st.characters() | st.sampled_from('"\\{}[],:\n é😀'), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(text, inner, max_size=5),
    max_leaves=12,
)
records = st.fixed_dictionaries({"id": st.integers(), "messages": st.lists(values, max_size=4)})
layouts = st.fixed_dictionaries(
    {
        "indent": st.sampled_from([None, None, 0, 1, 2, "\t"]),
        "ensure_ascii": st.booleans(),
        "separators": st.sampled_from([None, (",", ":"), (" ,\r\n", " : ")]),
    }
)


def written(value: Any, layout: dict[str, Any]) -> bytes:
    document = json.dumps(value, **layout)
    try:
        return document.encode()
    except UnicodeEncodeError:  # a lone surrogate can only be written as an escape
        return json.dumps(value, **{**layout, "ensure_ascii": True}).encode()


def same(found: object, wanted: object) -> bool:
    """Equality in which NaN equals NaN, and 1, 1.0 and True are three things."""
    return repr(found) == repr(wanted)


# loads


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a":[1,2.5,true,null,"x"]}', {"a": [1, 2.5, True, None, "x"]}),
        (b"[NaN,Infinity,-Infinity]", [math.nan, math.inf, -math.inf]),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b"[1e999,-1e999]", [math.inf, -math.inf]),
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b'\xef\xbb\xbf"\\ud800"', "\ud800"),
        (rb'["\ud800","\udc00x","\ud83d\ude00"]', ["\ud800", "\udc00x", "😀"]),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b" \t\r\n[ ] \n", []),
    ],
)
def test_reads_what_python_writes(data: bytes, value: object) -> None:
    assert same(loads(data), value)


@given(value=values | records, layout=layouts)
def test_loads_agrees_with_the_standard_library(value: Any, layout: dict[str, Any]) -> None:
    data = written(value, layout)
    assert same(loads(data), json.loads(data))


def test_nesting_is_read_to_the_same_depth_everywhere() -> None:
    deepest = _json_value.DEEPEST
    value = loads(b"[" * deepest + b"]" * deepest)
    for _ in range(deepest - 1):
        (value,) = value
    assert value == []
    with pytest.raises(DamagedInputError, match="nested more than 500 deep"):
        loads(b"[" * (deepest + 1) + b"]" * (deepest + 1))
    with pytest.raises(DamagedInputError, match="nested more than 500 deep"):
        loads(b'{"a":' * 100_000)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "log.json: line 1: is empty: it was cut short or"),
        (b" \n", "log.json: line 1: is empty: it was cut short or"),
        (b'{"a":[1,2', "log.json: line 1: ends too early: it was cut short or"),
        (b'{"a":"x', "log.json: line 1: ends too early: it was cut short or"),
        (b'{"a":"\xe6\x97', "log.json: line 1: ends too early: it was cut short or"),
        (b"[-Infinit", "log.json: line 1: ends too early: it was cut short or"),
        (b'{"a":1,\n "b":}', "log.json: line 2: is no JSON at byte 13: expecting value;"),
        (b'{"a":1,\n b:2}', "log.json: line 2: is no JSON at byte 9: expecting property name"),
        (b'["\xff"]', "log.json: line 1: is no JSON at byte 2: 0xff is not UTF-8 here;"),
        (b'["\xed\xa0\x80"]', "log.json: line 1: is no JSON at byte 2: 0xed is not UTF-8 here;"),
        (b'["a\nb"]', "log.json: line 1: is no JSON at byte 3: invalid control character"),
        ('["é"] x'.encode(), "log.json: line 1: is no JSON at byte 7: extra data;"),
        (b"[" + b"1" * 5000 + b"]", "log.json: line 1: holds an integer that is too long;"),
        (b"\xef\xbb\xbf[1,]", "log.json: line 1: is no JSON at byte "),
    ],
)
def test_a_bad_text_is_named_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(DamagedInputError) as caught:
        loads(data, source="log.json")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_the_place_that_the_caller_knows_is_named() -> None:
    with pytest.raises(DamagedInputError) as caught:
        loads(b'{"a" 1}', source="log.eval", member="header.json", line=7, pointer="/x")
    assert str(caught.value) == (
        "log.eval: header.json: line 7: /x: is no JSON at byte 5: expecting ':' delimiter; "
        "write the file again, or leave it out"
    )


# iter_array


@given(
    elements=st.lists(values, max_size=8) | st.lists(records, max_size=8),
    layout=layouts,
    window=st.integers(1, 400),
    ahead=st.integers(0, 200),
    seed=st.integers(),
)
def test_an_array_comes_back_whole(
    elements: list[Any], layout: dict[str, Any], window: int, ahead: int, seed: int
) -> None:
    data = written(elements, layout)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_json_text, "_AHEAD", ahead)
        found = list(iter_array(Dribble(data, seed), window=window))
    assert same(found, json.loads(data))


@given(elements=st.lists(values, max_size=4), layout=layouts, data=st.data())
def test_every_cut_of_an_array_is_noticed(
    elements: list[Any], layout: dict[str, Any], data: st.DataObject
) -> None:
    document = written(elements, layout)
    cut = document[: data.draw(st.integers(0, len(document) - 1))]
    window = data.draw(st.integers(1, 100))
    with pytest.raises(DamagedInputError, match=r"(ends too early|is empty): it was cut short or"):
        list(iter_array(io.BytesIO(cut), window=window))


@given(st.binary(max_size=40) | st.text('[]{},:"\\ 1aétrue\n', max_size=40).map(str.encode))
def test_junk_raises_nothing_else(junk: bytes) -> None:
    for data in (junk, b"[" + junk, b'[{"a":1},{"a":' + junk):
        try:
            expected = json.loads(data.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            expected = None
        try:
            found = list(iter_array(io.BytesIO(data), window=5))
        except DamagedInputError:
            assert not isinstance(expected, list)
        else:
            assert same(found, expected)


def test_elements_are_found_without_counting_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    original = _json_text.Ends

    def ends(first: bytes) -> _json_text.Ends:
        counted.append(first)
        return original(first)

    monkeypatch.setattr(_json_text, "Ends", ends)
    wanted = [
        {"id": n, "messages": [{"id": m, "text": '{"id":}, ' * m} for m in range(4)]}
        for n in range(500)
    ]
    for indent in (None, 2):
        counted.clear()
        data = json.dumps(wanted, indent=indent).encode()
        assert list(iter_array(io.BytesIO(data), window=10_000)) == wanted
        assert len(counted) < 25  # the first, the last, and where a guess failed


@pytest.mark.parametrize("code", ["if (x) {", "}} end", '"},{"id":1', "[[[", "\\"])
def test_brackets_in_strings_do_not_end_an_element(code: str) -> None:
    wanted = [{"id": n, "code": code * (n % 5), "more": [{"id": n}]} for n in range(1500)]
    for separators in ((",", ":"), (", ", ": ")):
        data = json.dumps(wanted, separators=separators).encode()
        for window in (3000, 40_000):
            assert list(iter_array(io.BytesIO(data), window=window)) == wanted


def test_an_element_is_given_before_the_next_is_read() -> None:
    stream = Dribble(b'[{"a":1},{"a":2},' + b'{"a":3},' * 10_000 + b'{"a":4}]', most=10_000)
    elements = iter_array(stream, window=100)
    assert [next(elements), next(elements)] == [{"a": 1}, {"a": 2}]
    assert stream.taken < 1000


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "ends too early"),
        (b"{}", r"byte 0: a JSON array must stand here, not '\{'"),
        (b"[1,]", r"byte 3: a value must stand here, not '\]'"),
        (b"[1 2]", r"byte 3: ',' or '\]' must stand here, not '2'"),
        (b"[1]\n x", "line 2: is no JSON at byte 5: the end of the text must stand here, not 'x'"),
        (b'[{"a":1},\n{"a":x}]', "line 2: /1: is no JSON at byte 15: expecting value"),
        (b'[{"a":1},{"a":2},{"a":3]]', "/2: is no JSON at byte 23: expecting ',' delimiter"),
        (b'[1,"\xff"]', "/1: is no JSON at byte 4: 0xff is not UTF-8"),
        (b'["a"b, ' + b"x" * 50 + b']"]', "byte 4: ',' or"),
        (b'[{"a":"x"y"}, "' + b"z" * 99, "/0: is no JSON at byte 9: expecting ',' delimiter"),
        (b"[" * 100_000, "/0: is nested more than 500 deep"),
        (b'[{"a":' * 100_000, "/0: is nested more than 500 deep"),
    ],
)
@pytest.mark.parametrize("window", [1, 16, 1 << 20])
def test_a_bad_array_is_named_in_one_line(data: bytes, message: str, window: int) -> None:
    with pytest.raises(DamagedInputError, match=message) as caught:
        list(iter_array(io.BytesIO(data), source="log.json", window=window))
    assert str(caught.value).startswith("log.json: line ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("element", [b'"' + b"a" * 2000 + b'"', b"1" * 2000, b"[1,2,3]" * 1])
def test_an_element_may_not_be_too_large(element: bytes) -> None:
    largest = len(element) - 1
    with pytest.raises(UnsupportedInputError, match=r"/1: a value of more than .* is not read"):
        list(iter_array(io.BytesIO(b"[0," + element + b"]"), window=4, largest=largest))


def peak(read: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        read()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class Repeated:
    """A large text that is nowhere held whole."""

    def __init__(self, start: bytes, middle: bytes, times: int, end: bytes) -> None:
        self._blocks = iter([start, *(middle for _ in range(times)), end])
        self._left = b""

    def read(self, size: int, /) -> bytes:
        if not self._left:
            self._left = next(self._blocks, b"")
        data, self._left = self._left[:size], self._left[size:]
        return data


def test_memory_does_not_grow_with_the_array() -> None:
    sample = json.dumps({"id": "é{", "messages": [{"role": "user", "text": "a\n" * 500}] * 10})
    block = (sample + ",").encode() * 100

    def read() -> None:
        stream = Repeated(b'{"samples":[', block, 50, sample.encode() + b'],"n":1}')
        parts = walk_object(stream, {"samples"})
        assert sum(part.kind == "item" for part in parts) == 5001

    assert len(block) * 50 > 50_000_000
    assert peak(read) < 12_000_000


def test_a_large_element_is_not_read_again_and_again() -> None:
    """What is copied and looked at stays proportional to the element's size."""
    looked = 0

    class Counting(_json_text.Ends):
        def feed(self, data: bytes) -> int | None:
            nonlocal looked
            looked += len(data)
            return super().feed(data)

    size = 5_000_000
    for element in (b'"' + b"a" * size + b'"', b"[" + b'{"a":"\\\\"},' * (size // 11) + b"1]"):
        looked = 0
        stream = io.BytesIO(b"[" + element + b"]")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_json_text, "Ends", Counting)
            (found,) = iter_array(stream)
        assert len(found) in (size, size // 11 + 1)
        assert looked <= len(element) + 1_000_000


# walk_object


@given(
    document=st.dictionaries(
        st.sampled_from(["version", "samples", "eval", "é\n", "reductions"]) | text,
        values | st.lists(records, max_size=4),
        max_size=6,
    ),
    layout=layouts,
    window=st.integers(1, 200),
    seed=st.integers(),
)
def test_an_object_comes_back_whole(
    document: dict[str, Any], layout: dict[str, Any], window: int, seed: int
) -> None:
    data = written(document, layout)
    found: dict[str, Any] = {}
    items: list[Any] = []
    for kind, key, value in walk_object(
        Dribble(data, seed), {"samples", "reductions"}, window=window
    ):
        if kind == "item":
            items.append(value)
        elif kind == "end":
            assert value == len(items)
            found[key], items = items, []
        else:
            assert not (key in ("samples", "reductions") and isinstance(value, list))
            found[key] = value
    assert same(found, json.loads(data))


@given(
    document=st.dictionaries(st.sampled_from(["samples", "eval", "é"]), values, max_size=3),
    layout=layouts,
    data=st.data(),
)
def test_every_cut_of_an_object_is_noticed(
    document: dict[str, Any], layout: dict[str, Any], data: st.DataObject
) -> None:
    text = written(document, layout)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    with pytest.raises(DamagedInputError, match=r"(ends too early|is empty): it was cut short or"):
        list(walk_object(io.BytesIO(cut), {"samples"}, window=data.draw(st.integers(1, 100))))


def test_parts_of_an_object() -> None:
    data = (
        b'\xef\xbb\xbf{ "status" : "ok", "s\\u0061mples":[{"v":NaN} , 2],"none":[],'
        b'"null":null,"other":[1,2]}\n'
    )
    parts = list(walk_object(io.BytesIO(data), {"samples", "none", "null"}))
    assert same(
        parts,
        [
            Part("value", "status", "ok"),
            Part("item", "samples", {"v": math.nan}),
            Part("item", "samples", 2),
            Part("end", "samples", 2),
            Part("end", "none", 0),
            Part("value", "null", None),
            Part("value", "other", [1, 2]),
        ],
    )
    assert list(walk_object(io.BytesIO(b" {\n} "), ())) == []


@pytest.mark.parametrize("window", [1, 7, 1 << 20])
def test_parts_of_an_object_in_an_object(window: int) -> None:
    data = (
        b'{"results":{"version":3,"results":[{"a":1},2],"table":{"body":[1]},"results/x":[3]},'
        b'"results/results":[4],"stats":{"n":1}, "more":{"results":[5]}}'
    )
    parts = walk_object(
        io.BytesIO(data),
        {"results/results", "results/table/body"},
        inside={"results", "results/table", "stats"},
        window=window,
    )
    assert list(parts) == [
        Part("value", "results/version", 3),
        Part("item", "results/results", {"a": 1}),
        Part("item", "results/results", 2),
        Part("end", "results/results", 2),
        Part("item", "results/table/body", 1),
        Part("end", "results/table/body", 1),
        Part("value", "results/results/x", [3]),
        Part("value", "results/results", [4]),
        Part("value", "stats/n", 1),
        Part("value", "more", {"results": [5]}),
    ]
    # What is to be walked and is no object is a value.
    assert list(walk_object(io.BytesIO(b'{"a":[1],"b":null}'), (), inside={"a", "b"})) == [
        Part("value", "a", [1]),
        Part("value", "b", None),
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a":{"b":1,"b":2}}', "key 'b' comes twice"),
        (b'{"a":{"b":[1,x]}}', "/a/b/1: is no JSON at byte 13"),
        (b'{"a":{"b":1}', "ends too early"),
        (b'{"a":{"b":1', "ends too early"),
    ],
)
def test_a_bad_object_in_an_object_is_named(data: bytes, message: str) -> None:
    with pytest.raises(DamagedInputError, match=message):
        list(walk_object(io.BytesIO(data), {"a/b"}, inside={"a"}, window=3))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[]", r"a JSON object must stand here, not '\['"),
        (b'{"a":1,"\\u0061":2}', "key 'a' comes twice"),
        (b'{"a":1,}', "byte 7: a key must stand here, not '}'"),
        (b'{"a" 1}', "byte 5: ':' must stand here, not '1'"),
        (b'{"a":}', "byte 5: a value must stand here, not '}'"),
        (b'{"a":1}{', "byte 7: the end of the text must stand here"),
        (b'{"samples":[{"a":1},{"a":nil}]}', "/samples/1: is no JSON at byte 25"),
        (b'{"a":nil}', "/a: is no JSON at byte 5: expecting value"),
    ],
)
def test_a_bad_object_is_named_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(DamagedInputError, match=message):
        list(walk_object(io.BytesIO(data), {"samples"}, window=3))


def test_an_object_may_not_have_too_many_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_json_text, "MOST_KEYS", 3)
    assert len(list(walk_object(io.BytesIO(b'{"a":1,"b":2,"c":3}'), ()))) == 3
    with pytest.raises(UnsupportedInputError, match="holds more than 3 keys"):
        list(walk_object(io.BytesIO(b'{"a":1,"b":2,"c":3,"d":4}'), ()))


@given(value=values | st.lists(records), layout=layouts, size=st.integers(1, 40))
def test_what_is_passed_over_leaves_the_rest(value: Any, layout: dict[str, Any], size: int) -> None:
    data = written({"before": 1, "left": value, "after": [2]}, layout)
    parts = list(walk_object(Dribble(data), (), passed_over={"left"}, window=size))
    assert [(part.key, part.value) for part in parts] == [("before", 1), ("after", [2])]


def test_a_key_may_come_twice_in_what_is_passed_over() -> None:
    data = b'{"left":{"a":1,"a":[2,{"b":3,"b":4}]},"after":5}'
    parts = list(walk_object(io.BytesIO(data), (), passed_over={"left"}))
    assert parts == [Part("value", "after", 5)]


def test_what_is_passed_over_must_be_json() -> None:
    with pytest.raises(DamagedInputError, match="at byte 14"):
        list(walk_object(io.BytesIO(b'{"left":[{"a":x}]}'), (), passed_over={"left"}))
