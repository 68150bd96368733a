"""``eocc review``."""

from pathlib import Path

import click

from eocc.base.printing import quoted
from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import open_model
from eocc.formats.files.formats import STDIN


@command
@options.model_argument
@options.data_argument
@options.output_option("review.html", "The page, one HTML file.")
@click.option("--questions", "-n", type=options.AT_LEAST_1, default=10, show_default=True, metavar="N",
              help="Ask about at most N rows.")  # fmt: skip
@click.option("--find", is_flag=True,
              help="Show the strangest rows first, to find outliers, not those whose answers teach most.")  # fmt: skip
@options.data_options("id_column", "strict")
def review(
    model: Path, data: options.DataFiles, output: Path, questions: int, find: bool, about: options.DataOptions
) -> None:
    """Ask a person about the rows whose answers help most.

    Writes an HTML page that shows these rows one by one, with the reasons of the model's decision, and saves the
    answers as a CSV file for eocc teach.

    With --find, DATA may be the training file: training rows are compared with the others, and the strangest come
    first. Answers take rows that are not normal out of the training rows.

    Example: eocc review model.eocc new.csv -o review.html
    """
    if STDIN in data.paths:
        raise click.UsageError("eocc teach reads the rows again, so they must be in a file: pass its path")
    if len(data.paths) > 1:
        raise click.UsageError("the answers name one file: pass one, or join the files first")
    classifier = open_model(model, output, *data.paths)

    from eocc.classifiers.answers import check_teachable
    from eocc.cli.reading import read_for
    from eocc.report.review import write_review

    check_teachable(classifier)
    rows = read_for(classifier, data, about)
    names = rows.names, str(data), str(model), about.id_column
    write_review(classifier, output, rows.X, questions, *names, goal="find" if find else "learn", notes=rows.unread())
    say(f"Written: {output}. Open it in a browser, answer, save answers.csv, and run eocc teach.")


def read_answers(path: Path) -> list[dict[str, str]]:
    """Return the answers in a file, each once; all are about rows of one data file."""
    from eocc.formats.files.formats import open_chunks
    from eocc.report.review import HEAD, NORMAL, NOT_NORMAL

    found = dict[str, dict[str, str]]()
    for chunk in open_chunks(path, "csv"):
        if absent := [name for name in HEAD if name not in chunk.columns]:
            raise ValueError(f"{path} holds no answers of eocc review: it has no column {absent[0]!r}")
        cells = {name: chunk.columns[name].cells() for name in HEAD}
        for k in range(len(chunk)):
            line = {name: str(cells[name][k] or "").strip() for name in HEAD}
            before = found.setdefault(line["digest"], line)
            if line["answer"] not in (NORMAL, NOT_NORMAL):
                remedy = f"write {NORMAL!r} or {NOT_NORMAL!r}, or remove the line"
                raise chunk.fault(k, f"{quoted(line['answer'])} is not an answer; {remedy}")
            if before["answer"] != line["answer"]:
                raise chunk.fault(
                    k, f"row {quoted(line['row'])} is answered twice, differently; remove one of the lines"
                )
            if before["data"] != next(iter(found.values()))["data"]:
                raise chunk.fault(k, f"{quoted(line['data'])} is another data file than in line 2; divide the answers")
    return list(found.values())
