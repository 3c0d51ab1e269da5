from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from fullcount.errors import InputError, UnrecognizedInputError
from fullcount.sources import HEAD, Source, discover, expand


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "logs"
    for name in ("b.json", "a.json", "sub/c.json", "sub/deep/d.txt", ".hidden/x", ".secret"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    monkeypatch.chdir(tmp_path)
    return root


def names(*arguments: str | os.PathLike[str]) -> list[tuple[str, str, bool]]:
    return [(s.shown, s.relative, s.listed) for s in discover(arguments)]


def test_files_are_given_as_they_are_named(logs: Path) -> None:
    assert names("logs/b.json", Path("logs/a.json")) == [
        ("logs/b.json", "b.json", True),
        ("logs/a.json", "a.json", True),
    ]


def test_patterns_are_sorted_and_leave_hidden_files(logs: Path) -> None:
    assert [shown for shown, _, _ in names("logs/*.json")] == ["logs/a.json", "logs/b.json"]
    assert [shown for shown, _, _ in names("logs/**/*.json")] == [
        "logs/a.json",
        "logs/b.json",
        "logs/sub/c.json",
    ]
    assert [shown for shown, _, _ in names("logs/*")] == ["logs/a.json", "logs/b.json", "logs/sub"]


def test_a_source_is_given_once(logs: Path) -> None:
    (logs / "link.json").symlink_to(logs / "a.json")
    shown = [shown for shown, _, _ in names("logs/a.json", "logs/../logs/a.json", "logs/link.json")]
    assert shown == ["logs/a.json"]


def test_brackets_in_a_name_are_no_pattern(tmp_path: Path) -> None:
    path = tmp_path / "log[1].json"
    path.write_text("{}")
    assert [shown for shown, _, _ in names(path)] == [str(path)]


@pytest.mark.parametrize("argument", ["gone.json", "gone/*.json", "a\x00b", "", "logs/[z].json"])
def test_name_that_matches_nothing(argument: str, logs: Path) -> None:
    with pytest.raises(UnrecognizedInputError, match="no such file or folder, and no pattern"):
        names(argument)


def test_folder_is_one_source_that_can_be_expanded(logs: Path) -> None:
    (logs / "link.json").symlink_to(logs / "a.json")
    (logs / "loop").symlink_to(logs)
    os.mkfifo(logs / "pipe")
    (folder,) = discover(["logs/"])
    assert folder.is_folder
    assert folder.head == b""
    assert [(s.shown, s.relative, s.listed) for s in expand(folder)] == [
        ("logs/a.json", "a.json", False),
        ("logs/b.json", "b.json", False),
        ("logs/sub", "sub", False),
    ]
    (*_, sub) = expand(folder)
    assert [(s.shown, s.relative) for s in expand(sub)] == [
        ("logs/sub/c.json", "sub/c.json"),
        ("logs/sub/deep", "sub/deep"),
    ]
    assert [name for name, _ in folder.files()] == [
        "a.json",
        "b.json",
        "sub/c.json",
        "sub/deep/d.txt",
    ]


def test_folder_that_is_not_spelled_out_has_its_name(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(logs / "sub")
    assert names(".") == [(".", "sub", True)]
    assert names("..") == [("..", "logs", True)]


def test_digest_and_size(logs: Path) -> None:
    file = Source(logs / "a.json")
    assert (file.sha256, file.size) == (hashlib.sha256(b"a.json").hexdigest(), 6)
    folder = Source(logs / "sub")
    assert folder.size == len("sub/c.json") + len("sub/deep/d.txt")
    before = folder.sha256
    assert Source(logs / "sub").sha256 == before
    (logs / "sub" / "c.json").rename(logs / "sub" / "e.json")
    assert Source(logs / "sub").sha256 != before


def test_head_is_read_once_and_bounded(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"x" * (HEAD + 5))
    source = Source(path)
    assert source.head == b"x" * HEAD
    path.write_bytes(b"y")
    assert source.head == b"x" * HEAD


def test_unreadable_sources_are_input_errors(tmp_path: Path, monkeypatch: Any) -> None:
    gone = Source(tmp_path / "gone.json", shown="gone.json")
    for use in (
        gone.open,
        lambda: gone.head,
        lambda: gone.sha256,
        lambda: gone.size,
        lambda: list(expand(gone)),
    ):
        with pytest.raises(InputError, match=r"gone\.json: cannot be read: No such file"):
            use()

    def refuse(self: Path) -> Any:
        raise PermissionError(13, "Permission denied")

    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        list(Source(folder).files())


def test_message_names_the_source_and_hides_control_characters(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        list(discover(["bad\x1b[31m"]))
    assert "\x1b" not in str(caught.value)
