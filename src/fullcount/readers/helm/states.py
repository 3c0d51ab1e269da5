"""What the requests of a run say about its trials: failures, judges, text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fullcount.content import excerpt, sample_hash
from fullcount.errors import DamagedInputError
from fullcount.plugin import ContentPolicy
from fullcount.readers._fields import as_dict, as_list, as_number
from fullcount.readers._json import walk_object
from fullcount.readers.helm.statistics import key_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fullcount.readers.helm.statistics import Key
    from fullcount.sources import Source

__all__ = ["STATES", "Jury", "Requests", "content_fields", "juries", "requests"]

STATES = "scenario_state.json"


class Jury:
    """A metric of `LLMJuryMetric`, which scores 0 where every judge failed.

    Args:
        metric: The statistic that it writes.
        annotator: Where its annotations stand.
        models: Its judges.
    """

    def __init__(self, metric: str, annotator: str, models: list[str]) -> None:
        self.metric = metric
        self.models = models
        self._annotator = annotator

    def failed(self, annotations: Any) -> bool:
        """Whether no judge gave a score."""
        given = annotations.get(self._annotator) if isinstance(annotations, dict) else None
        if not isinstance(given, dict):
            return True
        return all(given.get(model) is None for model in self.models)


def juries(run_spec: dict[str, Any]) -> list[Jury]:
    """The juries among the metrics of a run."""
    found = []
    for spec in as_list(run_spec.get("metric_specs")):
        if isinstance(spec, dict) and str(spec.get("class_name", "")).endswith("LLMJuryMetric"):
            arguments = spec.get("args")
            if isinstance(arguments, dict) and isinstance(arguments.get("annotator_models"), dict):
                found.append(
                    Jury(
                        str(arguments.get("metric_name")),
                        str(arguments.get("scenario_name")),
                        list(arguments["annotator_models"]),
                    )
                )
    return found


def requests(source: Source, path: Path) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Every request of a run with the trial that it belongs to.

    Raises:
        DamagedInputError: The file is not what it must be.
    """
    with path.open("rb") as file:
        for part in walk_object(file, {"request_states"}, source=source.shown, member=path.name):
            if part.kind == "item":
                yield _key(part.value, source, path.name), part.value


def _key(state: Any, source: Source, member: str) -> Key:
    try:
        instance = state["instance"]
        trial = state.get("train_trial_index", 0)
        return key_of(instance["id"], instance.get("perturbation"), trial)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise DamagedInputError(
            "a request must name its instance",
            source=source.shown,
            member=member,
            pointer="/request_states/*/instance/id",
        ) from error


class Requests:
    """What the requests say of each trial, gathered in one pass over them.

    Attributes:
        failures: What a failed request says, by its trial.
        lost: Metrics whose judges all failed, by trial.
        splits: Every trial that there is a request for, and the split of its instance.
    """

    def __init__(self, source: Source, path: Path, found: list[Jury]) -> None:
        self.failures: dict[Key, str] = {}
        self.lost: dict[Key, set[str]] = {}
        self.splits: dict[Key, str] = {}
        for key, state in requests(source, path):
            self.splits.setdefault(key, str(state["instance"].get("split") or ""))
            result = state.get("result")
            if isinstance(result, dict) and result.get("success") is False:
                self.failures.setdefault(key, str(result.get("error") or ""))
            for jury in found:
                if jury.failed(state.get("annotations")):
                    self.lost.setdefault(key, set()).add(jury.metric)


def content_fields(state: dict[str, Any], policy: ContentPolicy) -> dict[str, Any]:
    """The fields of a `Trial` that one of its requests gives."""
    instance = state["instance"]
    text = _text(instance.get("input"))
    fields: dict[str, Any] = {}
    result = state.get("result")
    if isinstance(result, dict) and not result.get("cached"):
        duration = as_number(result.get("request_time"))
        if duration is not None and duration >= 0:
            fields["duration"] = duration
    if text is None:
        return fields
    references = list(map(as_dict, as_list(instance.get("references"))))
    correct = [
        output
        for reference in references
        if "correct" in as_list(reference.get("tags"))
        and (output := _text(reference.get("output"))) is not None
    ]
    fields["sample_hash"] = sample_hash(text, correct)
    if policy is ContentPolicy.OMIT:
        return fields
    content: dict[str, Any] = {
        "input": excerpt(text, policy),
        "references": [excerpt(part, policy) for part in correct],
    }
    if policy is ContentPolicy.INCLUDE:
        choices = [_text(reference.get("output")) for reference in references]
        if len(choices) > 1:
            content["choices"] = [excerpt(part, policy) for part in choices if part is not None]
        outputs = map(_text, as_list(as_dict(result).get("completions")))
        content["outputs"] = [excerpt(part, policy) for part in outputs if part is not None]
    fields["content"] = content
    return fields


def _text(value: Any) -> str | None:
    text = value.get("text") if isinstance(value, dict) else None
    return text if isinstance(text, str) else None
