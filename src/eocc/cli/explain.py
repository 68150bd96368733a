"""``eocc explain``."""

from typing import Annotated

import numpy as np
import typer

from eocc.cli.app import app
from eocc.cli.output import Output, check_output, json_line, writing
from eocc.cli.reading import Data, InputFormat, Model, read_for, without_names
from eocc.explanations import explain as explained
from eocc.model_file import load
from eocc.registry import choose


@app.command()
def explain(
    model: Model,
    data: Data,
    input_format: InputFormat = "",
    patterns: Annotated[str, typer.Option(help="Names or numbers with commas; the strangest if not given.")] = "",
    strangest: Annotated[int, typer.Option(min=1, help="How many of the strangest patterns to explain.")] = 3,
    output: Output = None,
    form: Annotated[str, typer.Option("--format", help="text, or json (one object a line).")] = "text",
) -> None:
    """Say why patterns are accepted or rejected: the nearest region, its exemplars, and what makes the difference.

    Example: eocc explain model.eocc new.csv --patterns 3,17
    """
    choose("format", dict.fromkeys(("text", "json")), form)
    check_output(output, model, data)
    classifier = load(model)
    read = read_for(classifier, data, input_format)
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
                file.write(f"Pattern {read.names[row]}: {explanation}\n\n")


def _chosen(text: str, names: list[str], where: str) -> list[int]:
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    places = {name: row for row, name in reversed(list(enumerate(names)))}
    for name in wanted:
        if name not in places:
            raise ValueError(f"{where} has no pattern {name!r}; they are called {names[0]!r} to {names[-1]!r}")
    return [places[name] for name in wanted]
