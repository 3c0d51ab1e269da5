"""Gets batches to a receiver and accounts for every record.

Each record ends up in exactly one of three places: accepted, rejected (the receiver took the
batch and says that it will not keep so many of it) or spooled (everything else).
"""

from __future__ import annotations

import time
import zlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol

from fullcount.notices import Severity
from fullcount.plugin import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fullcount.notices import Report
    from fullcount.plugin import Interrupts
    from fullcount_otel.batches import Batch
    from fullcount_otel.http import Answer
    from fullcount_otel.model import Signal

__all__ = ["Account", "Delivery", "Keep", "Poster"]

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 60.0
_REFUSALS = 64
"""Parts of one batch that may be refused before the rest of it is given up."""


class Poster(Protocol):
    """Sends one request."""

    def post(self, body: bytes) -> Answer:
        """Send it and judge the answer."""


class Keep(Protocol):
    """Takes what was not accepted."""

    def spool(self, batch: Batch) -> None:
        """Keep a batch that the receiver did not take."""

    def rejected(self, batch: Batch) -> None:
        """Keep a batch of which the receiver refused some, and did not say which."""


@dataclass
class Account:
    """Where the records of one signal are.

    Attributes:
        sent: All records; `accepted + rejected + spooled`.
        accepted: Records that the receiver has.
        rejected: Records that it took and will not keep.
        spooled: Records that it may not have.
        doubtful: Records of batches with a rejected one in them, kept to be looked at or sent
            again; of these, `rejected` are not at the receiver.
        requests: Requests made, repeated ones included.
    """

    sent: int = 0
    accepted: int = 0
    rejected: int = 0
    spooled: int = 0
    doubtful: int = 0
    requests: int = 0

    def numbers(self) -> dict[str, int]:
        """The numbers by name."""
        return asdict(self)


class Delivery:
    """Sends the batches of one signal.

    Afterwards `account` says where every record is, and `away` why the receiver did not answer,
    if it was that.

    Args:
        signal: The signal.
        poster: Sends a request.
        keep: Takes what is not accepted.
        attempts: How often a batch is sent while the receiver is away or busy.
        report: Where failures are noted.
        interrupts: Says when to stop.
        advice: What the user is told of records that were not accepted.
        gave_up: Why nothing is even tried, if so.
        sleep: Waits, in seconds.
    """

    def __init__(  # noqa: PLR0913 - each is one thing that a test replaces
        self,
        signal: Signal,
        poster: Poster,
        keep: Keep,
        *,
        attempts: int,
        report: Report,
        interrupts: Interrupts,
        advice: str,
        gave_up: str = "",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.account = Account()
        self.away = ""
        self._signal = signal
        self._poster = poster
        self._keep = keep
        self._attempts = attempts
        self._report = report
        self._interrupts = interrupts
        self._sleep = sleep
        self._advice = advice
        self._gave_up = gave_up

    def send(self, batches: Iterable[Batch]) -> None:
        """Send them one after the other; what the receiver does not take is kept.

        After an interruption, or when the receiver stays away, all that is left is kept
        without another attempt. Never raises for what the receiver does.
        """
        for batch in batches:
            self.account.sent += batch.weight
            parts = [batch]
            refusals = 0
            while parts:
                part = parts.pop()
                answer = None if self._gave_up else self._answer(part)
                if answer is None:
                    self._spool(part, self._gave_up)
                elif answer.kind == "taken":
                    self._taken(part, answer)
                elif answer.kind == "divisible" and part.count > 1 and refusals < _REFUSALS:
                    refusals += 1
                    first, second = part.halves()
                    parts += [second, first]
                else:
                    if answer.kind in ("hopeless", "retry", "away"):
                        self._gave_up = answer.reason
                    if answer.kind == "away":
                        self.away = answer.reason
                    refusals += 1
                    self._spool(part, answer.reason)

    def _answer(self, batch: Batch) -> Answer | None:
        """The receiver's last word on a batch; None when we were told to stop."""
        body = batch.body()
        try:
            for attempt in range(1, self._attempts + 1):
                with self._interrupts.allowed():
                    self.account.requests += 1
                    answer = self._poster.post(body)
                if answer.kind not in ("retry", "away") or attempt == self._attempts:
                    return answer
                wait = self._wait(attempt, body) if answer.wait is None else answer.wait
                if wait > _LONGEST_WAIT:
                    return answer
                with self._interrupts.allowed():
                    self._sleep(wait)
        except Interrupted:
            self._gave_up = "interrupted"
            return None
        raise AssertionError

    def _wait(self, attempt: int, body: bytes) -> float:
        """Doubles with each attempt; up to half of it depends on the batch.

        Many senders then do not come back all at once.
        """
        longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (attempt - 1))
        return float(longest * (1 - zlib.crc32(body) % 1000 / 2000))

    def _taken(self, batch: Batch, answer: Answer) -> None:
        weight = batch.weight
        if not 0 <= answer.rejected <= weight:
            self._spool(batch, f"the receiver says that it rejected {answer.rejected} of {weight}")
            return
        self.account.accepted += weight - answer.rejected
        self.account.rejected += answer.rejected
        if answer.rejected:
            self.account.doubtful += weight
            self._keep.rejected(batch)
            self._report.add(
                "otel.rejected",
                Severity.WARNING,
                f"the receiver rejected {self._signal}: {answer.reason or 'it gives no reason'}",
                path=self._signal,
                count=answer.rejected,
                plugin="otel",
            )
        elif answer.reason:
            self._report.add(
                "otel.receiver_says",
                Severity.INFO,
                f"the receiver of {self._signal} took everything and says: {answer.reason}",
                path=self._signal,
                plugin="otel",
            )

    def _spool(self, batch: Batch, reason: str) -> None:
        self.account.spooled += batch.weight
        self._keep.spool(batch)
        self._report.add(
            "otel.not_accepted",
            Severity.WARNING,
            f"{self._signal} were not accepted: {reason}; {self._advice}",
            path=self._signal,
            count=batch.weight,
            plugin="otel",
        )
