"""The Inspect reader keeps the contract, in both forms of a log."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from fullcount.testing import ReaderContract, Sample

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SECRET = "whisper-it-quietly"  # noqa: S105 - a text that must not leave


class InspectContract(ReaderContract):
    reader = "inspect"
    secrets: ClassVar = (SECRET,)
    examples = 30

    def write(self, log: Any, folder: Path) -> Path:
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def _prepare(self, kit: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
        self.kit = kit
        self.folder = tmp_path_factory.mktemp("logs")

    def samples(self) -> Iterable[Sample]:
        kit = self.kit
        log = kit.Log(
            [
                kit.sample("a", "C", input=SECRET, score={"explanation": SECRET}),
                kit.sample("b", math.nan),
                kit.sample("c", ...),
                kit.sample("d", ..., error=f"ValueError('{SECRET}')"),
            ],
            ids=["a", "b", "c", "d", "e"],
            scores=[kit.reported()],
        )
        yield Sample(
            self.write(log, self.folder),
            [
                {
                    "total": 5,
                    "statuses": {"completed": 3, "harness_error": 1, "not_run": 1},
                    "verdicts": {"passed": 1, "unverified": 4},
                    "metrics": {"match": {"scored": 1, "nan": 1, "missing": 1, "not_measured": 2}},
                }
            ],
        )

    def make_large(self, folder: Path, count: int) -> Path:
        kit = self.kit
        samples = [kit.sample(f"case-{number}", "C") for number in range(count)]
        return self.write(kit.Log(samples, ids=[], scores=[kit.reported()]), folder)

    def make_duplicates(self, folder: Path) -> Sample:
        kit = self.kit
        log = kit.Log(
            [kit.sample("a", "I"), kit.sample("a", "C", uuid="later")],
            ids=["a"],
            scores=[kit.reported()],
            results={"total_samples": 1},
        )
        expected = {
            "total": 1,
            "statuses": {"completed": 1},
            "verdicts": {"passed": 1},
            "metrics": {"match": {"scored": 1}},
        }
        return Sample(self.write(log, folder), [expected])


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")  # zipfile, of what is tested
class TestArchive(InspectContract):
    memory_slack = 4 << 20  # the windows of a member and of its text fill only in a long log

    def write(self, log: Any, folder: Path) -> Path:
        return log.archive(folder / "log.eval")


class TestDocument(InspectContract):
    def write(self, log: Any, folder: Path) -> Path:
        return log.document(folder / "log.json")
