"""What every exporter is held to.

from fullcount.testing import ExporterContract

class TestMine(ExporterContract):
    exporter = "mine"
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from fullcount import registry
from fullcount import tally as tally_module
from fullcount.convert import Converted, Target, convert
from fullcount.errors import BrokenPluginError, OptionError, SinkError, VerificationError
from fullcount.losses import support_keys
from fullcount.model import (
    Counts,
    Run,
    Trial,
    digest_text,
)
from fullcount.plugin import ContentPolicy, Context, ExporterSpec
from fullcount.receipts import read_receipt, verify
from fullcount.testing.checks import Faults, count_trials, losses, probes, tree
from fullcount.testing.corpus import CORPUS, example
from fullcount.testing.kitchen import CANARIES, kitchen_sink
from fullcount.testing.memory import export_run, memory_input
from fullcount.testing.planting import SECRETS, planted
from fullcount.testing.resources import HEAVY, imported_by, peak_memory
from fullcount.testing.strategies import runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fullcount.testing.memory import Trials

__all__ = ["ExporterContract"]

_NOW = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)
_PACKED = (b"PAR1", b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"BZh")


class ExporterContract:
    """Subclass it with a name that begins with `Test`, and say which exporter is meant.

    Attributes:
        exporter: Name of an installed exporter, or its spec.
        options: Options that the exporter needs.
        examples: How many generated runs are tried.
        memory_slack: Bytes by which the memory of a long run may exceed that of a short one
            beyond 1.3 times: what the exporter holds back on purpose, such as a row group.
    """

    exporter: ClassVar[str | ExporterSpec]
    options: ClassVar[Mapping[str, Any]] = {}
    examples: ClassVar[int] = 20
    memory_slack: ClassVar[int] = 1 << 20

    def validate_artifact(self, folder: Path) -> None:
        """Hook: check an artifact further, such as against the target's own schema."""

    def plain_bytes(self, path: Path) -> bytes:
        """Hook: a file's content as bytes in which a text of the run can be found.

        An exporter that writes compressed files unpacks them here.
        """
        data = path.read_bytes()
        assert not data.startswith(_PACKED), f"plain_bytes must unpack {path.name}"
        return data

    # -- what the tests use

    @property
    def spec(self) -> ExporterSpec:
        """The exporter's spec."""
        if isinstance(self.exporter, str):
            return registry.exporters().get(self.exporter)
        return self.exporter

    def target(self, folder: Path) -> Target:
        """The exporter, writing to a folder."""
        return Target(self.spec, registry.make_options(self.spec, self.options), folder)

    def export(
        self,
        run: Run,
        trials: Trials,
        folder: Path,
        policy: ContentPolicy = ContentPolicy.DIGEST,
    ) -> Converted:
        """Convert a run, which must succeed."""
        context = Context(now=_NOW, content=policy)
        result = export_run(run, trials, self.target(folder), context=context)
        if result.error is not None:
            raise AssertionError(str(result.error)) from result.error
        return result

    def counts_in(self, result: Converted) -> list[Counts]:
        """The counts that the published files give back."""
        (receipt,) = result.receipts.values()
        root = receipt.parents[2]
        files = tuple(root / record.path for record in read_receipt(receipt).files)
        return list(registry.load_object(self.spec, self.spec.recount)(files))

    # -- counts

    @pytest.mark.parametrize("name", CORPUS)
    def test_counts_come_back(self, name: str, tmp_path: Path) -> None:
        """The artifact's own fields give every count of every run of the corpus."""
        run, trials = example(name).run, example(name).trials
        result = self.export(run, trials, tmp_path)
        assert self.counts_in(result) == [count_trials(result.runs[0][0], trials)]
        self.validate_artifact(tmp_path)

    def test_counts_of_any_run_come_back(self) -> None:
        """So they do for generated runs."""

        @settings(
            max_examples=self.examples,
            deadline=None,
            database=None,
            derandomize=True,
            # What explains a failure runs it some hundred times more.
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(runs())
        def check(generated: tuple[Run, tuple[Trial, ...]]) -> None:
            run, trials = generated
            with TemporaryDirectory() as folder:
                result = self.export(run, trials, Path(folder))
                assert self.counts_in(result) == [count_trials(result.runs[0][0], trials)]
                self.validate_artifact(Path(folder))

        check()

    def test_runs_of_one_source_are_kept_apart(self, tmp_path: Path) -> None:
        """Two runs in one source, and two with nothing to tell them apart but their ids."""
        pairs = [example(name) for name in ("plain", "all-unverified", "plain", "empty")]
        numbered = [
            (e.run.model_copy(update={"id": f"run-{n}"}), e.trials) for n, e in enumerate(pairs)
        ]
        item = memory_input(*numbered)
        results = list(convert([item], [self.target(tmp_path)], Context(now=_NOW)))
        assert [result.error for result in results] == [None] * len(results)
        found = {counts.run_id: counts for counts in self.counts_in(results[-1])}
        assert found == {run.id: count_trials(run, trials) for run, trials in numbered}
        self.validate_artifact(tmp_path)

    # -- determinism

    @pytest.mark.parametrize("name", ["kitchen-sink", "unicode", "attempts", "many-evaluators"])
    def test_same_run_gives_same_bytes(self, name: str, tmp_path: Path) -> None:
        """Neither the clock, the folder nor chance is in the artifact."""
        run, trials = example(name).run, example(name).trials
        self.export(run, trials, tmp_path / "one")
        self.export(run, trials, tmp_path / "two" / "deep")
        assert tree(tmp_path / "two" / "deep") == tree(tmp_path / "one")

    def test_same_run_gives_same_bytes_in_any_process(self) -> None:
        """Nor is the order of a set."""
        if not isinstance(self.exporter, str):
            pytest.skip("only an installed exporter can be called in another process")
        request = json.dumps([self.exporter, dict(self.options)])
        code = f"from {__name__} import print_digests; print_digests({request!r})"
        found = {_run_python(code, PYTHONHASHSEED=seed) for seed in ("1", "2")}
        assert len(found) == 1
        assert json.loads(found.pop())

    def test_second_conversion_replaces_the_first(self, tmp_path: Path) -> None:
        """Doing it again leaves one artifact, as if it had been done once."""
        run, trials = example("kitchen-sink").run, example("kitchen-sink").trials
        self.export(run, trials, tmp_path / "once")
        self.export(run, trials, tmp_path / "again")
        result = self.export(run, trials, tmp_path / "again")
        assert tree(tmp_path / "again") == tree(tmp_path / "once")
        verify(*result.receipts.values())

    # -- atomicity

    @pytest.mark.parametrize("after", [0, 1, 3])
    def test_failing_source_leaves_what_was_there(self, after: int, tmp_path: Path) -> None:
        """When reading fails half way, nothing or the old artifact is there."""
        run, trials = example("plain").run, example("plain").trials

        def failing() -> Iterator[Trial]:
            yield from trials[:after]
            msg = "the source breaks"
            raise RuntimeError(msg)

        for before in (False, True):
            folder = tmp_path / str(before)
            if before:
                self.export(run, trials, folder)
            kept = tree(folder)
            result = export_run(run, failing, self.target(folder), context=Context(now=_NOW))
            assert isinstance(result.error, BrokenPluginError)
            assert tree(folder) == kept
            assert folder.exists() is before

    def test_full_disk_leaves_what_was_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Wherever the disk is full, nothing or the old artifact is there."""
        trials = example("kitchen-sink").trials
        run = example("kitchen-sink").run
        faults = Faults(monkeypatch)
        self.export(run, trials, tmp_path / "old")
        old, calls = tree(tmp_path / "old"), faults.calls
        assert calls > 0
        step = max(1, calls // 8)
        for number in sorted({*range(1, calls + 1, step), calls}):
            for folder, kept in ((tmp_path / "new", {}), (tmp_path / "old", old)):
                faults.fail_at(number)
                result = export_run(run, trials, self.target(folder), context=Context(now=_NOW))
                faults.fail_at(None)
                assert isinstance(result.error, SinkError), f"operation {number} of {calls}"
                assert "No space left" in str(result.error)
                assert tree(folder) == kept
        assert not (tmp_path / "new").exists()

    # -- options

    def test_unknown_option_is_refused(self) -> None:
        """A misspelt option is an error that names the right one."""
        names = registry.option_names(self.spec)
        if not names:
            with pytest.raises(OptionError, match="it has none"):
                registry.make_options(self.spec, {"no_such_option": "1"})
            return
        name = max(names, key=len)
        with pytest.raises(OptionError, match=f"did you mean '{name}'"):
            registry.make_options(self.spec, {f"{name}q": "1"})

    def test_every_option_is_explained(self) -> None:
        """Help needs a line for each option, and a default."""
        for name, field in self.spec.options.model_fields.items():
            assert field.description, name
            assert not field.is_required(), name

    # -- privacy

    @pytest.mark.parametrize("policy", [ContentPolicy.DIGEST, ContentPolicy.OMIT])
    def test_private_text_stays(self, policy: ContentPolicy, tmp_path: Path) -> None:
        """No prompt, output, message, answer or explanation is in any file."""
        run, trials = kitchen_sink()
        self.export(run, trials, tmp_path, policy)
        files = self._plain(tmp_path)
        for what, text in CANARIES.items():
            for probe in probes(text):
                found = [path for path, data in files.items() if probe in data]
                assert found == [], f"{what} is in {found} under {policy.value}"
        if policy is ContentPolicy.OMIT:
            digests = {digest_text(text).encode() for text in CANARIES.values()}
            found = [path for path, data in files.items() if any(d in data for d in digests)]
            assert found == []

    def test_digests_are_those_of_the_text(self, tmp_path: Path) -> None:
        """Where a target carries a text, `digest` gives the SHA-256 of the real one."""
        run, trials = kitchen_sink()
        self.export(run, trials, tmp_path, ContentPolicy.DIGEST)
        joined = b"\n".join(self._plain(tmp_path).values())
        for field, what in (
            ("content.input", "input"),
            ("content.references", "references"),
            ("content.choices", "choices"),
            ("content.outputs", "outputs"),
            ("score.answer", "answer"),
            ("score.explanation", "explanation"),
        ):
            parent = {"content": "trial.content", "score": "trial.scores"}[field.partition(".")[0]]
            kinds = {self.spec.support[key].kind for key in (field, parent)}
            if kinds <= {"carried", "renamed"}:
                assert digest_text(CANARIES[what]).encode() in joined, field

    @pytest.mark.parametrize("policy", list(ContentPolicy))
    def test_paths_and_credentials_stay(self, policy: ContentPolicy, tmp_path: Path) -> None:
        """A path or key in a name, an id or any field of the run is in no file."""
        run, trials = planted(*kitchen_sink())
        self.export(run, trials, tmp_path, policy)
        for path, data in self._plain(tmp_path).items():
            for secret in SECRETS:
                assert secret.encode() not in data, f"{secret} is in {path} under {policy.value}"

    # -- losses

    def test_support_table_is_complete(self) -> None:
        """The table speaks of every field of the model, and of nothing else."""
        assert sorted(self.spec.support) == support_keys()

    def test_losses_are_noticed(self, tmp_path: Path) -> None:
        """Every field that the table gives up raises its notice, and no other does."""
        run, trials = kitchen_sink()
        result = self.export(run, trials, tmp_path, ContentPolicy.INCLUDE)
        raised = {
            (notice.code, notice.path)
            for notice in result.notices
            if notice.code in ("field.dropped", "field.approximated")
        }
        assert raised == losses(self.spec)

    # -- cost

    def test_spec_is_light(self) -> None:
        """Importing the spec imports neither the writer nor anything heavy."""
        if not isinstance(self.exporter, str):
            pytest.skip("only an installed exporter has a module of its own")
        (point,) = entry_points(group=registry.EXPORTERS, name=self.exporter)
        modules = imported_by(point.module)
        heavy = {*HEAVY, *(requirement.module for requirement in self.spec.requires)}
        assert modules & heavy == set()
        writer = self.spec.writer.partition(":")[0]
        assert writer == point.module or writer not in modules

    def test_memory_does_not_grow(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Ten times as many trials take no more memory, the recount included."""
        # The tally keeps cases apart up to a limit; with a low one it is constant, too.
        monkeypatch.setattr(tally_module, "EXACT_CASES", 64)
        monkeypatch.setattr(tally_module, "BUCKETS", 64)
        run = example("plain").run

        def made(count: int) -> Iterator[Trial]:
            template = example("plain").trials[0].model_dump()
            for number in range(count):
                yield Trial.model_validate({**template, "case_id": f"case-{number}"})

        self.export(run, lambda: made(10), tmp_path / "warm")
        short, long = (
            peak_memory(partial(self.export, run, partial(made, count), tmp_path / str(count)))
            for count in (2_000, 20_000)
        )
        assert long < 1.3 * short + self.memory_slack, f"{short} bytes, then {long}"

    # -- verification

    def test_verification_finds_every_change(self, tmp_path: Path) -> None:
        """An artifact passes as it is, and fails with one byte changed or a file missing."""
        run, trials = example("kitchen-sink").run, example("kitchen-sink").trials
        (receipt,) = self.export(run, trials, tmp_path).receipts.values()
        assert verify(receipt) == read_receipt(receipt)
        for record in read_receipt(receipt).files:
            path = tmp_path / record.path
            whole = path.read_bytes()
            for place in {0, len(whole) // 2, len(whole) - 1}:
                changed = bytearray(whole)
                changed[place] ^= 1
                path.write_bytes(changed)
                with pytest.raises(VerificationError, match="was changed"):
                    verify(receipt)
            path.unlink()
            with pytest.raises(VerificationError, match="cannot be read"):
                verify(receipt)
            path.write_bytes(whole)
        assert verify(receipt) == read_receipt(receipt)

    def _plain(self, folder: Path) -> dict[str, bytes]:
        """Every file by its name, and the names themselves."""
        files = {name: self.plain_bytes(folder / name) for name in tree(folder)}
        return {**files, "(names)": "\n".join(files).encode()}


def _run_python(code: str, **environment: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def print_digests(request: str) -> None:
    """Print the digest of every file of an artifact: what another process writes."""
    exporter, options = json.loads(request)
    contract = type("Contract", (ExporterContract,), {"exporter": exporter, "options": options})()
    digests = {}
    for name in ("kitchen-sink", "unicode", "names"):
        with TemporaryDirectory() as folder:
            contract.export(example(name).run, example(name).trials, Path(folder))
            for path, data in tree(Path(folder)).items():
                digests[f"{name}/{path}"] = hashlib.sha256(data).hexdigest()
    print(json.dumps(digests))  # noqa: T201 - it is read from there
