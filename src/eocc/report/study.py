"""A classifier and perhaps new rows -> all that the page shows, computed once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eocc.classifiers.base import OneClassClassifier
from eocc.classifiers.labels import signs
from eocc.explain import Explanation, Rule
from eocc.explain.regions import Prototype, prototype_labels, prototypes_of
from eocc.foundation.types import Flags, Indices
from eocc.plots.projection import Projection, project, prototype_share, shows_regions
from eocc.report.scored import ScoredRows, score_rows

# This many of the most unusual rows are explained in full, and the prototypes of this many of the largest regions.
MOST_EXPLAINED = 200
MOST_PROTOTYPES = 40


@dataclass(frozen=True, eq=False)
class Regions:
    """The regions that the page shows: a rule and a prototype for each, and the `labels` of all prototypes.

    `order` holds the regions, the largest first; `explained` the explanations of the prototypes of the largest regions.
    """

    rules: list[Rule]
    prototypes: Mapping[int, Prototype]
    labels: Indices
    order: list[int]
    explained: Mapping[int, Explanation]


@dataclass(frozen=True, eq=False)
class Study:
    """What the page shows of the model and of `new` rows, if there are any.

    `training` are the prototypes: all training rows, unless prototypes were chosen. `explained` holds explanations of
    the most unusual of the new rows, or of the training rows if there are no new ones, by index. `regions` is None if
    there are too many training rows to compute them for the page.
    """

    classifier: OneClassClassifier
    plane: Projection
    training: ScoredRows
    new: ScoredRows | None
    explained: Mapping[int, Explanation]
    regions: Regions | None

    @property
    def subject(self) -> ScoredRows:
        """The rows the page is about: the new ones, or the training rows if there are no new ones."""
        return self.training if self.new is None else self.new

    @property
    def n_training(self) -> int:
        """The number of training rows."""
        return len(self.classifier.training_indices_)

    @property
    def prototype_share(self) -> str:
        """How many of the training rows are prototypes, in words; "" if all are."""
        return prototype_share(self.classifier)

    @property
    def row_name(self) -> str:
        """What rows are compared with: training rows, or prototypes if these are fewer."""
        return "prototype" if self.prototype_share else "training row"

    def name(self, index: int) -> str:
        """Return the name of a row that the page is about."""
        return f"{'training' if self.new is None else 'new'} row {self.subject.names[index]}"

    def key(self, index: int) -> str:
        """Return the key that links a row that the page is about with its mark on the map."""
        return f"{'t' if self.new is None else 'n'}{index}"


def study_of(classifier: OneClassClassifier, X: Any = None, y: Any = None, names: Iterable[Any] | None = None) -> Study:
    """Return the study of a fitted classifier, and of new rows X with labels y (+1, -1) and names, if given.

    >>> from eocc import SurpriseClassifier
    >>> clf = SurpriseClassifier().fit([[0.0, 0.0], [3.0, 1.0], [1.0, 5.0], [2.0, 2.0]])
    >>> study = study_of(clf, [[2.0, 2.0], [90.0, 0.0]], y=[1, -1])
    >>> study.name(1), study.explained[1].is_target
    ('new row 1', False)
    """
    check_is_fitted(classifier)
    new = _new_rows(classifier, X, y, names)
    plane, with_regions = project(classifier), shows_regions(classifier)
    rows = [str(row) for row in classifier.training_indices_[classifier.prototype_indices_].tolist()]
    training = score_rows(classifier, plane, classifier.prototypes_, rows, with_regions=with_regions)
    scored = None if new is None else score_rows(classifier, plane, *new, with_regions=with_regions)
    subject = training if scored is None else scored
    unusual = subject.order[:MOST_EXPLAINED]
    explained = dict(zip(unusual.tolist(), classifier.explain_patterns(subject.patterns[unusual]), strict=True))
    return Study(classifier, plane, training, scored, explained, _regions(classifier) if with_regions else None)


def _regions(classifier: OneClassClassifier) -> Regions:
    sizes = [len(region.members) for region in classifier.regions_]
    order = sorted(range(len(sizes)), key=lambda number: -sizes[number])
    prototypes = prototypes_of(classifier, range(len(sizes)))
    largest = [number for number in order if prototypes[number].is_member][:MOST_PROTOTYPES]
    columns = np.array([prototypes[number].column for number in largest])
    explanations = classifier.explain_patterns(classifier.prototypes_[columns])
    explained = dict(zip(largest, explanations, strict=True))
    return Regions(classifier.rules(), prototypes, prototype_labels(classifier), order, explained)


def _new_rows(
    classifier: OneClassClassifier, X: Any, y: Any, names: Iterable[Any] | None
) -> tuple[Any, list[str], Flags | None] | None:
    """Return patterns, names and labels of the new rows, or raise a ValueError if they do not fit together."""
    if X is None:
        for what, given in (("y", y), ("names", names)):
            if given is not None:
                raise ValueError(f"{what} needs X, the rows it belongs to: pass both or neither")
        return None
    patterns = classifier.read(X)
    called = [str(name) for name in (range(len(patterns)) if names is None else names)]
    is_normal = None if y is None else np.asarray(signs(y) == 1)
    if is_normal is not None and len(is_normal) != len(patterns):
        raise ValueError(f"X has {len(patterns)} rows and y {len(is_normal)} labels; pass one label per row")
    if len(called) != len(patterns):
        raise ValueError(f"X has {len(patterns)} rows and names {len(called)}; pass one name per row")
    return patterns, called, is_normal
