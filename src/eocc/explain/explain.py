"""A fitted classifier and patterns -> explanations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from eocc.explain.differences import Difference, difference_of
from eocc.explain.explanation import Explanation
from eocc.explain.neighbourhoods import FittedBySurprise, neighbourhoods_of
from eocc.explain.regions import (
    FittedClassifier,
    Prototype,
    exemplars_among,
    place_in,
    profile_of,
    prototype_labels,
    prototypes_of,
    reach_of,
)
from eocc.measures.precomputed import FittedPrecomputed

Matrix = NDArray[np.float64]


def explain(classifier: Any, X: Any) -> list[Explanation]:
    """Return an explanation for every pattern in X.

    >>> from sklearn.datasets import load_iris
    >>> from eocc import EntropicOneClassClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = EntropicOneClassClassifier().fit(X[y == 0])
    >>> odd, normal = explain(clf, X.iloc[[75, 0]])
    >>> normal.is_target, round(odd.ratio / normal.ratio) > 5
    (True, True)
    >>> print(odd)  # doctest: +ELLIPSIS
    Not a target: at 5... times the border of what is normal, nearest to region 0. Membership ...e-08.
      Of 50 training patterns, each left out in turn, none lies as far out: p-value 0.0196.
      Nearest neighbours: training patterns 18, 44, 20 (dissimilarity 1.3, 1.31, 1.32).
      Region 0, that of the first: 49 training patterns; prototype is training pattern 43.
      Dissimilarity 1.3 from neighbour 18, by feature:
        0.95   73%  petal length (cm): 4.4, neighbour 1.7
        0.16   12%  petal width (cm): 1.4, neighbour 0.3
        0.11    8%  sepal length (cm): 6.6, neighbour 5.7
        0.08    6%  sepal width (cm): 3, neighbour 3.8
      What decides: its nearest 1, 2, 4, 8... training patterns lie within 1.3, 1.31, 1.33, 1.38...
      Surprise ..., border at ...: in standard deviations above left-out training patterns, ...
    >>> by_regions = EntropicOneClassClassifier(resolution="single", search=None).fit(X[y == 0])
    >>> print(explain(by_regions, X.iloc[[75]])[0])
    Not a target: the nearest region is 0, at 7.59 times its extent. Membership 3.19e-13.
      Region 0: 49 training patterns, extent 0.162; prototype is training pattern 43
        (sepal length (cm) = 5, sepal width (cm) = 3.5, petal length (cm) = 1.6,
        petal width (cm) = 0.6).
      Most alike there: training patterns 18, 44, 20 (dissimilarity 1.3, 1.31, 1.32).
      Next is region 1, at 21.6 times its extent: 1 training pattern, extent 0.0455; prototype is
        training pattern 41 (sepal length (cm) = 4.5, sepal width (cm) = 2.3, petal length (cm) = 1.3,
        petal width (cm) = 0.3).
      Dissimilarity 1.38 from prototype 43, by feature:
        0.96   69%  petal length (cm): 4.4, prototype 1.6
        0.31   23%  sepal length (cm): 6.6, prototype 5
        0.08    6%  petal width (cm): 1.4, prototype 0.6
        0.03    2%  sepal width (cm): 3, prototype 3.5
      These contributions are to the dissimilarity from the prototype. The decision compares the
        dissimilarities to all 50 training patterns with the region's own; the greatest shares of the
        squared distance between them are those of training patterns 43 (3%: 1.38 against 0),
        22 (3%: 1.72 against 0.342), 40 (2%: 1.52 against 0.175).
    """
    check_is_fitted(classifier)
    patterns, names = classifier._read(X, reset=False), names_of(classifier)
    way = _explain_by_neighbourhoods if hasattr(classifier, "surprise_model_") else _explain_by_regions
    return way(classifier, patterns, names)


def differences(classifier: Any, X: Any, Y: Any) -> list[Difference]:
    """Return what makes each pattern of X differ from that of Y at the same place, by the fitted weights.

    >>> from eocc import EntropicOneClassClassifier
    >>> clf = EntropicOneClassClassifier(measure="string-edit", search=None).fit(["oak", "oaks", "elm"])
    >>> print(differences(clf, ["soap"], ["oak"])[0])
    Dissimilarity 0.5, by edits that turn the pattern into the prototype:
      0.250   50%  delete 's' at position 0
      0.250   50%  replace 'p' by 'k' at position 3
    """
    check_is_fitted(classifier)
    if isinstance(classifier.measure_, FittedPrecomputed):
        raise ValueError("precomputed dissimilarities are known to training patterns only; use explain")
    one, other = (classifier._read(patterns, reset=False) for patterns in (X, Y))
    if len(one) != len(other):
        raise ValueError(f"X holds {len(one)} patterns, Y {len(other)}; they are compared in pairs, so pass as many")
    names = names_of(classifier)
    return [
        difference_of(classifier.measure_, _one(one, i), _one(other, i), classifier.weights_, names)
        for i in range(len(one))
    ]


def names_of(classifier: Any) -> tuple[str, ...] | None:
    """Return the names of the features, if the training data had any."""
    names = getattr(classifier, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def _explain_by_regions(classifier: Any, patterns: Any, names: tuple[str, ...] | None) -> list[Explanation]:
    rows = classifier._embed(patterns)
    # Of regions the first two count: the nearest and the next.
    ranked = np.argsort(classifier.fuzzy_model_.ratios(rows), axis=1, kind="stable")[:, :2]
    prototypes = prototypes_of(classifier, np.unique(ranked).tolist(), names)
    return [
        _explanation_by_regions(
            classifier, _one(patterns, i), rows[i], {n: prototypes[n] for n in ranked[i].tolist()}, names
        )
        for i in range(len(rows))
    ]


def _explanation_by_regions(
    classifier: FittedClassifier,
    pattern: Any,
    row: Matrix,
    prototypes: Mapping[int, Prototype],
    names: Sequence[str] | None,
) -> Explanation:
    """Explain one pattern; `prototypes` are those of the nearest region and the next, in this order."""
    model, rows, threshold = classifier.fuzzy_model_, row[None], classifier.threshold_
    nearest, *others = (place_in(classifier, row, number, prototype) for number, prototype in prototypes.items())
    prototype = _one(classifier.prototypes_, nearest.prototype.column)
    return Explanation(
        is_target=bool(model.decision(rows)[0] - threshold >= 0),
        reach=reach_of(threshold),
        membership=float(np.exp(model.log_membership(rows)[0])),
        nearest=nearest,
        runner_up=others[0] if others else None,
        difference=difference_of(classifier.measure_, pattern, prototype, classifier.weights_, names),
        profile=profile_of(classifier, row, nearest.region),
    )


def _explain_by_neighbourhoods(
    classifier: FittedBySurprise, patterns: Any, names: tuple[str, ...] | None
) -> list[Explanation]:
    prepared = classifier.measure_.prepare(patterns, classifier.prototypes_)
    rows = prepared.evaluate(classifier.weights_)
    verdicts = classifier._verdicts(patterns, prepared)
    memberships = np.exp(verdicts.log_memberships)
    numbers = prototype_labels(classifier)[rows.argmin(axis=1)].tolist()
    prototypes = prototypes_of(classifier, sorted(set(numbers)), names)
    found = []
    for i, known in enumerate(neighbourhoods_of(classifier, patterns, prepared, verdicts, names)):
        place = place_in(classifier, rows[i], numbers[i], prototypes[numbers[i]])
        place = replace(place, exemplars=exemplars_among(classifier, rows[i], np.arange(rows.shape[1])))
        neighbour = _one(classifier.prototypes_, place.exemplars[0].column)
        difference = difference_of(
            classifier.measure_, _one(patterns, i), neighbour, classifier.weights_, names, "neighbour"
        )
        is_target = bool(verdicts.margins[i] - classifier.threshold_ >= 0)
        reach, membership = reach_of(classifier.threshold_), float(memberships[i])
        found.append(Explanation(is_target, reach, membership, place, None, difference, None, known))
    return found


def _one(patterns: Any, index: int) -> Any:
    return patterns[index : index + 1]
