"""The options of the commands. An option has the same name and meaning in every command that takes it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from eocc.classifiers.parameters import ENTROPIC_PARAMETERS, SURPRISE_PARAMETERS
from eocc.foundation.parameters import Optional, Parameter
from eocc.foundation.registry import Registry, choose
from eocc.io.files.formats import FORMATS

Function = TypeVar("Function", bound=Callable[..., Any])

# Parameters whose option has another name: the usual one of command lines.
OPTIONS = {"n_jobs": "--jobs", "random_state": "--seed"}
# Parameters without an option: --method and --quiet replace two of them, and weights are for Python.
NOT_OPTIONS = ("synthesis", "verbose", "weights")
# Parameters that only validation uses.
OF_VALIDATION = ("beta", "performance", "validation_fraction")
SURPRISE, EOCC_1, EOCC_2 = "surprise", "eocc-1", "eocc-2"
CLASSIFIERS = Registry("eocc.classifiers", {
    SURPRISE: "surprise.SurpriseClassifier",
    EOCC_1: "entropic.EntropicOneClassClassifier",
    EOCC_2: "entropic.EntropicOneClassClassifier",
})  # fmt: skip


@dataclass(frozen=True)
class Method:
    """A method of learning: the parameters that have an option, and the arguments that make it."""

    parameters: tuple[Parameter, ...]
    arguments: dict[str, Any]


def _with_options(parameters: Iterable[Parameter], without: tuple[str, ...] = ()) -> tuple[Parameter, ...]:
    return tuple(parameter for parameter in parameters if parameter.name not in (*NOT_OPTIONS, *without))


METHODS = {
    SURPRISE: Method(_with_options(SURPRISE_PARAMETERS), {}),
    EOCC_1: Method(_with_options(ENTROPIC_PARAMETERS, OF_VALIDATION), {"synthesis": "entropy"}),
    EOCC_2: Method(_with_options(ENTROPIC_PARAMETERS), {"synthesis": "validation"}),
}
PARAMETERS = {parameter.name: parameter for method in METHODS.values() for parameter in method.parameters}


class Names(click.Choice[str]):
    """One of some names. An unknown one is reported with the name that may have been meant."""

    def __init__(self, kind: str, names: Iterable[str]) -> None:
        super().__init__(list(names))
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name."""
        try:
            choose(self.kind, dict.fromkeys(map(str, self.choices)), value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return str(value)


class ParameterType(click.ParamType[Any]):
    """The values of a parameter of the classifiers, parsed and checked by the parameter itself."""

    def __init__(self, parameter: Parameter, metavar: str) -> None:
        self.name = metavar
        self.parameter = parameter
        self.names = (
            *parameter.names,
            *(("none",) if isinstance(parameter.kind, Optional) and parameter.names else ()),
        )

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value of a text."""
        if not isinstance(value, str):
            return value
        option = option_of(self.parameter.name)
        try:
            parsed = self.parameter.kind.parse(value)
        except ValueError:
            parsed = value  # which the check below refuses in better words
        try:
            self.parameter.kind.check(option if not self.names else self.parameter.name, parsed)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return parsed

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin with what was typed."""
        return [CompletionItem(name) for name in self.names if name.startswith(incomplete)]


def option_of(name: str) -> str:
    """Return the option of a parameter.

    >>> option_of("false_alarm_rate"), option_of("n_jobs")
    ('--false-alarm-rate', '--jobs')
    """
    return OPTIONS.get(name, "--" + name.replace("_", "-"))


def method_options(names: Iterable[str] | None = None) -> Callable[[Function], Function]:
    """Add --method and the options of the parameters of all methods, or of some of them by name."""
    chosen = [PARAMETERS[name] for name in (PARAMETERS if names is None else names)]

    def add(function: Function) -> Function:
        for parameter in reversed(chosen):
            function = _parameter_option(parameter)(function)
        choices = Names("method", METHODS)
        return click.option("--method", type=choices, default=SURPRISE, show_default=True, help="How to learn.")(
            function
        )

    return add


def _parameter_option(parameter: Parameter) -> Callable[[Function], Function]:
    option = option_of(parameter.name)
    values = ParameterType(parameter, "VALUE")
    metavar = "[" + "|".join(values.names) + "]" if values.names else option[2:].rpartition("-")[2].upper()
    of = [method for method in METHODS if parameter in METHODS[method].parameters]
    note = "" if len(of) == len(METHODS) else f" [{', '.join(of)}]"
    return click.option(option, parameter.name, type=values, metavar=metavar, help=parameter.help + note)


def classifier_of(method: str, given: dict[str, Any]) -> Any:
    """Return the classifier of a method with the options that were given; refuse those that it does not have."""
    known = METHODS[method]
    names = [parameter.name for parameter in known.parameters]
    source = click.get_current_context().get_parameter_source  # "none" is a value too
    given = {name: value for name, value in given.items() if source(name) is not ParameterSource.DEFAULT}
    for name in given:
        if name not in names:
            of = " or ".join(other for other in METHODS if PARAMETERS[name] in METHODS[other].parameters)
            raise click.UsageError(f"--method {method} has no {option_of(name)}; use --method {of}, or leave it out")
    settings = {"n_jobs": -1, "random_state": 0, **known.arguments, **given}
    return CLASSIFIERS[method](**settings)


def in_option_names(text: str) -> str:
    """Return a remedy that names parameters in terms of options.

    >>> in_option_names("pass graph='knn' and prototypes=1000, or raise max_memory")
    'pass --graph knn and --prototypes 1000, or raise --max-memory'
    """
    import re

    names = "|".join(PARAMETERS)
    with_value = re.sub(rf"\b({names})='?([\w.-]+)'?", lambda found: f"{option_of(found[1])} {found[2]}", text)
    return re.sub(rf"(?<![\w-])({'|'.join(name for name in PARAMETERS if '_' in name)})\b",
                  lambda found: option_of(found[1]), with_value)  # fmt: skip


def names_in(text: str) -> list[str]:
    """Return the names in a list with commas, each once.

    >>> names_in("id, colour,")
    ['id', 'colour']
    """
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def check_label(label: str, target: str, outliers: str = "") -> None:
    """Refuse a command with only some of --label, --target and --outliers."""
    if (target or outliers) and not label:
        raise click.UsageError(
            f"{'--target' if target else '--outliers'} needs --label, the column that holds the labels"
        )
    if label and not target:
        raise click.UsageError(f"--label {label} needs --target, the label of normal rows")


def format_option(*names: str, default: str | None = None, more: str = "") -> Callable[[Function], Function]:
    """Return the option --format of a command."""
    given = {"show_default": True} if default else {}
    return click.option("--format", "form", type=Names("format", names), default=default,
                        help=f"Format of the output{more}.", **given)  # type: ignore[arg-type]  # fmt: skip


def output_option(default: str | None, what: str) -> Callable[[Function], Function]:
    """Return the option --output of a command."""
    given = {} if default is None else {"default": default, "show_default": True}
    return click.option("--output", "-o", type=click.Path(path_type=Path), help=what, **given)  # type: ignore[arg-type]


def _path(name: str, metavar: str) -> Callable[[Function], Function]:
    return click.argument(name, type=click.Path(path_type=Path), metavar=metavar)


data_argument, model_argument = _path("data", "DATA"), _path("model", "MODEL")
data_option = click.option("--data", type=click.Path(path_type=Path), help="A file of rows to use with the model.")
input_format = click.option("--input-format", type=Names("format", FORMATS), default=None,
                            help="Format of DATA, if its suffix does not tell it.")  # fmt: skip
label_option = click.option("--label", default="", metavar="COLUMN",
                            help="The column that holds labels; 'class' for a CXL index.")  # fmt: skip
target_option = click.option("--target", default="", metavar="VALUE", help="The label of normal rows.")
outliers_option = click.option("--outliers", default="", metavar="VALUE,...",
                               help="Labels of known outliers, separated by commas.")  # fmt: skip
drop_option = click.option("--drop", default="", metavar="COLUMN,...", help="Columns to ignore, separated by commas.")
skip_incomplete = click.option("--skip-incomplete", is_flag=True, help="Leave out rows with missing values.")
sample_option = click.option("--sample", type=click.IntRange(min=1), default=None, metavar="N",
                             help="Learn from N random rows of a table that is larger than memory.")  # fmt: skip
seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
