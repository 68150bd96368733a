"""``eocc score``."""

from collections.abc import Iterator, Sequence
from typing import Any

from eocc.classifier import EntropicOneClassClassifier
from eocc.cli.app import app
from eocc.cli.output import Format, Output, Row, writing_rows
from eocc.cli.reading import Data, InputFormat, Model, stream_for, without_names
from eocc.model_file import load
from eocc.plots import ratios_of


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
    classifier = load(model)
    names = ["pattern", "decision", "membership", "score", "distance"]
    names += ["p_value"] if hasattr(classifier, "calibration_") else []
    with without_names(), writing_rows(output, form, names) as write:
        for pattern_names, patterns in stream_for(classifier, data, input_format):
            for row in judged(classifier, pattern_names, patterns):
                write(row)


def judged(classifier: EntropicOneClassClassifier, names: Sequence[str], patterns: Any) -> Iterator[Row]:
    """Yield a row of figures for each pattern."""
    columns: dict[str, Any] = {
        "decision": classifier.predict(patterns).tolist(),
        "membership": classifier.membership(patterns).tolist(),
        "score": classifier.score_samples(patterns).tolist(),
        "distance": ratios_of(classifier, patterns).tolist(),
    }
    if hasattr(classifier, "calibration_"):
        columns["p_value"] = classifier.p_values(patterns).tolist()
    for index, name in enumerate(names):
        yield {"pattern": name, **{column: values[index] for column, values in columns.items()}}
