"""A fitted model -> what it needs to see in a file."""

from typing import Any

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.io.files.cells import BOOLEAN, DATE, DURATION, NUMBER, TEXT, TIME
from eocc.io.files.schema import Schema
from eocc.measures import columns
from eocc.measures.euclidean import FittedEuclidean
from eocc.measures.fingerprints import FittedTanimoto
from eocc.measures.graphs import FittedGraphEdit
from eocc.measures.series import FittedDTW
from eocc.measures.sets import FittedCosineBags, FittedJaccard
from eocc.measures.strings import FittedStringEdit
from eocc.measures.tables import FittedGower

KINDS_OF_CONTENTS = {
    columns.NUMBERS: NUMBER, columns.BOOLEANS: BOOLEAN, columns.LABELS: TEXT, columns.DATES: DATE,
    columns.DURATIONS: DURATION, columns.TIMES: TIME,
}  # fmt: skip


def schema_of_model(classifier: EntropicOneClassClassifier) -> Schema:
    """Return what a fitted model needs to see in a file.

    >>> words = EntropicOneClassClassifier(measure="string-edit", search=None).fit(["oak", "oaks", "elm"])
    >>> schema_of_model(words).kind
    'strings'
    """
    fitted: Any = classifier.measure_
    if isinstance(fitted, FittedEuclidean | FittedTanimoto):
        return _numbers(classifier, fitted)
    if isinstance(fitted, FittedGower):
        return Schema("records", tuple((column.name, _kind(column.contents)) for column in fitted.columns))
    if isinstance(fitted, FittedDTW):
        return Schema("series", n_channels=fitted.n_parameters)
    if isinstance(fitted, FittedStringEdit):
        return Schema("strings" if isinstance(classifier.prototypes_[0], str) else "tokens")
    if isinstance(fitted, FittedJaccard | FittedCosineBags):
        return Schema("tokens")
    if isinstance(fitted, FittedGraphEdit):
        return Schema("graphs")
    raise ValueError(f"a model with the measure {type(fitted).__name__} takes no patterns from files; score in Python")


def _numbers(classifier: EntropicOneClassClassifier, fitted: FittedEuclidean | FittedTanimoto) -> Schema:
    width = fitted.n_bits if isinstance(fitted, FittedTanimoto) else fitted.n_parameters
    names = getattr(classifier, "feature_names_in_", None)
    known = range(1, width + 1) if names is None else names
    return Schema("numbers", tuple((str(name), NUMBER) for name in known), is_named=names is not None)


def _kind(contents: frozenset[str]) -> str:
    """Return what a column of the training table held; text if several things or none, as labels of any sort."""
    return KINDS_OF_CONTENTS[next(iter(contents))] if len(contents) == 1 else TEXT
