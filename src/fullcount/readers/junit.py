"""Reads JUnit XML, as pytest and others write it.

A test case is a trial, and the one evaluator is the test. A `failure` failed; an `error` is the
test's environment and measured nothing; a `skipped` was not sought. A case whose test passed and
whose teardown failed comes twice from pytest: it is one trial, passed and in error. Counts in
attributes are kept as reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from fullcount.content import excerpt
from fullcount.errors import DamagedInputError, one_line
from fullcount.model import Run, Trial
from fullcount.plugin import Confidence, ReaderSpec, RunStream
from fullcount.readers._fields import as_count, as_time, error_type, validated
from fullcount.readers._seen import Attempts, Seen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.plugin import ContentPolicy, Options, ReadRequest
    from fullcount.sources import Source

__all__ = ["SPEC", "read", "sniff"]

SPEC = ReaderSpec(
    name="junit",
    title="JUnit XML",
    sniff="fullcount.readers.junit:sniff",
    reader="fullcount.readers.junit:read",
    versions="as pytest 9 and surefire write it",
)

_NAME = "test"
_CHUNK = 1 << 16
_LONGEST_TEXT = 1 << 20
_COUNTS = ("tests", "failures", "errors", "skipped")


def sniff(source: Source) -> Confidence:
    """A document whose first element is a test suite."""
    head = source.head[:4096]
    return Confidence(90, "testsuite") if b"<testsuite" in head else Confidence(0)


def read(source: Source, options: Options, request: ReadRequest) -> Iterator[RunStream]:
    """One run for the whole document.

    Raises:
        DamagedInputError: It is no XML, or declares a document type.
    """
    del options
    first: dict[str, str] = {}
    counts = dict.fromkeys(_COUNTS, 0)
    attempts = Attempts()
    repeated = _repeated(source, counts, first, attempts)
    run = validated(
        Run,
        {
            "id": f"junit-{source.sha256[:16]}",
            "source": {"format": "junit"},
            "harness": {"name": first.get("name") or "junit"},
            "subject": {"id": "unknown"},
            "suite": {"name": first.get("name") or source.path.stem},
            "evaluators": [
                {
                    "name": _NAME,
                    "kind": "rule",
                    "metrics": [{"name": _NAME, "minimum": 0.0, "maximum": 1.0}],
                }
            ],
            "started_at": as_time(first.get("timestamp")),
            "reported_counts": counts,
            "findings": _teardowns(counts["tests"], len(repeated)),
        },
    )
    yield RunStream(run, _trials(source, request.content, repeated, attempts))


def _teardowns(tests: int, repeated: int) -> list[dict[str, Any]]:
    if not repeated:
        return []
    message = (
        f"the suites say that there are {tests} tests; {repeated} of them stand there twice, the "
        "second time for an error after the test"
    )
    return [{"code": "reported.repeated", "message": message, "count": repeated}]


def _repeated(
    source: Source, counts: dict[str, int], first: dict[str, str], attempts: Attempts
) -> dict[str, dict[str, Any]]:
    """Cases that are there again as an error: pytest writes a failed teardown as such a one.

    Whatever comes again otherwise is another attempt.
    """
    seen = Seen()
    errors: dict[str, dict[str, Any]] = {}
    for kind, value in _events(source):
        if kind == "suite":
            if not first:
                first.update(value)
            for name in _COUNTS:
                count = as_count(int(value[name])) if value.get(name, "").isdecimal() else None
                counts[name] += count or 0
            continue
        case = _case(value)
        seen.add(Seen.key(case))
        if value.get("error") is not None:
            errors[case] = value
    repeated = seen.repeated()
    found = {case: value for case, value in errors.items() if Seen.key(case) in repeated}
    for kind, value in _events(source):
        if kind == "case" and found.get(case := _case(value)) != value:
            attempts.note(case)
    return found


def _trials(
    source: Source,
    policy: ContentPolicy,
    repeated: dict[str, dict[str, Any]],
    attempts: Attempts,
) -> Iterator[Trial]:
    for kind, value in _events(source):
        if kind != "case":
            continue
        case = _case(value)
        later = repeated.get(case)
        if later == value:
            continue
        fields = _fields(value if later is None else {**value, "error": later["error"]}, policy)
        if later is not None and value.get("failure") is None and value.get("error") is None:
            fields["scores"] = [_score("scored", 1.0, "passed")]
        yield validated(Trial, fields | {"case_id": case, "attempt": attempts.next(case)})


def _fields(value: dict[str, Any], policy: ContentPolicy) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    message = value.get("error")
    if message is not None:
        fields = {
            "status": "harness_error",
            "status_reason": "test_error",
            "error": {"type": error_type(message), "message": excerpt(message, policy)},
            "scores": [_score("not_measured")],
        }
    elif value.get("failure") is not None:
        score = _score("scored", 0.0, "failed")
        explanation = excerpt(value["failure"], policy)
        fields["scores"] = [score | ({"explanation": explanation} if explanation else {})]
    elif value.get("skipped") is not None:
        fields = {
            "status": "not_run",
            "status_reason": "skipped",
            "scores": [_score("skipped")],
        }
    else:
        fields["scores"] = [_score("scored", 1.0, "passed")]
    try:
        seconds = float(value["attributes"].get("time", "nan"))
    except ValueError:
        return fields
    return fields | ({"duration": seconds} if 0 <= seconds < float("inf") else {})


def _score(state: str, value: float | None = None, outcome: str | None = None) -> dict[str, Any]:
    fields: dict[str, Any] = {"evaluator": _NAME, "metric": _NAME, "state": state}
    return fields if value is None else fields | {"value": value, "outcome": outcome}


def _case(value: dict[str, Any]) -> str:
    attributes = value["attributes"]
    parts = (attributes.get("classname"), attributes.get("name"))
    return ".".join(part for part in parts if part) or "unnamed"


class _Handler:
    """Collects one test case at a time."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self._case: dict[str, Any] | None = None
        self._inside: str | None = None
        self._text: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "testsuite":
            self.events.append(("suite", attributes))
        elif name == "testcase":
            self._case = {"attributes": attributes}
        elif self._case is not None and name in ("failure", "error", "skipped"):
            self._inside = name
            self._text = [attributes.get("message", "")]

    def data(self, text: str) -> None:
        if self._inside is not None and sum(map(len, self._text)) < _LONGEST_TEXT:
            self._text.append(text)

    def end(self, name: str) -> None:
        if name == self._inside and self._case is not None:
            self._case[name] = "\n".join(part for part in self._text if part.strip())
            self._inside = None
        elif name == "testcase" and self._case is not None:
            self.events.append(("case", self._case))
            self._case = None


def _events(source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    parser = expat.ParserCreate()
    handler = _Handler()
    parser.buffer_text = True
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.data

    def refuse(*_: object) -> None:
        raise DamagedInputError(
            "declares a document type, which no report needs and an entity bomb does; remove it",
            source=source.shown,
            line=parser.CurrentLineNumber,
        )

    parser.StartDoctypeDeclHandler = refuse
    with source.open() as file:
        try:
            while chunk := file.read(_CHUNK):
                parser.Parse(chunk, False)  # noqa: FBT003 - expat takes it by position
                yield from handler.events
                handler.events.clear()
            parser.Parse(b"", True)  # noqa: FBT003
        except expat.ExpatError as error:
            raise DamagedInputError(
                f"is no XML: {one_line(str(error), 100)}", source=source.shown, line=error.lineno
            ) from error
        except (LookupError, ValueError) as error:
            raise DamagedInputError(
                f"names an encoding that is not read: {one_line(str(error), 100)}; use UTF-8",
                source=source.shown,
                line=1,
            ) from error
    yield from handler.events
