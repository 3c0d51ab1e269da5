"""The contract suite fails for what breaks the contract, and for nothing else."""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from fullcount import registry
from fullcount.errors import BrokenPluginError, DamagedInputError
from fullcount.losses import support_keys
from fullcount.model import Run, Trial
from fullcount.notices import Severity
from fullcount.plugin import (
    Confidence,
    ContentPolicy,
    ExporterSpec,
    Options,
    ReaderSpec,
    ReadRequest,
    RunStream,
    Support,
)
from fullcount.testing import (
    CORPUS,
    ExporterContract,
    ReaderContract,
    Sample,
    example,
    kitchen_sink,
)
from fullcount.testing.checks import losses
from fullcount.testing.strategies import runs
from fullcount_native.writer import NativeWriter
from fullcount_native.writer import recount as native_recount

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from fullcount.sources import Source

NATIVE = registry.exporters().get("native")


def recount(files: tuple[Path, ...]) -> Any:
    return native_recount(tuple(file for file in files if file.name.endswith(".jsonl")))


class Writer(NativeWriter):
    """A writer that behaves, with a second file to misbehave in."""

    def __init__(self, sink: Any, options: Any, report: Any, context: Any) -> None:
        super().__init__(sink, options, report, context)
        self.report = report

    def add_file(self, data: bytes, name: str = "extra.txt") -> None:
        with self._sink.open(name) as file:
            file.write(data)


class Dropping(Writer):
    def add(self, trial: Trial) -> None:
        if all(score.state != "null" for score in trial.scores):
            super().add(trial)


class Clock(Writer):
    def close(self) -> None:
        self.add_file(str(time.perf_counter_ns()).encode())
        super().close()


class Folder(Writer):
    def close(self) -> None:
        self.add_file(str(self._sink.root).encode())
        super().close()


class Hoarding(Writer):
    def begin(self, run: Run) -> None:
        self.kept: list[Trial] = []
        super().begin(run)

    def add(self, trial: Trial) -> None:
        self.kept.append(trial)
        super().add(trial)


class Direct(Writer):
    def begin(self, run: Run) -> None:
        (self._sink.root / "direct.txt").write_text("early")
        super().begin(run)


class Packed(Writer):
    def close(self) -> None:
        self.add_file(gzip.compress(b"x", mtime=0), "extra.gz")
        super().close()


class Talking(Writer):
    def begin(self, run: Run) -> None:
        self.report.add("field.dropped", Severity.LOSS, "seed is lost", path="trial.seed")
        super().begin(run)


class Unexplained(Options):
    colour: str = "red"


class Needing(Options):
    colour: str
    """A colour."""


def spec(writer: type[Writer] = Writer, **more: Any) -> ExporterSpec:
    return replace(
        NATIVE,
        writer=f"{__name__}:{writer.__name__}",
        recount=f"{__name__}:recount",
        **more,
    )


def contract(of: ExporterSpec, **more: Any) -> ExporterContract:
    return type("Some", (ExporterContract,), {"exporter": of, **more})()


NO_ROOM = Support("dropped", reason="no room")
EXPORTER_CASES: dict[str, tuple[ExporterSpec, Callable[[ExporterContract, Any, Any], None]]] = {
    "dropping": (spec(Dropping), lambda c, t, m: c.test_counts_come_back("plain", t)),
    "dropping-two": (
        spec(Dropping),
        lambda c, t, m: c.test_runs_of_one_source_are_kept_apart(t),
    ),
    "clock": (spec(Clock), lambda c, t, m: c.test_same_run_gives_same_bytes("unicode", t)),
    "clock-again": (spec(Clock), lambda c, t, m: c.test_second_conversion_replaces_the_first(t)),
    "folder": (spec(Folder), lambda c, t, m: c.test_same_run_gives_same_bytes("unicode", t)),
    "hoarding": (spec(Hoarding), lambda c, t, m: c.test_memory_does_not_grow(t, m)),
    "direct": (spec(Direct), lambda c, t, m: c.test_failing_source_leaves_what_was_there(1, t)),
    "direct-disk": (spec(Direct), lambda c, t, m: c.test_full_disk_leaves_what_was_there(t, m)),
    "packed": (spec(Packed), lambda c, t, m: c.test_private_text_stays(ContentPolicy.DIGEST, t)),
    "talking": (spec(Talking), lambda c, t, m: c.test_losses_are_noticed(t)),
    "table": (
        spec(support={k: v for k, v in NATIVE.support.items() if k != "trial.seed"}),
        lambda c, t, m: c.test_support_table_is_complete(),
    ),
    "table-more": (
        spec(support={**NATIVE.support, "trial.no_such": NO_ROOM}),
        lambda c, t, m: c.test_support_table_is_complete(),
    ),
    "unexplained": (
        spec(options=Unexplained),
        lambda c, t, m: c.test_every_option_is_explained(),
    ),
    "needing": (spec(options=Needing), lambda c, t, m: c.test_every_option_is_explained()),
}


@pytest.mark.parametrize("name", EXPORTER_CASES)
def test_exporter_that_breaks_the_contract_fails_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, check = EXPORTER_CASES[name]
    with pytest.raises(AssertionError):
        check(contract(broken), tmp_path / "broken", monkeypatch)
    monkeypatch.undo()
    check(contract(spec()), tmp_path / "fine", monkeypatch)


def test_exporter_may_drop_what_it_says_it_drops(tmp_path: Path) -> None:
    table = {**NATIVE.support, "trial.content": NO_ROOM}
    contract(spec(support=table)).test_losses_are_noticed(tmp_path)


def test_artifact_hook_is_called(tmp_path: Path) -> None:
    seen = []
    checked = contract(spec(), validate_artifact=lambda self, folder: seen.append(folder))
    checked.test_counts_come_back("plain", tmp_path)
    assert seen == [tmp_path]


def test_expected_losses_stop_at_a_dropped_field() -> None:
    table = {**NATIVE.support, "trial.content": NO_ROOM, "content.input": NO_ROOM}
    assert losses(replace(NATIVE, support=table)) == {("field.dropped", "trial.content")}
    everything = dict.fromkeys(support_keys(), Support("approximated", "x", "x"))
    assert losses(replace(NATIVE, support=everything)) == {
        ("field.approximated", key) for key in support_keys()
    }


# -- a reader of lines such as `case,0.5`, good and bad


def sniff(source: Source) -> Confidence:
    return Confidence(90 if source.head.removeprefix(b"\xef\xbb\xbf").startswith(b"#toy") else 0)


def sniff_all(source: Source) -> Confidence:
    return Confidence(1)


def lines_of(source: Source) -> Iterator[tuple[int, str]]:
    with source.open() as file:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode("utf-8-sig").rstrip("\n")
            except ValueError as error:
                raise DamagedInputError("is no UTF-8", source=source.shown, line=number) from error
            if not text.startswith("#"):
                yield number, text


def toy_run() -> Run:
    return example("plain").run


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    yield RunStream(toy_run(), trials(source))


def trials(source: Source) -> Iterator[Trial]:
    for number, text in lines_of(source):
        case, _, value = text.partition(",")
        try:
            score = {"state": "scored", "value": float(value)} if value else {"state": "null"}
            score |= {"evaluator": "match", "metric": "accuracy"}
            trial = Trial.model_validate({"case_id": case, "scores": [score]})
        except ValueError as error:
            raise DamagedInputError(
                "is no case and number", source=source.shown, line=number
            ) from error
        yield trial


def read_careless(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    for _, text in lines_of(source):
        float(text.partition(",")[2] or 0)
    yield from read(source, options, request)


def read_hoarding(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    yield RunStream(toy_run(), iter(list(trials(source))))


def read_zeroing(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    zero = {"value": 0.0, "state": "scored"}
    yield RunStream(
        toy_run(),
        (
            trial
            if trial.scores[0].value is not None
            else trial.model_copy(update={"scores": (trial.scores[0].model_copy(update=zero),)})
            for trial in trials(source)
        ),
    )


def read_telling(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    secret = {"subject": toy_run().subject.model_copy(update={"name": "a"})}
    yield RunStream(toy_run().model_copy(update=secret), trials(source))


CALLS: Counter[str] = Counter()


def read_changing(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    CALLS["read"] += 1
    yield RunStream(toy_run().model_copy(update={"id": f"r{CALLS['read']}"}), trials(source))


def toy(read: str = "read", sniff: str = "sniff") -> ReaderSpec:
    return ReaderSpec("toy", "Toy", f"{__name__}:{sniff}", f"{__name__}:{read}")


TOY_COUNTS = {
    "total": 3,
    "statuses": {"completed": 3},
    "verdicts": {"unverified": 1},
    "no_verdict": 2,
    "metrics": {"match.accuracy": {"scored": 2, "null": 1}},
}


class TestToyReader(ReaderContract):
    reader = toy()
    examples = 30

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.put(tmp_path_factory.mktemp("toy"))

    def put(self, folder: Path) -> None:
        self.path = folder / "toy.csv"
        self.path.write_text("#toy\na,0.5\nb,\nc,1\n")

    def samples(self) -> Iterator[Sample]:
        yield Sample(self.path, [TOY_COUNTS])

    def make_large(self, folder: Path, count: int) -> Path:
        path = folder / "large.csv"
        path.write_text("#toy\n" + "".join(f"case-{n},1\n" for n in range(count)))
        return path


READER_CASES: dict[str, tuple[ReaderSpec, Callable[[Any, Path, Any], None]]] = {
    "careless": (toy("read_careless"), lambda c, t, m: c.test_damaged_logs()),
    "hoarding": (toy("read_hoarding"), lambda c, t, m: c.test_memory_does_not_grow(t, m)),
    "zeroing": (toy("read_zeroing"), lambda c, t, m: c.test_counts()),
    "claiming": (toy(sniff="sniff_all"), lambda c, t, m: c.test_sniff_leaves_other_files(t)),
    "changing": (
        toy("read_changing"),
        lambda c, t, m: c.test_reading_twice_gives_the_same(),
    ),
    "telling": (
        toy("read_telling"),
        lambda c, t, m: c.test_private_text_leaves_only_when_asked(ContentPolicy.OMIT),
    ),
}


@pytest.mark.parametrize("name", READER_CASES)
def test_reader_that_breaks_the_contract_fails_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, check = READER_CASES[name]
    made = type("Some", (TestToyReader,), {"reader": broken, "secrets": ("a",)})()
    made.put(tmp_path)
    (tmp_path / "work").mkdir()
    with pytest.raises((AssertionError, BrokenPluginError)):
        check(made, tmp_path / "work", monkeypatch)


# -- corpus, kitchen sink and strategies


@pytest.mark.parametrize("name", CORPUS)
def test_corpus_is_valid(name: str) -> None:
    found = example(name)
    assert found.name == name
    assert Run.model_validate(found.run.model_dump()) == found.run
    for trial in found.trials:
        assert Trial.model_validate(trial.model_dump()) == trial
        assert tuple((s.evaluator, s.metric) for s in trial.scores) == found.run.metric_keys


def test_kitchen_sink_is_made_anew() -> None:
    assert kitchen_sink() == kitchen_sink()
    assert kitchen_sink()[0] is not kitchen_sink()[0]


@settings(max_examples=25)
@given(runs())
def test_generated_runs_keep_their_promise(generated: tuple[Run, tuple[Trial, ...]]) -> None:
    run, found = generated
    for trial in found:
        assert tuple((s.evaluator, s.metric) for s in trial.scores) == run.metric_keys
    names = [(trial.case_id, trial.attempt) for trial in found]
    assert len(set(names)) == len(names)


def test_suite_says_what_it_needs() -> None:
    code = "import sys; sys.modules['pytest'] = None\nimport fullcount.testing"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: fullcount.testing needs pytest and hypothesis; run: pip" in done.stderr


def test_contract_is_used_from_another_project(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "from fullcount.testing import ExporterContract\n"
        "class TestMine(ExporterContract):\n"
        "    exporter = 'native'\n"
        "    examples = 3\n"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "-W", "error"),
            *("-p", "no:cacheprovider", "-n", "2", "-k", "corpus or plain or option or any_run"),
            str(tmp_path),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
