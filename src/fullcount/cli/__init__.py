"""The command line.

Commands are imported when they are run: `fullcount --help` and `fullcount --version` load
click and nothing else.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from typing import TYPE_CHECKING, Any

import click

from fullcount._version import __version__
from fullcount.cli._console import complain, discard, fail, flush, harden_streams
from fullcount.cli._stop import Stopped, stoppable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.metadata import EntryPoint

__all__ = ["app", "main"]

COMMANDS = {
    "compare": "Hold runs against each other, case by case.",
    "convert": "Convert results to other formats and check every count.",
    "formats": "List the formats that are read and written.",
    "gate": "Pass or fail a build by what was measured, and what was not.",
    "retry": "List what to run, grade or look at again.",
    "schema": "Print the JSON Schema of the model.",
    "show": "Show what a result holds, with everything unverified in sight.",
    "sniff": "Say what a file is, or propose a mapping for it.",
    "verdicts": "Say of each subject and version whether it holds up.",
    "verify": "Count artifacts again and hold them against their receipts.",
}
"""Each command and its line in the list; its module bears its name."""

PLUGIN_COMMANDS = "fullcount.commands"
"""Entry-point group of commands that plugins bring along, such as `fullcount otel`."""

EXIT_CODES = """\b
Exit codes:
   0  success
   1  gate, verdicts: something did not pass
   3  gate, verdicts: something could not be told
   2  the call itself does not fit
  10  no reader or exporter has that name
  11  two distributions provide one name
  12  a plugin fails to load, or breaks its contract
  13  an extra is not installed
  14  an option is unknown or has a bad value
  20  the input is not there, or no reader knows it
  21  the input breaks its own format
  22  a version or feature of the input is not read
  30  the target cannot be written
  31  the target format cannot hold this run
  40  an artifact does not hold what its receipt says
  41  a loss that --fail-on makes fatal
  70  a fault of fullcount itself (FULLCOUNT_DEBUG=1 shows where)
 130  interrupted
 141  nobody reads the output any more
 143  terminated
Of several refused inputs, the first one's code counts."""


def _plugin_commands() -> dict[str, EntryPoint]:
    """Commands of plugins, by name; loads none of them."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - takes longer than most commands

    points = sorted(entry_points(group=PLUGIN_COMMANDS), key=lambda point: point.name)
    return {point.name: point for point in points if point.name not in COMMANDS}


def _loaded(point: EntryPoint) -> click.Command:
    from fullcount.errors import BrokenPluginError  # noqa: PLC0415 - only when needed

    try:
        command = point.load()
    except Exception as error:
        msg = f"command {point.name!r} cannot be loaded: {type(error).__name__}: {error}"
        raise BrokenPluginError(msg) from error
    if not isinstance(command, click.Command):
        msg = f"command {point.name!r} is no click command"
        raise BrokenPluginError(msg)
    return command


class _LazyGroup(click.Group):
    """A group whose commands are imported when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            point = _plugin_commands().get(cmd_name)
            return None if point is None else _loaded(point)
        module = importlib.import_module(f"fullcount.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and name not in _plugin_commands():
            known = [*COMMANDS, *_plugin_commands()]
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
            raise click.UsageError(f"no command is named {name!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        plugins = [(name, f"Commands of plugin {name!r}.") for name in _plugin_commands()]
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items(), *plugins])

    def invoke(self, ctx: click.Context) -> Any:
        # Click would give it exit code 1.
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            return _unread()


@click.group(
    cls=_LazyGroup,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def app() -> None:
    """Carry evaluation results between formats; no unverified row is lost on the way.

    Data goes to standard output, words for people to standard error.
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        args: The arguments; by default those of the process.

    Returns:
        The exit code, see `fullcount --help`.
    """
    harden_streams()
    try:
        with stoppable():
            result = app.main(
                None if args is None else list(args),
                prog_name="fullcount",
                standalone_mode=False,
            )
            flush()
            code = result if isinstance(result, int) else 0
    except Stopped as stopped:
        complain(str(stopped))
        code = stopped.exit_code
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        code = 130
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = 2
    except click.ClickException as error:
        complain(f"error: {_usage(error)}")
        code = 2
    except BrokenPipeError:
        code = _unread()
    except Exception as error:  # noqa: BLE001 - the last line of defence
        code = fail(error)
    return code


def _usage(error: click.ClickException) -> str:
    """Click's message on one line, with the command whose help explains it."""
    text = error.format_message().rstrip(".")
    text = text[:1].lower() + text[1:]
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "fullcount"
    return f"{text}; see '{path} --help'"


def _unread() -> int:
    """The exit code when nobody reads the output any more."""
    discard(sys.stdout)
    return 141
