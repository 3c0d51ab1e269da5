"""One word for each subject and exact version, from the latest run of each of its evaluations."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from fullcount.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fullcount.model import Run, RunTally

__all__ = ["Evaluation", "Summary", "Word", "summarize"]

Word = Literal["pass", "partial", "fail", "none"]
_COMPLETED = frozenset({"success", "unknown"})
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Evaluation:
    """The run of one evaluation that counts.

    Attributes:
        name: Suite, with its version and split where it has them.
        run_id: The run.
        time: When it ended, as far as the source says.
        tests: Trials with a verdict, the unverified among them.
        passed: Trials that passed.
        failed: Trials with a known verdict other than passed.
        unverified: Trials whose verdict could not be told.
    """

    name: str
    run_id: str
    time: datetime | None
    tests: int
    passed: int
    failed: int
    unverified: int


@dataclass(frozen=True)
class Summary:
    """What is known of one subject in one exact version.

    Attributes:
        subject: Its id.
        version: The version that the runs resolved; None where they state none.
        word: `pass`: every test passed. `partial`: some did. `fail`: none did. `none`: no test
            covers it, or nothing is known of any: an unknown, and never a failure.
        evaluations: Those that took part, by name.
        stale: Whether the subject is a draft that was edited after its newest run.
    """

    subject: str
    version: str | None
    word: Word
    evaluations: tuple[Evaluation, ...] = field(default=())
    stale: bool = False

    @property
    def tests(self) -> int:
        """Trials with a verdict, over all evaluations."""
        return sum(each.tests for each in self.evaluations)

    @property
    def passed(self) -> int:
        """Trials that passed."""
        return sum(each.passed for each in self.evaluations)

    @property
    def failed(self) -> int:
        """Trials with a known verdict other than passed."""
        return sum(each.failed for each in self.evaluations)

    @property
    def unverified(self) -> int:
        """Trials whose verdict could not be told."""
        return sum(each.unverified for each in self.evaluations)

    @property
    def newest(self) -> datetime | None:
        """When the newest of the runs ended."""
        times = [each.time for each in self.evaluations if each.time is not None]
        return max(times, default=None)

    @property
    def sentence(self) -> str:
        """The summary in words."""
        if not self.evaluations or not self.tests:
            return "no test covers it: nothing is known, and nothing failed"
        across = f"across {len(self.evaluations)} evaluation{'s' * (len(self.evaluations) != 1)}"
        parts = []
        if self.failed:
            parts.append(f"{self.failed} of {self.tests} tests failed")
        if self.unverified:
            parts.append(f"{self.unverified} of {self.tests} tests are unverified")
        if not parts:
            parts = [f"all {self.tests} tests passed"]
        stale = "; the draft was edited after its newest run" if self.stale else ""
        return f"{' and '.join(parts)} {across}{stale}"


def summarize(runs: Iterable[tuple[Run, RunTally]], wanted: Iterable[str] = ()) -> list[Summary]:
    """One summary for each subject and version of the runs, in the order of their names.

    Of several runs of one evaluation on one version only the latest completed one counts: running
    again replaces, and never adds up. A run that broke off counts for nothing.

    Args:
        runs: Runs with their tallies, in any order; of two that ended at one moment the later
            one in this order counts.
        wanted: Subjects to report, as `id` or `id@version`; one that no run covers is `none`.
            Version `latest` is the one that the newest run of the subject resolved.
    """
    found: dict[tuple[str, str | None], dict[str, tuple[Run, RunTally]]] = {}
    for run, tally in runs:
        if run.status not in _COMPLETED:
            continue
        evaluations = found.setdefault((run.subject.id, run.subject.version), {})
        name = _name(run)
        known = evaluations.get(name)
        if known is None or (_time(run) or _NEVER) >= (_time(known[0]) or _NEVER):
            evaluations[name] = (run, tally)
    summaries = {key: _summary(*key, evaluations) for key, evaluations in found.items()}
    ordered = [summaries[key] for key in sorted(summaries, key=lambda key: (key[0], key[1] or ""))]
    names = list(wanted)
    if not names:
        return ordered
    return [summary for name in names for summary in _of(name, ordered)]


def _of(name: str, summaries: list[Summary]) -> list[Summary]:
    """The summaries that a wanted subject means."""
    exact = [each for each in summaries if each.subject == name]
    if exact:
        return exact
    subject, at, version = name.rpartition("@")
    if not at:
        return [Summary(name, None, "none")]
    every = [each for each in summaries if each.subject == subject]
    if version == "latest" and every:
        return [max(every, key=lambda each: each.newest or _NEVER)]
    return [each for each in every if each.version == version] or [
        Summary(subject, version, "none")
    ]


def _name(run: Run) -> str:
    suite = run.suite
    name = suite.name if suite.split is None else f"{suite.name} [{suite.split}]"
    return name if suite.version is None else f"{name} {suite.version}"


def _time(run: Run) -> datetime | None:
    return run.completed_at or run.started_at or run.created_at


def _summary(
    subject: str, version: str | None, evaluations: dict[str, tuple[Run, RunTally]]
) -> Summary:
    counted = tuple(
        _evaluation(name, run, tally) for name, (run, tally) in sorted(evaluations.items())
    )
    tests = sum(each.tests for each in counted)
    passed = sum(each.passed for each in counted)
    failed = sum(each.failed for each in counted)
    word: Word = "none"
    if tests and passed == tests:
        word = "pass"
    elif passed:
        word = "partial"
    elif failed:
        word = "fail"
    newest = max((each.time for each in counted if each.time is not None), default=None)
    edited = [
        run.subject.modified_at
        for run, _ in evaluations.values()
        if run.subject.draft is True and run.subject.modified_at is not None
    ]
    stale = bool(edited) and newest is not None and max(edited) > newest
    return Summary(subject, version, word, counted, stale)


def _evaluation(name: str, run: Run, tally: RunTally) -> Evaluation:
    verdicts = tally.counts.verdicts
    tests = sum(verdicts.values())
    unverified = verdicts[Verdict.UNVERIFIED]
    passed = verdicts[Verdict.PASSED]
    return Evaluation(
        name, run.id, _time(run), tests, passed, tests - passed - unverified, unverified
    )
