"""A classifier and perhaps new patterns -> all that the page tells, computed once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.classifiers.labels import signs
from eocc.explain import Explanation
from eocc.explain.explain import names_of
from eocc.explain.regions import Prototype, prototypes_of
from eocc.plots.projection import Projection, Yardstick, known_share, project, yardstick_of
from eocc.report.judgement import Judgement, explain_read, judge

# So many of the strangest patterns are explained in full, besides the prototypes of the largest regions.
MOST_EXPLAINED = 200
MOST_PROTOTYPES = 40


@dataclass(frozen=True, eq=False)
class Study:
    """What is known of the model (`training`, `prototypes`) and of `new` patterns, if there are any.

    `training` are the training patterns that the model knows, its prototypes: all of them, unless some were chosen.
    `prototypes` are those that stand for each region, by their index among these. `told` are the patterns the page is
    about, the new ones or else those of `training`. `explained` holds explanations of the strangest of them, by their
    index; `explained_prototypes` by region, where the region has a prototype.
    """

    classifier: EntropicOneClassClassifier
    plane: Projection
    training: Judgement
    new: Judgement | None
    prototypes: Mapping[int, Prototype]
    explained: Mapping[int, Explanation]
    explained_prototypes: Mapping[int, Explanation]

    @property
    def told(self) -> Judgement:
        """The new patterns, or the training patterns known where there are none."""
        return self.training if self.new is None else self.new

    @property
    def n_training(self) -> int:
        """How many patterns the model learned from."""
        return len(self.classifier.labels_)

    @property
    def known_share(self) -> str:
        """How many of them are prototypes, in words; nothing where all are."""
        return known_share(self.classifier)

    @property
    def known_as(self) -> str:
        """What the patterns are called that others are compared with."""
        return "prototype" if self.known_share else "training pattern"

    @property
    def yardstick(self) -> Yardstick:
        """The words for how far patterns lie."""
        return yardstick_of(self.classifier)

    @property
    def largest_regions(self) -> list[int]:
        """The regions, those of most training patterns first."""
        sizes = [len(region.members) for region in self.classifier.regions_]
        return sorted(range(len(sizes)), key=lambda number: -sizes[number])

    def called(self, index: int) -> str:
        """Return what a told pattern is called, with its kind."""
        return f"{'training' if self.new is None else 'new'} pattern {self.told.names[index]}"


def study_of(
    classifier: EntropicOneClassClassifier, X: Any = None, y: Any = None, names: Iterable[Any] | None = None
) -> Study:
    """Return the study of a fitted classifier, and of new patterns X with labels y (+1, -1) and names, if given.

    >>> clf = EntropicOneClassClassifier(search=None).fit([[0.0, 0.0], [3.0, 1.0], [1.0, 5.0], [2.0, 2.0]])
    >>> study = study_of(clf, [[2.0, 2.0], [90.0, 0.0]], y=[1, -1])
    >>> study.called(1), study.explained[1].is_target
    ('new pattern 1', False)
    """
    check_is_fitted(classifier)
    plane = project(classifier)
    rows = classifier.training_indices_[classifier.prototype_indices_]
    training = judge(classifier, plane, classifier.prototypes_, [str(row) for row in rows.tolist()])
    new = _new(classifier, plane, X, y, names)
    prototypes = prototypes_of(classifier, range(len(classifier.regions_)), names_of(classifier))
    told = training if new is None else new
    strangest = told.strangest[:MOST_EXPLAINED].tolist()
    own = [number for number, prototype in prototypes.items() if prototype.is_member]
    largest = sorted(own, key=lambda number: -len(classifier.regions_[number].members))[:MOST_PROTOTYPES]
    return Study(
        classifier=classifier,
        plane=plane,
        training=training,
        new=new,
        prototypes=prototypes,
        explained=_explained(classifier, told.patterns, strangest, strangest),
        explained_prototypes=_explained(
            classifier, classifier.prototypes_, [prototypes[number].column for number in largest], largest
        ),
    )


def _explained(
    classifier: EntropicOneClassClassifier, patterns: Any, indices: Sequence[int], keys: Sequence[int]
) -> dict[int, Explanation]:
    return dict(zip(keys, explain_read(classifier, patterns[np.array(indices)]), strict=True))


def _new(
    classifier: EntropicOneClassClassifier, plane: Projection, X: Any, y: Any, names: Iterable[Any] | None
) -> Judgement | None:
    if X is None:
        for what, given in (("y", y), ("names", names)):
            if given is not None:
                raise ValueError(f"{what} needs X, the patterns it is about: pass both or neither")
        return None
    patterns = classifier._read(X, reset=False)
    called = [str(row) for row in range(len(patterns))] if names is None else [str(name) for name in names]
    is_target = None if y is None else _targets(y, len(patterns))
    if len(called) != len(patterns):
        raise ValueError(f"X holds {len(patterns)} patterns, names {len(called)}; pass one name per pattern")
    return judge(classifier, plane, patterns, called, is_target)


def _targets(y: Any, n_patterns: int) -> NDArray[np.bool_]:
    signed = signs(y)
    if len(signed) != n_patterns:
        raise ValueError(f"X holds {n_patterns} patterns, y {len(signed)} labels; pass one label per pattern")
    return np.asarray(signed == 1)
