"""``eocc demo``."""

from typing import Annotated

import typer

from eocc.cli.app import app, one_of
from eocc.experiments.demo import DEMO_SETS
from eocc.experiments.demo import demo as told


@app.command()
def demo(
    dataset: Annotated[
        str,
        typer.Option(help="One of " + ", ".join(sorted(DEMO_SETS)) + ".", callback=one_of("data set", DEMO_SETS)),
    ] = "breast-cancer",
    seed: Annotated[int, typer.Option(min=0, help="Of the split.")] = 0,
) -> None:
    """Train and test on a data set that comes with scikit-learn, and tell what was found.

    Example: eocc demo --dataset wine
    """
    print(told(dataset, seed))
