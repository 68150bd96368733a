"""What makes two rows differ."""

from typing import Any

from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eocc.measures.difference import Difference, difference_of


def differences(classifier: Any, X: Any, Y: Any) -> list[Difference]:
    """Return what makes each row of X differ from the row of Y at the same place, at the fitted weights.

    >>> from eocc import SurpriseClassifier
    >>> clf = SurpriseClassifier(measure="string-edit").fit(["oak", "oaks", "elm"])
    >>> print(differences(clf, ["soap"], ["oak"])[0])
    Dissimilarity 0.5, by edits that turn the pattern into the prototype:
      0.250   50%  delete 's' at position 0
      0.250   50%  replace 'p' by 'k' at position 3
    """
    check_is_fitted(classifier)
    if get_tags(classifier).input_tags.pairwise:
        raise ValueError("precomputed dissimilarities are known to training rows only; use explain")
    one, other = classifier.read(X), classifier.read(Y)
    if len(one) != len(other):
        raise ValueError(f"X has {len(one)} rows and Y {len(other)}; rows are compared in pairs, so pass as many")
    measure, weights, names = classifier.measure_, classifier.weights_, classifier.feature_names
    return [difference_of(measure, one[i : i + 1], other[i : i + 1], weights, names) for i in range(len(one))]
