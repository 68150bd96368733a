"""``eocc compare``, ``reproduce`` and ``demo``: classifiers compared on your data, as in the paper, on an example."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from eocc.base.checks import THREADS
from eocc.cli import options
from eocc.cli.app import command, say, usage

STUDIES = ("uci-low", "uci-high", "iam")
TABLES = ("csv", "tsv", "jsonl", "json", "parquet", "arrow")


def _names(option: str, words: str) -> Callable[[options.Function], options.Function]:
    """Return an option that takes several names."""
    return click.option(option, default="", metavar="NAME,...", help=words,
                        callback=lambda ctx, option, value: tuple(options.names_in(value)))  # fmt: skip


def _options(folder: str) -> Callable[[options.Function], options.Function]:
    """Add the options of a study that writes to a folder."""
    return options.stacked(
        _names("--systems", "Classifiers to compare; all by default."),
        click.option("--repetitions", type=options.AT_LEAST_1, default=None,
                     help="How often the ten folds are drawn, each fold being one run; for graphs, the number of "
                     "seeds. Default: 3 for UCI sets (1 for AB), 10 for graphs, 1 for your own data."),
        options.seed_option,
        click.option("--jobs", type=options.Checked("--jobs", THREADS), default=1, show_default=True,
                     help="Number of processes; -1 uses all cores. Results do not depend on it."),
        click.option("--generations", type=options.AT_LEAST_1, default=100, show_default=True,
                     help="The most generations of a search."),
        click.option("--limit", "time_limit", type=click.FloatRange(min=0, min_open=True), default=1800,
                     show_default=True, metavar="SECONDS", help="Stop a run after this time."),
        options.output_option(folder, "Folder for runs and tables.", makes_folders=True),
    )  # fmt: skip


@command
@click.argument("data", type=options.PATH, metavar="DATA")
@options.data_options("label", "target", "drop", "all_columns")
@_options("comparison")
def compare(data: Path, about: options.DataOptions, **given: Any) -> None:
    """Compare one-class classifiers on your own data.

    DATA is a table, or a folder of tables with the same label column. As in the paper, the
    columns are used as they are and normalised, and all systems have the same ten folds. All columns but the label must
    hold numbers, without gaps. --label and --target are required. With several tables the systems are ranked, with
    intervals and a picture.

    Example: eocc compare parts.csv --label state --target good --systems EOCC-1,1-NN,Gauss
    """
    if not about.label:
        raise click.UsageError("--label and --target are required: the column of labels, and the label of normal rows")

    from eocc.cli.reading import read_training
    from eocc.experiments.protocol import TableSource
    from eocc.experiments.studies import plan_study
    from eocc.formats.files.formats import SUFFIXES

    request, tables = _request(given, ()), [data]
    if data.is_dir():
        tables = sorted(path for path in data.iterdir() if SUFFIXES.get(path.suffix.lower()) in TABLES)
    if not tables:
        raise ValueError(f"{data} holds no tables; put files such as parts.csv or parts.parquet there")
    sources = []
    for path in tables:
        read = read_training(options.DataFiles((path,)), about, "euclidean")
        n_normal = int(read.is_normal.sum())
        say(f"{n_normal} normal rows, {len(read.is_normal) - n_normal} others.")
        numbers = read.known.patterns(read.X.patterns, allows_gaps=False)
        rows, is_target = tuple(map(tuple, numbers.tolist())), tuple(read.is_normal.tolist())
        sources.append(TableSource(path.stem, rows=rows, is_target=is_target))
    name = f"{data.stem}-comparison"  # not the name of the data, which may be in the same folder
    _run([plan_study(name, f"Comparison on {data.name}", sources, request)], request)


@command
@click.argument("study", type=options.choice_of("study", (*STUDIES, "figures", "all")))
@_names("--datasets", "Data sets by acronym; all of the study by default.")
@click.option("--finished", is_flag=True, help="Make the tables of the finished runs, and run nothing.")
@_options("results")
def reproduce(study: str, **given: Any) -> None:
    """Run the paper's comparisons next to its published figures.

    Finished runs are kept in the folder, so an interrupted command continues where it stopped. --finished shows what it
    has found so far. Data are taken from the
    folder in EOCC_DATA, from scikit-learn, or from their public homes.

    Example: eocc reproduce uci-low --systems EOCC-1,1-NN --datasets I --output results
    """
    from eocc.experiments import studies
    from eocc.experiments.figures import draw_examples

    wanted = list(STUDIES) if study == "all" else [study] if study in STUDIES else []
    request = _request(given, [source for name in wanted for source in studies.STUDIES[name]] if wanted else None)
    _run([studies.plan_study(name, studies.TITLES[name], studies.STUDIES[name], request) for name in wanted], request)
    if study in ("figures", "all"):
        for path in draw_examples(request.folder / "figures"):
            say(f"Written: {path}")


def _request(given: dict[str, Any], sources: Sequence[Any] | None) -> Any:
    """Return the options as a request, whose names are checked if there are sources."""
    from eocc.base.threads import n_threads
    from eocc.experiments.studies import Request, check_names

    request = Request(folder=given.pop("output"), jobs=n_threads(given.pop("jobs")), **given)
    with usage():
        if sources is not None:
            check_names(request, sources)
    return request


def _run(studies: Sequence[Any], request: Any) -> None:
    """Run studies, write their tables and print where they are; raise a ValueError if no data set is available."""
    from eocc.base.wording import counted
    from eocc.experiments.studies import run_study
    from eocc.experiments.writing import write_study

    names = {cell.source.name for study in studies for cell in study.cells}
    absent = {name: why for study in studies for name, why in study.absent.items()}
    if names and names <= absent.keys():
        more = f" (and {counted(len(names) - 1, 'more set')} not available)" if len(names) > 1 else ""
        raise ValueError(next(iter(absent.values())) + more)
    for study in studies:
        if study.cells:
            paths = write_study(study, run_study(study, request), request)
            print(paths[0].read_text(encoding="utf-8"))
            files = f"{request.folder / study.name}.md and .csv"
            say(f"Written: {files}; single runs are in {request.folder}/cells.")
        elif len(studies) == 1:
            say(f"{study.title}: none of the systems can compare its data.")


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
