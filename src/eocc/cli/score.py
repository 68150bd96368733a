"""``eocc score``."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from eocc.atomic import check_output
from eocc.classifier import EntropicOneClassClassifier
from eocc.cli.app import app, say
from eocc.cli.output import Format, Output, Row, say_written, writing_rows
from eocc.cli.reading import MOST_LISTED, Data, InputFormat, Model, stream_for, without_names
from eocc.explanations.wording import counted
from eocc.model_file import load
from eocc.scoring import BLOCK


@app.command()
def score(
    model: Model,
    data: Data,
    input_format: InputFormat = "",
    output: Output = None,
    form: Format = "table",
) -> None:
    """Judge patterns with a model: decision, membership, score, distance (1 at the border of what is normal), p-value.

    The file is read a part at a time, so that it may be larger than memory.

    Example: eocc score model.eocc new.csv --format csv -o scores.csv
    """
    check_output(output, model, data)
    classifier = load(model)
    names = ["pattern", "decision", "membership", "score", "distance"]
    names += ["p_value"] if hasattr(classifier, "calibration_") else []
    stream = stream_for(classifier, data, input_format)
    first = next(stream)  # a file that is wrong from the start gives no output at all
    blank, decisions = Blank(), Counter[int]()
    with without_names(), writing_rows(output, form, names) as write:
        for pattern_names, patterns in chain([first], stream):
            blank.add(pattern_names, patterns)
            for row in judged(classifier, pattern_names, patterns):
                write(row)
                decisions[row["decision"]] += 1
    say_written(output, decisions.total(), decisions[1])
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


def judged(classifier: EntropicOneClassClassifier, names: Sequence[str], patterns: Any) -> Iterator[Row]:
    """Yield a row of figures for each pattern."""
    step = max(1, BLOCK // len(classifier.prototypes_))
    for start in range(0, len(names), step):
        columns = _figures(classifier, patterns[start : start + step])
        for name, *figures in zip(names[start : start + step], *columns.values(), strict=True):
            yield {"pattern": name, **dict(zip(columns, figures, strict=True))}


def _figures(classifier: EntropicOneClassClassifier, patterns: Any) -> dict[str, list[Any]]:
    """Return the figures by name; the dissimilarities, which take nearly all the time, are computed once for all."""
    verdicts = classifier.judge(patterns)
    margins, scores = verdicts.margins, verdicts.log_memberships
    columns = {
        "decision": np.where(margins - classifier.threshold_ >= 0, 1, -1).tolist(),
        "membership": np.exp(scores).tolist(),
        "score": scores.tolist(),
        "distance": verdicts.ratios.tolist(),
    }
    if hasattr(classifier, "calibration_"):
        columns["p_value"] = classifier.calibration_.p_values(margins).tolist()
    return columns
