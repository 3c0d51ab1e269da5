"""The program: `fullcount`, and `python -m fullcount`."""

import signal
import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line; Ctrl-C while Python still imports it ends without a traceback."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from fullcount.cli import main as run  # noqa: PLC0415 - see above

    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, before)
    return run()


if __name__ == "__main__":
    sys.exit(main())
