"""``eocc compare``."""

from pathlib import Path
from typing import Any

from eocc.cli import options
from eocc.cli.app import command, say, usage
from eocc.cli.studies import request_of, run_and_write, study_options


@command
@options.data_argument
@options.data_options("label", "target", "drop", "all_columns")
@study_options("comparison")
def compare(data: Path, about: options.DataOptions, **given: Any) -> None:
    """Compare one-class classifiers on your own table.

    The paper's protocol is used: the columns as they are and normalised, and the same ten folds for all systems. All
    columns but the label must hold numbers, without gaps. --label and --target are required.

    Example: eocc compare parts.csv --label state --target good --systems EOCC-1,1-NN,Gauss
    """
    with usage():
        if not about.label:
            raise ValueError("--label and --target are required: the column of labels, and the label of normal rows")

        from eocc.cli.reading import read_training
        from eocc.experiments.protocol import TableSource
        from eocc.experiments.studies import check_names, plan_study

        request = request_of(given)
        check_names(request, ())
    read = read_training(data, about, "euclidean")
    name = f"{data.stem}-comparison"  # not the name of the data, which may be in the same folder
    source = TableSource(name, rows=tuple(map(tuple, read.patterns.tolist())), is_target=tuple(read.is_normal.tolist()))
    n_normal = sum(source.is_target)
    say(f"{n_normal} normal rows, {len(source.is_target) - n_normal} others.")
    run_and_write(plan_study(name, f"Comparison on {data.name}", [source], request), request)
