"""``eocc demo``."""

import click

from eocc.cli import options
from eocc.cli.app import command

DATA_SETS = ("breast-cancer", "iris", "wine")


@command
@click.option("--dataset", type=options.Names("data set", DATA_SETS), default=DATA_SETS[0], show_default=True,
              help="A data set that comes with scikit-learn.")  # fmt: skip
@options.seed_option
def demo(dataset: str, seed: int) -> None:
    """Compare the methods on one data set, and explain a decision.

    Example: eocc demo --dataset iris
    """
    from eocc.experiments.demo import run_demo

    print(run_demo(dataset, seed))
