"""The files: each line is OTLP, and the counts can be read from typed fields."""

from __future__ import annotations

import base64
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fullcount import api
from fullcount.testing.otlp import values

json_format = pytest.importorskip("google.protobuf.json_format")
LOGS = Path(__file__).resolve().parents[4] / "shared" / "logs" / "inspect"
IDS = ("traceId", "spanId", "parentSpanId")


def to_base64(value: Any) -> Any:
    """OTLP/JSON has ids in hexadecimal; protobuf's own JSON has bytes in base64."""
    if isinstance(value, dict):
        return {
            key: base64.b64encode(bytes.fromhex(item)).decode() if key in IDS else to_base64(item)
            for key, item in value.items()
        }
    return [to_base64(item) for item in value] if isinstance(value, list) else value


def decoded(line: bytes, signal: str) -> list[Any]:
    """The records of a line, as opentelemetry-proto reads them; nothing may be unknown to it."""
    from opentelemetry.proto.logs.v1.logs_pb2 import LogsData  # noqa: PLC0415 - needs the extra
    from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData  # noqa: PLC0415
    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData  # noqa: PLC0415

    kind, outer, middle, inner = {
        "logs": (LogsData, "resource_logs", "scope_logs", "log_records"),
        "traces": (TracesData, "resource_spans", "scope_spans", "spans"),
        "metrics": (MetricsData, "resource_metrics", "scope_metrics", "metrics"),
    }[signal]
    message = kind()
    json_format.ParseDict(to_base64(json.loads(line)), message)
    return [
        record
        for resource in getattr(message, outer)
        for scope in getattr(resource, middle)
        for record in getattr(scope, inner)
    ]


def records(kit: Any, signal: str, name: str = "out") -> list[Any]:
    return [record for line in kit.files(signal, name) for record in decoded(line, signal)]


def test_lines_are_protobuf_of_their_signal(kit: Any) -> None:
    kit.export(kit.trials(8), trial_spans="true")
    logs = records(kit, "logs")
    assert [record.event_name for record in logs] == ["gen_ai.evaluation.result"] * 8
    assert [len(record.trace_id) for record in logs] == [16] * 8
    scored = ["gen_ai.evaluation.score.value" in values(record.attributes) for record in logs]
    assert scored == [True, True, True, False] * 2
    assert len(records(kit, "traces")) == 9


def test_the_span_of_the_run_has_every_count(kit: Any) -> None:
    kit.export(kit.trials(8))
    (span,) = records(kit, "traces")
    found = values(span.attributes)
    assert span.name == "test_suite_run"
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (
        1_772_442_000 * 10**9,
        1_772_443_800 * 10**9,
    )
    wanted = {
        "test.suite.name": "capitals",
        "fullcount.run.trials": 8,
        "fullcount.run.status_count.completed": 8,
        "fullcount.run.status_count.harness_error": 0,
        "fullcount.run.verdict_count.passed": 6,
        "fullcount.run.verdict_count.unverified": 2,
        "fullcount.run.no_verdict": 0,
        "fullcount.scores.judge.scored": 6,
        "fullcount.scores.judge.nan": 2,
        "fullcount.scores.judge.null": 0,
    }
    assert {name: found.get(name) for name in wanted} == wanted
    assert {type(found[name]) for name in wanted if name != "test.suite.name"} == {int}


def test_metrics_count_every_state_and_give_n_with_the_mean(kit: Any) -> None:
    kit.export(kit.trials(8))
    found = {metric.name: metric for metric in records(kit, "metrics")}
    scores = {
        values(point.attributes)["fullcount.score.state"]: point.as_int
        for point in found["fullcount.scores"].sum.data_points
    }
    assert {state: count for state, count in scores.items() if count} == {"scored": 6, "nan": 2}
    classes = {
        values(point.attributes)["fullcount.score.class"]
        for point in found["fullcount.scores"].sum.data_points
        if point.as_int
    }
    assert classes == {"scored", "unverified"}
    assert sum(point.as_int for point in found["fullcount.trials"].sum.data_points) == 8
    (mean,) = found["fullcount.score.mean"].gauge.data_points
    about = values(mean.attributes)
    assert (mean.as_double, about["fullcount.score.n"], about["fullcount.score.sought"]) == (
        1.0,
        6,
        8,
    )
    (lower,) = found["fullcount.score.mean_lower_bound"].gauge.data_points
    assert lower.as_double == 0.75


def test_a_scale_that_a_value_has_left_gives_no_bound_there(kit: Any) -> None:
    kit.export([kit.trial(1, {"state": "scored", "value": 4.2}), kit.trial(2, {"state": "null"})])
    found = {metric.name: metric for metric in records(kit, "metrics")}
    (lower,) = found["fullcount.score.mean_lower_bound"].gauge.data_points
    assert lower.as_double == 2.1
    assert "fullcount.score.mean_upper_bound" not in found


def test_a_mean_of_nothing_is_absent(kit: Any) -> None:
    kit.export([kit.trial(n, {"state": "null"}) for n in (1, 2)])
    found = {metric.name: metric for metric in records(kit, "metrics")}
    assert "fullcount.score.mean" not in found
    points = found["fullcount.scores"].sum.data_points
    assert {values(p.attributes)["fullcount.score.state"] for p in points if p.as_int} == {"null"}


def test_switches_are_off_and_each_does_its_own(kit: Any) -> None:
    trials = kit.trials(4)
    kit.export(trials, name="off")
    assert len(records(kit, "traces", "off")) == 1
    plain = b"".join(kit.files("logs", "off") + kit.files("traces", "off"))
    for name in (b"microsoft.", b"annotations.", b"braintrust."):
        assert name not in plain
    kit.export(trials, name="azure", azure_event_name="true")
    for record in records(kit, "logs", "azure"):
        assert values(record.attributes)["microsoft.custom_event.name"] == record.event_name
    kit.export(trials, name="events", span_events="true")
    spans = records(kit, "traces", "events")[:-1]
    assert [[event.name for event in span.events] for span in spans] == [
        ["gen_ai.evaluation.result"]
    ] * 4
    kit.export(trials, name="annotations", openinference_annotations="true")
    found = [values(span.attributes) for span in records(kit, "traces", "annotations")[:-1]]
    assert [each.get("annotations.0.annotation.score") for each in found] == [1.0, 1.0, 1.0, None]
    assert {each["annotations.0.annotation.annotator_kind"] for each in found} == {"LLM"}
    kit.export(trials, name="braintrust", braintrust_scores="true")
    found = [values(span.attributes) for span in records(kit, "traces", "braintrust")[:-1]]
    # Braintrust takes no null, so a score that is not there stays out.
    assert [each.get("braintrust.scores") for each in found] == ['{"judge": 1.0}'] * 3 + [None]


def test_values_that_otlp_cannot_hold_take_nothing_along(kit: Any) -> None:
    """They bypass the model's own checks, as a reader with a fault might let them."""
    whole = kit.trials(8)
    poison = [
        whole[0].model_copy(update={"case_id": "bad \ud800"}),
        whole[1].model_copy(update={"pressure_round": 2**70}),
        whole[2].model_copy(update={"duration": float("nan")}),
    ]
    from fullcount.notices import Report  # noqa: PLC0415 - one test needs it
    from fullcount.plugin import Context  # noqa: PLC0415
    from fullcount_otel.encode_json import JsonEncoder  # noqa: PLC0415
    from fullcount_otel.encode_proto import ProtoEncoder  # noqa: PLC0415
    from fullcount_otel.events import RunEvents, event_attributes  # noqa: PLC0415
    from fullcount_otel.options import OtelOptions  # noqa: PLC0415

    report = Report()
    made = RunEvents(kit.run(), Context(), OtelOptions(), report)
    events = [event for trial in [*poison, *whole[3:]] for event in made.trial(trial)]
    proto, text = ProtoEncoder(), JsonEncoder()
    assert len([proto.log(event) for event in events]) == 8
    assert len([text.log(event) for event in events]) == 8
    assert event_attributes(events[0])["fullcount.case.id"] == "bad ?"
    assert "fullcount.trial.pressure_round" not in event_attributes(events[1])
    assert "fullcount.trial.duration" not in event_attributes(events[2])
    assert [(n.code, n.count) for n in report.notices()] == [("otel.value_changed", 3)]


def test_the_two_encoders_say_the_same(kit: Any, receiver: Any) -> None:
    trials = [*kit.trials(4), kit.trial(5, duration=1.5, usage={"input_tokens": 3, "cost": 0.25})]
    kit.export(trials, name="written")
    kit.export(trials, name="sent", endpoint=receiver.url)
    written, sent = records(kit, "logs", "written"), receiver.records("logs")
    assert len(sent) == 5
    for ours, theirs in zip(written, sent, strict=True):
        assert values(ours.attributes) == values(theirs.attributes)
        for field in ("time_unix_nano", "observed_time_unix_nano", "event_name", "trace_id"):
            assert getattr(ours, field) == getattr(theirs, field)
        assert (ours.span_id, ours.severity_number, ours.flags) == (
            theirs.span_id,
            theirs.severity_number,
            theirs.flags,
        )


def states_written(folder: Path) -> Counter[str]:
    """Events by state, of every line decoded; only what is scored may have a value."""
    found: Counter[str] = Counter()
    for path in folder.glob("*.jsonl"):
        signal = path.name.split(".")[-2]
        every = [r for line in path.read_bytes().splitlines() for r in decoded(line, signal)]
        for record in every if signal == "logs" else ():
            about = values(record.attributes)
            state = about.get("fullcount.score.state", "none")
            assert state == "scored" or "gen_ai.evaluation.score.value" not in about
            found[state] += 1
    return found


def states_counted(log: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for _, tally in api.tally(log):
        for metric in tally.metrics:
            found.update({state.value: number for state, number in metric.states.items()})
        if not tally.metrics:
            found["none"] += tally.counts.total
    return +found


@pytest.mark.skipif(not LOGS.is_dir(), reason="the logs are not here")
@pytest.mark.parametrize(
    "log", sorted(LOGS.iterdir()) if LOGS.is_dir() else [], ids=lambda log: log.name
)
def test_real_logs(log: Path, tmp_path: Path) -> None:
    (result,) = api.convert(log, "otel", tmp_path)
    if result.error is not None:
        assert "log version 3 is not read" in str(result.error)
    else:
        assert states_written(tmp_path) == states_counted(log)
