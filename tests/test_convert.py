from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import pytest
from pydantic import SecretStr

from fullcount import registry
from fullcount.convert import Converted, Target, convert, default_context
from fullcount.errors import (
    BrokenPluginError,
    DamagedInputError,
    ExportError,
    FullcountError,
    LossError,
    SinkError,
    UnrecognizedInputError,
    UsageError,
    VerificationError,
)
from fullcount.model import Run, RunTally, ScoreState, Trial
from fullcount.notices import Report, Severity
from fullcount.pipeline import Input
from fullcount.plugin import (
    ContentPolicy,
    Context,
    ExporterSpec,
    Options,
    ReaderSpec,
    ReadRequest,
    RunStream,
    Sink,
    Support,
)
from fullcount.receipts import read_receipt, verify
from fullcount.sinks import DirectorySink
from fullcount.sources import Source
from fullcount.testing import example, export_run, kitchen_sink, memory_input

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

NATIVE = registry.exporters().get("native")
NOW = datetime(2026, 1, 2, tzinfo=UTC)
CONTEXT = Context(now=NOW)


def target(folder: Path, spec: ExporterSpec = NATIVE, **options: Any) -> Target:
    return Target(spec, registry.make_options(spec, options), folder, "test 1.0")


def named(name: str, **more: Any) -> tuple[Run, tuple[Trial, ...]]:
    found = example(name)
    return found.run.model_copy(update={"id": name, **more}), found.trials


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def run_all(
    inputs: Iterable[Input | FullcountError], *targets: Target, **more: Any
) -> list[Converted]:
    return list(convert(inputs, targets, CONTEXT, **more))


# -- an exporter that can do everything wrong


class FaultyOptions(Options):
    fail: Literal["", "make", "begin", "add", "end", "close", "details", "refuse"] = ""
    """Where to fail."""
    drop: bool = False
    """Whether to leave out rows with a null score."""
    name: str = "artifact.json"
    """File to write."""
    token: SecretStr = SecretStr("")
    """A secret."""


class FaultyWriter:
    def __init__(
        self, sink: Sink, options: FaultyOptions, report: Report, context: Context
    ) -> None:
        self.sink, self.options, self.report = sink, options, report
        self.counts: list[Any] = []
        self.trials = 0
        self._step("make")

    @property
    def receipt_details(self) -> dict[str, object]:
        self._step("details")
        return {"endpoint": "http://localhost:4318/v1", "accepted": self.trials}

    def begin(self, run: Run) -> None:
        self._step("begin")

    def add(self, trial: Trial) -> None:
        self._step("add")
        if self.options.fail == "refuse":
            msg = "cannot hold this"
            raise ExportError(msg)
        self.trials += 1

    def end(self, tally: RunTally) -> None:
        self._step("end")
        counts = tally.counts.model_dump(mode="json")
        if self.options.drop:
            states = counts["metrics"][0]["states"]
            gone = states.pop(ScoreState.NULL.value)
            states["null"] = 0
            counts["total"] -= gone
            counts["statuses"]["completed"] -= gone
            counts["verdicts"]["unverified"] -= gone
        self.counts.append(counts)

    def close(self) -> None:
        self._step("close")
        with self.sink.open(self.options.name) as file:
            file.write(json.dumps(self.counts).encode())

    def _step(self, where: str) -> None:
        if self.options.fail == where:
            msg = f"boom at {where}\nsecond line"
            raise RuntimeError(msg)


def recount(files: tuple[Path, ...]) -> Any:
    from fullcount.model import Counts  # noqa: PLC0415 - as an exporter would

    return tuple(
        Counts.model_validate(counts) for file in files for counts in json.loads(file.read_bytes())
    )


TESTED = ExporterSpec(
    name="tested",
    title="Tested",
    writer=f"{__name__}:FaultyWriter",
    recount=f"{__name__}:recount",
    options=FaultyOptions,
    support=NATIVE.support,
)


# -- one pass, many exporters


def test_several_exporters_are_fed_in_one_pass(tmp_path: Path) -> None:
    reads = []

    def trials() -> Iterator[Trial]:
        reads.append(1)
        yield from example("plain").trials

    item = memory_input((example("plain").run, trials))
    (result,) = run_all(
        [item],
        target(tmp_path / "native"),
        target(tmp_path / "tested", TESTED),
        target(tmp_path / "all", replace(NATIVE, name="combined", scope="source")),
    )
    assert result.error is None
    assert reads == [1]
    assert list(result.receipts) == ["native", "tested", "combined"]
    assert [tally.counts.total for _, tally in result.runs] == [3]
    for path in (result.receipts["native"],):
        assert verify(path).counts_written[0].total == 3


def test_refused_input_does_not_stop_the_others(tmp_path: Path) -> None:
    def broken() -> Iterator[Trial]:
        msg = "boom"
        raise RuntimeError(msg)
        yield

    missing = UnrecognizedInputError("no such file", source="gone.json")
    results = run_all(
        [
            memory_input(named("plain"), name="a.log"),
            missing,
            memory_input((named("plain")[0], broken), name="b.log"),
            memory_input(name="c.log"),
            memory_input(named("attempts"), name="d.log"),
        ],
        target(tmp_path),
    )
    assert [(result.shown, type(result.error).__name__) for result in results] == [
        ("a.log", "NoneType"),
        ("gone.json", "UnrecognizedInputError"),
        ("b.log", "BrokenPluginError"),
        ("c.log", "DamagedInputError"),
        ("d.log", "NoneType"),
    ]
    assert str(results[3].error) == "c.log: holds no run"
    assert len([name for name in tree(tmp_path) if name.endswith(".jsonl")]) == 2
    assert len([name for name in tree(tmp_path) if name.endswith(".receipt.json")]) == 2


@pytest.mark.parametrize("where", ["make", "begin", "add", "end", "close", "details"])
def test_failing_exporter_is_named_and_nothing_is_written(where: str, tmp_path: Path) -> None:
    (result,) = run_all(
        [memory_input(named("plain"))],
        target(tmp_path / "native"),
        target(tmp_path / "tested", TESTED, fail=where),
    )
    assert isinstance(result.error, BrokenPluginError)
    assert str(result.error) == (
        f"exporter 'tested' fails: RuntimeError: boom at {where} second line"
    )
    assert result.receipts == {}
    assert tree(tmp_path) == {}
    assert list(tmp_path.iterdir()) == []


def test_refusal_of_an_exporter_is_passed_on(tmp_path: Path) -> None:
    (result,) = run_all([memory_input(named("plain"))], target(tmp_path, TESTED, fail="refuse"))
    assert isinstance(result.error, ExportError)
    assert str(result.error) == "cannot hold this"


def test_artifact_that_loses_a_row_is_not_published(tmp_path: Path) -> None:
    (result,) = run_all([memory_input(named("plain"))], target(tmp_path / "o", TESTED, drop=True))
    assert isinstance(result.error, VerificationError)
    assert str(result.error) == (
        "exporter 'tested': run 'plain': total is 3 in the source, 2 here; nothing was written"
    )
    assert not (tmp_path / "o").exists()


def test_failing_commit_takes_back_the_other_artifacts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = target(tmp_path / "native"), target(tmp_path / "tested", TESTED)
    run_all([memory_input(named("plain"))], *targets)
    before = tree(tmp_path)
    commit = DirectorySink.commit

    def failing(sink: DirectorySink, *args: Any) -> None:
        if sink.root.name == "tested":
            msg = "disk on fire"
            raise SinkError(msg)
        commit(sink, *args)

    monkeypatch.setattr(DirectorySink, "commit", failing)
    changed = named("plain")[0], named("plain")[1][:1]
    (result,) = run_all([memory_input(changed)], *targets)
    assert str(result.error) == "disk on fire"
    assert tree(tmp_path) == before


def test_two_exporters_of_one_file(tmp_path: Path) -> None:
    other = replace(TESTED, name="other")
    (result,) = run_all(
        [memory_input(named("plain"))], target(tmp_path, TESTED), target(tmp_path, other)
    )
    assert isinstance(result.error, SinkError)
    assert "artifact.json would be written by two exporters" in str(result.error)
    assert tree(tmp_path) == {}


def test_two_exporters_share_a_folder(tmp_path: Path) -> None:
    other = replace(TESTED, name="other")
    (result,) = run_all(
        [memory_input(named("plain"))],
        target(tmp_path, TESTED),
        target(tmp_path, other, name="other.json"),
    )
    assert result.error is None
    assert {"artifact.json", "other.json"} < set(tree(tmp_path))


# -- all inputs in one artifact

COMBINED = replace(TESTED, name="combined", scope="all")


def test_combined_artifact_holds_every_input(tmp_path: Path) -> None:
    results = run_all(
        [memory_input(named(name), name=name) for name in ("plain", "attempts", "empty")],
        target(tmp_path / "all", COMBINED),
        target(tmp_path / "each"),
    )
    assert [(result.shown, result.error) for result in results] == [
        ("plain", None),
        ("attempts", None),
        ("empty", None),
        ("combined", None),
    ]
    assert [list(result.receipts) for result in results] == [["native"]] * 3 + [["combined"]]
    found = read_receipt(results[-1].receipts["combined"])
    assert [counts.run_id for counts in found.counts_written] == ["plain", "attempts", "empty"]
    assert [source.path for source in found.sources] == ["plain", "attempts", "empty"]
    assert results[-1].receipts["combined"].name == "all.receipt.json"


def test_combined_artifact_is_not_written_without_one_input(tmp_path: Path) -> None:
    def broken() -> Iterator[Trial]:
        yield example("plain").trials[0]
        msg = "boom"
        raise RuntimeError(msg)

    results = run_all(
        [
            memory_input(named("attempts"), name="a"),
            memory_input((named("plain")[0], broken), name="b"),
            memory_input(named("plain"), name="c"),
        ],
        target(tmp_path / "all", COMBINED),
        target(tmp_path / "each"),
    )
    assert [result.error is None for result in results] == [True, False, True, False]
    assert isinstance(results[-1].error, ExportError)
    assert str(results[-1].error) == "combined: not written, because an input of it was refused"
    assert not (tmp_path / "all").exists()
    assert len([name for name in tree(tmp_path) if name.endswith(".jsonl")]) == 2


def test_combined_artifact_of_nothing(tmp_path: Path) -> None:
    (result,) = run_all([], target(tmp_path / "all", COMBINED))
    assert isinstance(result.error, ExportError)
    assert str(result.error) == "combined: not written, because there is no run in it"
    assert not (tmp_path / "all").exists()


def test_combined_artifact_needs_no_second_reading(tmp_path: Path) -> None:
    item = Input(Source(put(tmp_path, "late")), reader("late"), Options())
    result, combined = run_all([item], target(tmp_path / "all", COMBINED))
    assert (result.error, combined.error) == (None, None)
    assert LATE == [True]
    LATE.clear()


def test_two_runs_of_one_id_are_both_counted(tmp_path: Path) -> None:
    results = run_all(
        [memory_input(named("plain"), name=name) for name in ("a", "b")],
        target(tmp_path, COMBINED),
    )
    assert [result.error for result in results] == [None, None, None]
    found = read_receipt(results[-1].receipts["combined"])
    assert [counts.run_id for counts in found.counts_read_back] == ["plain", "plain"]


# -- starting again with a survey

LATE: list[bool] = []


def put(folder: Path, text: str) -> Path:
    path = folder / "source.log"
    path.write_text(text)
    return path


def reader(name: str) -> ReaderSpec:
    return ReaderSpec(name, name, f"{__name__}:sniff", f"{__name__}:read_{name}")


def read_late(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    LATE.append(request.survey)
    request.report.add("late.seen", Severity.INFO, "seen")
    metrics = [{"name": "a"}, {"name": "b"}] if request.survey else [{"name": "a"}]
    run = named("plain")[0].model_dump() | {"evaluators": [{"name": "e", "metrics": metrics}]}
    score = {"evaluator": "e", "state": "scored", "value": 1.0}
    yield RunStream(
        Run.model_validate(run),
        iter(
            [
                Trial.model_validate({"case_id": "1", "scores": [{**score, "metric": "a"}]}),
                Trial.model_validate({"case_id": "2", "scores": [{**score, "metric": "b"}]}),
            ]
        ),
    )


def read_never(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    score = {"evaluator": "e", "metric": "new", "state": "null"}
    yield RunStream(
        named("plain")[0], iter([Trial.model_validate({"case_id": "1", "scores": [score]})])
    )


def test_conversion_starts_again_with_a_survey(tmp_path: Path) -> None:
    item = Input(Source(put(tmp_path, "late")), reader("late"), Options())
    (result,) = run_all([item], target(tmp_path / "out"))
    assert result.error is None
    assert LATE == [False, True]
    LATE.clear()
    ((_, tally),) = result.runs
    assert [(m.metric, m.scored, m.unverified) for m in tally.metrics] == [("a", 1, 1), ("b", 1, 1)]
    assert [(n.code, n.count) for n in result.notices] == [("late.seen", 1)]
    assert len(tree(tmp_path / "out")) == 2


def test_reader_that_never_declares(tmp_path: Path) -> None:
    item = Input(Source(put(tmp_path, "never")), reader("never"), Options())
    (result,) = run_all([item], target(tmp_path / "out"))
    assert isinstance(result.error, BrokenPluginError)
    assert "('e', 'new') that it does not declare, even after a survey" in str(result.error)
    assert not (tmp_path / "out").exists()


# -- notices and losses

LOSSY = replace(
    TESTED,
    support={**NATIVE.support, "trial.seed": Support("dropped", reason="there is no room")},
)


def test_loss_can_be_made_fatal(tmp_path: Path) -> None:
    run, trials = kitchen_sink()
    fine = export_run(run, trials, target(tmp_path / "a", LOSSY))
    assert [(n.code, n.path) for n in fine.notices] == [("field.dropped", "trial.seed")]
    warned = export_run(run, trials, target(tmp_path / "b", LOSSY), fail_on="warning")
    assert warned.error is None
    fatal = export_run(run, trials, target(tmp_path / "c", LOSSY), fail_on="loss")
    assert isinstance(fatal.error, LossError)
    assert str(fatal.error) == ("trial.seed is dropped: there is no room (field.dropped, 1 times)")
    assert [notice.code for notice in fatal.notices] == ["field.dropped"]
    assert not (tmp_path / "c").exists()


def read_warning(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    request.report.add("odd", Severity.WARNING, "odd thing in /home/me/secret/x.log")
    run, trials = named("plain")
    yield RunStream(run, iter(trials))


@pytest.mark.parametrize("fail_on", ["loss", "warning"])
def test_warning_of_a_reader_can_be_made_fatal(
    fail_on: Literal["loss", "warning"], tmp_path: Path
) -> None:
    item = Input(Source(put(tmp_path, "x")), reader("warning"), Options())
    (result,) = run_all([item], target(tmp_path / "out"), fail_on=fail_on)
    assert isinstance(result.error, LossError)
    (fine,) = run_all([item], target(tmp_path / "out"))
    assert fine.error is None
    (notice,) = read_receipt(fine.receipts["native"]).notices
    assert notice.message.startswith("odd thing in [path:")


def test_receipt_holds_no_secret_of_the_options(tmp_path: Path) -> None:
    options = {"token": "hunter2hunter2", "name": "x.json"}
    result = export_run(*named("plain"), target(tmp_path, TESTED, **options))
    (path,) = result.receipts.values()
    found = read_receipt(path)
    assert found.options["token"] == "*" * 10
    assert found.options["name"] == "x.json"
    assert found.details == {"endpoint": "http://[host]/v1", "accepted": 3}
    assert found.exporter_distribution == "test 1.0"
    assert found.converted_at == datetime(1970, 1, 1, tzinfo=UTC)


def test_receipt_says_which_policy_held(tmp_path: Path) -> None:
    for policy in ContentPolicy:
        result = export_run(
            *named("plain"), target(tmp_path / policy), context=Context(content=policy)
        )
        assert read_receipt(result.receipts["native"]).content == policy.value


def test_progress_counts_every_trial(tmp_path: Path) -> None:
    steps: list[tuple[str, int]] = []
    trial = example("plain").trials[0]
    item = memory_input((example("plain").run, lambda: [trial] * 2500), name="x")
    run_all([item], target(tmp_path), progress=lambda name, count: steps.append((name, count)))
    assert steps == [("x", 1000), ("x", 1000), ("x", 500)]


# -- targets and context


def test_target_of_an_installed_exporter(tmp_path: Path) -> None:
    found = Target.named("native", tmp_path)
    assert found.spec is NATIVE
    assert found.distribution.startswith("fullcount ")


def test_clock_can_be_set_from_outside() -> None:
    found = default_context(environ={"SOURCE_DATE_EPOCH": "86400"})
    assert found.now == datetime(1970, 1, 2, tzinfo=UTC)
    assert found.content is ContentPolicy.DIGEST
    before = datetime.now(UTC)
    assert before <= default_context(environ={}).now <= datetime.now(UTC)
    assert default_context(environ={"SOURCE_DATE_EPOCH": "-1"}).now.year == 1969


@pytest.mark.parametrize("value", ["", "soon", "1.5", "1e99", "9" * 30])
def test_clock_that_is_no_number(value: str) -> None:
    with pytest.raises(UsageError, match=r"^SOURCE_DATE_EPOCH is '.*', not a number of seconds"):
        default_context(environ={"SOURCE_DATE_EPOCH": value})


def test_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "60")
    assert default_context().now == datetime(1970, 1, 1, 0, 1, tzinfo=UTC)


def test_input_that_is_damaged_is_refused(tmp_path: Path) -> None:
    (result,) = run_all([memory_input()], target(tmp_path / "out"))
    assert isinstance(result.error, DamagedInputError)
    assert result.error.exit_code == 21


def test_results_come_one_by_one_and_can_be_left(tmp_path: Path) -> None:
    inputs = (memory_input(named("plain"), name=name) for name in ("a", "b"))
    results = convert(inputs, [target(tmp_path / "out", COMBINED)], CONTEXT)
    assert next(results).shown == "a"
    results.close()
    assert not (tmp_path / "out").exists()
