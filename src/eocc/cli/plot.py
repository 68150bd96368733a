"""``eocc plot``."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.cli.app import app, one_of, say, usage
from eocc.cli.reading import (
    InputFormat,
    Label,
    Model,
    Read,
    SkipIncomplete,
    Target,
    check_label,
    read_for,
    without_names,
)
from eocc.cli.remarks import say_if_learnt
from eocc.experiments.figures import new_figure
from eocc.foundation.atomic import check_output, drafted
from eocc.foundation.registry import choose
from eocc.io.model_file import load
from eocc.plots.drawing import PLOTS

# What a picture draws besides the model: nothing, patterns if there are any, patterns it needs, labels it needs too.
PICTURES = ("png", "svg", "pdf")
# Those that tell how good a model is.
FIGURES = ("scores", "roc")
TAKES = {"space": "may", "membership": "may", "scores": "needs", "roc": "needs labels"}


@app.command()
def plot(
    model: Model,
    kind: Annotated[str, typer.Argument(help="One of " + ", ".join(PLOTS) + ".", callback=one_of("picture", PLOTS))],
    data: Annotated[Path | None, typer.Option(help="Patterns to draw with the model.")] = None,
    input_format: InputFormat = "",
    label: Label = "",
    target: Target = "",
    skip_incomplete: SkipIncomplete = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="The picture: png, svg or pdf.")] = Path("picture.png"),
) -> None:
    """Draw a model: its space, membership, modularity, search, weights, regions; scores and ROC of patterns.

    Example: eocc plot model.eocc space --data new.csv -o space.png
    """
    form = output.suffix.lower().removeprefix(".")
    with usage():
        _check(kind, data, label)
        check_label(label, target)
        choose("picture format", dict.fromkeys(PICTURES), form, otherwise="name the output picture.png, say")
    check_output(output, model, data)
    classifier = load(model)
    _check_features(classifier, kind, model)
    figure = new_figure()
    with without_names():
        read = read_for(classifier, data, input_format, skip_incomplete, label, target) if data else None
        given = () if read is None else _given(read, kind, label)
        if read is not None and kind in FIGURES:
            say_if_learnt(classifier, read)
        PLOTS[kind](classifier, figure.subplots(), *given)  # type: ignore[operator]
    with drafted(output) as draft:
        figure.savefig(draft, dpi=120, format=form)
    say(f"Drawn: {output}.")


def _check(kind: str, data: Path | None, label: str) -> None:
    """Raise a ValueError if the picture needs more, or less, than it is given."""
    takes = TAKES.get(kind, "")
    if takes.startswith("needs") and data is None:
        raise ValueError(f"the picture {kind!r} needs patterns: pass --data")
    if takes == "needs labels" and not label:
        raise ValueError(f"the picture {kind!r} needs to know the targets: pass --label and --target")
    if data is not None and not takes:
        raise ValueError(f"the picture {kind!r} shows the model alone; leave --data out")
    if data is None and label:
        raise ValueError("--label is a column of the patterns: pass --data too")


def _check_features(classifier: EntropicOneClassClassifier, kind: str, model: Path) -> None:
    n_features = getattr(classifier, "n_features_in_", "none")
    if kind == "membership" and n_features != 2:
        remedy = f"eocc plot {model} space draws models of any sort"
        raise ValueError(f"a membership surface needs two features; this model has {n_features}: {remedy}")


def _given(read: Read, kind: str, label: str) -> tuple[object, ...]:
    if kind == "roc" and read.is_target.all():
        raise ValueError("a ROC needs others beside targets; every pattern of the data is a target")
    if kind in ("roc", "scores") and label:
        return (read.patterns, np.where(read.is_target, 1, -1))
    return (read.patterns,)
