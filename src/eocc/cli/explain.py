"""``eocc explain``."""

from pathlib import Path
from typing import Any

import click

from eocc.cli import options
from eocc.cli.app import command
from eocc.cli.output import JSON, PARQUET, json_line, open_model, output_format, say_written, writing, writing_columns
from eocc.foundation.printing import printable, printable_lines


@command
@options.model_argument
@options.data_argument
@click.option("--rows", default="", metavar="ROW,...", help="Rows to explain: names, or numbers from 0.")
@click.option("--strangest", type=click.IntRange(min=1), default=3, show_default=True, metavar="N",
              help="Without --rows, explain the N least normal rows.")  # fmt: skip
@click.option("--detail", is_flag=True, help="Also show neighbours or regions, and the terms of the score.")
@options.result_option("explanations")
@options.format_option("text", "csv", JSON, PARQUET, more="; the suffix of --output decides by default")
@options.data_options("id_column", "strict")
def explain(
    model: Path,
    data: options.DataFiles,
    rows: str,
    strangest: int,
    detail: bool,
    output: Path | None,
    form: str | None,
    about: options.DataOptions,
) -> None:
    """Explain why rows are accepted or rejected.

    Example: eocc explain model.eocc new.csv --rows 3,17
    """
    form = output_format(form, output, "text")
    classifier = open_model(model, output, *data.paths)

    from eocc.cli.reading import read_for

    read = read_for(classifier, data, about)
    chosen = chosen_rows(options.names_in(rows), list(map(str, read.names)), str(data), read.are_named)
    if not chosen:
        chosen = classifier.score_samples(read.X).argsort(kind="stable")[:strangest].tolist()
    explanations = classifier.explain(read.some(chosen))
    names = [read.names[row] for row in chosen]
    _write(output, form, names, explanations, detail, {} if rows else read.bad)
    say_written(output, len(explanations), sum(explanation.is_target for explanation in explanations))


def _write(
    output: Path | None, form: str, names: list[Any], explanations: Any, detail: bool, bad: dict[Any, str]
) -> None:
    """Write the explanations of rows, and of rows with a cell that cannot be read, which are `bad`, the reason."""
    unread = [{"row": name, "decision": -1, "sentence": f"Rejected: {why}."} for name, why in bad.items()]
    if form in ("csv", PARQUET):
        records = [{"row": name, **one.to_record()} for name, one in zip(names, explanations, strict=True)]
        records += [{**dict.fromkeys(records[0]), **one} for one in unread]
        with writing_columns(output, form, list(records[0])) as write:
            cells = {column: [record[column] for record in records] for column in records[0]}
            write({column: [None if cell != cell else cell for cell in found] for column, found in cells.items()})
        return
    with writing(output) as file:
        for record in unread:
            text = f"Row {printable(str(record['row']))}: {printable(record['sentence'])}\n\n"
            file.write(json_line(record) if form == JSON else text)
        for name, one in zip(names, explanations, strict=True):
            if form == JSON:
                file.write(json_line({"row": name, **one.to_dict()}))
            else:
                text = one.text(f"Row {printable(str(name))}: ") + (f"\n\n{one.detail}" if detail else "")
                file.write(f"{printable_lines(text)}\n\n")


def chosen_rows(wanted: list[str], names: list[str], where: str, are_named: bool) -> list[int]:
    """Return the rows given by name or, if rows have names and none has this one, by number."""
    numbers = {str(row): [row] for row in range(len(names))} if are_named else {}
    named: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        named.setdefault(name, []).append(row)
    places = numbers | named
    for name in wanted:
        if name not in places:
            by_number = f", or '0' to '{len(names) - 1}'" if numbers else ""
            raise ValueError(f"{where} has no row {name!r}; its rows are {names[0]!r} to {names[-1]!r}{by_number}")
    return [row for name in wanted for row in places[name]]
