"""The command group, the options that all commands share, and how errors are reported."""

import gc
import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import click

from eocc.base.atomic import FULL
from eocc.base.estimator import start_command_line
from eocc.base.printing import printable_lines
from eocc.base.progress import Watch, log_record, plain_line, shown
from eocc.tables import TableWarning

DONE, BAD_DATA, BAD_COMMAND, UNEXPECTED, ALARM, INTERRUPTED = 0, 1, 2, 3, 4, 130
# The commands in the order of use, each with the module that it is in.
COMMANDS = {
    "fit": "fit", "score": "score", "explain": "score", "inspect": "show", "plot": "show", "report": "show",
    "export": "show", "review": "update", "teach": "update", "update": "update", "answers": "update",
    "compare": "studies", "reproduce": "studies", "demo": "studies", "warm-up": "warm_up",
}  # fmt: skip


class Shared:
    """The options that all commands share, before or after the name of the command."""

    quiet = False
    debug = False
    log_format: str | None = None
    notes: ClassVar[list[str]] = []  # what `say` was given and begins with "Note: ", also if quiet
    watch: Watch | None = None  # shows how far the command is


def _set(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    setattr(Shared, str(option.name), getattr(Shared, str(option.name)) or value)


_shared = partial(click.Option, expose_value=False, callback=_set)
SHARED_OPTIONS = [
    _shared(["--quiet", "-q"], is_flag=True, help="Print results and errors only."),
    _shared(["--debug"], is_flag=True, help="Show where in the code an error occurred."),
    _shared(["--log-format"], type=click.Choice(("text", "json")), is_eager=True,
            help="How messages are printed: text, or json, one line each."),
]  # fmt: skip


def _as_line() -> Callable[..., str]:
    return log_record if Shared.log_format == "json" else plain_line


def command(function: Any) -> click.Command:
    """Make a click command of a function, whose docstring is its help."""

    @wraps(function)
    def watched(**given: Any) -> Any:
        with nullcontext() if Shared.quiet else shown(as_line=_as_line()) as Shared.watch:
            try:
                return function(**given)
            except BrokenPipeError:  # the reader, for example head, stopped
                raise click.exceptions.Exit(DONE) from None

    made: click.Command = click.command(name=function.__name__.replace("_", "-"), no_args_is_help=False)(watched)
    made.params += SHARED_OPTIONS
    return made


class LazyGroup(click.Group):
    """Imports the module of a command when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, or None if there is none of that name."""
        module = COMMANDS.get(cmd_name)
        return getattr(import_module(f"eocc.cli.{module}"), cmd_name.replace("-", "_"), None) if module else None


app = LazyGroup(
    "eocc", help="Learn what is normal from examples of it, and find what is not.",
    epilog="Exit codes: 0 done, 1 wrong data or file, 2 wrong command, 3 unexpected error, 4 --fail-on came true, "
           "130 interrupted.",
)  # fmt: skip
click.version_option(package_name="eocc", message="eocc %(version)s", help="Print the version and exit.")(app)
app.params += SHARED_OPTIONS


def say(text: str) -> None:
    """Print a message on standard error, unless --quiet."""
    if text.startswith("Note: "):
        Shared.notes.append(text.removeprefix("Note: "))
    if Shared.watch is not None:
        Shared.watch.line(text)


@contextmanager
def usage() -> Iterator[None]:
    """Turn a ValueError into an error about the command instead of the data."""
    try:
        yield
    except ValueError as error:
        raise click.UsageError(str(error)) from None


class _ClosedOutput(io.TextIOBase):
    """Replaces a standard output that was closed before the start (``>&-``)."""

    def write(self, text: str, /) -> int:
        raise OSError("standard output is closed; open it, or pass --output")


class _Terminal(io.TextIOBase):
    """Standard output on a terminal, which text from files must not control."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.flush, self.fileno, self.isatty = file.flush, file.fileno, file.isatty  # type: ignore[method-assign]

    def write(self, text: str, /) -> int:
        return int(self._file.write(printable_lines(text)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    Shared.quiet, Shared.debug, Shared.log_format, Shared.watch = False, False, None, None
    Shared.notes.clear()
    sys.stdin, sys.stderr = sys.stdin or Path(os.devnull).open(), sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115
    sys.stdout = sys.stdout or _ClosedOutput()
    if sys.stdout.isatty() and not isinstance(sys.stdout, _Terminal):
        sys.stdout = _Terminal(sys.stdout)
    gc.set_threshold(200_000, 20, 100)  # less often than by default: saves half a second of importing and compiling
    if arguments is None:  # a process of its own
        start_command_line()
    code = _run(arguments)
    try:
        sys.stdout.flush()
    except OSError as error:
        if code == DONE and not isinstance(error, BrokenPipeError):
            code = _complain(_one_line(error), BAD_DATA)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the rest is not written again at exit
    if arguments is None:
        gc.freeze()  # saves 0.2 s at exit: the interpreter does not search all that is left for cycles
    return code


def _run(arguments: Sequence[str] | None) -> int:
    try:
        with warnings.catch_warnings():
            # From scikit-learn, about arrays without names: the columns of files are matched by name before.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            warnings.simplefilter("default", TableWarning)
            warnings.showwarning = lambda message, *_: say(f"Note: {getattr(message, 'on_command_line', message)}.")
            given = None if arguments is None else list(arguments)
            result = app.main(args=given, prog_name="eocc", standalone_mode=False)
        return result if isinstance(result, int) else DONE
    except click.exceptions.NoArgsIsHelpError:
        return _complain("no command given; see eocc --help", BAD_COMMAND)
    except click.ClickException as error:
        where = getattr(getattr(error, "ctx", None), "command_path", "eocc")
        return _complain(f"{' '.join(error.format_message().split()).rstrip('.')}; see {where} --help", BAD_COMMAND)
    except (click.Abort, KeyboardInterrupt):
        if arguments is None:  # a process of its own: end it now, in the middle of what its threads compute
            os._exit(_complain("interrupted", INTERRUPTED))
        return _complain("interrupted", INTERRUPTED)
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        from eocc.tables.reading import GapError

        skip = "; --skip-incomplete leaves such rows out" if isinstance(error, GapError) else ""
        return _complain(str(getattr(error, "on_command_line", _one_line(error) + skip)), BAD_DATA)
    except Exception as error:
        name, message = type(error).__name__, _one_line(error)
        known = name if message == name else f"{name}: {message}"
        return _complain(f"unexpected {known}; run again with --debug to see where", UNEXPECTED)


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:  # files are named where they are written
        return f"{error.filename or ('standard output' if error.errno in FULL else 'a file')}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _complain(text: str, code: int) -> int:
    if Shared.debug and code in (BAD_DATA, UNEXPECTED):
        traceback.print_exc()
    said = text if Shared.log_format == "json" else f"eocc: {text}"
    print(_as_line()("alarm" if code == ALARM else "error", said, exit_code=code), file=sys.stderr, flush=True)
    return code


def end_with_alarm(why: str) -> NoReturn:
    """Print why the command ends with the exit code of an alarm, also with --quiet, and end it."""
    raise click.exceptions.Exit(_complain(why, ALARM))
