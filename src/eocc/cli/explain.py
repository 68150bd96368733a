"""``eocc explain``."""

from pathlib import Path

import click

from eocc.cli import options
from eocc.cli.app import command
from eocc.cli.output import json_line, open_model, say_written, writing
from eocc.foundation.printing import printable, printable_lines


@command
@options.model_argument
@options.data_argument
@click.option("--rows", default="", metavar="ROW,...", help="Rows to explain: names, or numbers from 0.")
@click.option("--strangest", type=click.IntRange(min=1), default=3, show_default=True, metavar="N",
              help="Without --rows, explain the N least normal rows.")  # fmt: skip
@options.output_option(None, "A file for the explanations; standard output by default.")
@options.format_option("text", "json", default="text")
@options.data_options()
def explain(
    model: Path, data: Path, rows: str, strangest: int, output: Path | None, form: str, about: options.DataOptions
) -> None:
    """Explain why rows are accepted or rejected.

    Example: eocc explain model.eocc new.csv --rows 3,17
    """
    classifier = open_model(model, output, data)

    from eocc.cli.reading import read_for

    read = read_for(classifier, data, about)
    chosen = _chosen(options.names_in(rows), list(read.names), str(data))
    if not chosen:
        chosen = classifier.score_samples(read.patterns).argsort(kind="stable")[:strangest].tolist()
    explanations = classifier.explain(read.some(chosen))
    with writing(output) as file:
        for row, explanation in zip(chosen, explanations, strict=True):
            if form == "json":
                file.write(json_line({"row": read.names[row], **explanation.to_dict()}))
            else:
                file.write(f"Row {printable(read.names[row])}: {printable_lines(str(explanation))}\n\n")
    say_written(output, len(explanations), sum(explanation.is_target for explanation in explanations))


def _chosen(wanted: list[str], names: list[str], where: str) -> list[int]:
    """Return the rows given by name or, if no row has that name, by number."""
    # The names of the rows of a table are their numbers, also if some rows are left out.
    numbers = {} if names[0].isdecimal() else {str(row): row for row in range(len(names))}
    places = numbers | {name: row for row, name in reversed(list(enumerate(names)))}
    for name in wanted:
        if name not in places:
            by_number = f", or '0' to '{len(names) - 1}'" if numbers else ""
            raise ValueError(f"{where} has no row {name!r}; its rows are {names[0]!r} to {names[-1]!r}{by_number}")
    return [places[name] for name in wanted]
