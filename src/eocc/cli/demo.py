"""``eocc demo``."""

from pathlib import Path

import click

from eocc.cli import options
from eocc.cli.app import command


@command
@click.option("--files", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
              help="Write the rows as normal.csv and new.csv into this folder instead.")  # fmt: skip
@options.seed_option
def demo(files: Path | None, seed: int) -> None:
    """Compare the classifiers and explain a decision.

    Example: eocc demo
    """
    from eocc.experiments.demo import run_demo, write_files

    if files is None:
        print(run_demo(seed))
    else:
        write_files(files, seed)
        print(f"Written: {files / 'normal.csv'} and {files / 'new.csv'}. Next: eocc fit {files / 'normal.csv'} "
              f"-o {files / 'model.eocc'}")  # fmt: skip
