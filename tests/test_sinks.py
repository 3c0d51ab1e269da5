from __future__ import annotations

import errno
import hashlib
import io
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount import sinks
from fullcount.errors import SinkError
from fullcount.sinks import STAGING, DirectorySink, safe_name


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def write(root: Path, files: dict[str, bytes]) -> None:
    with DirectorySink(root) as sink:
        for name, data in files.items():
            with sink.open(name) as file:
                file.write(data)
        sink.commit()


# -- what is written


def test_files_appear_at_the_commit(tmp_path: Path) -> None:
    root = tmp_path / "deep" / "out"
    with DirectorySink(root) as sink:
        with sink.open("a/b.txt") as file:
            file.write(b"one")
        sink.open("c.bin").write(b"two")
        assert not (root / "a").exists()
        assert not (root / "c.bin").exists()
        sink.commit()
    assert tree(root) == {"a/b.txt": b"one", "c.bin": b"two"}


def test_staged_file_knows_its_size_and_digest(tmp_path: Path) -> None:
    data = os.urandom(1 << 20)
    with DirectorySink(tmp_path) as sink:
        file = sink.open("x")
        for start in range(0, len(data), 70_001):
            assert file.write(memoryview(data)[start : start + 70_001]) > 0
            assert file.tell() == file.size == min(start + 70_001, len(data))
        assert file.sha256 == hashlib.sha256(data).hexdigest()
        assert sink.staged("x").parent != tmp_path
        sink.commit()
    assert (tmp_path / "x").read_bytes() == data


def test_staged_file_serves_other_writers(tmp_path: Path) -> None:
    with DirectorySink(tmp_path) as sink:
        with io.TextIOWrapper(sink.open("t"), encoding="utf-8") as text:
            text.write("na\u00efve")
        sink.commit()
    assert (tmp_path / "t").read_text("utf-8") == "na\u00efve"


def test_closed_file_takes_no_more(tmp_path: Path) -> None:
    with DirectorySink(tmp_path) as sink:
        file = sink.open("x")
        file.close()
        file.close()
        with pytest.raises(ValueError, match="after it was closed"):
            file.write(b"lost")


def test_leaving_without_a_commit_leaves_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"old": b"old"})
    with DirectorySink(tmp_path) as sink:
        sink.open("old").write(b"new")
        sink.open("more/x").write(b"new")
    assert tree(tmp_path) == {"old": b"old"}
    with pytest.raises(RuntimeError, match="boom"), DirectorySink(tmp_path) as sink:
        sink.open("old").write(b"new")
        msg = "boom"
        raise RuntimeError(msg)
    assert tree(tmp_path) == {"old": b"old"}
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_folders_made_for_nothing_are_removed(tmp_path: Path) -> None:
    with DirectorySink(tmp_path / "a" / "b") as sink:
        sink.open("c/d").write(b"x")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a").mkdir()
    with DirectorySink(tmp_path / "a" / "b"):
        pass
    assert [path.name for path in tmp_path.rglob("*")] == ["a"]


def test_empty_artifact_leaves_its_folder(tmp_path: Path) -> None:
    with DirectorySink(tmp_path / "out") as sink:
        sink.commit()
    assert list((tmp_path / "out").iterdir()) == []


# -- what is refused


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "/etc/passwd",
        "../x",
        "a/../../x",
        "a/..",
        "a\\b",
        "C:x",
        "a\x00b",
        "a\nb",
        "a\x7f",
        "a*",
        "a?",
        "<a>",
        "a|b",
        '"a"',
        "a\ud800",
        "x" * 256,
        "\u00e9" * 128,
    ],
)
def test_names_that_leave_the_folder_or_cannot_be_written(name: str, tmp_path: Path) -> None:
    with DirectorySink(tmp_path / "out") as sink:
        with pytest.raises(SinkError, match="is no file name that can be written below"):
            sink.open(name)
        sink.commit()
    assert tree(tmp_path) == {}


def test_one_name_twice(tmp_path: Path) -> None:
    with DirectorySink(tmp_path) as sink:
        sink.open("a/b")
        with pytest.raises(SinkError, match=r"a/b would be written twice in one conversion"):
            sink.open("a//b")
        with pytest.raises(SinkError, match="cannot be written"):
            sink.open("a/b/c")


def test_root_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"kept")
    for root in (tmp_path / "f", tmp_path / "f" / "sub"):
        with pytest.raises(SinkError, match="cannot be written"):
            DirectorySink(root)
    with pytest.raises(SinkError, match="cannot be written"):
        DirectorySink(tmp_path / "a\x00b")
    assert tree(tmp_path) == {"f": b"kept"}


def test_folder_in_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "b" / "inside").mkdir(parents=True)
    with DirectorySink(tmp_path) as sink:
        sink.open("a").write(b"1")
        sink.open("b").write(b"2")
        with pytest.raises(SinkError, match="cannot be written"):
            sink.commit()
    assert tree(tmp_path) == {}
    assert (tmp_path / "b" / "inside").is_dir()


# -- rolling back


@pytest.mark.parametrize("at", [1, 2, 3])
def test_failing_rename_puts_everything_back(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {"a": b"old a", "sub/c": b"old c"}
    write(tmp_path, old)
    replace, calls = Path.replace, []

    def failing(path: Path, target: Any) -> Path:
        calls.append(target)
        if len(calls) == at:
            raise OSError(errno.EACCES, "Permission denied")
        return replace(path, target)

    with DirectorySink(tmp_path) as sink:
        for name in ("a", "new/b", "sub/c"):
            sink.open(name).write(b"new")
        monkeypatch.setattr(Path, "replace", failing)
        with pytest.raises(SinkError, match="Permission denied"):
            sink.commit()
        monkeypatch.undo()
    assert tree(tmp_path) == old
    assert not (tmp_path / "new").exists()


def test_file_systems_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a": b"old"})

    def no_links(*args: object, **more: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    with DirectorySink(tmp_path) as sink:
        sink.open("a").write(b"new")
        sink.commit()
        assert tree(tmp_path)["a"] == b"new"
        sink.revert()
    assert tree(tmp_path) == {"a": b"old"}


def test_commit_can_be_reverted_while_the_sink_is_open(tmp_path: Path) -> None:
    write(tmp_path, {"a": b"old"})
    with DirectorySink(tmp_path) as sink:
        sink.open("a").write(b"new")
        sink.open("new/b").write(b"new")
        sink.commit()
        assert (tmp_path / "new" / "b").read_bytes() == b"new"
        sink.revert()
    assert tree(tmp_path) == {"a": b"old"}
    assert not (tmp_path / "new").exists()


def test_superseded_files_go_with_the_commit(tmp_path: Path) -> None:
    write(tmp_path, {"a": b"old", "sub/left": b"over"})
    with DirectorySink(tmp_path) as sink:
        sink.open("a").write(b"new")
        sink.commit(["sub/left"])
        assert tree(tmp_path)["a"] == b"new"
        assert not (tmp_path / "sub" / "left").exists()
        sink.revert()
    assert tree(tmp_path) == {"a": b"old", "sub/left": b"over"}
    with DirectorySink(tmp_path) as sink:
        sink.open("a").write(b"new")
        with pytest.raises(SinkError, match="cannot be written"):
            sink.commit(["not/there"])
    assert tree(tmp_path) == {"a": b"old", "sub/left": b"over"}


def test_commit_happens_once(tmp_path: Path) -> None:
    with DirectorySink(tmp_path) as sink:
        sink.open("a").write(b"new")
        sink.commit()
        with pytest.raises(SinkError, match="put in place already"):
            sink.commit()
    assert tree(tmp_path) == {"a": b"new"}


def test_symbolic_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"kept")
    root = tmp_path / "out"
    root.mkdir()
    (root / "a").symlink_to(tmp_path / "elsewhere")
    write(root, {"a": b"new"})
    assert (tmp_path / "elsewhere").read_bytes() == b"kept"
    assert not (root / "a").is_symlink()
    assert (root / "a").read_bytes() == b"new"


class FullDisk:
    """A file that holds so many bytes and no more."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room = file, room

    def write(self, data: Any) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        part = self.file.write(bytes(data[: self.room]))
        self.room -= part
        return part

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@pytest.mark.parametrize("room", [0, 10, 300_000])
def test_full_disk(room: int, tmp_path: Path) -> None:
    write(tmp_path, {"a": b"old"})
    with DirectorySink(tmp_path) as sink:
        file = sink.open("a")
        file._file = FullDisk(file._file, room)
        with pytest.raises(SinkError, match=r"a: cannot be written: No space left on device"):
            for _ in range(20):
                file.write(bytes(100_000))
    assert tree(tmp_path) == {"a": b"old"}


def test_full_disk_at_the_end(tmp_path: Path) -> None:
    with DirectorySink(tmp_path / "out") as sink:
        file = sink.open("a")
        file._file = FullDisk(file._file, 0)
        file.write(b"x")
        with pytest.raises(SinkError, match="No space left"):
            sink.commit()
        assert file.closed
    assert not (tmp_path / "out").exists()


def test_short_writes_are_continued(tmp_path: Path) -> None:
    class Slow(FullDisk):
        def write(self, data: Any) -> int:
            return int(self.file.write(bytes(data[:3])))

    with DirectorySink(tmp_path) as sink:
        file = sink.open("a")
        file._file = Slow(file._file, 0)
        file.write(b"0123456789")
        sink.commit()
    assert tree(tmp_path) == {"a": b"0123456789"}


# -- what others left


def test_staging_of_a_killed_process_is_removed(tmp_path: Path) -> None:
    abandoned = tmp_path / f"{STAGING}dead"
    abandoned.mkdir()
    (abandoned / "lock").touch()
    (abandoned / "half").write_bytes(b"x")
    write(tmp_path, {"a": b"1"})
    assert not abandoned.exists()


def test_staging_of_a_living_process_is_left_alone(tmp_path: Path) -> None:
    with DirectorySink(tmp_path) as first:
        first.open("a").write(b"1")
        write(tmp_path, {"b": b"2"})
        first.commit()
    assert tree(tmp_path) == {"a": b"1", "b": b"2"}


def test_young_staging_without_a_lock_is_left_alone(tmp_path: Path) -> None:
    young, old = tmp_path / f"{STAGING}young", tmp_path / f"{STAGING}old"
    for staging in (young, old):
        staging.mkdir()
    os.utime(old, (1, 1))
    write(tmp_path, {"a": b"1"})
    assert young.is_dir()
    assert not old.exists()


def test_the_lock_goes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed while it tidies up leaves what the next one finds."""

    def killed(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    sink = DirectorySink(tmp_path)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt), sink:
        sink.open("a").write(b"1")
        sink.commit()
        patch.setattr(sinks.shutil, "rmtree", killed)
    assert sink._lock is not None
    os.close(sink._lock)  # as the system does for a process that is gone
    (left,) = tmp_path.glob(f"{STAGING}*")
    assert (left / "lock").exists()
    write(tmp_path, {"a": b"3"})
    assert not left.exists()


def test_file_systems_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*args: object) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    monkeypatch.setattr(sinks, "_lock", no_locks)
    write(tmp_path, {"a": b"1"})
    assert tree(tmp_path) == {"a": b"1"}


# -- names


@pytest.mark.parametrize("text", ["a", "a-b_c.d", "user@host", "A=1+2", "x" * 120])
def test_safe_names_stay(text: str) -> None:
    assert safe_name(text) == text


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("a/b", "a_b-"),
        ("../../etc/passwd", "etc_passwd-"),
        ("", "unnamed-"),
        ("...", "unnamed-"),
        ("\u4f60\u597d", "unnamed-"),
        (".hidden", "hidden-"),
        ("a.", "a-"),
        ("CON", "x-CON-"),
        ("nul.json", "x-nul.json-"),
        ("com1", "x-com1-"),
        ("x" * 121, "x" * 120 + "-"),
        ("a\ud800", "a-"),
    ],
)
def test_other_names_carry_a_digest(text: str, start: str) -> None:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    assert safe_name(text) == f"{start}{digest}"


def test_fallback_can_be_chosen() -> None:
    assert safe_name("/", "run").startswith("run-")


@given(st.text(), st.text())
def test_two_names_stay_two(one: str, other: str) -> None:
    assert (safe_name(one) == safe_name(other)) is (one == other)


@given(st.text(max_size=300))
def test_safe_names_can_be_opened(text: str) -> None:
    name = safe_name(text)
    assert name == Path(name).name
    assert len(name.encode()) < 200
    assert not sinks._FORBIDDEN.search(name)
