"""From a sample, whole or as its summary, to a trial."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt, sample_hash
from fullcount.errors import quoted
from fullcount.model import Score
from fullcount.plugin import ContentPolicy, SurveyNeeded
from fullcount.readers._fields import as_count, as_number, as_time
from fullcount.readers.inspect.runs import exception_name, usage_fields
from fullcount.readers.inspect.texts import content_fields, input_text, references

if TYPE_CHECKING:
    from fullcount.readers.inspect.logs import Record
    from fullcount.readers.inspect.values import Given, Values
    from fullcount.sources import Source

__all__ = [
    "LIMITS",
    "Mapper",
    "case_fields",
    "case_name",
    "identity",
    "outcome",
    "scores_of",
]

LIMITS: dict[str, tuple[str, str]] = {
    "context": ("subject_error", "context_limit"),
    "cost": ("subject_error", "cost_limit"),
    "custom": ("subject_error", "custom_limit"),
    "message": ("subject_error", "message_limit"),
    "operator": ("cancelled", "operator"),
    "time": ("subject_error", "timeout"),
    "token": ("subject_error", "token_limit"),
    "turn": ("subject_error", "turn_limit"),
    "working": ("subject_error", "timeout"),
}
"""Status and reason for each kind of limit that ends a sample."""

_CANCELLED = ("CancelledError", "Cancelled(")
_ENDINGS = frozenset({"error", "error_retries", "limit", "retries"})


def identity(record: Record, source: Source) -> tuple[Any, int]:
    """(id, epoch) of a record, checked for what its trial is made of.

    Raises:
        DamagedInputError: Something is missing or of another type.
    """
    value = record.value
    if type(value) is not dict:
        raise record.damaged(f"must be a sample, not {quoted(value)}", source)
    sample_id, epoch = value.get("id"), value.get("epoch", 1)
    if type(sample_id) is not str and type(sample_id) is not int:
        raise record.damaged(f"must be a sample's id, not {quoted(sample_id)}", source, "id")
    if type(epoch) is not int or not 0 < epoch < 2**63:
        raise record.damaged(f"must be an epoch from 1, not {quoted(epoch)}", source, "epoch")
    for name, kinds, wanted in _NEEDED:
        if name in value and type(value[name]) not in kinds:
            problem = f"must be {wanted}, not {quoted(value[name])}"
            raise record.damaged(problem, source, name)
    return sample_id, epoch


_NONE = type(None)
_NEEDED = (
    ("scores", (dict, _NONE), "an object of scores"),
    ("error", (str, dict, _NONE), "an error"),
    ("limit", (str, dict, _NONE), "a limit"),
)


def case_name(sample_id: Any, ambiguous: frozenset[str]) -> str:
    """A case's id as text; a text that reads like another case's number is quoted."""
    text = str(sample_id)
    return json.dumps(text) if text in ambiguous and type(sample_id) is str else text


def case_fields(sample_id: Any, ambiguous: frozenset[str]) -> dict[str, Any]:
    """The fields that name a case."""
    fields = {"case_id": case_name(sample_id, ambiguous)}
    return fields if type(sample_id) is str else fields | {"case_id_type": "number"}


def scores_of(record: dict[str, Any], only: str) -> dict[str, Any]:
    """The entries of a record by scorer.

    Args:
        record: The sample or its summary.
        only: The scorer that the single entry of log version 1 belongs to.
    """
    scores = record.get("scores")
    if scores is not None:
        return scores  # type: ignore[no-any-return]
    score = record.get("score")
    return {} if score is None else {only: score}


def outcome(record: dict[str, Any]) -> tuple[dict[str, str], bool, Any]:
    """What a sample and its summary agree on: values, whether it failed, and its limit."""
    values = {
        scorer: repr(entry.get("value") if isinstance(entry, dict) else entry)
        for scorer, entry in scores_of(record, "").items()
    }
    return values, record.get("error") is not None, _limit(record)


def _limit(record: dict[str, Any]) -> Any:
    given = record.get("limit")
    return given.get("type") if isinstance(given, dict) else given


class Mapper:
    """Makes the fields of trials of one run.

    Args:
        metrics: Every metric of each scorer, in the run's order.
        values: Reads scores.
        policy: How much text leaves.
        score_on_error: Whether the run scores samples that failed.
        ambiguous: Ids that are there both as a number and as text.
    """

    def __init__(
        self,
        metrics: dict[str, list[str]],
        values: Values,
        policy: ContentPolicy,
        *,
        score_on_error: bool,
        ambiguous: frozenset[str],
    ) -> None:
        self._metrics = metrics
        self._order = {
            (scorer, metric): index
            for index, (scorer, metric) in enumerate(
                (scorer, metric) for scorer, names in metrics.items() for metric in names
            )
        }
        self._only = next(iter(metrics), "")
        self._values = values
        self._policy = policy
        self._score_on_error = score_on_error
        self.ambiguous = ambiguous

    def without_record(
        self, named: dict[str, Any], epoch: int, reason: str, state: str
    ) -> dict[str, Any]:
        """The fields of a trial that was planned and left no record."""
        return named | {
            "attempt": epoch,
            "status": "not_run",
            "status_reason": reason,
            "scores": [
                self._values.absent(scorer, metric, state, reason if state == "skipped" else None)
                for scorer, metric in self._order
            ],
        }

    def fields(
        self, record: dict[str, Any], sample_id: Any, epoch: int, pointer: str, *, exact: bool
    ) -> dict[str, Any]:
        """The fields of a trial.

        Args:
            record: The sample or its summary.
            sample_id: Its id.
            epoch: Its epoch.
            pointer: Where it stands.
            exact: Whether its input and target are the real ones.

        Raises:
            SurveyNeeded: It is scored on a metric that the run does not declare.
        """
        fields = case_fields(sample_id, self.ambiguous)
        fields["attempt"] = epoch
        fields["pointer"] = pointer
        entries = scores_of(record, self._only)
        if not record.keys().isdisjoint(_ENDINGS):
            self._ending(fields, record, entries)
        fields["scores"] = self._scores(record, entries, fields)
        uuid = record.get("uuid")
        if isinstance(uuid, str) and uuid:
            fields["trace"] = {"record_id": uuid}
        _take_measures(fields, record)
        text = input_text(record) if exact else None
        targets = references(record) if exact else []
        if text is not None:
            fields["sample_hash"] = sample_hash(text, targets)
        content = content_fields(record, text, targets, self._policy)
        if content:
            fields["content"] = content
        return fields

    def _ending(
        self, fields: dict[str, Any], record: dict[str, Any], entries: dict[str, Any]
    ) -> None:
        """Status, reason, error and limit of a sample that did not simply end."""
        limit = _limit(record)
        if isinstance(limit, str) and limit:
            fields["limit"] = limit
            default = ("subject_error", f"{limit}_limit")
            fields["status"], fields["status_reason"] = LIMITS.get(limit, default)
        error = record.get("error")
        earlier = record.get("error_retries")
        retries = len(earlier) if isinstance(earlier, list) else as_count(record.get("retries"))
        found: dict[str, Any] = {"retries": retries} if retries else {}
        if error is not None:
            message = error if isinstance(error, str) else error.get("message")
            message = message if isinstance(message, str) else ""
            if message:
                found["type"] = exception_name(message)
                found["message"] = excerpt(message, self._policy)
            if message.startswith(_CANCELLED):
                fields["status"], fields["status_reason"] = "cancelled", "cancelled"
            elif entries and len(entries) < len(self._metrics) and not self._score_on_error:
                # Scoring had begun: the earlier scorers left their scores.
                fields["status"], fields["status_reason"] = "evaluator_error", "scorer_error"
            else:
                fields["status"], fields["status_reason"] = "harness_error", "sample_error"
        if found:
            fields["error"] = found

    def _scores(
        self, record: dict[str, Any], entries: dict[str, Any], fields: dict[str, Any]
    ) -> list[Given]:
        found: list[Given | None] = [None] * len(self._order)
        order = self._order
        for scorer, entry in entries.items():
            metrics = self._metrics.get(scorer)
            if metrics is None:
                raise SurveyNeeded(scorer)
            for metric, score in self._values.scores(scorer, entry, metrics):
                try:
                    found[order[scorer, metric]] = score
                except KeyError:
                    raise SurveyNeeded(scorer, metric) from None
        if None in found:
            state = _ABSENT.get(fields.get("status", "completed"), "missing")
            for (scorer, metric), index in order.items():
                if found[index] is None:
                    # A scorer that gave some of its metrics has left out the others.
                    left_out = scorer in entries
                    found[index] = self._values.absent(
                        scorer, metric, "missing" if left_out else state
                    )
        scores = [score for score in found if score is not None]
        if record.get("invalidation") is not None:
            fields["invalidated"] = True
            scores = [_void(score) for score in scores]
        return scores


def _take_measures(fields: dict[str, Any], record: dict[str, Any]) -> None:
    """Times and usage."""
    for name in ("started_at", "completed_at"):
        given = record.get(name)
        if given:
            moment = as_time(given)
            if moment is not None:
                fields[name] = moment
    for name, key in (("duration", "total_time"), ("working_time", "working_time")):
        given = record.get(key)
        if given is not None:
            value = as_number(given)
            if value is not None and value >= 0:
                fields[name] = value
    usage = record.get("model_usage")
    if usage and isinstance(usage, dict):
        fields["usage"] = usage_fields(usage.values())


_ABSENT = {
    "harness_error": "not_measured",
    "cancelled": "not_measured",
    "evaluator_error": "error",
}


def _void(score: Given) -> dict[str, Any]:
    """A score that an invalidated sample cannot have; what it was stays as `raw`."""
    fields = score.model_dump() if isinstance(score, Score) else score
    kept = ("evaluator", "metric", "raw", "raw_type")
    return {name: fields[name] for name in kept if name in fields} | {
        "state": "not_measured",
        "reason": "invalidated",
    }
