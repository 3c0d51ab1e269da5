"""What it costs to send 100,000 evaluation events, against the OpenTelemetry SDK.

    python benchmarks/otel_export.py [--events 100000] [--repeats 3]

Every way is a process of its own, and starts from the same trials; what it takes to make the
trials is measured by itself and taken off. A receiver in another process accepts everything.
Processor time is the process's own, all threads; memory is its peak above that of the process
that makes the trials and nothing else.

    events      trials become events: what both ways to send have in common
    fullcount   the exporter with an endpoint: staged, sent, every answer read
    files       the exporter without one: OTLP/JSON lines
    sdk         the same events through the SDK's batch processor and its OTLP/HTTP exporter,
                with a queue that holds them all, because a full one drops
    protobuf    the same attributes as bare opentelemetry-proto messages, serialized, not sent
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.model import Run, Trial

WAYS = ("trials", "events", "fullcount", "files", "sdk", "protobuf")
EXPLANATION = "The answer names the right author, gives a source for the date and stays on topic. "


def made(events: int) -> tuple[Run, Iterator[Trial]]:
    """A run with one metric, and its trials; one in ten is unverified."""
    from fullcount.model import Run, Trial  # noqa: PLC0415 - a way imports only what it needs

    run = Run.model_validate(
        {
            "id": "benchmark",
            "source": {"format": "benchmark"},
            "harness": {"name": "benchmark", "version": "1"},
            "subject": {"id": "openai/gpt-4o-mini"},
            "suite": {"name": "benchmark"},
            "evaluators": [
                {
                    "name": "quality",
                    "kind": "model",
                    "model": "openai/gpt-4o",
                    "metrics": [{"name": "quality", "minimum": 0, "maximum": 1, "threshold": 0.5}],
                }
            ],
        }
    )
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    score = {"evaluator": "quality", "metric": "quality", "raw_type": "number"}
    templates = [
        Trial.model_validate(
            {
                "case_id": "case",
                "scores": [
                    {**score, "state": "nan", "raw": "NaN"}
                    if number == 0
                    else {
                        **score,
                        "state": "scored",
                        "value": number / 10,
                        "raw": str(number / 10),
                        "outcome": "passed" if number >= 5 else "failed",
                        "explanation": {"text": EXPLANATION * 2 + str(number)},
                    }
                ],
                "started_at": at,
                "completed_at": at,
                "duration": 1.5,
                "usage": {"input_tokens": 900, "output_tokens": 80, "total_tokens": 980},
            }
        )
        for number in range(10)
    ]

    def trials() -> Iterator[Trial]:
        for number in range(events):
            yield templates[number % 10].model_copy(
                update={"case_id": f"case-{number}", "pointer": f"summaries.json#/{number}"}
            )

    return run, trials()


def export(way: str, events: int, url: str, folder: Path) -> None:
    """Send or write everything, and make sure that everything arrived."""
    from fullcount.convert import Target  # noqa: PLC0415 - as above
    from fullcount.interrupts import DeferredInterrupts  # noqa: PLC0415 - as above
    from fullcount.notices import Report  # noqa: PLC0415 - as above
    from fullcount.plugin import Context  # noqa: PLC0415 - as above
    from fullcount.sinks import DirectorySink  # noqa: PLC0415 - as above
    from fullcount.tally import TallyBuilder  # noqa: PLC0415 - as above
    from fullcount_otel.writer import OtelWriter  # noqa: PLC0415 - as above

    given = {"endpoint": url, "signals": "logs"} if way == "fullcount" else {}
    options: Any = Target.named("otel", folder, given).options
    run, trials = made(events)
    with DirectorySink(folder) as sink, DeferredInterrupts() as interrupts:
        writer = OtelWriter(sink, options, Report(), Context())
        writer.begin(run)
        for trial in trials:
            writer.add(trial)
        writer.end(TallyBuilder(run).build())
        writer.close()
        writer.deliver(interrupts)
    if way == "fullcount":
        assert writer.receipt_details["delivery"]["logs"]["accepted"] == events


def sdk(events: int, url: str) -> None:
    """The same through the SDK."""
    from opentelemetry.exporter.otlp.proto.http._log_exporter import (  # noqa: PLC0415 - as above
        OTLPLogExporter,
    )
    from opentelemetry.sdk._logs import LoggerProvider  # noqa: PLC0415 - as above
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor  # noqa: PLC0415 - as above
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - as above

    from fullcount.plugin import RunStream  # noqa: PLC0415 - as above
    from fullcount_otel.emit import emit  # noqa: PLC0415 - as above

    provider = LoggerProvider(Resource({"service.name": "benchmark"}), shutdown_on_exit=False)
    exporter = OTLPLogExporter(endpoint=f"{url}/v1/logs")
    provider.add_log_record_processor(
        BatchLogRecordProcessor(exporter, max_queue_size=events + 2048, max_export_batch_size=2048)
    )
    emit(RunStream(*made(events)), logger_provider=provider)
    provider.force_flush(600_000)
    provider.shutdown()


def bare(events: int) -> None:
    """The same attributes as messages, one after the other."""
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue  # noqa: PLC0415
    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord  # noqa: PLC0415 - as above

    fields = {str: "string_value", bool: "bool_value", int: "int_value", float: "double_value"}
    for event, attributes in _events(events):
        LogRecord(
            time_unix_nano=event.time,
            observed_time_unix_nano=event.observed,
            severity_number=9,
            event_name=event.event_name,
            trace_id=bytes.fromhex(event.trace_id),
            span_id=bytes.fromhex(event.span_id),
            attributes=[
                KeyValue(key=key, value=AnyValue(**{fields[type(value)]: value}))
                for key, value in attributes.items()
            ],
        ).SerializeToString()


def _events(events: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    from fullcount.notices import Report  # noqa: PLC0415 - as above
    from fullcount.plugin import Context  # noqa: PLC0415 - as above
    from fullcount_otel.events import RunEvents, event_attributes  # noqa: PLC0415 - as above
    from fullcount_otel.options import OtelOptions  # noqa: PLC0415 - as above

    run, trials = made(events)
    maker = RunEvents(run, Context(), OtelOptions(), Report())
    for trial in trials:
        for event in maker.trial(trial):
            yield event, event_attributes(event)


def one(way: str, events: int, url: str) -> None:
    """Do it one way and print what it took; in a process of its own."""
    # Imports are not what is measured.
    with tempfile.TemporaryDirectory() as folder:
        do = {
            "trials": lambda n: [None for _ in made(n)[1]],
            "events": lambda n: _count(_events(n)),
            "fullcount": lambda n: export(way, n, url, Path(folder) / str(n)),
            "files": lambda n: export(way, n, url, Path(folder) / str(n)),
            "sdk": lambda n: sdk(n, url),
            "protobuf": bare,
        }[way]
        do(10)
        start = time.process_time()
        do(events)
        seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "peak": peak}))


def _count(items: Iterator[Any]) -> int:
    return sum(1 for _ in items)


def serve() -> None:
    """Accept everything; the number of log records is printed at the end of the input."""
    from fullcount.testing.otlp import Receiver  # noqa: PLC0415 - as above

    with Receiver() as receiver:
        print(receiver.url, flush=True)
        for _ in sys.stdin:
            print(len(receiver.records("logs")), flush=True)
            receiver.forget()


def main() -> None:
    """Measure every way, by turns, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", nargs=2, metavar=("WAY", "URL"), help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve()
        return
    if given.one:
        one(given.one[0], given.events, given.one[1])
        return
    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    command = [sys.executable, __file__, "--events", str(given.events)]
    with subprocess.Popen(
        [*command, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin
        assert server.stdout
        url = server.stdout.readline().strip()
        for _ in range(given.repeats):
            for way in WAYS:
                done = subprocess.run(
                    [*command, "--one", way, url], capture_output=True, text=True, check=True
                )
                found[way].append(json.loads(done.stdout.splitlines()[-1]))
                server.stdin.write("\n")
                server.stdin.flush()
                received = int(server.stdout.readline())
                assert received == (given.events + 10 if way in ("fullcount", "sdk") else 0), way
        server.stdin.close()
    table(found, given.events)


def table(found: dict[str, list[dict[str, float]]], events: int) -> None:
    """Print the table, and what follows from it."""

    def best(way: str, field: str) -> float:
        return min(run[field] for run in found[way])

    def median(way: str) -> float:
        return statistics.median(run["seconds"] for run in found[way])

    trials, base = best("trials", "seconds"), best("trials", "peak")
    net = {way: best(way, "seconds") - trials for way in WAYS}
    print(f"{events} events; processor seconds without those for the trials\n")
    print(f"{'':10} {'best':>7} {'median':>7} {'us/event':>9} {'events/s':>9} {'peak MB':>8}")
    for way in WAYS[1:]:
        print(
            f"{way:10} {net[way]:7.2f} {median(way) - trials:7.2f} {net[way] / events * 1e6:9.1f} "
            f"{events / net[way]:9.0f} {best(way, 'peak') / 1e6:8.1f}"
        )
    above = {way: best(way, "peak") - base for way in WAYS}
    print(
        f"\nfullcount against sdk: {net['sdk'] / net['fullcount']:.1f} times the events per "
        f"processor second ({(net['sdk'] - net['events']) / (net['fullcount'] - net['events']):.1f}"
        f" times without making the events), {best('fullcount', 'peak') / best('sdk', 'peak'):.0%} "
        f"of its memory ({above['fullcount'] / above['sdk']:.0%} of what it adds)"
        f"\nfullcount, sent, against bare protobuf, not sent: "
        f"{net['fullcount'] / net['protobuf']:.2f} times its processor seconds"
    )


if __name__ == "__main__":
    main()
