"""``eocc compare``."""

from pathlib import Path
from typing import Any

import click

from eocc.cli import options
from eocc.cli.app import command, say, usage
from eocc.cli.studies import check_available, request_of, run_and_write, study_options

TABLES = ("csv", "tsv", "jsonl", "json", "parquet", "arrow")


@command
@click.argument("data", type=options.PATH, metavar="DATA")
@options.data_options("label", "target", "drop", "all_columns")
@study_options("comparison")
def compare(data: Path, about: options.DataOptions, **given: Any) -> None:
    """Compare one-class classifiers on your own data.

    DATA is a table, or a folder of tables with the same label column. As in the paper, the
    columns are used as they are and normalised, and all systems have the same ten folds. All columns but the label must
    hold numbers, without gaps. --label and --target are required. With several tables the systems are ranked, with
    intervals and a picture.

    Example: eocc compare parts.csv --label state --target good --systems EOCC-1,1-NN,Gauss
    """
    with usage():
        if not about.label:
            raise ValueError("--label and --target are required: the column of labels, and the label of normal rows")

        from eocc.cli.reading import read_training
        from eocc.experiments.protocol import TableSource
        from eocc.experiments.studies import check_names, plan_study
        from eocc.formats.files.formats import SUFFIXES

        request = request_of(given)
        check_names(request, ())
    tables = [data]
    if data.is_dir():
        tables = sorted(path for path in data.iterdir() if SUFFIXES.get(path.suffix.lower()) in TABLES)
    if not tables:
        raise ValueError(f"{data} holds no tables; put files such as parts.csv or parts.parquet there")
    sources = []
    for path in tables:
        read = read_training(options.DataFiles((path,)), about, "euclidean")
        n_normal = int(read.is_normal.sum())
        say(f"{n_normal} normal rows, {len(read.is_normal) - n_normal} others.")
        rows, is_target = tuple(map(tuple, read.X.rows().tolist())), tuple(read.is_normal.tolist())
        sources.append(TableSource(path.stem, rows=rows, is_target=is_target))
    name = f"{data.stem}-comparison"  # not the name of the data, which may be in the same folder
    plan = plan_study(name, f"Comparison on {data.name}", sources, request)
    check_available([plan])
    run_and_write(plan, request)
