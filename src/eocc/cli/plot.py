"""``eocc plot``."""

from pathlib import Path
from typing import Any

import click

from eocc.base.atomic import drafted
from eocc.base.registry import choose
from eocc.cli import options
from eocc.cli.app import command, usage
from eocc.cli.output import open_model, say_file, say_if_trained_on
from eocc.plots import PLOTS

PICTURES = ("png", "svg", "pdf")
# Pictures that can show rows, that need rows, and that take labels, which "roc" needs; the others show the model alone.
MAY_SHOW_ROWS, NEED_ROWS = ("space", "membership"), ("rows", "calibration", "scores", "roc")
TAKE_LABELS = NEED_ROWS[1:]


@command
@options.model_argument
@click.argument("kind", type=options.choice_of("picture", PLOTS))
@options.data_option
@options.output_option("picture.png", "The picture: png, svg or pdf.")
@options.data_options("label", "target", "id_column", "strict")
def plot(model: Path, kind: str, data: options.DataFiles | None, output: Path, about: options.DataOptions) -> None:
    """Draw a model, or which rows are unusual and why.

    Example: eocc plot model.eocc rows --data new.csv -o rows.png
    """
    form = output.suffix.lower().removeprefix(".")
    with usage():
        if kind in NEED_ROWS and data is None:
            raise ValueError(f"the picture {kind!r} needs rows: pass --data")
        if kind == "roc" and not about.label:
            raise ValueError(f"the picture {kind!r} needs labels: pass --label and --target")
        if data is not None and kind not in (*MAY_SHOW_ROWS, *NEED_ROWS):
            raise ValueError(f"the picture {kind!r} shows the model alone; leave --data out")
        choose("picture format", dict.fromkeys(PICTURES), form, otherwise="name the output picture.png")
    classifier = open_model(model, output, *(data.paths if data else ()))
    n_features = classifier.prototypes_.shape[1] if hasattr(classifier.prototypes_, "shape") else "no"
    if kind == "membership" and n_features != 2:
        remedy = f"eocc plot {model} space draws any model"
        raise ValueError(f"a membership surface needs 2 columns of numbers; this model has {n_features}: {remedy}")

    from eocc.plots.drawing import new_figure

    figure = new_figure(*((8.4, 6.0) if kind == "rows" else (6.4, 4.6)))
    given, named = ((), {}) if data is None else _rows(classifier, kind, data, about)
    PLOTS[kind](classifier, *given, **named, axes=figure.subplots())
    with drafted(output) as draft:
        figure.savefig(draft, dpi=120, format=form)
    say_file(output)


def _rows(
    classifier: Any, kind: str, data: options.DataFiles, about: options.DataOptions
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return what the picture needs of the data: rows, and labels or names."""
    from eocc.cli.reading import read_for

    rows = read_for(classifier, data, about)
    if kind == "roc" and rows.is_normal.all():
        raise ValueError("a ROC curve needs rows of both kinds; every row of the data is normal")
    if kind in NEED_ROWS:
        say_if_trained_on(classifier, rows)
    more: dict[str, Any] = {"names": list(map(str, rows.names))} if kind == "rows" else {}
    return ((rows.X, rows.signs) if about.label and kind in TAKE_LABELS else (rows.X,)), more
