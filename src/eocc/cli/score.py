"""``eocc score``."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import typer

from eocc.cli.app import app, say
from eocc.cli.output import PARQUET, Output, TableFormat, format_of, say_written, writing_columns
from eocc.cli.reading import Data, InputFormat, Model, Named, SkipIncomplete, say_left_out, stream_for
from eocc.foundation.atomic import check_output
from eocc.foundation.threads import in_order
from eocc.foundation.wording import counted
from eocc.io.model_file import load
from eocc.streaming import judging


@app.command()
def score(
    model: Model,
    data: Data,
    input_format: InputFormat = "",
    output: Output = None,
    form: TableFormat = "",
    skip_incomplete: SkipIncomplete = False,
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
    left_out, blank = Named(), Named()
    stream = stream_for(classifier, data, input_format, left_out if skip_incomplete else None)
    first = next(stream)  # a file that is wrong from the start gives no output at all
    judge, count = judging(classifier, isinstance(first[1], np.ndarray))
    n_patterns, n_accepted = 0, 0
    with writing_columns(output, form, names) as write:
        for part, columns in in_order(lambda part: (part, judge(part[1])), chain([first], stream), count):
            blank.add(_blank(*part))
            write({"pattern": part[0], **{name: column.tolist() for name, column in columns.items()}})
            n_patterns, n_accepted = n_patterns + len(part[0]), n_accepted + int((columns["decision"] > 0).sum())
    say_written(output, n_patterns, n_accepted, form)
    say_left_out(left_out)
    if blank.count:
        hold = "holds" if blank.count == 1 else "hold"
        said = f"{counted(blank.count, 'pattern')} {hold} no values at all, so that the score says nothing"
        say(f"Note: {said}: {blank}.")


def _blank(names: Sequence[str], patterns: Any) -> list[str]:
    """Return the names of records without a value.

    What is missing is left out of a comparison, so that they seem unlike nothing.
    """
    if not isinstance(patterns[0], dict):
        return []
    return [name for name, record in zip(names, patterns, strict=True) if _is_blank(record)]


def _is_blank(record: dict[Any, Any]) -> bool:
    return all(cell is None for cell in record.values())
