"""``eocc plot``."""

from pathlib import Path
from typing import Any

import click

from eocc.cli import options
from eocc.cli.app import command, say, usage
from eocc.cli.output import open_model
from eocc.foundation.registry import choose
from eocc.plots import PLOTS

PICTURES = ("png", "svg", "pdf")
# Pictures that can show rows, that need rows, and that need rows with labels; the others show the model alone.
MAY_SHOW_ROWS, NEED_ROWS, NEED_LABELS = ("space", "membership"), ("scores", "roc"), ("roc",)


@command
@options.model_argument
@click.argument("kind", type=options.Names("picture", PLOTS))
@options.data_option
@options.output_option("picture.png", "The picture: png, svg or pdf.")
@options.data_options("label", "target")
def plot(model: Path, kind: str, data: Path | None, output: Path, about: options.DataOptions) -> None:
    """Draw a model, or the scores of rows.

    Example: eocc plot model.eocc space --data new.csv -o space.png
    """
    form = output.suffix.lower().removeprefix(".")
    with usage():
        _check(kind, data, about.label)
        choose("picture format", dict.fromkeys(PICTURES), form, otherwise="name the output picture.png")
    classifier = open_model(model, output, data)
    n_features = getattr(classifier, "n_features_in_", "no")
    if kind == "membership" and n_features != 2:
        remedy = f"eocc plot {model} space draws any model"
        raise ValueError(f"a membership surface needs 2 columns of numbers; this model has {n_features}: {remedy}")

    from eocc.cli.reading import read_for, say_if_trained_on
    from eocc.experiments.figures import new_figure
    from eocc.foundation.atomic import drafted

    figure = new_figure()
    given: tuple[Any, ...] = ()
    if data is not None:
        rows = read_for(classifier, data, about)
        if kind in NEED_LABELS and rows.is_normal.all():
            raise ValueError("a ROC curve needs rows of both kinds; every row of the data is normal")
        if kind in NEED_ROWS:
            say_if_trained_on(classifier, rows)
        given = (rows.patterns, rows.signs) if about.label and kind in NEED_ROWS else (rows.patterns,)
    PLOTS[kind](classifier, figure.subplots(), *given)
    with drafted(output) as draft:
        figure.savefig(draft, dpi=120, format=form)
    say(f"Written: {output}.")


def _check(kind: str, data: Path | None, label: str) -> None:
    if kind in NEED_ROWS and data is None:
        raise ValueError(f"the picture {kind!r} needs rows: pass --data")
    if kind in NEED_LABELS and not label:
        raise ValueError(f"the picture {kind!r} needs labels: pass --label and --target")
    if data is not None and kind not in (*MAY_SHOW_ROWS, *NEED_ROWS):
        raise ValueError(f"the picture {kind!r} shows the model alone; leave --data out")
