from __future__ import annotations

import io
import os
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from struct import pack
from typing import TYPE_CHECKING, Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fullcount.errors import DamagedInputError, InputError, UnsupportedInputError
from fullcount.readers import _zip
from fullcount.readers._zip import Archive
from fullcount.sources import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import ZipBuilder

STORED, DEFLATED, ZSTD = 0, 8, 93
LOGS = Path(__file__).parents[3] / "shared" / "logs" / "inspect"


def everything(name: str) -> bool:
    del name
    return True


def nothing(name: str) -> bool:
    del name
    return False


def put(folder: Path, data: bytes) -> Source:
    path = folder / "log.eval"
    path.write_bytes(data)
    return Source(path, shown="log.eval")


def contents(source: Source, **options: Any) -> dict[str, bytes]:
    with Archive(source, keep=everything) as archive:
        return {name: archive.read(name, **options) for name in archive.members}


def python_zip(members: dict[str, bytes], method: int = DEFLATED, **options: Any) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method, **options) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


MEMBERS = {
    "header.json": b'{"version":2}',
    "samples/s/correct_epoch_1.json": b'{"id":"s/correct"}' * 5000,
    "samples/日本_epoch_1.json": bytes(range(256)) * 100,
    "empty": b"",
    "folder/": b"",
}


# what is read


@pytest.mark.parametrize("method", [STORED, DEFLATED])
def test_reads_what_python_writes(tmp_path: Path, method: int) -> None:
    assert contents(put(tmp_path, python_zip(MEMBERS, method))) == MEMBERS


def test_reads_an_archive_that_was_written_as_a_stream(tmp_path: Path) -> None:
    """Sizes stand in data descriptors behind the members then."""

    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.data = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: Any, /) -> int:
            self.data += data
            return len(data)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", DEFLATED) as archive:
        for name, data in MEMBERS.items():
            archive.writestr(name, data)
    source = put(tmp_path, bytes(pipe.data))
    with Archive(source, keep=everything) as archive:
        assert archive.members["header.json"].flags & 8
    assert contents(source) == MEMBERS


@pytest.mark.parametrize("frame", [None, 1, 1000])
def test_reads_zstd_in_one_frame_and_in_many(
    tmp_path: Path, zip_builder: ZipBuilder, frame: int | None
) -> None:
    wanted = {name: data[:5000] for name, data in MEMBERS.items()}
    for name, data in wanted.items():
        zip_builder.add(name, data, ZSTD, frame=frame)
    assert contents(zip_builder.source(tmp_path)) == wanted


@pytest.mark.parametrize("zip64", [False, True])
@pytest.mark.parametrize("prefix", [b"", b"#!/bin/sh\n" * 20])
@pytest.mark.parametrize("comment", [b"", b"a comment with PK\5\6 in it", b"x" * 65535])
def test_finds_the_directory(
    tmp_path: Path, zip_builder: ZipBuilder, prefix: bytes, comment: bytes, *, zip64: bool
) -> None:
    zip_builder.prefix = prefix
    zip_builder.add("a", b"first", STORED, zip64=zip64, extra=b"\x99\x99\2\0ab")
    zip_builder.add("b", b"second" * 100, zip64=zip64)
    source = put(tmp_path, zip_builder.build(comment=comment, zip64=zip64))
    assert contents(source) == {"a": b"first", "b": b"second" * 100}


@pytest.mark.parametrize("zip64", [False, True])
def test_something_may_stand_behind_the_directory(
    tmp_path: Path, zip_builder: ZipBuilder, *, zip64: bool
) -> None:
    zip_builder.add("a", b"first").add("b", b"second")
    source = put(tmp_path, zip_builder.build(gap=b"PK\5\5\2\0ab", zip64=zip64) + b"\n\n")
    assert contents(source) == {"a": b"first", "b": b"second"}


def test_reads_zip64_as_python_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 10)
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    data = python_zip(MEMBERS)
    assert b"PK\6\6" in data
    assert contents(put(tmp_path, data)) == MEMBERS


def test_names_without_the_utf8_flag_are_in_code_page_437(
    tmp_path: Path, zip_builder: ZipBuilder
) -> None:
    zip_builder.add("é.json".encode("cp437"), b"old")
    zip_builder.add("é.json", b"new")
    with Archive(zip_builder.source(tmp_path), keep=everything) as archive:
        assert list(archive.members) == ["é.json"]
        assert archive.duplicates == 1
        assert archive.read("é.json") == b"new"


def test_the_last_of_two_wins(tmp_path: Path, zip_builder: ZipBuilder) -> None:
    for name, data in [
        ("a", b"1"),
        ("b", b"2"),
        ("a", b"3"),
        ("c", b"4"),
        ("c", b"5"),
        ("a", b"6"),
    ]:
        zip_builder.add(name, data)
    source = zip_builder.source(tmp_path)
    with Archive(source, keep=lambda name: name != "c", index=everything) as archive:
        assert list(archive.members) == ["b", "a"]
        assert (archive.count, archive.duplicates) == (6, 3 - 1)
        assert [archive.read(name) for name in "abc"] == [b"6", b"2", b"5"]


def test_an_empty_archive_is_one(tmp_path: Path) -> None:
    with Archive(put(tmp_path, python_zip({})), keep=everything) as archive:
        assert (archive.members, archive.count) == ({}, 0)


def test_more_members_than_the_end_record_can_count(
    tmp_path: Path, zip_builder: ZipBuilder
) -> None:
    for number in range(70_000):
        zip_builder.add(f"s/{number}", b"", STORED)
    for zip64 in (False, True):
        source = put(tmp_path, zip_builder.build(zip64=zip64))
        with Archive(source, keep=nothing, index=lambda name: name.endswith("9")) as archive:
            assert archive.count == 70_000
            assert archive.find("s/69998") is None
            found = archive.find("s/69999")
            assert found is not None
            assert (found.name, found.size) == ("s/69999", 0)


@pytest.mark.skipif(not LOGS.exists(), reason="the shared logs are not here")
def test_reads_real_logs() -> None:
    for path in LOGS.glob("*.eval"):
        found = contents(Source(path))
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                data = found[info.filename]
                assert (len(data), zlib.crc32(data)) == (info.file_size, info.CRC)


# finding and streaming


@given(
    names=st.lists(st.sampled_from([f"samples/{n}_epoch_1.json" for n in range(30)]), max_size=60),
    small=st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_indexed_is_found(
    names: list[str], tmp_path: Path, zip_builder: ZipBuilder, *, small: bool
) -> None:
    builder = type(zip_builder)()
    for number, name in enumerate(names):
        builder.add(name, str(number).encode(), STORED)
    last = {name: str(number).encode() for number, name in enumerate(names)}
    with pytest.MonkeyPatch.context() as patch:
        if small:  # every name has the same hash
            patch.setattr(_zip, "hash", lambda _: 5, raising=False)
        source = put(tmp_path, builder.build())
        with Archive(source, keep=nothing, index=lambda name: "1" in name) as archive:
            for number in range(31):
                name = f"samples/{number}_epoch_1.json"
                found = archive.find(name)
                if name in last:
                    assert found is not None
                    assert archive.read(name) == last[name]
                else:
                    assert found is None


def test_a_name_that_is_absent_is_refused(tmp_path: Path) -> None:
    with Archive(put(tmp_path, python_zip(MEMBERS)), keep=everything) as archive:
        assert archive.find("nope") is None
        for read in (archive.read, archive.stream):
            with pytest.raises(DamagedInputError, match=r"^log.eval: nope: has no such member$"):
                read("nope")


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTD])
def test_streams_do_not_disturb_each_other(
    tmp_path: Path, zip_builder: ZipBuilder, method: int
) -> None:
    wanted = {name: os.urandom(200_000) + bytes(200_000) for name in "ab"}
    for name, data in wanted.items():
        zip_builder.add(name, data, method, frame=150_000)
    found = {"a": b"", "b": b""}
    with Archive(zip_builder.source(tmp_path), keep=everything) as archive:
        streams = {name: archive.stream(name) for name in "ab"}
        for size in range(1, 2000):
            for name, stream in streams.items():
                found[name] += stream.read(size)
                assert archive.read("a", limit=400_000)[:3] == wanted["a"][:3] if size < 3 else True
    assert found == wanted


def test_a_stream_is_a_file(tmp_path: Path) -> None:
    with Archive(put(tmp_path, python_zip({"a": b"one\ntwo\n"})), keep=everything) as archive:
        with archive.stream("a") as stream:
            assert list(stream) == [b"one\n", b"two\n"]
        assert archive.stream("a").read() == b"one\ntwo\n"
        assert archive.stream("a").read(0) == b""


# memory


def peak(read: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        read()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_members_that_are_not_kept_take_next_to_no_memory(
    tmp_path: Path, zip_builder: ZipBuilder
) -> None:
    names = [f"samples/{number:06}_{'x' * 60}_epoch_1.json" for number in range(20_000)]
    for name in names:
        zip_builder.add(name, b"", STORED)
    source = zip_builder.source(tmp_path)
    assert len(zip_builder.directory) > 2_400_000

    def read(index: Callable[[str], bool] | None) -> None:
        with Archive(source, keep=nothing, index=index) as archive:
            assert archive.count == 20_000
            assert (archive.find(names[7]) is None) == (index is None)

    base = 1_000_000
    assert peak(lambda: read(None)) < base
    assert peak(lambda: read(everything)) < base + 12 * len(names)


def test_a_stream_holds_little_of_a_large_member(tmp_path: Path, zip_builder: ZipBuilder) -> None:
    def read() -> None:
        with Archive(source, keep=everything) as archive:
            for name in "ab":
                stream = archive.stream(name)
                total = 0
                while data := stream.read(65_536):
                    total += len(data)
                assert total == len(block) * 60

    block = os.urandom(1000) * 1000
    zip_builder.add("a", block * 60, DEFLATED).add("b", block * 60, ZSTD)
    source = zip_builder.source(tmp_path)
    assert peak(read) < 6_000_000


# what is refused


def refused(source: Source, kind: type[InputError] = DamagedInputError, **options: Any) -> str:
    with pytest.raises(kind) as caught:
        contents(source, **options)
    assert str(caught.value).startswith("log.eval: ")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_any_cut_is_noticed(tmp_path: Path, zip_builder: ZipBuilder) -> None:
    for name, data in MEMBERS.items():
        zip_builder.add(name, data[:200])
    whole = zip_builder.build()
    for size in range(0, len(whole) - 21, 7):
        message = refused(put(tmp_path, whole[:size]))
        assert message == (
            "log.eval: has no end record as a ZIP archive must: it was cut short or is still "
            "being written; read it when the run has finished"
        )
    for size in range(len(whole) - 18, len(whole)):
        assert "part of it is missing" in refused(put(tmp_path, whole[:size]))
    for size in range(1, len(whole) - 22, 7):
        assert "part of it is missing" in refused(put(tmp_path, whole[size:]))


def test_a_hole_in_the_middle_is_noticed(tmp_path: Path, zip_builder: ZipBuilder) -> None:
    for name, data in MEMBERS.items():
        zip_builder.add(name, data[:200])
    whole = zip_builder.build()
    for size in range(1, len(whole) - 22, 11):
        refused(put(tmp_path, whole[:50] + whole[50 + size :]))


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_byte_gives_the_same_bytes_or_an_error(
    data: st.DataObject, tmp_path: Path, zip_builder: ZipBuilder
) -> None:
    wanted = {"a.json": b'{"a":1}' * 20, "b.json": b'{"b":2}' * 20, "c": b"stored"}
    builder = type(zip_builder)()
    builder.add("a.json", wanted["a.json"], DEFLATED).add("b.json", wanted["b.json"])
    builder.add("c", wanted["c"], STORED, zip64=True)
    whole = bytearray(builder.build(zip64=data.draw(st.booleans())))
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        found = contents(put(tmp_path, bytes(whole)))
    except InputError:
        pass
    else:  # names may change, and what is stored may be found elsewhere; bytes are checked
        assert set(found.values()) <= set(wanted.values())


@pytest.mark.parametrize(
    "name",
    ["../a", "a/../b", "a/..", "..", "/etc/passwd", "C:/a", "c:a", "a\\b", "a\0b", "..\\a"],
)
def test_a_name_that_leads_elsewhere_is_refused(
    tmp_path: Path, zip_builder: ZipBuilder, name: str
) -> None:
    source = zip_builder.add("fine", b"").add(name, b"").source(tmp_path)
    assert "is not allowed in a name" in refused(source)
    with pytest.raises(DamagedInputError, match="is not allowed in a name"):
        Archive(source, keep=nothing, index=everything)
    with Archive(source, keep=lambda name: name == "fine") as archive:
        assert archive.read("fine") == b""


@pytest.mark.parametrize("name", ["...", "a..b", "a/..b/c..", "samples/a:b_epoch_1.json", "a//b"])
def test_a_name_that_only_looks_odd_is_read(
    tmp_path: Path, zip_builder: ZipBuilder, name: str
) -> None:
    assert contents(zip_builder.add(name, b"x").source(tmp_path)) == {name: b"x"}


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path, zip_builder: ZipBuilder) -> None:
    source = zip_builder.add(b"\xff.json", b"", flags=0x800).source(tmp_path)
    assert "the name is not UTF-8 as it claims" in refused(source)
    with pytest.raises(DamagedInputError, match="the name is not UTF-8 as it claims"):
        Archive(source, keep=nothing, index=everything)


def test_a_replacement_character_may_stand_in_a_name(
    tmp_path: Path, zip_builder: ZipBuilder
) -> None:
    assert contents(zip_builder.add("\ufffd", b"x").source(tmp_path)) == {"\ufffd": b"x"}


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTD])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"crc": 1}, "its checksum does not match"),
        ({"size": 99}, "holds more than the 99 bytes declared"),
        ({"size": 101}, "ends after 100 of the 101 bytes declared"),
        ({"size": 0}, "holds more than the 0 bytes declared"),
        ({"local_name": b"other"}, "is called 'other' in its own header"),
        ({"local_name": b"a\x1b[31m"}, "is called"),
        ({"local_method": 12}, "in the directory and by 12 in its own header"),
        ({"compressed": 100_000}, "lies outside the archive"),
        ({"offset": 5}, "is not where the directory says"),
        ({"offset": 100_000}, "lies outside the archive"),
        ({"offset": 0xFFFFFFFF}, "lacks its zip64 sizes"),
        ({"size": 0xFFFFFFFF}, "lacks its zip64 sizes"),
        ({"zip64": True, "offset": 1 << 60}, "lies outside the archive"),
    ],
)
def test_a_member_that_contradicts_itself_is_refused(
    tmp_path: Path, zip_builder: ZipBuilder, method: int, wrong: dict[str, Any], message: str
) -> None:
    zip_builder.add("a", bytes(range(100)), method, **wrong)
    found = refused(zip_builder.source(tmp_path))
    assert found.startswith("log.eval: a: ")
    assert message in found
    assert "\x1b" not in found


def test_a_stream_raises_before_it_gives_bad_bytes_as_the_end(
    tmp_path: Path, zip_builder: ZipBuilder
) -> None:
    source = zip_builder.add("a", b"x" * 300_000, crc=1).source(tmp_path)
    with Archive(source, keep=everything) as archive:
        stream = archive.stream("a")
        got: list[bytes] = []
        with pytest.raises(DamagedInputError, match="its checksum does not match"):
            got.extend(iter(lambda: stream.read(1000), b""))
        assert 0 < len(got) < 300


@pytest.mark.parametrize("method", [DEFLATED, ZSTD])
@pytest.mark.parametrize("change", ["cut", "garbage", "empty"])
def test_packed_bytes_that_are_broken_are_refused(
    tmp_path: Path, zip_builder: ZipBuilder, method: int, change: str
) -> None:
    whole = zip_builder.add("a", os.urandom(500), method).body[31:]
    packed = {"cut": whole[:-20], "garbage": b"\xff" * 50, "empty": b""}[change]
    builder = type(zip_builder)()
    builder.add("a", bytes(500), method, packed=bytes(packed))
    message = refused(builder.source(tmp_path))
    assert "cannot be unpacked: " in message or "of the 500 bytes declared" in message


@pytest.mark.parametrize("flags", [0x1, 0x41, 0x2000])
def test_an_encrypted_member_is_refused(
    tmp_path: Path, zip_builder: ZipBuilder, flags: int
) -> None:
    source = zip_builder.add("a", b"secret", STORED, flags=flags).source(tmp_path)
    assert refused(source, UnsupportedInputError) == (
        "log.eval: a: is encrypted; pack it again without a password"
    )


def test_another_method_is_refused(tmp_path: Path, zip_builder: ZipBuilder) -> None:
    source = zip_builder.add("a", b"x", 12).source(tmp_path)
    assert "log.eval: a: is packed by method 12; only 0" in refused(source, UnsupportedInputError)


def test_a_split_archive_is_refused(tmp_path: Path, zip_builder: ZipBuilder) -> None:
    source = put(tmp_path, zip_builder.add("a", b"x").build(disk=1))
    assert "is one part of a split ZIP archive" in refused(source, UnsupportedInputError)


@pytest.mark.parametrize("entries", [0, 1, 3, 65535])
@pytest.mark.parametrize("zip64", [False, True])
def test_a_wrong_count_is_refused(
    tmp_path: Path, zip_builder: ZipBuilder, entries: int, *, zip64: bool
) -> None:
    zip_builder.add("a", b"x").add("b", b"y")
    source = put(tmp_path, zip_builder.build(entries=entries, zip64=zip64))
    assert f"has 2 entries, but its end record declares {entries:,};" in refused(source)


def test_an_entry_that_reaches_beyond_the_directory_is_refused(
    tmp_path: Path, zip_builder: ZipBuilder
) -> None:
    zip_builder.add("a", b"x").add("b", b"y")
    zip_builder.directory[28:30] = pack("<H", 60_000)
    assert "breaks off at its byte 0" in refused(put(tmp_path, zip_builder.build()))
    zip_builder.directory[28:30] = pack("<H", 2)
    assert "breaks off at its byte 48" in refused(put(tmp_path, zip_builder.build()))


# bombs


def test_a_member_may_not_be_larger_than_the_limit(tmp_path: Path, zip_builder: ZipBuilder) -> None:
    source = zip_builder.add("a", b"x" * 1000).source(tmp_path)
    assert refused(source, UnsupportedInputError, limit=999) == (
        "log.eval: a: declares 1,000 bytes, more than the 999 that are read; leave it out"
    )
    with Archive(source, keep=everything) as archive:
        assert archive.read("a", limit=1000) == b"x" * 1000
        with pytest.raises(UnsupportedInputError, match="declares 1,000 bytes"):
            archive.stream("a", limit=999)


def test_a_bomb_is_refused_before_it_is_opened(tmp_path: Path, zip_builder: ZipBuilder) -> None:
    zeros = bytes(1 << 20)
    zip_builder.add("zstd", b"", packed=zstandard.ZstdCompressor().compress(zeros) * 65,
                    size=65 << 20)  # fmt: skip
    message = refused(zip_builder.source(tmp_path), UnsupportedInputError)
    assert "log.eval: zstd: would expand from " in message
    assert "to 68,157,440 bytes, more than 10,000-fold" in message


def test_what_repeats_itself_is_no_bomb(tmp_path: Path, zip_builder: ZipBuilder) -> None:
    text = os.urandom(20_000).hex()
    data = b"".join(b'{"id":%d,"input":"%s"}' % (n, text.encode()) for n in range(1700))
    zip_builder.add("zstd", data)
    with Archive(zip_builder.source(tmp_path), keep=everything) as archive:
        member = archive.members["zstd"]
        assert member.size > 64 << 20
        assert member.size > 1000 * member.compressed
        assert zlib.crc32(archive.read("zstd")) == zlib.crc32(data)


@pytest.mark.parametrize("method", [DEFLATED, ZSTD])
def test_a_lie_about_the_size_costs_no_memory(
    tmp_path: Path, zip_builder: ZipBuilder, method: int
) -> None:
    """Neither a size that is too large nor one that is too small makes it allocate."""
    zeros = bytes(60 << 20)
    zip_builder.add("small", zeros, method, size=10)
    zip_builder.add("large", b"tiny", method, size=60 << 20, compressed=4000)
    zip_builder.body += bytes(5000)
    source = zip_builder.source(tmp_path)
    del zeros

    def read() -> None:
        with Archive(source, keep=everything) as archive:
            for name in ("small", "large"):
                with pytest.raises(DamagedInputError):
                    archive.read(name)

    assert peak(read) < 5_000_000


def test_the_file_is_closed_when_the_archive_is_refused(tmp_path: Path) -> None:
    opened = []

    class Watched(Source):
        def open(self) -> Any:
            opened.append(super().open())
            return opened[-1]

    path = tmp_path / "log.eval"
    path.write_bytes(b"PK\3\4")
    with pytest.raises(DamagedInputError):
        Archive(Watched(path), keep=everything)
    assert [file.closed for file in opened] == [True]
