"""The options of the commands. An option has the same name and meaning in every command that takes it."""

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import partial, reduce, wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from eocc import classifiers
from eocc.base.checks import Check, Parameter
from eocc.base.registry import choice
from eocc.classifiers.parameters import ENTROPIC_PARAMETERS, REGION_PARAMETERS, SURPRISE_PARAMETERS
from eocc.formats.files.formats import FORMATS, STDIN
from eocc.tables import DAY_FIRST, MONTH_FIRST

Function = TypeVar("Function", bound=Callable[..., Any])

# Parameters whose option has another name: the usual one of command lines.
OPTIONS = {"n_jobs": "--jobs", "random_state": "--seed"}
# Parameters without an option: --method and --quiet replace two of them, and weights are for Python.
NOT_OPTIONS = ("synthesis", "verbose", "weights")
# Parameters that only validation uses.
OF_VALIDATION = ("beta", "performance", "validation_fraction")
SURPRISE, REGIONS, EOCC_1, EOCC_2 = "surprise", "regions", "eocc-1", "eocc-2"


# The parameters of each method that have an option.
METHODS: dict[str, dict[str, Parameter]] = {
    method: {one.name: one for one in parameters if one.name not in (*NOT_OPTIONS, *without)}
    for method, parameters, without in (
        (SURPRISE, SURPRISE_PARAMETERS, ()),
        (REGIONS, REGION_PARAMETERS, ()),
        (EOCC_1, ENTROPIC_PARAMETERS, OF_VALIDATION),
        (EOCC_2, ENTROPIC_PARAMETERS, ()),
    )
}
# Of parameters with the same name, the first: that of the method that takes more values.
PARAMETERS = {name: parameter for method in reversed(METHODS) for name, parameter in METHODS[method].items()}


# What --kind takes.
KINDS = ("text", "number", "date", "hours", "category")


@dataclass(frozen=True)
class DataFiles:
    """The files that a command reads, one after another; `str` names them."""

    paths: tuple[Path, ...]

    @property
    def name(self) -> str:
        """The name of the file, or the number of files."""
        if len(self.paths) > 1:
            return f"{len(self.paths)} files"
        return "standard input" if self.paths[0] == STDIN else self.paths[0].name

    def __str__(self) -> str:
        first = str(self.paths[0])
        return first if len(self.paths) == 1 else f"{first} and {len(self.paths) - 1} more"


def _data_files(ctx: click.Context, option: click.Parameter, value: Any) -> DataFiles | None:
    """Return the files that a command names, with the files that a pattern such as '2026-*.csv' matches."""
    found = list[Path]()
    for path in value if isinstance(value, tuple) else [value] if value else []:
        matching = sorted(path.parent.glob(path.name)) if set("*?[") & set(path.name) and not path.exists() else []
        found += matching or [path]
    if len(found) > 1 and STDIN in found:
        raise click.UsageError("standard input is read alone; pass files, or - by itself")
    return DataFiles(tuple(found)) if found else None


def _described(flag: str, help_: str, default: Any = "", **more: Any) -> Any:
    """Return a field of DataOptions with its option on the command line."""
    option = partial(click.option, flag, default=default, help=help_, is_flag=default is False, **more)
    return field(default=() if more.get("multiple") else default, metadata={"option": option})


class Checked(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    """Values that a check parses and accepts. Errors call them `called`; an unknown name comes with a similar one."""

    name = "VALUE"

    def __init__(self, called: str, check: Check) -> None:
        self.called, self.check = called, check
        self.names = (*check.names, *(("none",) if check.names and check.allows_none else ()))

    def get_metavar(self, param: click.Parameter, ctx: Any = None) -> str | None:
        """Return the names to choose from, None if there are none."""
        names = "|".join(self.names)
        return None if not names else f"{{{names}}}" if isinstance(param, click.Argument) else f"[{names}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value of a text."""
        if not isinstance(value, str):
            return value
        with suppress(ValueError):  # the check below refuses it in better words
            value = self.check.parse(value)
        try:
            self.check(self.called, value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin with what was typed."""
        return [CompletionItem(name) for name in self.names if name.startswith(incomplete)]


def choice_of(kind: str, names: Iterable[str]) -> Checked:
    """Return the type of an option that takes one of the names of a kind."""
    return Checked(kind, choice(names))


AT_LEAST_1 = click.IntRange(min=1)


@dataclass(frozen=True)
class DataOptions:
    """What the options say about a data file. Commands that do not have an option keep its default."""

    # fmt: off
    input_format: str | None = _described(
        "--input-format", "Format of DATA, if its suffix does not show it.", None, type=choice_of("format", FORMATS))
    id_column: str = _described("--id", "The column that names the rows; it is not compared.", metavar="COLUMN")
    delimiter: str = _described(
        "--delimiter", "What separates the cells of a CSV, for example ';' or tab. Default: detected.",
        metavar="CHARACTER")
    decimal: str | None = _described(
        "--decimal", "The decimal mark of a CSV file. Default: detected.", None,
        type=choice_of("decimal mark", (".", ",")))
    dates: str | None = _described(
        "--dates", "What comes first in dates such as 3/4/2031. Default: detected.", None,
        type=choice_of("order of dates", (DAY_FIRST, MONTH_FIRST)))
    all_columns: bool = _described("--all-columns", "Also compare ids, row counters and timestamps.", False)
    sheet: str = _described("--sheet", "The sheet of a workbook. Default: the largest.", metavar="NAME")
    kind: tuple[str, ...] = _described(
        "--kind", "What a column holds, if it is judged wrong. May be repeated.", None, multiple=True,
        metavar=f"COLUMN={'|'.join(KINDS)}")
    skip_bad: bool = _described("--skip-bad", "Leave out rows with a cell that cannot be read.", False)
    strict: bool = _described("--strict", "Stop at a cell that cannot be read, instead of rejecting its row.", False)
    skip_incomplete: bool = _described("--skip-incomplete", "Leave out rows with missing values.", False)
    drop: str = _described("--drop", "Columns to ignore, separated by commas.", metavar="COLUMN,...")
    label: str = _described("--label", "The column that holds labels.", metavar="COLUMN")
    target: str = _described("--target", "The label of normal rows.", metavar="VALUE")
    outliers: str = _described("--outliers", "Labels of known outliers, separated by commas.", metavar="VALUE,...")
    window: int | None = _described(
        "--window", "Cut one long series into windows of N values, which are the rows of the model.", None,
        type=AT_LEAST_1, metavar="N")
    step: int | None = _described(
        "--step", "A window begins every N values; 1 by default.", None, type=AT_LEAST_1, metavar="N")
    by: str = _described("--by", "Rows with the same value here are one series each.", metavar="COLUMN")
    time: str = _described(
        "--time", "The dates or numbers that order the rows of a series. Default: as they are.", metavar="COLUMN")
    features: bool = _described(
        "--features", "Describe a window by six numbers per column instead of its values.", False)
    # fmt: on

    @property
    def kinds(self) -> dict[str, str]:
        """The kinds that the user declares, by column."""
        return {name: kind for name, _, kind in (one.rpartition("=") for one in self.kind)}

    @property
    def dialect(self) -> Any:
        """How a CSV file is written, as far as the options say."""
        from eocc.tables.spelling import Dialect

        delimiter = "\t" if self.delimiter in ("tab", "\\t") else self.delimiter
        return Dialect(delimiter, self.decimal or "", self.dates or "")

    @property
    def apart(self) -> list[str]:
        """The columns that are not compared."""
        return list(dict.fromkeys([*names_in(self.drop), *filter(None, (self.label, self.id_column))]))

    def __post_init__(self) -> None:
        if self.delimiter and len(self.dialect.delimiter) != 1:
            raise click.UsageError(f"--delimiter is one character, or 'tab', not {self.delimiter!r}")
        for one in self.kind:
            if not one.rpartition("=")[0] or one.rpartition("=")[2] not in KINDS:
                raise click.UsageError(f"--kind is COLUMN={'|'.join(KINDS)}, for example zip=text, not {one!r}")
        needed = {"window": ("step", "by", "time", "features"), "label": ("target", "outliers")}
        why = {"window": "the number of values in a window of a series", "label": "the column that holds the labels"}
        for need, names in needed.items():
            for name in (name for name in names if getattr(self, name) and not getattr(self, need)):
                raise click.UsageError(f"--{name} needs --{need}, {why[need]}")
        if self.window and (self.label or self.id_column):
            option = "--label" if self.label else "--id"
            raise click.UsageError(f"{option} is about rows, but windows of rows are compared; leave it out")
        if self.label and not self.target:
            raise click.UsageError(f"--label {self.label} needs --target, the label of normal rows")


def option_of(name: str) -> str:
    """Return the option of a parameter."""
    return OPTIONS.get(name, "--" + name.replace("_", "-"))


def stacked(*decorators: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Return one decorator that adds several options in this order."""
    return lambda function: reduce(lambda made, add: add(made), reversed(decorators), function)


def method_options(function: Function) -> Function:
    """Add --method and the options of all parameters."""
    what = "surprise for detection; regions for rules and SQL; eocc-1 and eocc-2 are the paper's."
    made = [click.option("--method", type=choice_of("method", METHODS), default=SURPRISE, show_default=True, help=what)]
    for name, parameter in PARAMETERS.items():
        option, names = option_of(name), parameter.kind.names
        values = Checked(name if names else option, parameter.kind)
        metavar = None if names else option[2:].rpartition("-")[2].upper()
        of = [method for method, parameters in METHODS.items() if name in parameters]
        text = parameter.help + ("" if len(of) == len(METHODS) else f" [{', '.join(of)}]")
        made.append(click.option(option, name, type=values, metavar=metavar, help=text))
    return stacked(*made)(function)


def classifier_of(method: str, given: dict[str, Any]) -> Any:
    """Return the classifier of a method with the options that were given; refuse those that it does not have."""
    source = click.get_current_context().get_parameter_source  # "none" is a value too
    given = {name: value for name, value in given.items() if source(name) is not ParameterSource.DEFAULT}
    for name in given:
        if name not in METHODS[method]:
            of = " or ".join(other for other in METHODS if name in METHODS[other])
            raise click.UsageError(f"--method {method} has no {option_of(name)}; use --method {of}, or leave it out")
    name, fixed = classifiers.METHODS[method]
    seed = {"random_state": 0} if "random_state" in METHODS[method] else {}
    return classifiers.CLASSIFIERS[name](**{"n_jobs": -1, **seed, **fixed, **given})


def in_option_names(text: str) -> str:
    """Return a remedy that names parameters in terms of options.

    >>> in_option_names("pass measure='gower' and prototypes=1000, or raise max_memory")
    'pass --measure gower and --prototypes 1000, or raise --max-memory'
    """
    with_value = rf"\b({'|'.join(PARAMETERS)})='?([\w.-]+)'?"
    alone = rf"(?<![\w-])({'|'.join(name for name in PARAMETERS if '_' in name)})\b"
    text = re.sub(with_value, lambda found: f"{option_of(found[1])} {found[2]}", text)
    return re.sub(alone, lambda found: option_of(found[1]), text)


def names_in(text: str) -> list[str]:
    """Return the names in a list with commas, each once."""
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def data_options(*names: str) -> Callable[[Function], Function]:
    """Add the options of these names and those of every data file; pass them as one `DataOptions`, `about`."""
    chosen = (*names, "input_format", "sheet", "delimiter", "decimal", "dates", "skip_incomplete")

    def add(function: Any) -> Any:
        @wraps(function)
        def wrapped(**given: Any) -> Any:
            asked = {name: given.pop(name) for name in chosen}
            if given.get("data", ".") is None and any(asked.values()):
                option = option_of(next(name for name, value in asked.items() if value))
                raise click.UsageError(f"{option} describes the data: pass --data")
            return function(about=DataOptions(**asked), **given)

        known = {one.name: one.metadata["option"](one.name) for one in fields(DataOptions)}
        return stacked(*(known[name] for name in chosen))(wrapped)

    return add


def format_option(*names: str, default: str | None = None, more: str = "") -> Callable[[Function], Function]:
    """Return the option --format of a command."""
    return click.option("--format", "form", type=choice_of("format", names), default=default,
                        show_default=default is not None, help=f"Format of the output{more}.")  # fmt: skip


class OutputPath(click.Path):
    """What a command writes: a file, a folder if it `makes_folders`, or nothing for "-" if it `prints` otherwise."""

    def __init__(self, prints: bool = False, makes_folders: bool = False) -> None:
        super().__init__(path_type=Path)
        self.prints, self.makes_folders = prints, makes_folders

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, None for standard output."""
        if str(value) == "-":
            return None if self.prints else self.fail("'-' is standard output; name a file", param, ctx)
        if str(value).endswith(("/", os.sep)) and not self.makes_folders:
            self.fail(f"{str(value)!r} is a folder; name a file in it", param, ctx)
        return super().convert(value, param, ctx)


def output_option(
    default: str | None, what: str, makes_folders: bool = False, required: bool = False
) -> Callable[[Function], Function]:
    """Return the option --output of a command that writes a file or a folder."""
    return click.option("--output", "-o", type=OutputPath(makes_folders=makes_folders), help=what, default=default,
                        show_default=default is not None, required=required)  # fmt: skip


def result_option(what: str) -> Callable[[Function], Function]:
    """Return the option --output of a command that writes to standard output, which is "-" too, or to a file."""
    words = f"A file for the {what}; standard output by default."
    return click.option("--output", "-o", type=OutputPath(prints=True), help=words)


# What cannot be read is said where it is read.
PATH = click.Path(path_type=Path, readable=False)
data_argument = click.argument("data", type=PATH, metavar="DATA...", nargs=-1, required=True, callback=_data_files)
model_argument = click.argument("model", type=PATH, metavar="MODEL")
data_option = click.option("--data", type=PATH, help="A file of rows to use with the model.", callback=_data_files)
seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
