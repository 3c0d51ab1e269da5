"""Ctrl-C and SIGTERM at a time when something must be brought to its end first."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from fullcount.plugin import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None

__all__ = ["DeferredInterrupts"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class DeferredInterrupts:
    """Holds the signals that end a program back until its block is left.

    Inside `allowed` a signal raises `Interrupted` at once; elsewhere it is only remembered. At
    the end of the block the signal is raised again for whoever handled it before. In a thread
    other than the main one no signal arrives, and nothing is done.
    """

    def __init__(self) -> None:
        self._allowed = False
        self._pending: list[int] = []
        self._before: dict[int, Handler] = {}

    @property
    def requested(self) -> bool:
        """Whether a signal came."""
        return bool(self._pending)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """A block that may be interrupted, such as one that waits for a network.

        Raises:
            Interrupted: A signal came, now or before.
        """
        self._allowed = True
        try:
            if self._pending:
                raise Interrupted
            yield
        finally:
            self._allowed = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                before: Handler = signal.getsignal(number)
                # None: not set from Python, so it could not be put back.
                if before not in (None, signal.SIG_IGN):
                    self._before[number] = before
                    signal.signal(number, self._handle)
        return self

    def __exit__(self, *exc: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        self._before.clear()
        pending, self._pending = self._pending, []
        for number in dict.fromkeys(pending):
            signal.raise_signal(number)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._pending.append(number)
        if self._allowed:
            self._allowed = False
            raise Interrupted
