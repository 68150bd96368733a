"""The data that a fitted classifier compares: its kind, and the names of its columns and weights."""

from eocc.explain.regions import FittedClassifier
from eocc.measures.schema import DataSchema

__all__ = ["DataSchema", "number_columns", "schema_of", "weight_names"]


def schema_of(classifier: FittedClassifier) -> DataSchema:
    """Return the kind and the columns of the data; the kind is "" if the measure does not say.

    >>> from eocc import SurpriseClassifier
    >>> schema_of(SurpriseClassifier(measure="string-edit").fit(["oak", "elm"])).kind
    'strings'
    """
    find = getattr(classifier.measure_, "schema", None)  # a measure of the user's own may lack it
    try:
        schema = None if find is None else find(classifier.prototypes_, classifier.feature_names)
    except ValueError:  # no file can hold such data
        schema = None
    return schema or DataSchema("")


def number_columns(classifier: FittedClassifier) -> list[str]:
    """Return the names of the columns of a table of numbers, each of which has its weight; [] for other data.

    >>> from eocc import SurpriseClassifier
    >>> number_columns(SurpriseClassifier().fit([[1.0, 2.0], [2.0, 3.0]]))
    ['feature 0', 'feature 1']
    """
    schema = schema_of(classifier)
    is_weighted = len(schema.columns) == len(classifier.weights_)
    return weight_names(classifier) if schema.kind == "numbers" and is_weighted else []


def weight_names(classifier: FittedClassifier) -> list[str]:
    """Return what each weight of the dissimilarity belongs to: a column, a kind of edit, or just a number.

    >>> from eocc import SurpriseClassifier
    >>> weight_names(SurpriseClassifier(measure="string-edit").fit(["oak", "elm"]))
    ['insertion', 'deletion', 'substitution']
    """
    name = getattr(classifier.measure_, "weight_names", None)  # a measure of the user's own may lack it
    if name is None:
        return [f"weight {k + 1}" for k in range(len(classifier.weights_))]
    return list(name(classifier.feature_names))
