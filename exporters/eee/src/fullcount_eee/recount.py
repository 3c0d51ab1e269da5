"""Counts read back from the typed numbers of aggregate files."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fullcount.errors import VerificationError, quoted
from fullcount.model import Counts, MetricCounts, ScoreState, TrialStatus, Verdict
from fullcount_eee import quantities as q
from fullcount_eee.names import SAMPLES_SUFFIX
from fullcount_eee.results import result_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["recount"]

_ID = b'"evaluation_result_id":"'
_END_OF_ID = b'","'


def recount(files: tuple[Path, ...]) -> tuple[Counts, ...]:
    """The counts of every run, from `score_details.score` of its companion results.

    Sums that the file holds beside their parts must agree with them, and every mean and the
    verdict must have as many rows in the samples file as they claim.

    Raises:
        VerificationError: A file is not as the exporter writes it, or does not add up.
    """
    return tuple(
        _Aggregate(path).counts() for path in files if not path.name.endswith(SAMPLES_SUFFIX)
    )


class _Aggregate:
    """One aggregate file, and the numbers in it by what they are about."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._document: dict[str, Any] = json.loads(path.read_bytes())
            details = self._document["source_metadata"]["additional_details"]
            self._run_id: str = details["run_id"]
            results = self._document["evaluation_results"]
            self._metrics: dict[tuple[str, str], dict[str, int]] = {}
            self._trials: dict[str, int] = {}
            self._verdicts: dict[str, int] = {}
            for index, result in enumerate(results):
                self._take(index, result)
        except OSError as error:
            raise self._refused(f"cannot be read: {error.strerror or error}") from error
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            problem = f"is no aggregate file of this exporter: {type(error).__name__} {error}"
            raise self._refused(problem) from error

    def counts(self) -> Counts:
        try:
            counts = Counts(
                run_id=self._run_id,
                total=self._trials["n_total"],
                statuses={status: self._trials[f"n_status_{status}"] for status in TrialStatus},
                verdicts={verdict: self._verdicts[f"n_{verdict}"] for verdict in Verdict},
                no_verdict=self._verdicts["n_none"],
                metrics=tuple(
                    MetricCounts(
                        evaluator=evaluator,
                        metric=metric,
                        states={state: numbers[f"n_state_{state}"] for state in ScoreState},
                    )
                    for (evaluator, metric), numbers in self._metrics.items()
                ),
            )
            for metric in counts.metrics:
                self._agree(metric)
        except KeyError as error:
            raise self._refused(f"holds no result for the count {error}") from error
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            raise self._refused(f"does not add up: {first['msg']}") from error
        if "detailed_evaluation_results" in self._document:
            self._check_rows(counts)
        return counts

    def _take(self, index: int, result: Mapping[str, Any]) -> None:
        about = result["metric_config"].get("additional_details", {})
        scope, quantity = about.get("scope"), about.get("quantity")
        if scope == "metric":
            known: Iterable[str] = q.METRIC_COUNTS
            place = self._metrics.setdefault((about["evaluator"], about["metric"]), {})
        elif scope == "trials":
            known, place = q.TRIAL_COUNTS, self._trials
        elif scope == "verdict":
            known, place = q.VERDICT_COUNTS, self._verdicts
        else:
            return
        if quantity not in known:
            return
        number = result["score_details"]["score"]
        if isinstance(number, bool) or not isinstance(number, (int, float)) or number % 1:
            where = f"evaluation_results[{index}].score_details.score"
            raise self._refused(f"{where} is {quoted(number)}, not a number of trials")
        if quantity in place:
            raise self._refused(f"evaluation_results[{index}] gives {quoted(quantity)} again")
        place[quantity] = int(number)

    def _agree(self, metric: MetricCounts) -> None:
        numbers = self._metrics[metric.evaluator, metric.metric]
        if numbers["n_valued"] > metric.scored:
            raise self._refused(f"{metric.name}: more trials have a number than are scored")
        for name, number in q.metric_counts(metric, numbers["n_valued"]).items():
            if numbers[name] != number:
                problem = f"{metric.name}: {name} is {numbers[name]}, its parts add up to {number}"
                raise self._refused(problem)

    def _check_rows(self, counts: Counts) -> None:
        rows = self._rows()
        expected = {
            result_id("metric", evaluator, metric, q.MEAN.name): numbers["n_valued"]
            for (evaluator, metric), numbers in self._metrics.items()
        }
        expected[result_id("verdict", q.VERDICT_LEVEL.name)] = sum(counts.verdicts.values())
        claimed = self._document["detailed_evaluation_results"]["total_rows"]
        if rows.total() != claimed:
            raise self._refused(f"claims {claimed} rows, the samples file has {rows.total()}")
        for name in rows.keys() | expected.keys():
            if rows[name] != expected.get(name, 0):
                problem = (
                    f"{name} has {expected.get(name, 0)} values here and {rows[name]} rows in the "
                    "samples file"
                )
                raise self._refused(problem)

    def _rows(self) -> Counter[str]:
        """Rows of the samples file by the result that they belong to."""
        path = self._path.with_name(self._path.stem + SAMPLES_SUFFIX)
        found: Counter[bytes] = Counter()
        try:
            with path.open("rb") as file:
                for line in file:
                    # A quote inside a JSON string is escaped, so this is the field itself.
                    start = line.index(_ID) + len(_ID)
                    found[line[start : line.index(_END_OF_ID, start)]] += 1
        except OSError as error:
            raise self._refused(f"{path.name}: cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise self._refused(f"{path.name}: a row names no result") from error
        return Counter({json.loads(b'"%b"' % name): count for name, count in found.items()})

    def _refused(self, problem: str) -> VerificationError:
        return VerificationError(f"{self._path.name}: {problem}")
