"""Which records were read, how often, and where."""

from __future__ import annotations

import pytest

from fullcount.readers._seen import Attempts, Places, Seen

KEYS = [Seen.key(f"sample.{number}") for number in range(300)]


def test_places_of_a_key_are_in_the_order_of_the_file() -> None:
    places = Places()
    for turn in range(3):
        for number, key in enumerate(KEYS):
            if number % 3 >= turn:
                places.add(key, turn * 1_000 + number)
    for number, key in enumerate(KEYS):
        assert places.of(key) == [turn * 1_000 + number for turn in range(number % 3 + 1)]


def test_a_key_that_was_never_added_has_no_place() -> None:
    places = Places()
    assert places.of(KEYS[0]) == []
    places.add(KEYS[1], 7)
    assert places.of(KEYS[0]) == []


def test_places_may_be_added_after_looking() -> None:
    places = Places()
    places.add(KEYS[0], 0)
    assert places.of(KEYS[0]) == [0]
    places.add(KEYS[0], 9)
    assert places.of(KEYS[0]) == [0, 9]


@pytest.mark.parametrize("key", [-(2**63), -1, 0, 2**63 - 1])
def test_any_hash_is_a_key(key: int) -> None:
    places, seen = Places(), Seen()
    for offset in (3, 5):
        places.add(key, offset)
        seen.add(key)
    assert places.of(key) == [3, 5]
    assert key in seen
    assert seen.repeated() == {key}
    assert seen.is_repeated(key)


def test_what_came_once_is_not_repeated() -> None:
    seen = Seen()
    for key in KEYS:
        seen.add(key)
    assert not seen.any_repeated()
    assert not seen.is_repeated(KEYS[7])
    assert not seen.is_repeated(Seen.key("another"))
    seen.add(KEYS[7])
    assert seen.any_repeated()
    assert [key for key in KEYS if seen.is_repeated(key)] == [KEYS[7]]


def test_only_a_case_that_comes_again_is_numbered() -> None:
    attempts = Attempts()
    for case in ("a", "b", "a"):
        attempts.note(case)
    assert [attempts.next(case) for case in ("a", "b", "a")] == [1, 1, 2]
