from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from fullcount import api
from fullcount.content import ContentFilter
from fullcount.convert import Target
from fullcount.errors import DamagedInputError, InputError, UnsupportedInputError
from fullcount.notices import Report
from fullcount.pipeline import Input, tally_runs
from fullcount.plugin import ContentPolicy, Context
from fullcount.registry import load_object, readers
from fullcount.sources import Source
from fullcount.tally import TallyBuilder
from fullcount.testing import (
    CANARIES,
    CORPUS,
    ReaderContract,
    Sample,
    example,
    export_run,
    kitchen_sink,
    summary,
)
from fullcount.testing.strategies import runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fullcount.model import Run, Trial

INCLUDE = Context(content=ContentPolicy.INCLUDE)


def write(run: Run, trials: Iterable[Trial], folder: Path, context: Context = INCLUDE) -> Path:
    result = export_run(run, trials, Target.named("native", folder), context=context)
    assert result.error is None
    (path,) = folder.glob("*.fullcount.jsonl")
    return path


def same_again(run: Run, trials: tuple[Trial, ...]) -> None:
    reduce = ContentFilter(ContentPolicy.INCLUDE)
    with TemporaryDirectory() as folder:
        result = export_run(run, trials, Target.named("native", Path(folder)), context=INCLUDE)
        ((written, tally),) = result.runs
        (path,) = Path(folder).glob("*.jsonl")
        ((read, found),) = [
            (stream.run, tuple(stream.trials)) for stream in api.read(path, content="include")
        ]
        assert read == written
        assert found == tuple(map(reduce, trials))
        builder = TallyBuilder(read)
        for trial in found:
            builder.add(trial)
        assert builder.build() == tally


@pytest.mark.parametrize("name", CORPUS)
def test_corpus_is_read_back_as_it_was(name: str) -> None:
    same_again(example(name).run, example(name).trials)


@settings(max_examples=30)
@given(runs())
def test_any_run_is_read_back_as_it_was(generated: tuple[Run, tuple[Trial, ...]]) -> None:
    same_again(*generated)


def test_derived_facts_stand_beside_each_trial(tmp_path: Path) -> None:
    path = write(example("plain").run, example("plain").trials, tmp_path)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [line["type"] for line in lines] == ["run", "trial", "trial", "trial", "tally"]
    assert lines[0]["format"] == "fullcount/1"
    assert [line["verdict"] for line in lines[1:4]] == [None, None, "unverified"]
    assert [line["retry"] for line in lines[1:4]] == ["none", "none", "regrade"]
    assert lines[4]["tally"]["counts"]["total"] == 3


# -- the contract


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("native")


class TestNativeReader(ReaderContract):
    reader = "native"
    secrets = tuple(CANARIES[what] for what in ("input", "outputs", "messages", "answer", "error"))

    @pytest.fixture(autouse=True)
    def _folder(self, folder: Path) -> None:
        self._place = folder

    def samples(self) -> Iterator[Sample]:
        for name in ("plain", "statuses-and-verdicts", "kitchen-sink"):
            where = self._place / name
            found = example(name)
            if not where.exists():
                write(found.run, found.trials, where)
            (path,) = where.glob("*.jsonl")
            yield Sample(path, EXPECTED[name])

    def make_large(self, folder: Path, count: int) -> Path:
        template = example("plain").trials[0]
        return write(
            example("plain").run,
            (template.model_copy(update={"case_id": f"case-{n}"}) for n in range(count)),
            folder,
        )


EXPECTED: dict[str, list[dict[str, Any]]] = {
    "plain": [
        {
            "total": 3,
            "statuses": {"completed": 3},
            "verdicts": {"unverified": 1},
            "no_verdict": 2,
            "metrics": {"match.accuracy": {"scored": 2, "null": 1}},
        }
    ],
    "statuses-and-verdicts": [
        {
            "total": 43,
            "statuses": {
                "completed": 7,
                "subject_error": 7,
                "harness_error": 7,
                "evaluator_error": 7,
                "blocked": 7,
                "cancelled": 7,
                "not_run": 1,
            },
            "verdicts": {
                "passed": 6,
                "partial": 6,
                "failed": 6,
                "contradicted": 6,
                "disputed": 6,
                "unverified": 7,
            },
            "no_verdict": 6,
            "metrics": {"match.accuracy": {"scored": 42, "not_measured": 1}},
        }
    ],
    "kitchen-sink": [
        {
            "total": 3,
            "statuses": {"subject_error": 1, "evaluator_error": 1, "not_run": 1},
            "verdicts": {"disputed": 1, "unverified": 2},
            "metrics": {
                "judge.quality": {"scored": 1, "error": 1, "not_measured": 1},
                "judge.grade": {"scored": 1, "missing": 1, "skipped": 1},
                "exact": {"nan": 1, "null": 1, "not_applicable": 1},
            },
        }
    ],
}


# -- bad input


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(example("plain").run, example("plain").trials, tmp_path / "w").rename(
        tmp_path / "log.jsonl"
    )


def read(path: Path) -> list[dict[str, Any]]:
    spec = readers().get("native")
    item = Input(Source(path, shown="log.jsonl"), spec, spec.options())
    return [summary(tally.counts) for _, tally in tally_runs(item, Report())]


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_blank_lines_and_a_byte_order_mark_are_passed_over(log: Path) -> None:
    log.write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines_of(log)) + b"  \n")
    assert read(log) == EXPECTED["plain"]
    assert (
        load_object(readers().get("native"), "fullcount.readers.native:sniff")(Source(log)).score
        == 100
    )


def test_file_that_was_formatted_again_is_known(log: Path) -> None:
    lines = [json.dumps(json.loads(line)) for line in lines_of(log)]
    log.write_text("\n".join(lines))
    assert read(log) == EXPECTED["plain"]


def test_several_runs_in_one_file(log: Path) -> None:
    log.write_bytes(log.read_bytes() * 3)
    assert read(log) == EXPECTED["plain"] * 3


def edited(line: bytes, place: str, value: Any) -> bytes:
    record = json.loads(line)
    at, *rest = place.split("/")
    inner = record
    for key in [at, *rest][:-1]:
        inner = inner[int(key) if key.isdigit() else key]
    inner[place.rsplit("/", maxsplit=1)[-1]] = value
    return json.dumps(record).encode() + b"\n"


@pytest.mark.parametrize(
    ("number", "place", "value", "message"),
    [
        (1, "format", "fullcount/2", "line 1: format 'fullcount/2' is not read; only fullcount/1"),
        (1, "type", "trial", "line 1: a run must start here"),
        (1, "run", None, "line 1: /run/: Input should be a valid dictionary or instance of Run"),
        (1, "run/id", "", "line 1: /run/id: String should have at least 1 character"),
        (1, "run/what", 1, "line 1: /run/what: Extra inputs are not permitted"),
        (2, "type", "run", "line 2: a trial or the tally must stand here, not 'run'"),
        (2, "type", "x\x1b[0m", "line 2: a trial or the tally must stand here, not 'x\\x1b[0m'"),
        (3, "trial/attempt", 2**70, "line 3: /trial/attempt: Input should be less than"),
        (3, "trial/attempt", "x", "line 3: /trial/attempt: Input should be a valid integer"),
        (3, "trial/case_id", "\ud800", "line 3: /trial/case_id: "),
        (
            3,
            "trial/scores/0/value",
            float("nan"),
            "line 3: /trial/scores/0/value: Input should be a finite number",
        ),
        (
            3,
            "trial/scores/0/state",
            "null",
            "line 3: /trial/scores/0: Value error, state 'null' excludes a value and an outcome",
        ),
        (
            3,
            "trial/scores/0/state",
            "great",
            "line 3: /trial/scores/0/state: Input should be 'scored', 'null'",
        ),
        (
            5,
            "tally/counts/total",
            4,
            "line 5: /tally/counts/total: the run ends after 3 trials, its tally counts 4",
        ),
        (
            4,
            "trial/scores/0/metric",
            "other",
            "line 4: /trial/scores/0: the run does not declare 'match.other'",
        ),
        (5, "tally", None, "line 5: /tally/counts/total: the tally gives no total"),
    ],
)
def test_bad_record(number: int, place: str, value: Any, message: str, log: Path) -> None:
    lines = lines_of(log)
    lines[number - 1] = edited(lines[number - 1], place, value)
    log.write_bytes(b"".join(lines))
    with pytest.raises(InputError) as caught:
        read(log)
    assert str(caught.value).startswith(f"log.jsonl: {message}")
    expected = UnsupportedInputError if "is not read" in message else DamagedInputError
    assert type(caught.value) is expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "is no JSON: "),
        (b"\xff\xfe", "is no JSON: "),
        (b"[1]", "is no JSON object"),
        (b"17", "is no JSON object"),
        (b"[" * 100_000, "is no JSON: "),
        (b"1" * 10_000, "is no JSON"),
        (b'{"type": "trial"}', "/trial/: Input should be a valid dictionary"),
    ],
)
def test_line_that_is_no_record(line: bytes, message: str, log: Path) -> None:
    lines = lines_of(log)
    log.write_bytes(b"".join([*lines[:2], line + b"\n", *lines[2:]]))
    with pytest.raises(DamagedInputError) as caught:
        read(log)
    assert str(caught.value).startswith("log.jsonl: line 3: ")
    assert message in str(caught.value)


def test_line_that_was_taken_out_is_missed(log: Path) -> None:
    lines = lines_of(log)
    log.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    with pytest.raises(DamagedInputError, match="the run ends after 2 trials, its tally counts 3"):
        read(log)


def test_file_that_was_cut_short(log: Path) -> None:
    lines = lines_of(log)
    for kept in range(1, len(lines)):
        log.write_bytes(b"".join(lines[:kept]))
        with pytest.raises(DamagedInputError, match="ends before the tally of its last run"):
            read(log)
    log.write_bytes(b"")
    assert read(log) == []


def test_trials_that_nobody_reads_are_passed_over(log: Path) -> None:
    log.write_bytes(log.read_bytes() * 2)
    assert [stream.run.id for stream in api.read(log)] == ["run", "run"]


def test_kitchen_sink_is_written_without_text_by_default(tmp_path: Path) -> None:
    run, trials = kitchen_sink()
    path = write(run, trials, tmp_path, Context())
    text = path.read_text("utf-8")
    assert not any(canary in text for canary in CANARIES.values())
