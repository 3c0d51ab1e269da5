"""Ctrl-C and SIGTERM: the program unwinds, so that nothing staged is left behind."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["Stopped", "check", "stoppable"]

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_asked: list[int] = []


class Stopped(BaseException):
    """A signal asks the program to end."""

    def __init__(self, number: int) -> None:
        super().__init__(f"{_WORDS[signal.Signals(number)]}; nothing half written is left")
        self.exit_code = 128 + number


def check() -> None:
    """Raise `Stopped` once more if a signal came.

    The first one may have surfaced inside a library that makes an error of its own out of it.
    """
    if _asked:
        raise Stopped(_asked[0])


@contextmanager
def stoppable() -> Iterator[None]:
    """A block in which a signal raises `Stopped`; the main thread's only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _asked.clear()
    before = {
        number: handler
        for number in _WORDS
        # None: not set from Python, so it could not be put back.
        if (handler := signal.getsignal(number)) not in (None, signal.SIG_IGN)
    }
    try:
        for number in before:
            signal.signal(number, _stop)
        yield
        check()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> None:
    del frame
    if not _asked:  # a second signal must not cut the clean-up short
        _asked.append(number)
        raise Stopped(number)
