"""The app that commands are added to, the options that all of them take, and what becomes of errors."""

import copy
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from eocc import __version__
from eocc.foundation.printing import printable
from eocc.foundation.registry import choose
from eocc.io.files import GapError, UnknownFormatError

DONE, BAD_DATA, BAD_COMMAND, UNEXPECTED, INTERRUPTED = 0, 1, 2, 3, 130

# What an option must be where it is not: by the names of pydantic's errors.
WANTED = {
    "int_parsing": "a whole number", "int_from_float": "a whole number", "float_parsing": "a number",
    "greater_than_equal": "{ge} or more",
}  # fmt: skip


class Shared:
    """The options that all commands take, the command given, and whether it can skip incomplete rows."""

    quiet = False
    debug = False
    command = "eocc"
    may_skip = False


class Group(TyperGroup):
    """The commands, each of which takes --quiet and --debug after its name as well as before it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for command in self.commands.values():
            for option in self.params:
                if option.name in ("quiet", "debug"):
                    again = copy.copy(option)
                    again.expose_value = False
                    command.params.append(again)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command, and remember it for errors."""
        found = super().resolve_command(ctx, args)
        Shared.command = f"eocc {found[0]}"
        Shared.may_skip = any(option.name == "skip_incomplete" for option in getattr(found[1], "params", ()))
        return found


app = typer.Typer(
    name="eocc",
    cls=Group,
    help="Entropic one-class classification: learn what is normal from examples of it.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 done, 1 the data or a file is not as it must be, 2 the command is not as it must be, "
    "3 an error that nobody foresaw, 130 interrupted.",
)


def _quieten(value: bool) -> bool:
    Shared.quiet = Shared.quiet or value
    return value


def _debug(value: bool) -> bool:
    Shared.debug = Shared.debug or value
    return value


def _version(value: bool) -> bool:
    if value:
        print(f"eocc {__version__}")
        raise typer.Exit(DONE)
    return value


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_version)
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print results and errors only.", callback=_quieten)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where in the code an error arose.", callback=_debug)
    ] = False,
) -> None:
    """Take what all commands share; the options' callbacks keep it."""


def say(text: str) -> None:
    """Tell the user something that is not the result: on standard error, unless --quiet."""
    if not Shared.quiet:
        print(printable(text), file=sys.stderr, flush=True)


@contextmanager
def usage() -> Iterator[None]:
    """Let a ValueError be one about the command, not about the data."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def one_of(kind: str, known: Iterable[str], otherwise: str = "") -> Callable[[str], str]:
    """Return a check of an option's value, before anything is read; "", where an option is not given, passes.

    >>> one_of("format", ["csv", "json"])("csv")
    'csv'
    """
    names = dict.fromkeys(known)

    def check(value: str) -> str:
        with usage():
            if value:
                choose(kind, names, value, otherwise)
        return value

    return check


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    Shared.quiet, Shared.debug, Shared.command = False, False, "eocc"
    try:
        result = app(args=given, standalone_mode=False, prog_name="eocc")
        return result if isinstance(result, int) else DONE
    except typer.TyperException as error:
        return _complain(f"{_said(error)}; see {_where(error)} --help", BAD_COMMAND)
    except (typer.Abort, KeyboardInterrupt):
        return _complain("interrupted", INTERRUPTED)
    except UnknownFormatError as error:
        return _complain(error.on_command_line, BAD_DATA)
    except GapError as error:
        remedy = "; --skip-incomplete leaves such rows out" if Shared.may_skip else ""
        return _complain(_one_line(error) + remedy, BAD_DATA)
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        return _complain(_one_line(error), BAD_DATA)
    except Exception as error:
        name = type(error).__name__
        said = name if _one_line(error) == name else f"{name}: {_one_line(error)}"
        return _complain(f"unexpected {said}; run again with --debug to see where", UNEXPECTED)


def _where(error: typer.TyperException) -> str:
    return str(getattr(getattr(error, "ctx", None), "command_path", Shared.command))


def _said(error: typer.TyperException) -> str:
    faults: list[Any] = getattr(error.__cause__, "errors", list)()  # of pydantic, which typer leaves numbers to
    option = getattr(error, "param", None)
    if option is not None and faults and faults[0]["type"] in WANTED:
        wanted = WANTED[faults[0]["type"]].format(**faults[0].get("ctx", {}))
        return f"--{option.name.replace('_', '-')} must be {wanted}, not {faults[0]['input']!r}"
    message = getattr(error, "format_message", lambda: str(error))()
    return " ".join(str(message).split()).rstrip(".")


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _complain(text: str, code: int) -> int:
    """Say what is wrong, and with --debug where, and return the exit code."""
    if Shared.debug and code in (BAD_DATA, UNEXPECTED):
        traceback.print_exc()
    print(f"eocc: {printable(text)}", file=sys.stderr, flush=True)
    return code
