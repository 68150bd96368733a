"""``eocc explain``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eocc.base.printing import printable, printable_lines
from eocc.cli import options
from eocc.cli.app import command
from eocc.cli.output import JSON, PARQUET, json_line, open_model, output_format, say_file, writing, writing_columns

if TYPE_CHECKING:
    from eocc.cli.reading import Rows


@command
@options.model_argument
@options.data_argument
@click.option("--rows", default="", metavar="ROW,...", help="Rows to explain: names, or numbers from 0.")
@click.option("--strangest", type=click.IntRange(min=1), default=3, show_default=True, metavar="N",
              help="Without --rows, explain the N least normal rows, and those that cannot be read.")  # fmt: skip
@click.option("--detail", is_flag=True, help="Also show neighbours or regions, and the terms of the score.")
@options.result_option("explanations")
@options.format_option("text", "csv", JSON, PARQUET, more="; the suffix of --output decides by default")
@options.data_options("id_column", "strict")
def explain(
    model: Path, data: options.DataFiles, rows: str, strangest: int, detail: bool, output: Path | None,
    form: str | None, about: options.DataOptions,
) -> None:  # fmt: skip
    """Explain why rows are accepted or rejected.

    Example: eocc explain model.eocc new.csv --rows 3,17
    """
    form = output_format(form, output, "text")
    classifier = open_model(model, output, *data.paths)

    from eocc.base.wording import counted
    from eocc.cli.reading import read_for

    read = read_for(classifier, data, about)
    chosen, bad = chosen_rows(options.names_in(rows), read, str(data))
    if not (chosen or bad):
        chosen, bad = classifier.score_samples(read.X).argsort(kind="stable")[:strangest].tolist(), read.bad
    explanations = classifier.explain(read.some(chosen)) if chosen else []
    names = [read.names[row] for row in chosen]
    _write(output, form, names, explanations, detail, bad)
    n_accepted = sum(explanation.is_target for explanation in explanations)
    say_file(output, f"{counted(len(explanations) + len(bad), 'row')}, {n_accepted:,} accepted")


def _write(
    output: Path | None, form: str, names: list[Any], explanations: Any, detail: bool, bad: dict[Any, str]
) -> None:
    """Write the explanations of rows, and the reasons why the `bad` ones cannot be read."""
    unread = [{"row": name, "decision": -1, "sentence": f"Rejected: {why}."} for name, why in bad.items()]
    if form in ("csv", PARQUET):
        records = [{"row": name, **one.to_record()} for name, one in zip(names, explanations, strict=True)]
        records += [{**dict.fromkeys(records[0] if records else one), **one} for one in unread]
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


def chosen_rows(wanted: list[str], read: "Rows", where: str) -> tuple[list[int], dict[Any, str]]:
    """Return the rows given by name or, if rows have names and none has this one, by number.

    Those with a cell that cannot be read are apart, each name with the reason.
    """
    names, index_of = list(map(str, read.all_names)), (read.part.good.cumsum() - 1).tolist()
    numbers = {str(row): [row] for row in range(len(names))} if read.are_named else {}
    named: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        named.setdefault(name, []).append(row)
    places = numbers | named
    for name in wanted:
        if name not in places:
            by_number = f", or '0' to '{len(names) - 1}'" if numbers else ""
            raise ValueError(f"{where} has no row {name!r}; its rows are {names[0]!r} to {names[-1]!r}{by_number}")
    found = [row for name in wanted for row in places[name]]
    bad = [read.all_names[row] for row in found if not read.part.good[row]]
    return [index_of[row] for row in found if read.part.good[row]], {name: read.bad[name] for name in bad}
