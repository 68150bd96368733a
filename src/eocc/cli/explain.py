"""``eocc explain``."""

from typing import Annotated

import numpy as np
import typer

from eocc.cli.app import app
from eocc.cli.output import Output, TextFormat, json_line, say_written, writing
from eocc.cli.reading import Data, InputFormat, Model, SkipIncomplete, read_for, without_names
from eocc.explain import explain as explained
from eocc.foundation.atomic import check_output
from eocc.foundation.printing import printable, printable_lines
from eocc.io.model_file import load


@app.command()
def explain(
    model: Model,
    data: Data,
    input_format: InputFormat = "",
    patterns: Annotated[
        str, typer.Option(help="Names, or numbers from 0, with commas between them; the strangest if not given.")
    ] = "",
    strangest: Annotated[int, typer.Option(min=1, help="How many of the strangest patterns to explain.")] = 3,
    skip_incomplete: SkipIncomplete = False,
    output: Output = None,
    form: TextFormat = "text",
) -> None:
    """Say why patterns are accepted or rejected: how far they lie, what they are most like, what makes the difference.

    Example: eocc explain model.eocc new.csv --patterns 3,17
    """
    check_output(output, model, data)
    classifier = load(model)
    read = read_for(classifier, data, input_format, skip_incomplete)
    with without_names():
        chosen = _chosen(patterns, list(read.names), str(data))
        if not chosen:
            chosen = np.argsort(classifier.score_samples(read.patterns), kind="stable")[:strangest].tolist()
        found = explained(classifier, read.some(chosen))
    with writing(output) as file:
        for row, explanation in zip(chosen, found, strict=True):
            if form == "json":
                file.write(json_line({"pattern": read.names[row], **explanation.to_dict()}))
            else:
                file.write(f"Pattern {printable(read.names[row])}: {printable_lines(str(explanation))}\n\n")
    say_written(output, len(found), sum(explanation.is_target for explanation in found))


def _chosen(text: str, names: list[str], where: str) -> list[int]:
    """Return the rows of patterns given by name or, where none is so called, by number."""
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    # Rows of a table are called by their numbers, even where some are left out.
    numbers = {} if names[0].isdecimal() else {str(row): row for row in range(len(names))}
    places = numbers | {name: row for row, name in reversed(list(enumerate(names)))}
    for name in wanted:
        if name not in places:
            by_number = "" if not numbers else f", or by number from '0' to '{len(names) - 1}'"
            known = f"they are called {names[0]!r} to {names[-1]!r}{by_number}"
            raise ValueError(f"{where} has no pattern {name!r}; {known}")
    return [places[name] for name in wanted]
