from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fullcount import registry
from fullcount.errors import (
    BrokenPluginError,
    DamagedInputError,
    InputError,
    OptionError,
    UnknownFormatError,
    UnrecognizedInputError,
    UnsupportedInputError,
)
from fullcount.model import Run, ScoreState, Trial
from fullcount.notices import Report, Severity
from fullcount.pipeline import Input, find_inputs, open_runs, tally_runs
from fullcount.plugin import (
    Confidence,
    ContentPolicy,
    Options,
    ReaderSpec,
    ReadRequest,
    RunStream,
    SurveyNeeded,
)
from fullcount.registry import READERS, Registry
from fullcount.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator


def spec(name: str, read: str = "read", **more: Any) -> ReaderSpec:
    return ReaderSpec(name, name.title(), f"{__name__}:sniff_{name}", f"{__name__}:{read}", **more)


class Some(Options):
    level: int = 1
    """A level."""


def run(*metrics: str, **more: Any) -> Run:
    return Run.model_validate(
        {
            "id": "r",
            "source": {"format": "f"},
            "harness": {"name": "h"},
            "subject": {"id": "s"},
            "suite": {"name": "t"},
            "evaluators": [{"name": "e", "metrics": [{"name": metric} for metric in metrics]}],
            **more,
        }
    )


def trial(case: str, *metrics: str, **more: Any) -> Trial:
    scores = [{"evaluator": "e", "metric": m, "state": "scored", "value": 1.0} for m in metrics]
    return Trial.model_validate({"case_id": case, "scores": scores, **more})


def sniff_red(source: Source) -> Confidence:
    return Confidence(80 if source.head.startswith((b"red", b"both")) else 0)


def sniff_blue(source: Source) -> Confidence:
    return Confidence(80 if source.head.startswith((b"blue", b"both")) else 0)


def sniff_weak(source: Source) -> Confidence:
    return Confidence(10 if source.head.startswith(b"red") else 0)


def sniff_folder(source: Source) -> Confidence:
    return Confidence(50 if source.is_folder and (source.path / "index").is_file() else 0)


def sniff_broken(source: Source) -> Confidence:
    msg = "no idea"
    raise RuntimeError(msg)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    yield RunStream(run("m"), iter([trial("1", "m")]))


RED, BLUE, WEAK = spec("red"), spec("blue"), spec("weak", options=Some)
FOLDER, BROKEN = spec("folder"), spec("broken")


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(*names: str) -> None:
        points = [EntryPoint(name, f"{__name__}:{name.upper()}", READERS) for name in names]
        found = Registry(READERS, ReaderSpec, points)
        monkeypatch.setattr(registry, "readers", lambda: found)

    return install


def found(report: Report, *paths: Path, **more: Any) -> list[str]:
    return [
        item.reader.name if isinstance(item, Input) else f"{type(item).__name__}: {item}"
        for item in find_inputs(paths, report, **more)
    ]


def put(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


# -- which reader


def test_surest_reader_is_taken(only: Any, tmp_path: Path) -> None:
    only("blue", "red", "weak")
    put(tmp_path, a="red", b="blue")
    assert found(Report(), tmp_path / "a", tmp_path / "b") == ["red", "blue"]


def test_readers_that_claim_a_file_equally(only: Any, tmp_path: Path) -> None:
    only("blue", "red")
    put(tmp_path, a="both", b="red")
    message = "a: readers blue and red claim this equally; name one with --from"
    first, second = found(Report(), tmp_path / "a", tmp_path / "b")
    assert first.startswith("UnrecognizedInputError: ")
    assert first.endswith(message)
    assert second == "red"
    # A file in a folder is no less there.
    assert [item.rpartition("/")[2] for item in found(Report(), tmp_path)] == [message, "red"]
    assert found(Report(), tmp_path / "a", reader="red") == ["red"]


def test_file_that_nobody_knows(only: Any, tmp_path: Path) -> None:
    only("blue", "red")
    put(tmp_path, a="green", b="red")
    first, second = found(Report(), tmp_path / "a", tmp_path / "b")
    assert first.endswith("a: no reader knows this file; name one with --from (blue, red)")
    assert second == "red"


def test_files_of_a_folder_that_nobody_knows_are_noted(only: Any, tmp_path: Path) -> None:
    only("red")
    put(tmp_path, a="red", b="green", sub__c="green", sub__d="red")
    report = Report()
    assert found(report, tmp_path) == ["red", "red"]
    (notice,) = report.notices()
    assert (notice.code, notice.count) == ("input.passed_over", 2)
    put(tmp_path / "other", x="green")
    assert found(Report(), tmp_path / "other")[0].endswith(
        "other: holds no file that a reader knows"
    )


def test_argument_that_matches_nothing_stops_nobody(only: Any, tmp_path: Path) -> None:
    only("red")
    put(tmp_path, a="red")
    first, second = found(Report(), tmp_path / "gone", tmp_path / "a")
    assert "no such file or folder" in first
    assert second == "red"


def test_file_that_cannot_be_read_is_an_error_in_a_folder_too(
    only: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only("red")
    put(tmp_path, a="red", b="red")
    opened = Path.open

    def refuse(path: Path, *args: Any, **more: Any) -> Any:
        if path.name == "a":
            raise PermissionError(13, "Permission denied")
        return opened(path, *args, **more)

    monkeypatch.setattr(Path, "open", refuse)
    first, second = found(Report(), tmp_path)
    assert first.endswith("a: cannot be read: Permission denied")
    assert second == "red"


def test_folder_is_claimed_whole(only: Any, tmp_path: Path) -> None:
    only("folder", "red")
    put(tmp_path, one__index="red", one__a="red", two__a="red")
    assert found(Report(), tmp_path / "one") == ["folder"]
    assert found(Report(), tmp_path / "two") == ["red"]
    assert found(Report(), tmp_path / "one", reader="red") == ["red", "red"]


def test_source_is_given_once(only: Any, tmp_path: Path) -> None:
    only("red")
    put(tmp_path, a="red", b="red")
    assert found(Report(), tmp_path / "a", tmp_path, tmp_path / "b") == ["red", "red"]


def test_reader_that_cannot_look_stands_in_nobodys_way(only: Any, tmp_path: Path) -> None:
    only("broken", "red", "absent")
    put(tmp_path, a="red")
    report = Report()
    assert found(report, tmp_path / "a") == ["red"]
    notices = {notice.plugin: notice for notice in report.notices()}
    assert sorted(notices) == ["absent", "broken"]
    assert all(
        n.code == "plugin.unusable" and n.severity is Severity.WARNING for n in notices.values()
    )
    assert notices["broken"].message.endswith("reader 'broken' fails: RuntimeError: no idea")
    assert "'absent'" in notices["absent"].message
    with pytest.raises(BrokenPluginError, match="'absent'"):
        found(Report(), tmp_path / "a", reader="absent")
    with pytest.raises(BrokenPluginError, match="reader 'broken' fails: RuntimeError: no idea"):
        found(Report(), tmp_path, reader="broken")


def test_named_reader_and_options_are_checked_first(only: Any, tmp_path: Path) -> None:
    only("red", "weak")
    put(tmp_path, a="red")
    with pytest.raises(UnknownFormatError, match="no reader is named 'rde'; did you mean 'red'"):
        found(Report(), tmp_path / "a", reader="rde")
    with pytest.raises(OptionError, match="'weak' has no option 'levle'; did you mean 'level'"):
        found(Report(), tmp_path / "gone", reader="weak", options={"levle": "1"})
    with pytest.raises(OptionError, match="'red' has no option 'level'; it has none"):
        found(Report(), tmp_path / "a", options={"level": "1"})
    (item,) = find_inputs([tmp_path / "a"], Report(), reader="weak", options={"level": "3"})
    assert isinstance(item, Input)
    assert item.options == Some(level=3)


# -- holding a reader to the contract


def opened(
    tmp_path: Path, function: str, *, survey: bool = False, policy: str = "digest"
) -> list[tuple[Run, list[Trial]]]:
    path = put(tmp_path, log="red") / "log"
    item = Input(Source(path, shown="logs/log"), spec("red", function), Options())
    request = ReadRequest(ContentPolicy(policy), Report(), survey)
    return [(stream.run, list(stream.trials)) for stream in open_runs(item, request)]


def read_partial(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    statuses = ("completed", "evaluator_error", "harness_error", "not_run", "blocked")
    yield RunStream(
        run("a", "b"),
        iter(
            [
                *(trial(status, status=status) for status in statuses),
                trial("half", "b"),
                trial("swapped", "b", "a"),
            ]
        ),
    )


def test_every_trial_is_scored_on_every_metric_in_order(tmp_path: Path) -> None:
    ((_, trials),) = opened(tmp_path, "read_partial")
    found = {t.case_id: [(s.metric, s.state.value) for s in t.scores] for t in trials}
    missing, unmeasured = ("missing", "missing"), ("not_measured", "not_measured")
    assert found == {
        "completed": [*zip("ab", missing, strict=True)],
        "evaluator_error": [*zip("ab", missing, strict=True)],
        "harness_error": [*zip("ab", unmeasured, strict=True)],
        "not_run": [*zip("ab", unmeasured, strict=True)],
        "blocked": [*zip("ab", unmeasured, strict=True)],
        "half": [("a", "missing"), ("b", "scored")],
        "swapped": [("a", "scored"), ("b", "scored")],
    }


def test_source_is_filled_in(tmp_path: Path) -> None:
    ((found, _),) = opened(tmp_path, "read")
    assert (found.source.path, found.source.size) == ("log", 3)
    assert found.source.sha256 == Source(tmp_path / "log").sha256


def read_private(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    message = {"message": {"text": "the private prompt"}}
    yield RunStream(
        run("m", environment={"home": "/home/me/x"}, error=message),
        iter([trial("1", "m", error=message, pointer="/home/me/log.json")]),
    )


@pytest.mark.parametrize("policy", ["digest", "omit", "include"])
def test_policy_holds_for_the_run_and_its_trials(policy: str, tmp_path: Path) -> None:
    ((found, trials),) = opened(tmp_path, "read_private", policy=policy)
    text = found.model_dump_json() + trials[0].model_dump_json()
    assert ("the private prompt" in text) is (policy == "include")
    assert "/home/me" not in text


def read_extra(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    metrics = ("m", "late") if request.survey else ("m",)
    request.report.add("reader.looked", Severity.INFO, "looked")
    yield RunStream(run(*metrics), iter([trial("1", "m"), trial("2", "m", "late")]))


def read_replaced(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    metric = "new" if request.survey else "old"
    yield RunStream(run(metric), iter([trial("1", "new")]))


def read_liar(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    yield RunStream(run("m"), iter([trial("1", "other")]))


@pytest.mark.parametrize(
    ("function", "args"),
    [("read_extra", ("e", "late")), ("read_replaced", ("e", "new")), ("read_liar", ("e", "other"))],
)
def test_undeclared_metric_asks_for_a_survey(
    function: str, args: tuple[str, str], tmp_path: Path
) -> None:
    with pytest.raises(SurveyNeeded) as caught:
        opened(tmp_path, function)
    assert caught.value.args == args


def tallied(tmp_path: Path, function: str) -> tuple[list[Any], Report]:
    path = put(tmp_path, log="red") / "log"
    report = Report()
    item = Input(Source(path, shown="logs/log"), spec("red", function), Options())
    return tally_runs(item, report), report


def test_tally_starts_again_with_a_survey(tmp_path: Path) -> None:
    results, report = tallied(tmp_path, "read_extra")
    ((_, tally),) = results
    assert [m.states[ScoreState.SCORED] for m in tally.metrics] == [2, 1]
    assert [m.states[ScoreState.MISSING] for m in tally.metrics] == [0, 1]
    # What the first attempt noticed is not counted twice.
    assert [(n.code, n.count) for n in report.notices()] == [("reader.looked", 1)]


def test_reader_that_never_declares_is_broken(tmp_path: Path) -> None:
    with pytest.raises(
        BrokenPluginError,
        match=r"logs/log: reader 'red' meets \('e', 'other'\) that it does not declare, even",
    ):
        tallied(tmp_path, "read_liar")


# -- failures of a reader


def raising(error: BaseException) -> Iterator[Any]:
    raise error
    yield


FAILURES: dict[str, tuple[BaseException, type[Exception], str]] = {
    "value": (
        ValueError("boom"),
        BrokenPluginError,
        "logs/log: reader 'red' fails: ValueError: boom",
    ),
    "key": (KeyError("k"), BrokenPluginError, "logs/log: reader 'red' fails: KeyError: 'k'"),
    "os": (OSError(5, "Input/output error"), DamagedInputError, "logs/log: cannot be read: Input"),
    "deep": (RecursionError(), DamagedInputError, "logs/log: is nested too deeply"),
    "input": (UnsupportedInputError("old", source="s"), UnsupportedInputError, "s: old"),
}


def read_failing(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    name = source.head.decode()
    if name.startswith("late"):
        yield RunStream(run("m"), raising(FAILURES[name[4:]][0]))
    yield from raising(FAILURES[name][0])


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("when", ["", "late"])
def test_failure_of_a_reader_is_attributed(name: str, when: str, tmp_path: Path) -> None:
    _, kind, message = FAILURES[name]
    path = put(tmp_path, log=when + name) / "log"
    item = Input(Source(path, shown="logs/log"), spec("red", "read_failing"), Options())
    with pytest.raises(kind) as caught:
        tally_runs(item, Report())
    assert str(caught.value).startswith(message)


def read_invalid(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    yield RunStream(run("m"), (trial("1", "m", attempt=0) for _ in "x"))


def test_invalid_record_is_damage_with_a_pointer(tmp_path: Path) -> None:
    with pytest.raises(
        DamagedInputError,
        match=r"^logs/log: /attempt: Trial: Input should be greater than or equal to 1$",
    ):
        tallied(tmp_path, "read_invalid")


def test_reader_that_cannot_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(BrokenPluginError, match="cannot load"):
        tallied(tmp_path, "no_such_function")


def read_nothing(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    yield from ()


def test_input_without_a_run_has_no_tally(tmp_path: Path) -> None:
    assert tallied(tmp_path, "read_nothing")[0] == []


def test_errors_of_finding_are_input_errors(only: Any, tmp_path: Path) -> None:
    only("red")
    (error,) = find_inputs([tmp_path / "gone"], Report())
    assert isinstance(error, UnrecognizedInputError)
    assert isinstance(error, InputError)
    assert error.exit_code == 20
