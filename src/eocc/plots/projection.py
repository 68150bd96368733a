"""What pictures, pages and commands ask of a fitted classifier: its space in two dimensions, its words, its rate."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.classifiers.fitting import search_of
from eocc.explain.regions import is_whole
from eocc.foundation.blas import one_blas_thread
from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import format_number
from eocc.regions.fuzzy import BOUNDARY


@dataclass(frozen=True, eq=False)
class Projection:
    """The plane of largest variance of the prototypes in the dissimilarity space.

    `prototypes` (r, 2) are these in it; `kept` is the share of their variance that it shows.
    """

    prototypes: Matrix
    kept: float
    mean: Matrix
    axes: Matrix

    def place(self, rows: Matrix) -> Matrix:
        """Return the points (m, 2) of rows of the dissimilarity space."""
        return np.asarray(np.einsum("ij,jk->ik", rows - self.mean, self.axes))


def project(classifier: EntropicOneClassClassifier) -> Projection:
    """Return the principal plane of the dissimilarity space, its axes signed so that the largest entry is positive.

    >>> import numpy as np
    >>> clf = EntropicOneClassClassifier(search=None).fit([[0.0, 0.0], [3.0, 1.0], [1.0, 5.0], [2.0, 2.0]])
    >>> plane = project(clf)
    >>> plane.prototypes.shape, bool(plane.kept > 0.9)
    ((4, 2), True)
    """
    rows = classifier.measure_.prepare(classifier.prototypes_).evaluate(classifier.weights_)
    mean = rows.mean(axis=0)
    axes = principal_axes(rows - mean)
    points = np.einsum("ij,jk->ik", rows - mean, axes)
    total = float(((rows - mean) ** 2).sum())
    return Projection(points, float((points**2).sum()) / total if total > 0 else 1.0, mean, axes)


def principal_axes(centred: Matrix) -> Matrix:
    """Return the two directions (c, 2) in which centred rows vary most, the largest entry of each positive.

    They are the first right singular vectors, each found as the first eigenvector of the products of columns. Before
    the second, the rows lose what lies along the first: squares of the first would drown a second much shorter. A
    direction that a single row or column does not have is 0.

    >>> principal_axes(np.array([[3.0, 4.0], [-3.0, -4.0], [-0.8, 0.6], [0.8, -0.6]]))
    array([[ 0.6,  0.8],
           [ 0.8, -0.6]])
    """
    n_columns = centred.shape[1]
    axes, left = np.zeros((n_columns, 2)), centred / (np.abs(centred).max() or 1.0)
    for k in range(min(2, *centred.shape)):
        with one_blas_thread():
            products = left.T @ left
            # Other eigenvalues are not below 0: an axis is not found again, even where no variance is left.
            products -= 2 * (products.trace() or 1.0) * (axes @ axes.T)
            axes[:, k] = eigh(products, subset_by_index=[n_columns - 1, n_columns - 1], overwrite_a=True)[1][:, 0]
        for _ in range(2):  # what the first time leaves by rounding may be all that is left
            left = left - np.outer(left @ axes[:, k], axes[:, k])
    largest = np.abs(axes).argmax(axis=0)
    return np.asarray(axes * np.where(axes[largest, [0, 1]] < 0, -1.0, 1.0))


def place(classifier: EntropicOneClassClassifier, projection: Projection, X: Any) -> Matrix:
    """Return the points of new patterns."""
    return projection.place(np.asarray(classifier.transform(X)))


def edges_between(classifier: EntropicOneClassClassifier, columns: Indices) -> Indices:
    """Return the edges of the spanning tree that join two of these prototypes, as pairs of columns, heaviest first.

    >>> rows = [[0.0], [1.0], [5.0], [6.0]]
    >>> edges_between(EntropicOneClassClassifier().fit(rows), np.array([0, 1, 3])).tolist()
    [[0, 1]]
    """
    place = np.full(len(classifier.labels_), -1)
    place[classifier.prototype_indices_[columns]] = columns
    edges = place[np.asarray(classifier.spanning_tree_.edges).reshape(-1, 2)]
    return np.asarray(edges[(edges >= 0).all(axis=1)])


def known_share(classifier: EntropicOneClassClassifier) -> str:
    """Return how many of the training patterns are prototypes, in words; nothing where all are.

    >>> known_share(EntropicOneClassClassifier(prototypes=2, random_state=0).fit([[0.0], [3.0], [1.0]]))
    '2 of 3 training patterns'
    """
    if is_whole(classifier):
        return ""
    return f"{len(classifier.prototype_indices_):,} of {len(classifier.labels_):,} training patterns"


@dataclass(frozen=True)
class Yardstick:
    """The words for a ratio, 1 at the border, by the way a model decides.

    `axis` names the ratio, `title` a picture of many, `caption` says what it shows, `farthest` names the strangest
    patterns, `order` what these are ordered by. A pattern lies `within` the border or `beyond` it, `near` a region.
    """

    axis: str
    title: str
    caption: str
    farthest: str
    order: str
    within: str
    beyond: str
    near: str

    def said(self, ratio: float) -> str:
        """Return how far a pattern lies.

        >>> EXTENTS.said(0.5), BORDER.said(0.5), BORDER.said(2.25)
        ('0.5 extents', 'at 0.5 of the border', 'at 2.25 times the border')
        """
        return (self.within if ratio <= BOUNDARY else self.beyond).format(format_number(ratio))

    def placed(self, ratio: float, region: int) -> str:
        """Return how far a pattern lies, and its region.

        >>> EXTENTS.placed(0.5, 3), BORDER.placed(0.5, 3)
        ('0.5 extents from region 3', 'at 0.5 of the border, nearest to region 3')
        """
        return self.said(ratio) + self.near.format(region)


EXTENTS = Yardstick(
    axis="distance / extent",
    title="Distances to the nearest region",
    caption="Distances to the nearest region, in its extents",
    farthest="Farthest from any region",
    order="their distance to the nearest region in its extents",
    within="{} extents",
    beyond="{} extents",
    near=" from region {}",
)
BORDER = Yardstick(
    axis="times the border",
    title="How far patterns lie",
    caption="How far patterns lie: 1 is the border of what is normal",
    farthest="Farthest from what is normal",
    order="how far they lie from what is normal",
    within="at {} of the border",
    beyond="at {} times the border",
    near=", nearest to region {}",
)


def decides_by_regions(classifier: EntropicOneClassClassifier) -> bool:
    """Return whether a pattern is accepted for its distance to a region, as in the paper.

    >>> rows = [[0.0, 0.0], [3.0, 1.0], [1.0, 5.0], [2.0, 2.0]]
    >>> decides_by_regions(EntropicOneClassClassifier().fit(rows))
    False
    """
    return not hasattr(classifier, "surprise_model_")


def yardstick_of(classifier: EntropicOneClassClassifier) -> Yardstick:
    """Return the words for the ratios of a fitted classifier.

    >>> rows = [[0.0, 0.0], [3.0, 1.0], [1.0, 5.0], [2.0, 2.0]]
    >>> yardstick_of(EntropicOneClassClassifier(resolution="single", search=None).fit(rows)).axis
    'distance / extent'
    """
    return EXTENTS if decides_by_regions(classifier) else BORDER


def rate_of(classifier: EntropicOneClassClassifier) -> float | None:
    """Return the share of targets that a calibrated model rejects; None where it is not calibrated.

    >>> rate_of(EntropicOneClassClassifier(false_alarm_rate=0.25).fit([[0.0], [3.0], [1.0], [2.0]]))
    0.25
    """
    calibration = getattr(classifier, "calibration_", None)
    return None if calibration is None else float(calibration.rate)


def was_searched(classifier: EntropicOneClassClassifier) -> bool:
    """Return whether the weights were looked for, rather than given or all 1.

    >>> was_searched(EntropicOneClassClassifier()), was_searched(EntropicOneClassClassifier(resolution="single"))
    (False, True)
    """
    return search_of(classifier) is not None
