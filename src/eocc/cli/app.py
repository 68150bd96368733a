"""The app that commands are added to, and what becomes of errors."""

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from eocc import __version__

app = typer.Typer(
    name="eocc",
    help="Entropic one-class classification: learn what is normal from examples of it.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 done, 1 the data or a file is not as it must be, 2 the command is not as it must be, "
    "130 interrupted.",
)

DONE, BAD_DATA, BAD_COMMAND, INTERRUPTED = 0, 1, 2, 130


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where in the code an error arose.")] = False,
) -> None:
    """Keep what all commands share."""
    Shared.quiet, Shared.debug = quiet, debug


class Shared:
    """Options given before the command."""

    quiet = False
    debug = False


def say(text: str) -> None:
    """Tell the user something that is not the result: on standard error, unless --quiet."""
    if not Shared.quiet:
        print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    Shared.quiet = Shared.debug = False
    if given and given[0] == "--version":
        print(f"eocc {__version__}")
        return DONE
    try:
        result = app(args=given, standalone_mode=False, prog_name="eocc")
        return result if isinstance(result, int) else DONE
    except typer.TyperException as error:
        _complain(f"{_said(error)}; see {_where(error)} --help")
        return BAD_COMMAND
    except (typer.Abort, KeyboardInterrupt):
        _complain("interrupted")
        return INTERRUPTED
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        if Shared.debug:
            traceback.print_exc()
        _complain(_one_line(error))
        return BAD_DATA


def _where(error: typer.TyperException) -> str:
    return str(getattr(getattr(error, "ctx", None), "command_path", "eocc"))


def _said(error: typer.TyperException) -> str:
    message = getattr(error, "format_message", lambda: str(error))()
    return " ".join(str(message).split()).rstrip(".")


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _complain(text: str) -> None:
    print(f"eocc: {text}", file=sys.stderr, flush=True)
