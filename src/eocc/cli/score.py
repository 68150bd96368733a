"""``eocc score``."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import typer

from eocc.atomic import check_output
from eocc.cli.app import app, say
from eocc.cli.output import PARQUET, Output, TableFormat, format_of, say_written, writing_columns
from eocc.cli.reading import MOST_LISTED, Data, InputFormat, Model, stream_for
from eocc.explanations.wording import counted
from eocc.model_file import load
from eocc.streaming import judging
from eocc.threads import in_order


@app.command()
def score(
    model: Model,
    data: Data,
    input_format: InputFormat = "",
    output: Output = None,
    form: TableFormat = "",
) -> None:
    """Judge patterns with a model: decision, membership, score, distance (1 at the border of what is normal), p-value.

    The file is read a part at a time, so that it may be larger than memory.

    Example: eocc score model.eocc new.csv -o scores.csv
    """
    form = format_of(form, output)
    if form == PARQUET and output is None:
        raise typer.BadParameter("--format parquet needs a file: pass --output")
    check_output(output, model, data)
    classifier = load(model)
    names = ["pattern", "decision", "membership", "score", "distance"]
    names += ["p_value"] if hasattr(classifier, "calibration_") else []
    stream = stream_for(classifier, data, input_format)
    first = next(stream)  # a file that is wrong from the start gives no output at all
    judge, count = judging(classifier, isinstance(first[1], np.ndarray))
    blank, n_patterns, n_accepted = Blank(), 0, 0
    with writing_columns(output, form, names) as write:
        for part, columns in in_order(lambda part: (part, judge(part[1])), chain([first], stream), count):
            blank.add(*part)
            write({"pattern": part[0], **{name: column.tolist() for name, column in columns.items()}})
            n_patterns, n_accepted = n_patterns + len(part[0]), n_accepted + int((columns["decision"] > 0).sum())
    say_written(output, n_patterns, n_accepted)
    if blank.count:
        say(f"Note: {blank.in_words()}.")


class Blank:
    """Records without a value: what is missing is left out of a comparison, so that they seem unlike nothing."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []

    def add(self, names: Sequence[str], patterns: Any) -> None:
        """Count those among some patterns, and keep the names of the first."""
        if not isinstance(patterns[0], dict):
            return
        found = [name for name, record in zip(names, patterns, strict=True) if not _holds_any(record)]
        self.count += len(found)
        self.first += found[: MOST_LISTED - len(self.first)]

    def in_words(self) -> str:
        """Return how many there are, and the first."""
        listed = ", ".join(self.first) + (" and more" if self.count > len(self.first) else "")
        holds = "holds" if self.count == 1 else "hold"
        return f"{counted(self.count, 'pattern')} {holds} no values at all, so that the score says nothing: {listed}"


def _holds_any(record: dict[Any, Any]) -> bool:
    return any(cell is not None for cell in record.values())
