"""Sends spans to Arize Phoenix, a real receiver of OTLP traces, and reads them back.

    python tests/e2e/otel_phoenix.py [--venv FOLDER]

Phoenix takes traces only, so each evaluation goes along as an event on its trial's span. What
comes out must be what stands in the files of a conversion without an endpoint: names, ids,
times to the microsecond, status, events and every attribute with its type. Logs and metrics,
which Phoenix refuses, must be in the spool.

Two things that Phoenix itself does are allowed for: it takes white space off the ends of each
part of an attribute's name, and adds an `output.value` of its own to a span with a response id.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from _servers import convert, eventually, fetch, free_port, installed, lines, running, total

ADDED = ("output.mime_type", "output.value")
SWITCHES = {"span_events": "true", "openinference_annotations": "true"}


def value(given: dict[str, Any]) -> tuple[str, Any]:
    """An attribute's value with its type, as OTLP/JSON or Phoenix's own JSON writes it."""
    (kind, found), *_ = (
        (kind.replace("_v", "V"), item) for kind, item in given.items() if item is not None
    )
    if kind == "intValue":
        return kind, int(found)
    if kind == "arrayValue":
        return kind, tuple(value(item) for item in found["values"])
    return kind, found


def pairs(given: list[dict[str, Any]] | None) -> list[str]:
    """Attributes, in the order of their names, without what Phoenix does to them."""
    named = [
        (".".join(map(str.strip, pair["key"].split("."))), value(pair["value"]))
        for pair in given or ()
    ]
    return sorted(json.dumps([name, *found]) for name, found in named if name not in ADDED)


def microseconds(record: dict[str, Any], *keys: str) -> list[int]:
    """Times; Phoenix keeps no nanoseconds."""
    return [round(int(record[key]) / 1000) for key in keys if key in record]


def comparable(span: dict[str, Any]) -> str:
    """A span of either form, without the order of attributes and events."""
    events = [
        [
            event["name"],
            microseconds(event, "timeUnixNano", "time_unix_nano"),
            pairs(event["attributes"]),
        ]
        for event in span.get("events") or ()
    ]
    code = span["status"].get("code") or 0
    return json.dumps(
        [
            span["name"],
            span.get("traceId") or span["trace_id"],
            span.get("spanId") or span["span_id"],
            span.get("parentSpanId") or span.get("parent_span_id"),
            microseconds(span, "startTimeUnixNano", "start_time_unix_nano"),
            microseconds(span, "endTimeUnixNano", "end_time_unix_nano"),
            code,
            pairs(span["attributes"]),
            sorted(events),
        ]
    )


def _differences(left: Any, right: Any) -> list[str]:
    """The smallest parts in which two spans differ."""
    if left == right:
        return []
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        pairs = zip(left, right, strict=True)
        return [found for pair in pairs for found in _differences(*pair)]
    if isinstance(left, list) and isinstance(right, list):
        gone = [item for item in left if item not in right]
        new = [item for item in right if item not in left]
        return [f"went in  {item}" for item in gone] + [f"came out {item}" for item in new]
    return [f"went in  {left}", f"came out {right}"]


def main() -> None:
    """Install, start, send, read back, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--venv", help="keep the installation in this folder")
    programs = installed("arize-phoenix", parser.parse_args().venv)
    port, grpc = free_port(), free_port()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as place:
        environment = {
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(port),
            "PHOENIX_GRPC_PORT": str(grpc),
            "PHOENIX_WORKING_DIR": f"{place}/phoenix",
            "PHOENIX_TELEMETRY_ENABLED": "false",
        }
        with running([str(programs / "phoenix"), "serve"], f"{url}/healthz", environment):
            details = convert(Path(place) / "sent", {"endpoint": url, **SWITCHES})
            convert(Path(place) / "written", SWITCHES)

            def received() -> list[dict[str, Any]]:
                spans: list[dict[str, Any]] = []
                cursor = ""
                while True:
                    page = fetch(
                        f"{url}/v1/projects/default/spans/otlpv1?limit=200"
                        + (f"&cursor={cursor}" if cursor else "")
                    )
                    spans += page["data"]
                    cursor = page["next_cursor"]
                    if not cursor:
                        return spans

            written = sorted(map(comparable, lines(Path(place) / "written", "traces")))
            eventually(lambda: len(received()), len(written))
            found = sorted(map(comparable, received()))
    for signal in ("traces", "logs", "metrics"):
        numbers = total(details, signal)
        print(f"{signal}: {numbers}")
        assert numbers[{"traces": "accepted"}.get(signal, "spooled")] == numbers["sent"]
    different = [pair for pair in zip(written, found, strict=True) if pair[0] != pair[1]]
    for left, right in different:
        print(*_differences(json.loads(left), json.loads(right)), sep="\n")
    assert not different, f"{len(different)} of {len(written)} spans differ"
    events = sum(found_span.count("gen_ai.evaluation.result") for found_span in found)
    print(f"{len(found)} spans with {events} evaluations came out as they went in")


if __name__ == "__main__":
    main()
