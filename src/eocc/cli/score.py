"""``eocc score``."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from eocc.classifier import BLOCK, EntropicOneClassClassifier
from eocc.cli.app import app
from eocc.cli.output import WRITERS, Format, Output, Row, check_output, writing_rows
from eocc.cli.reading import Data, InputFormat, Model, stream_for, without_names
from eocc.model_file import load
from eocc.registry import choose


@app.command()
def score(
    model: Model,
    data: Data,
    input_format: InputFormat = "",
    output: Output = None,
    form: Format = "table",
) -> None:
    """Judge patterns with a model: decision, membership, score, and how far they lie in extents of a region.

    The file is read a part at a time, so that it may be larger than memory.

    Example: eocc score model.eocc new.csv --format csv -o scores.csv
    """
    choose("format", WRITERS, form)
    check_output(output, model, data)
    classifier = load(model)
    names = ["pattern", "decision", "membership", "score", "distance"]
    names += ["p_value"] if hasattr(classifier, "calibration_") else []
    stream = stream_for(classifier, data, input_format)
    first = next(stream)  # a file that is wrong from the start gives no output at all
    with without_names(), writing_rows(output, form, names) as write:
        for pattern_names, patterns in chain([first], stream):
            for row in judged(classifier, pattern_names, patterns):
                write(row)


def judged(classifier: EntropicOneClassClassifier, names: Sequence[str], patterns: Any) -> Iterator[Row]:
    """Yield a row of figures for each pattern."""
    step = max(1, BLOCK // len(classifier.prototypes_))
    for start in range(0, len(names), step):
        columns = _figures(classifier, patterns[start : start + step])
        for name, *figures in zip(names[start : start + step], *columns.values(), strict=True):
            yield {"pattern": name, **dict(zip(columns, figures, strict=True))}


def _figures(classifier: EntropicOneClassClassifier, patterns: Any) -> dict[str, list[Any]]:
    """Return the figures by name; the dissimilarities, which take nearly all the time, are computed once for all."""
    rows, model = classifier.transform(patterns), classifier.fuzzy_model_
    margins, scores = model.decision(rows), model.log_membership(rows)
    columns = {
        "decision": np.where(margins - classifier._threshold() >= 0, 1, -1).tolist(),
        "membership": np.exp(scores).tolist(),
        "score": scores.tolist(),
        "distance": np.sqrt(np.maximum(1 - 2 * margins, 0.0)).tolist(),
    }
    if hasattr(classifier, "calibration_"):
        columns["p_value"] = classifier.calibration_.p_values(margins).tolist()
    return columns
