from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

import pytest

import fullcount
from fullcount import api, registry
from fullcount.convert import Target
from fullcount.errors import (
    BrokenPluginError,
    DamagedInputError,
    OptionError,
    UnknownFormatError,
    UnrecognizedInputError,
    UsageError,
    VerificationError,
)
from fullcount.model import Trial, digest_text
from fullcount.notices import Report
from fullcount.plugin import Confidence, Options, ReaderSpec, ReadRequest, RunStream, SurveyNeeded
from fullcount.registry import READERS, Registry
from fullcount.testing import CANARIES, example, export_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fullcount.sources import Source


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two logs, and a file that is none."""
    folder = tmp_path / "logs"
    for name in ("plain", "kitchen-sink"):
        found = example(name)
        made = tmp_path / "made" / name
        context = fullcount.api.default_context(api.ContentPolicy.INCLUDE)
        export_run(found.run, found.trials, Target.named("native", made), context=context)
        (path,) = made.glob("*.jsonl")
        folder.mkdir(exist_ok=True)
        path.rename(folder / f"{name}.jsonl")
    (folder / "notes.txt").write_text("nothing")
    return folder


def test_read_gives_runs_and_trials(logs: Path) -> None:
    found = [(s.run.suite.name, [t.case_id for t in s.trials]) for s in api.read(logs)]
    assert found == [
        ("hammering", ["17", "17", "c"]),
        ("suite", ["case-0", "case-1", "case-2"]),
    ]


def test_read_follows_the_policy(logs: Path) -> None:
    def given(**more: Any) -> Any:
        stream = next(api.read(logs / "kitchen-sink.jsonl", **more))
        content = next(stream.trials).content
        return content and content.input

    assert given().sha256 == digest_text(CANARIES["input"])
    assert given().text is None
    assert given(content="include").text == CANARIES["input"]
    assert given(content="omit") is None
    with pytest.raises(UsageError, match="content is 'all'; known: omit, digest, include"):
        given(content="all")


def test_read_raises_what_is_wrong(logs: Path) -> None:
    with pytest.raises(UnrecognizedInputError, match="no such file"):
        list(api.read(logs / "gone"))
    with pytest.raises(UnrecognizedInputError, match="no reader knows this file"):
        list(api.read(logs / "notes.txt"))
    with pytest.raises(DamagedInputError, match="line 1: is no JSON"):
        list(api.read(logs / "notes.txt", reader="native"))
    with pytest.raises(UnknownFormatError):
        list(api.read(logs, reader="nativ"))
    with pytest.raises(OptionError, match="'native' has no option 'colour'"):
        list(api.read(logs, reader="native", colour="red"))


def test_tally_counts(logs: Path) -> None:
    report = Report()
    found = api.tally(logs, report=report)
    totals = [(run.suite.name, tally.counts.total) for run, tally in found]
    assert totals == [("hammering", 3), ("suite", 3)]
    assert found[1][1].metrics[0].rate.value == 0.5
    assert [notice.code for notice in report.notices()] == ["input.passed_over"]


def test_convert_writes_receipts(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    results = api.convert(logs, "native", out)
    assert [result.error for result in results] == [None, None]
    assert [notice.code for notice in results[-1].notices] == ["input.passed_over"]
    assert [receipt.exporter for receipt in api.verify(out)] == ["native", "native"]
    assert {path for r in results for path in r.receipts.values()} == set(
        out.rglob("*.receipt.json")
    )
    written = sorted(out.glob("*.jsonl"))
    assert len(written) == 2
    (receipt,) = api.verify(written[0])
    assert receipt.files[0].path == written[0].name


def test_convert_takes_several_sources_and_exporters(logs: Path, tmp_path: Path) -> None:
    results = api.convert(
        [logs / "plain.jsonl", str(logs / "*.jsonl"), logs / "gone"],
        ["native", "native"],
        tmp_path / "out",
        content="omit",
        options={"native": {}},
    )
    assert [result.error is None for result in results] == [True, True, False]
    assert [receipt.content for receipt in api.verify(tmp_path / "out" / "native")] == ["omit"] * 2


def test_convert_refuses_what_does_not_fit(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(UnknownFormatError, match="no exporter is named 'nativ'"):
        api.convert(logs, "nativ", out)
    with pytest.raises(OptionError, match="'native' has no option 'colour'"):
        api.convert(logs, "native", out, options={"colour": "red"})
    with pytest.raises(UsageError, match="options are given for 'eee', which is not written"):
        api.convert(logs, ["native"], out, options={"eee": {}})
    with pytest.raises(UsageError, match="content is 'x'"):
        api.convert(logs, "native", out, content="x")
    with pytest.raises(UnknownFormatError, match="no reader is named 'x'"):
        api.convert(logs, "native", out, reader="x")
    assert not out.exists()


def test_verify_finds_a_change(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    api.convert(logs / "plain.jsonl", "native", out)
    (path,) = out.glob("*.jsonl")
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(VerificationError, match="was changed after it was written"):
        api.verify(out)
    with pytest.raises(VerificationError, match="no receipt"):
        api.verify(logs)


# -- readers that must look first

CALLS: list[bool] = []


def sniff(source: Source) -> Confidence:
    return Confidence(50)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    CALLS.append(request.survey)
    run, trials = example("plain").run, example("plain").trials
    if not request.survey:
        raise SurveyNeeded("match", "accuracy")
    yield RunStream(run, iter(trials))


def read_badly(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    def trials() -> Iterator[Trial]:
        yield example("plain").trials[0]
        raise SurveyNeeded("e", "m")

    yield RunStream(example("plain").run, trials())


SPEC = ReaderSpec("late", "Late", f"{__name__}:sniff", f"{__name__}:read")
BAD = ReaderSpec("late", "Late", f"{__name__}:sniff", f"{__name__}:read_badly")


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    found = Registry(READERS, ReaderSpec, [EntryPoint("late", f"{__name__}:SPEC", READERS)])
    monkeypatch.setattr(registry, "readers", lambda: found)
    CALLS.clear()
    yield
    CALLS.clear()


@pytest.mark.usefixtures("late")
def test_read_looks_first_and_the_others_when_asked(logs: Path, tmp_path: Path) -> None:
    path = logs / "plain.jsonl"
    assert [len(list(stream.trials)) for stream in api.read(path)] == [3]
    assert CALLS == [True]
    assert api.tally(path)[0][1].counts.total == 3
    assert CALLS == [True, False, True]
    assert api.convert(path, "native", tmp_path / "out")[0].error is None
    assert CALLS == [True, False, True, False, True]


def test_stream_that_asks_for_a_second_survey(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Registry(READERS, ReaderSpec, [EntryPoint("late", f"{__name__}:BAD", READERS)])
    monkeypatch.setattr(registry, "readers", lambda: found)
    stream = next(api.read(logs / "plain.jsonl"))
    next(stream.trials)
    with pytest.raises(BrokenPluginError, match="that it does not declare, even after a survey"):
        next(stream.trials)


# -- the package itself


def test_package_gives_its_api_when_asked() -> None:
    assert fullcount.api is api
    with pytest.raises(AttributeError, match="has no attribute 'convert_everything'"):
        _ = fullcount.convert_everything  # type: ignore[attr-defined]


def test_importing_the_package_is_cheap() -> None:
    code = (
        "import sys, fullcount; print(fullcount.__version__);"
        "print([m for m in ('pydantic', 'rich', 'click', 'ijson') if m in sys.modules]);"
        "print(fullcount.api.convert.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [fullcount.__version__, "[]", "convert"]
