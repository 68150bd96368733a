"""``eocc review``."""

from pathlib import Path

import click

from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import open_model
from eocc.io.files.source import STDIN


@command
@options.model_argument
@options.data_argument
@options.output_option(None, "The page, review.html by default; with --terminal the answers, answers.csv by default.")
@click.option("--questions", "-n", type=click.IntRange(min=1), default=10, show_default=True, metavar="N",
              help="Ask about at most N rows.")  # fmt: skip
@click.option("--find", is_flag=True,
              help="Show the strangest rows first, to find outliers, not those whose answers teach most.")  # fmt: skip
@click.option("--terminal", is_flag=True, help="Ask here, by one key per row, instead of writing a page.")
@options.data_options("id_column", "strict")
def review(
    model: Path, data: options.DataFiles, output: Path | None, questions: int, find: bool, terminal: bool,
    about: options.DataOptions,
) -> None:  # fmt: skip
    """Ask a person about the rows whose answers help most.

    Writes an HTML page that shows these rows one by one, with the reasons of the model's decision, and saves the
    answers as a CSV file for eocc teach. With --terminal the questions are asked here; every answer is written to the
    file at once, and the same command continues where it was stopped.

    With --find, DATA may be the training file: training rows are compared with the others, and the strangest come
    first. Answers take rows that are not normal out of the training rows.

    Example: eocc review model.eocc new.csv -o review.html
    """
    if STDIN in data.paths:
        raise click.UsageError("eocc teach reads the rows again, so they must be in a file: pass its path")
    if len(data.paths) > 1:
        raise click.UsageError("the answers name one file: pass one, or join the files first")
    output = output or Path("answers.csv" if terminal else "review.html")
    classifier = open_model(model, output, *data.paths)

    from eocc.classifiers.answers import check_teachable
    from eocc.cli.reading import read_for
    from eocc.report.review import questions_of, teaching, write_review

    check_teachable(classifier)
    rows, goal = read_for(classifier, data, about), "find" if find else "learn"
    if terminal:
        from eocc.cli.terminal import ask

        then = teaching(str(model), str(output), about.id_column)
        ask(questions_of(classifier, rows.X, questions, rows.names, goal), output, data.paths[0], then)
    else:
        names = rows.names, str(data), str(model), about.id_column
        write_review(classifier, output, rows.X, questions, *names, goal=goal, notes=rows.unread())
        say(f"Written: {output}. Open it in a browser, answer, save answers.csv, and run eocc teach.")
