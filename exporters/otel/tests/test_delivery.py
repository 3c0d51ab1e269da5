"""What a receiver may do, and where every record is afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from typing import Any

import pytest

pytest.importorskip("opentelemetry.proto")

from click.testing import CliRunner

from fullcount.convert import Target
from fullcount.errors import DamagedInputError, OptionError
from fullcount.receipts import read_receipt
from fullcount.testing import export_run
from fullcount.testing.otlp import Receiver, Reply
from fullcount_otel import delivery
from fullcount_otel.commands import otel
from fullcount_otel.options import TransportOptions, parse_headers
from fullcount_otel.settings import destinations

COUNT = 40
ID = "fullcount.record.id"
SMALL = {"batch_bytes": "10000", "signals": "logs", "timeout": "2"}


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "_FIRST_WAIT", 0.002)


def ids(receiver: Receiver) -> list[str]:
    return [found[ID] for found in receiver.attributes("logs")]


def adds_up(account: dict[str, int], sent: int = COUNT) -> None:
    assert account["sent"] == sent
    assert account["accepted"] + account["rejected"] + account["spooled"] == sent


def resent(kit: Any, receiver: Receiver, name: str = "out") -> str:
    done = CliRunner().invoke(
        otel,
        ["resend", str(kit.folder / name), "-o", f"endpoint={receiver.url}"],
        catch_exceptions=False,
    )
    return done.stdout


def test_everything_is_accepted(kit: Any, receiver: Receiver) -> None:
    result = kit.export(kit.trials(COUNT), endpoint=receiver.url)
    found = kit.delivery(result)
    assert {name: account["accepted"] for name, account in found.items()} == {
        "traces": 1,
        "logs": COUNT,
        # Seven statuses of one verdict each, eight states, the mean and its two bounds.
        "metrics": found["metrics"]["sent"],
    }
    assert found["metrics"]["sent"] > 11
    assert len(set(ids(receiver))) == COUNT
    assert kit.spool() == []
    assert {r.headers["content-type"] for r in receiver.requests} == {"application/x-protobuf"}


def test_requests_are_bounded_by_bytes(kit: Any, receiver: Receiver) -> None:
    kit.export(kit.trials(COUNT), endpoint=receiver.url, **SMALL)
    sizes = [request.size for request in receiver.requests]
    assert len(sizes) > 2
    assert max(sizes) <= 10_000


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_receiver_is_asked_again(kit: Any, status: int) -> None:
    with Receiver([Reply(status)] * 3) as receiver:
        result = kit.export(kit.trials(COUNT), endpoint=receiver.url, signals="logs")
        account = kit.delivery(result)["logs"]
        adds_up(account)
        assert (account["accepted"], account["requests"]) == (COUNT, 4)
        assert len(ids(receiver)) == COUNT
    assert kit.spool() == []


def test_a_receiver_says_how_long_to_wait(kit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    defaults = {**delivery.Delivery.__init__.__kwdefaults__, "sleep": waits.append}
    monkeypatch.setattr(delivery.Delivery.__init__, "__kwdefaults__", defaults)
    with Receiver([Reply(503, headers={"Retry-After": "7"}), Reply(503)]) as receiver:
        kit.export(kit.trials(1), endpoint=receiver.url, signals="logs")
    assert waits[0] == 7.0
    assert 0 < waits[1] < 1


def test_a_receiver_that_stays_busy(kit: Any) -> None:
    with Receiver(answer=lambda _: Reply(503)) as receiver:
        result = kit.export(kit.trials(COUNT), endpoint=receiver.url, attempts="2", **SMALL)
        account = kit.delivery(result)["logs"]
        adds_up(account)
        # Only the first batch is tried; the others would fare no better.
        assert (account["spooled"], account["requests"]) == (COUNT, 2)
    assert [notice.code for notice in result.notices] == ["otel.not_accepted"]
    assert result.notices[0].count == COUNT
    with Receiver() as receiver:
        assert f"logs     {COUNT} sent, {COUNT} accepted" in resent(kit, receiver)
        assert len(set(ids(receiver))) == COUNT


def test_a_partial_success(kit: Any) -> None:
    with Receiver([Reply(rejected=2, message="unknown tenant")]) as receiver:
        result = kit.export(kit.trials(COUNT), endpoint=receiver.url, signals="logs")
        account = kit.delivery(result)["logs"]
        adds_up(account)
        assert (account["accepted"], account["rejected"], account["doubtful"]) == (
            COUNT - 2,
            2,
            COUNT,
        )
        assert [(n.code, n.count) for n in result.notices] == [("otel.rejected", 2)]
        assert "unknown tenant" in result.notices[0].message
        # It did not say which; after the batch was sent again it has all, by id.
        resent(kit, receiver)
        assert len(set(ids(receiver))) == COUNT
        assert len(ids(receiver)) == 2 * COUNT - 2


def test_a_partial_success_that_cannot_be(kit: Any) -> None:
    with Receiver([Reply(body=b"\x0a\x04\x08\xe8\x07\x12", media="application/x-protobuf")]) as r:
        adds_up(kit.delivery(kit.export(kit.trials(COUNT), endpoint=r.url, signals="logs"))["logs"])


@pytest.mark.parametrize("status", [400, 413])
def test_a_batch_that_is_refused_is_halved(kit: Any, status: int) -> None:
    with Receiver(answer=lambda got: Reply(status if got.size > 6_000 else 200)) as receiver:
        result = kit.export(kit.trials(COUNT), endpoint=receiver.url, signals="logs")
        account = kit.delivery(result)["logs"]
        adds_up(account)
        assert account["accepted"] == COUNT
        assert len(ids(receiver)) == len(set(ids(receiver))) == COUNT


def test_one_record_that_is_refused_takes_no_other_with_it(kit: Any) -> None:
    trials = kit.trials(COUNT)
    trials[17] = kit.trial(18, case_id="x" * 20_000)
    with Receiver(answer=lambda got: Reply(413 if got.size > 15_000 else 200)) as receiver:
        account = kit.delivery(kit.export(trials, endpoint=receiver.url, signals="logs"))["logs"]
        adds_up(account)
        assert (account["accepted"], account["spooled"]) == (COUNT - 1, 1)
        assert len(set(ids(receiver))) == COUNT - 1
    (path,) = kit.spool()
    assert path.read_bytes().count(b'"eventName"') == 1
    with Receiver() as receiver:
        resent(kit, receiver)
        assert len(ids(receiver)) == 1


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_receiver_that_will_never_take_anything(kit: Any, status: int) -> None:
    with Receiver(answer=lambda _: Reply(status)) as receiver:
        account = kit.delivery(kit.export(kit.trials(COUNT), endpoint=receiver.url, **SMALL))[
            "logs"
        ]
        adds_up(account)
        assert (account["spooled"], account["requests"]) == (COUNT, 1)


def test_nobody_listens(kit: Any) -> None:
    with Receiver() as receiver:
        url = receiver.url
    result = kit.export(kit.trials(COUNT), endpoint=url, attempts="2")
    found = kit.delivery(result)
    adds_up(found["logs"])
    assert all(account["spooled"] == account["sent"] for account in found.values())
    with Receiver() as receiver:
        resent(kit, receiver)
        assert len(set(ids(receiver))) == len(ids(receiver)) == COUNT
        assert len(receiver.records("traces")) == 1


@pytest.mark.parametrize("cut", ["request", "before_answer", "answer"])
def test_a_connection_that_is_cut(kit: Any, cut: Any) -> None:
    with Receiver([Reply(cut=cut)]) as receiver:
        result = kit.export(kit.trials(COUNT), endpoint=receiver.url, signals="logs")
        account = kit.delivery(result)["logs"]
        adds_up(account)
        assert account["accepted"] == COUNT
        # What was kept before the cut is there twice, with the same ids.
        assert set(Counter(ids(receiver)).values()) == {1 if cut == "request" else 2}


def test_a_receiver_that_hangs(kit: Any) -> None:
    with Receiver(answer=lambda _: Reply(hang=True)) as receiver:
        result = kit.export(
            kit.trials(COUNT), endpoint=receiver.url, signals="logs", timeout="0.3", attempts="1"
        )
        account = kit.delivery(result)["logs"]
    adds_up(account)
    assert account["spooled"] == COUNT
    with Receiver() as receiver:
        resent(kit, receiver)
        assert len(set(ids(receiver))) == COUNT


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_half_way_leaves_a_complete_spool(kit: Any, number: int, code: int) -> None:
    """The program is told to end while its second request waits for an answer."""
    made = export_run(
        kit.run(), tuple(kit.trials(COUNT)), Target.named("native", kit.folder / "in")
    )
    assert made.error is None
    (target,) = [p for p in (kit.folder / "in").rglob("*.jsonl") if "receipt" not in p.name]
    replies = [Reply(), Reply(hang=True)]
    with Receiver(replies) as receiver:
        options = {**SMALL, "timeout": "60", "endpoint": receiver.url}
        given = [part for pair in options.items() for part in ("-O", "=".join(pair))]
        program = [sys.executable, "-m", "fullcount", "convert", target, "--to", "otel"]
        process = subprocess.Popen(
            [*program, "-o", kit.folder / "cut", *given],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for _ in range(600):
            if len(receiver.requests) >= 2:
                break
            time.sleep(0.02)
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == code, errors
        before = len(ids(receiver))
        assert 0 < before < COUNT
        receipts = [path for path in (kit.folder / "cut").rglob("*.json") if "receipt" in path.name]
        account = read_receipt(*receipts).details["delivery"]["logs"]
        adds_up(account)
        assert (account["accepted"], account["spooled"]) == (before, COUNT - before)
        resent(kit, receiver, "cut")
        assert len(set(ids(receiver))) == COUNT


def test_resending_changes_nothing_and_repeats_ids(kit: Any) -> None:
    with Receiver(answer=lambda _: Reply(404)) as receiver:
        kit.export(kit.trials(COUNT), endpoint=receiver.url, signals="logs")
    before = {path: path.read_bytes() for path in kit.spool()}
    with Receiver() as receiver:
        resent(kit, receiver)
        resent(kit, receiver)
        assert set(Counter(ids(receiver)).values()) == {2}
    assert {path: path.read_bytes() for path in kit.spool()} == before


def test_a_spool_that_is_damaged_is_not_sent(kit: Any) -> None:
    with Receiver(answer=lambda _: Reply(404)) as receiver:
        kit.export(kit.trials(COUNT), endpoint=receiver.url, signals="logs")
    (path,) = kit.spool()
    path.write_bytes(path.read_bytes()[:-20])
    with Receiver() as receiver:
        with pytest.raises(DamagedInputError, match="is no OTLP/JSON"):
            resent(kit, receiver)
        assert receiver.requests == []


# Where to


def test_headers_and_compression(kit: Any, receiver: Receiver) -> None:
    kit.export(
        kit.trials(2),
        endpoint=receiver.url,
        headers="authorization=Bearer%20s3cret,x-tenant=a",
        compression="gzip",
    )
    for request in receiver.requests:
        assert request.headers["authorization"] == "Bearer s3cret"
        assert request.headers["x-tenant"] == "a"
        assert request.headers["content-encoding"] == "gzip"
    assert len(receiver.records("logs")) == 2
    for path in (kit.folder / "out").rglob("*"):
        assert path.is_dir() or b"s3cret" not in path.read_bytes()


def test_variables_of_the_specification() -> None:
    environ = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318/base/",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "https://logs.example.org/in",
        "OTEL_EXPORTER_OTLP_HEADERS": "a=1",
        "OTEL_EXPORTER_OTLP_METRICS_HEADERS": "b=2",
        "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
        "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "2500",
    }
    options = TransportOptions.model_validate({"endpoint": "env"})
    found = destinations(options, environ)
    assert {s: (d.secure, d.host, d.port, d.path) for s, d in found.items()} == {
        "traces": (False, "collector", 4318, "/base/v1/traces"),
        "logs": (True, "logs.example.org", 443, "/in"),
        "metrics": (False, "collector", 4318, "/base/v1/metrics"),
    }
    assert {s: dict(d.headers) for s, d in found.items()} == {
        "traces": {"a": "1"},
        "logs": {"a": "1"},
        "metrics": {"b": "2"},
    }
    assert {s: (d.gzip, d.timeout) for s, d in found.items()} == {
        "traces": (True, 2.5),
        "logs": (True, 10.0),
        "metrics": (True, 10.0),
    }
    given = TransportOptions.model_validate({"endpoint": "http://here:1", "compression": "none"})
    assert destinations(given, environ)["logs"].path == "/v1/logs"
    assert not destinations(given, environ)["logs"].gzip


@pytest.mark.parametrize(
    ("options", "environ", "message"),
    [
        ({"endpoint": "ftp://x"}, {}, "starts with http"),
        ({"endpoint": "http://u:secret@x"}, {}, "holds a credential"),
        ({"endpoint": "http://x:99999"}, {}, "no URL"),
        ({"endpoint": "env"}, {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "only http/protobuf"),
        ({"endpoint": "env"}, {"OTEL_EXPORTER_OTLP_TIMEOUT": "soon"}, "milliseconds"),
        ({"endpoint": "env"}, {"OTEL_EXPORTER_OTLP_COMPRESSION": "zstd"}, "known: gzip"),
        ({"endpoint": "env"}, {"OTEL_EXPORTER_OTLP_HEADERS": "secret"}, "name=value"),
    ],
)
def test_bad_destinations(options: Any, environ: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message) as caught:
        destinations(TransportOptions.model_validate(options), environ)
    assert "secret" not in str(caught.value).replace("credential", "")


def test_a_header_that_no_header_can_be() -> None:
    with pytest.raises(ValueError, match="what a header cannot"):
        parse_headers("a=b%0d%0ax:y")
