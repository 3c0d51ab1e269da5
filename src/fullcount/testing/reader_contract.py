"""What every reader is held to.

from fullcount.testing import ReaderContract, Sample

class TestMine(ReaderContract):
    reader = "mine"

    def samples(self):
        return [Sample(DATA / "small.json", ({"total": 2, ...},))]
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fullcount import registry
from fullcount import tally as tally_module
from fullcount.errors import InputError, OptionError
from fullcount.notices import Report
from fullcount.pipeline import Input, find_inputs, open_runs, tally_runs
from fullcount.plugin import ContentPolicy, ReaderSpec, ReadRequest, SurveyNeeded
from fullcount.sources import Source
from fullcount.testing.resources import HEAVY, imported_by, peak_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fullcount.model import Counts, Run, Trial

__all__ = ["ReaderContract", "Sample", "summary"]

_BOM = b"\xef\xbb\xbf"
_TEXT = frozenset({".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".yaml", ".yml", ".txt"})
_CUTS = 50
_FOREIGN: dict[str, bytes] = {
    "empty.json": b"",
    "blank.jsonl": b"\n\n\n",
    "object.json": b"{}",
    "array.json": b"[]",
    "rows.jsonl": b'{"a": 1}\n{"a": 2}\n',
    "results.json": b'{"results": [1, 2], "version": "x"}',
    "number.json": b"17",
    "table.csv": b"name,score\na,1\n",
    "note.md": b"# Results\n\naccuracy: 0.9\n",
    "image.png": b"\x89PNG\r\n\x1a\n" + bytes(64),
    "empty.zip": b"PK\x05\x06" + bytes(18),
    "data.parquet": b"PAR1" + bytes(64) + b"PAR1",
    "data.gz": b"\x1f\x8b\x08\x00" + bytes(32),
    "zeros.eval": bytes(4096),
    "binary.bin": bytes(range(256)) * 16,
    "utf16.json": '{"a": 1}'.encode("utf-16"),
    "deep.json": b"[" * 10_000,
}
"""Files that hold no evaluation result at all."""


@dataclass(frozen=True)
class Sample:
    """A log, and what is in it.

    Attributes:
        path: The file or folder.
        expected: The `summary` of the counts of each of its runs, in order.
        options: Options to read it with.
        beside: Files of its folder that are read together with it.
    """

    path: Path
    expected: Sequence[Mapping[str, Any]]
    options: Mapping[str, Any] = field(default_factory=dict)
    beside: Sequence[Path] = ()


def summary(counts: Counts) -> dict[str, Any]:
    """Counts without their zeros and without the run's id, to be written down by hand.

    Such as `{"total": 3, "statuses": {"completed": 3}, "no_verdict": 3, "metrics":
    {"match.accuracy": {"scored": 2, "null": 1}}}`.
    """

    def nonzero(values: Mapping[Any, int]) -> dict[str, int]:
        return {str(key): count for key, count in values.items() if count}

    verdicts = {"verdicts": nonzero(counts.verdicts), "no_verdict": counts.no_verdict}
    return {
        "total": counts.total,
        "statuses": nonzero(counts.statuses),
        **{name: value for name, value in verdicts.items() if value},
        "metrics": {metric.name: nonzero(metric.states) for metric in counts.metrics},
    }


class ReaderContract:
    """Subclass it with a name that begins with `Test`, and give the reader and samples.

    Attributes:
        reader: Name of an installed reader, or its spec.
        secrets: Private texts that stand in the samples: prompts, outputs, messages.
        examples: How many damaged files are tried for each sample.
        memory_slack: Bytes by which the memory of a long log may exceed that of a short one
            beyond 1.3 times.
    """

    reader: ClassVar[str | ReaderSpec]
    secrets: ClassVar[Sequence[str]] = ()
    examples: ClassVar[int] = 60
    memory_slack: ClassVar[int] = 1 << 20

    def samples(self) -> Iterable[Sample]:
        """Small logs, and what is in them."""
        raise NotImplementedError

    def make_large(self, folder: Path, count: int) -> Path:
        """Hook: write a log of so many trials to a folder, and give its path."""
        del folder, count
        pytest.skip("make_large is not overridden")

    def make_duplicates(self, folder: Path) -> Sample:
        """Hook: write a log in which a record replaces an earlier one."""
        del folder
        pytest.skip("make_duplicates is not overridden")

    # -- what the tests use

    @property
    def spec(self) -> ReaderSpec:
        """The reader's spec."""
        if isinstance(self.reader, str):
            return registry.readers().get(self.reader)
        return self.reader

    def input(self, path: Path, options: Mapping[str, Any] | None = None) -> Input:
        """A file or folder, to be read by this reader."""
        return Input(Source(path), self.spec, registry.make_options(self.spec, options or {}))

    def counts(self, path: Path, options: Mapping[str, Any] | None = None) -> list[Counts]:
        """The counts of every run in a log."""
        return [tally.counts for _, tally in tally_runs(self.input(path, options), Report())]

    def read(
        self,
        path: Path,
        options: Mapping[str, Any] | None = None,
        policy: ContentPolicy = ContentPolicy.DIGEST,
        *,
        survey: bool = True,
    ) -> list[tuple[Run, list[Trial]]]:
        """Every run of a log with all of its trials."""
        request = ReadRequest(policy, Report(), survey)
        streams = open_runs(self.input(path, options), request)
        return [(stream.run, list(stream.trials)) for stream in streams]

    # -- sniffing

    def test_sniff_claims_its_samples(self) -> None:
        """Each sample is taken for this reader's, and for nobody else's."""
        for sample in self.samples():
            if not isinstance(self.reader, str):
                confidence = registry.load_object(self.spec, self.spec.sniff)(Source(sample.path))
                assert confidence.score > 0, sample.path
                continue
            found = list(find_inputs([sample.path], Report(), options=sample.options))
            assert [
                item.reader.name if isinstance(item, Input) else str(item) for item in found
            ] == [self.reader], sample.path

    def test_sniff_leaves_other_files(self, tmp_path: Path) -> None:
        """No file that holds something else is claimed."""
        sniff = registry.load_object(self.spec, self.spec.sniff)
        for name, data in _FOREIGN.items():
            (tmp_path / name).write_bytes(data)
        for name in _FOREIGN:
            assert sniff(Source(tmp_path / name)).score == 0, name
        (tmp_path / "folder").mkdir()
        assert sniff(Source(tmp_path / "folder")).score == 0

    # -- counts

    def test_counts(self) -> None:
        """Every sample gives the counts that are known of it."""
        for sample in self.samples():
            found = [summary(counts) for counts in self.counts(sample.path, sample.options)]
            assert found == [dict(run) for run in sample.expected], sample.path

    def test_reading_twice_gives_the_same(self) -> None:
        """Runs, trials and ids depend on nothing but the log."""
        for sample in self.samples():
            once = self.read(sample.path, sample.options)
            assert self.read(sample.path, sample.options) == once

    def test_survey_changes_no_trial(self) -> None:
        """A reader that needs no survey gives the same without it."""
        for sample in self.samples():
            try:
                plain = self.read(sample.path, sample.options, survey=False)
                counts = [Counter(trial.status for trial in trials) for _, trials in plain]
            except SurveyNeeded:
                continue
            surveyed = self.read(sample.path, sample.options)
            assert [Counter(t.status for t in trials) for _, trials in surveyed] == counts
            # A survey may find metrics that are declared and never scored, never the reverse.
            for (run, trials), (again, others) in zip(plain, surveyed, strict=True):
                if run.metric_keys == again.metric_keys:
                    assert trials == others

    def test_duplicates(self, tmp_path: Path) -> None:
        """The record that replaces another is counted, and the other is not."""
        sample = self.make_duplicates(tmp_path)
        found = [summary(counts) for counts in self.counts(sample.path, sample.options)]
        assert found == [dict(run) for run in sample.expected]

    # -- damage

    def test_truncated_logs(self, tmp_path: Path) -> None:
        """A log cut short is refused, or gives no more scores than the whole."""
        for number, sample in enumerate(self.samples()):
            whole = self.counts(sample.path, sample.options)
            copy, victims = _copy(sample, tmp_path / str(number))
            for victim in victims:
                data = victim.read_bytes()
                for cut in range(_CUTS):
                    victim.write_bytes(data[: len(data) * cut // _CUTS])
                    try:
                        counts = self.counts(copy, sample.options)
                    except InputError:
                        continue
                    assert len(counts) <= len(whole)
                    for part, all_of_it in zip(counts, whole, strict=False):
                        scored = {metric.name: metric.scored for metric in all_of_it.metrics}
                        for metric in part.metrics:
                            assert metric.scored <= scored.get(metric.name, 0), (victim, cut)
                victim.write_bytes(data)

    def test_damaged_logs(self) -> None:
        """A log with bytes changed is refused or read: nothing else is raised."""
        for sample in self.samples():
            with TemporaryDirectory() as folder:
                copy, victims = _copy(sample, Path(folder))
                for victim in victims:
                    self._try_damage(copy, victim, sample.options)

    def _try_damage(self, copy: Path, victim: Path, options: Mapping[str, Any]) -> None:
        data = victim.read_bytes()

        @settings(
            max_examples=self.examples,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(
            st.lists(
                st.tuples(st.integers(0, max(len(data) - 1, 0)), st.binary(max_size=3)),
                min_size=1,
                max_size=3,
            )
        )
        def check(changes: list[tuple[int, bytes]]) -> None:
            damaged = data
            for place, new in changes:
                damaged = damaged[:place] + new + damaged[place + max(len(new), 1) :]
            victim.write_bytes(damaged)
            with contextlib.suppress(InputError):
                self.counts(copy, options)

        check()
        victim.write_bytes(data)

    def test_byte_order_mark(self, tmp_path: Path) -> None:
        """A text file is read the same with a byte order mark in front."""
        for number, sample in enumerate(self.samples()):
            copy, _ = _copy(sample, tmp_path / str(number))
            marked = False
            for path in [copy] if copy.is_file() else sorted(copy.rglob("*")):
                if path.suffix in _TEXT and path.is_file():
                    data = path.read_bytes()
                    path.write_bytes(data if data.startswith(_BOM) else _BOM + data)
                    marked = True
            if marked:
                found = [summary(counts) for counts in self.counts(copy, sample.options)]
                assert found == [dict(run) for run in sample.expected], sample.path

    def test_file_that_is_gone(self, tmp_path: Path) -> None:
        """A log that is not there is an error about the input."""
        with pytest.raises(InputError):
            self.counts(tmp_path / "gone.json")

    # -- privacy

    @pytest.mark.parametrize("policy", list(ContentPolicy))
    def test_private_text_leaves_only_when_asked(self, policy: ContentPolicy) -> None:
        """The secrets of the samples are given under `include`, and else not."""
        if not self.secrets:
            pytest.skip("the samples name no secrets")
        found: set[str] = set()
        for sample in self.samples():
            for run, trials in self.read(sample.path, sample.options, policy):
                text = "\n".join(record.model_dump_json() for record in (run, *trials))
                # As it stands in JSON, without the quotes.
                found |= {
                    secret
                    for secret in self.secrets
                    if json.dumps(secret, ensure_ascii=False)[1:-1] in text
                }
        assert found == (set(self.secrets) if policy is ContentPolicy.INCLUDE else set())

    def test_no_path_of_this_machine(self, tmp_path: Path) -> None:
        """Where the log lies is in no run and no trial."""
        for number, sample in enumerate(self.samples()):
            copy, _ = _copy(sample, tmp_path / f"private-place-{number}")
            for run, trials in self.read(copy, sample.options, ContentPolicy.INCLUDE):
                for record in (run, *trials):
                    assert "private-place-" not in record.model_dump_json()
                assert not (run.source.path or "").startswith("/")

    # -- options and cost

    def test_unknown_option_is_refused(self) -> None:
        """An option that does not exist is an error."""
        with pytest.raises(OptionError, match="has no option 'no_such_option'"):
            registry.make_options(self.spec, {"no_such_option": "1"})

    def test_every_option_is_explained(self) -> None:
        """Help needs a line for each option, and a default."""
        for name, info in self.spec.options.model_fields.items():
            assert info.description, name
            assert not info.is_required(), name

    def test_reader_imports_no_harness(self) -> None:
        """Importing the reader imports nothing heavy, and no harness."""
        module = self.spec.reader.partition(":")[0]
        allowed = {"ijson", "zstandard", *(need.module for need in self.spec.requires)}
        harnesses = {"inspect_ai", "lm_eval", "helm", "promptfoo", "pydantic_evals"}
        assert imported_by(module) & ((HEAVY | harnesses) - allowed) == set()

    def test_memory_does_not_grow(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Ten times as many trials take no more memory."""
        monkeypatch.setattr(tally_module, "EXACT_CASES", 64)
        monkeypatch.setattr(tally_module, "BUCKETS", 64)
        for size in (10, 2_000, 20_000):
            (tmp_path / str(size)).mkdir()
        paths = {n: self.make_large(tmp_path / str(n), n) for n in (10, 2_000, 20_000)}
        self.counts(paths[10])
        totals: dict[int, int] = {}

        def count(size: int) -> None:
            totals[size] = sum(counts.total for counts in self.counts(paths[size]))

        short, long = (peak_memory(partial(count, size)) for size in (2_000, 20_000))
        assert totals == {2_000: 2_000, 20_000: 20_000}
        assert long < 1.3 * short + self.memory_slack, f"{short} bytes, then {long}"


def _copy(sample: Sample, folder: Path) -> tuple[Path, list[Path]]:
    """A copy of a log; and the largest file in it and its main one, which may be the same."""
    path = sample.path
    folder.mkdir(exist_ok=True)
    if path.is_dir():
        copy = Path(shutil.copytree(path, folder / path.name))
        files = sorted(file for file in copy.rglob("*") if file.is_file())
        return copy, [max(files, key=lambda file: file.stat().st_size)]
    files = [Path(shutil.copy(file, folder / file.name)) for file in (path, *sample.beside)]
    largest = max(files, key=lambda file: file.stat().st_size)
    return files[0], sorted({largest, files[0]})
