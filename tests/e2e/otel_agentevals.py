"""Sends evaluation events to agentevals, a real receiver of OTLP logs, and reads them back.

    python tests/e2e/otel_agentevals.py [--venv FOLDER]

agentevals keeps the log records that belong to a GenAI span it knows. So an agent's span is
sent first, and every trial of the corpus names it as what was evaluated. What comes out of
agentevals must be what stands in the files of a conversion without an endpoint.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from _servers import convert, eventually, fetch, free_port, installed, lines, running, total

TRACE, SPAN, SESSION = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "conversation-1"


def send_agent_span(endpoint: str) -> None:
    """The span that is evaluated."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.conversation.id": SESSION,
    }
    span = {
        "traceId": TRACE,
        "spanId": SPAN,
        "name": "chat gpt-4o-mini",
        "kind": 3,
        "startTimeUnixNano": "1750000000000000000",
        "endTimeUnixNano": "1750000001000000000",
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in attributes.items()],
    }
    scope = {"scope": {"name": "agent"}, "spans": [span]}
    body = {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}
    request = urllib.request.Request(
        f"{endpoint}/v1/traces", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    urllib.request.urlopen(request, timeout=10).close()


def comparable(record: dict[str, Any]) -> tuple[Any, ...]:
    """A log record, without the order of its attributes."""
    return (
        record["eventName"],
        record.get("timeUnixNano", "0"),
        record["traceId"],
        record["spanId"],
        record.get("severityNumber"),
        tuple(sorted(json.dumps(pair, sort_keys=True) for pair in record["attributes"])),
    )


def main() -> None:
    """Install, start, send, read back, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--venv", help="keep the installation in this folder")
    programs = installed("agentevals-cli[live]", parser.parse_args().venv)
    web, http, grpc = free_port(), free_port(), free_port()
    command = [str(programs / "agentevals"), "serve", "--dev", "--headless"]
    command += ["--host", "127.0.0.1", "-p", str(web), "--otlp-http-port", str(http)]
    command += ["--otlp-grpc-port", str(grpc), "--api-grpc-port", "0"]
    api = f"http://127.0.0.1:{web}/api"
    with tempfile.TemporaryDirectory() as place, running(command, f"{api}/health", {}):
        endpoint = f"http://127.0.0.1:{http}"
        send_agent_span(endpoint)
        ids = {"trace_id": TRACE, "span_id": SPAN}
        options = {"endpoint": endpoint, "signals": "traces,logs", "trial_spans": "true"}
        details = convert(Path(place) / "sent", options, **ids)
        convert(Path(place) / "written", {}, **ids)

        def received() -> list[dict[str, Any]]:
            document = fetch(f"{api}/streaming/sessions/{SESSION}/otlp")
            return [
                record
                for resource in document["resourceLogs"]
                for scope in resource["scopeLogs"]
                for record in scope["logRecords"]
            ]

        every = list(lines(Path(place) / "written", "logs"))
        # It keeps no event but those of GenAI.
        kept = [record for record in every if record["eventName"].startswith("gen_ai.")]
        written = sorted(map(comparable, kept))
        eventually(lambda: len(received()), len(written))
        found = sorted(map(comparable, received()))
    for signal in ("traces", "logs"):
        numbers = total(details, signal)
        print(f"{signal}: {numbers}")
        assert numbers["accepted"] == numbers["sent"]
    assert total(details, "logs")["sent"] == len(every)
    different = [pair for pair in zip(written, found, strict=True) if pair[0] != pair[1]]
    for left, right in different[:3]:
        print(f"went in  {left}\ncame out {right}")
    assert not different, f"{len(different)} of {len(written)} records differ"
    valued = sum("gen_ai.evaluation.score.value" in str(record) for record in found)
    print(f"{len(found)} log records came out as they went in; {valued} have a score.value")


if __name__ == "__main__":
    main()
