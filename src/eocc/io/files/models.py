"""A fitted model -> what it needs to see in a file."""

from typing import Any

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.io.files.cells import BOOLEAN, DATE, DURATION, NUMBER, TEXT, TIME
from eocc.io.files.schema import Schema
from eocc.measures import columns
from eocc.measures.euclidean import FrozenEuclidean
from eocc.measures.fingerprints import FrozenTanimoto
from eocc.measures.graphs import FrozenGraphEdit
from eocc.measures.series import FrozenDTW
from eocc.measures.sets import FrozenCosineBags, FrozenJaccard
from eocc.measures.strings import FrozenStringEdit
from eocc.measures.tables import FrozenGower

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
    frozen: Any = classifier.measure_
    if isinstance(frozen, FrozenEuclidean | FrozenTanimoto):
        return _numbers(classifier, frozen)
    if isinstance(frozen, FrozenGower):
        return Schema("records", tuple((column.name, _kind(column.contents)) for column in frozen.columns))
    if isinstance(frozen, FrozenDTW):
        return Schema("series", n_channels=frozen.n_parameters)
    if isinstance(frozen, FrozenStringEdit):
        return Schema("strings" if isinstance(classifier.prototypes_[0], str) else "tokens")
    if isinstance(frozen, FrozenJaccard | FrozenCosineBags):
        return Schema("tokens")
    if isinstance(frozen, FrozenGraphEdit):
        return Schema("graphs")
    raise ValueError(f"a model with the measure {type(frozen).__name__} takes no patterns from files; score in Python")


def _numbers(classifier: EntropicOneClassClassifier, frozen: FrozenEuclidean | FrozenTanimoto) -> Schema:
    width = frozen.n_bits if isinstance(frozen, FrozenTanimoto) else frozen.n_parameters
    names = getattr(classifier, "feature_names_in_", None)
    known = range(1, width + 1) if names is None else names
    return Schema("numbers", tuple((str(name), NUMBER) for name in known), is_named=names is not None)


def _kind(contents: frozenset[str]) -> str:
    """Return what a column of the training table held; text if several things or none, as labels of any sort."""
    return KINDS_OF_CONTENTS[next(iter(contents))] if len(contents) == 1 else TEXT
