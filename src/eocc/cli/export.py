"""``eocc export``."""

from pathlib import Path

import click

from eocc.base.registry import listed
from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import open_model, say_file, writing

LANGUAGES = ("sql", "python", "json")
DIALECTS = ("duckdb", "postgres", "sqlite", "bigquery")


@command
@options.model_argument
@click.option("--to", "language", type=options.choice_of("language", LANGUAGES), required=True,
              help="What to write: a SELECT statement, a Python module, or the numbers as JSON.")  # fmt: skip
@click.option("--table", default="", metavar="NAME", help="With --to sql, the table of rows, for example main.parts.")
@click.option("--dialect", type=options.choice_of("dialect", DIALECTS), default=None,
              help="With --to sql, the database. Default: duckdb.")  # fmt: skip
@options.result_option("statement or module")
def export(model: Path, language: str, table: str, dialect: str | None, output: Path | None) -> None:
    """Write a model of regions as SQL, Python or JSON.

    It must be a model of --method regions, of rows of numbers or of a table without dates. The statement has no
    training row in it, except as the centre of a region of one row, and needs nothing but the table. The module needs
    nothing but Python. A row with a missing value gets no decision: NULL in SQL, None in Python.

    Example: eocc export regions.eocc --to sql --table parts --dialect postgres
    """
    given = {"--table": table, "--dialect": dialect}
    for option in (option for option, value in given.items() if value and language != "sql"):
        raise click.UsageError(f"{option} is for --to sql; leave it out")
    classifier = open_model(model, output)
    if not hasattr(classifier, "to_sql"):
        raise ValueError(f"{model} holds no regions of one shape: fit it with --method regions to export it")
    if language == "sql":
        if not table:
            raise click.UsageError("--to sql needs --table, the name of the table to score")
        read = classifier.reading_.columns if classifier.reading_ else ()
        if numbers := [ascii(str(one.name)) for one in read if one.kind == "number"]:
            odd = "text such as '$1,234' gets no decision, or stops the query"
            say(f"Note: the table must hold numbers in {listed(numbers)}: {odd}.")
        text = classifier.to_sql(table.split("."), dialect or DIALECTS[0])
    else:
        text = classifier.to_python() if language == "python" else classifier.to_json()
    with writing(output) as file:
        file.write(text.rstrip("\n") + "\n")
    say_file(output)
