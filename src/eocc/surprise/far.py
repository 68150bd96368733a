"""The view that sees clumps: a row with near copies among the normal rows, all of which are far from the others.

The nearest neighbours of such a row are its near copies. Most of these are not among the landmarks, which are 64 fixed
training rows, at most a quarter. So the distances to the 2nd, 4th and 8th nearest landmark show how far away all other
rows are. The view is the largest of their logs, each standardised over the training rows. Landmarks are chosen by their
content: the order of the training rows does not matter.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from eocc.base.checks import Sizes, demand, indices, numbers
from eocc.base.types import ROUNDING, TINY, Indices, Matrix
from eocc.space.prototypes.content import Words
from eocc.surprise.comparison import Comparison
from eocc.surprise.neighbours import Standardisation, larger_first

# A quarter of the different rows are landmarks, but 8 to 64. The 2nd, 4th and 8th nearest count.
SHARE, FEWEST, N_LANDMARKS, LARGEST_SIZE = 1 / 4, 8, 64, 8


@dataclass(frozen=True, eq=False)
class FarView:
    """The `landmarks` (l,) are prototypes. `least` (v,) keeps logs of distances finite, one number per weighting.

    `mean` and `scale` (v * s,) standardise the logs of the s distances under each of v weightings.
    """

    landmarks: Annotated[Indices, indices("m", "r", rising=True)]
    least: Annotated[Matrix, numbers("v", "(0, inf)")]
    mean: Annotated[Matrix, numbers("f")]
    scale: Annotated[Matrix, numbers("f", "(0, inf)")]

    def check_parts(self, sizes: Sizes) -> None:
        """Demand as many landmarks and distances to them as a fit chooses, or chose in format 4."""
        n, per_weighting = len(self.landmarks), sizes["f"] / sizes["v"]
        demand(2 < n <= N_LANDMARKS, f"there must be 3 to {N_LANDMARKS} landmarks, not {n}")
        most = f"helpers.far.mean must have 1 to 4 numbers per weighting, not {per_weighting:g}"
        demand(per_weighting in range(1, 5), most)

    def of(self, rows: Comparison) -> Matrix:
        """Return the view of new rows."""
        return self.of_logs(self.logs(rows, np.full(len(rows.patterns), -1)))

    def of_logs(self, logs: Matrix) -> Matrix:
        """Return the view of rows with these logs of distances."""
        logs = Standardisation(self.mean, self.scale).apply(logs)
        values = logs.reshape(len(logs), len(self.least), -1).max(axis=2)
        return larger_first(values[:, 0], values[:, -1])

    def logs(self, rows: Comparison, skipped: Indices) -> Matrix:
        """Return the logs of the distances to the nearest few landmarks (m, v * s), row i without skipped[i]."""
        sizes = 2 ** np.arange(1, 1 + len(self.mean) // len(self.least))
        ranks = np.minimum(sizes, (len(self.landmarks) - 1) // 2) - 1
        near = [rows.nearest_among(number, self.landmarks, ranks, skipped) for number in range(len(self.least))]
        return np.hstack([np.log(np.maximum(one, least)) for one, least in zip(near, self.least, strict=True)])


def fit_far(among: Comparison, keys: Words) -> tuple[FarView, Matrix] | None:
    """Return the view, and that of the prototypes, each left out; None for fewer than 32 different rows.

    `keys` (n,) are equal for equal rows.
    """
    known, first = np.unique(keys, return_index=True)
    n_landmarks = min(N_LANDMARKS, int(SHARE * len(first)))
    if n_landmarks < FEWEST:
        return None
    chosen = np.argsort(first[:n_landmarks])
    landmarks = first[chosen]
    place_of = np.append(np.argsort(chosen), -1)
    skipped = place_of[np.minimum(np.searchsorted(known, keys), len(chosen))]
    # No size is beyond half of the landmarks that a left-out one has.
    n_sizes = min((n_landmarks - 1) // 2, LARGEST_SIZE).bit_length() - 1
    v = len(among.reference.weightings)
    unit = np.ones(v * n_sizes)
    logs = FarView(landmarks, np.full(v, TINY), unit, unit).logs(among, skipped)
    # Rows that are equal under weights of 0 have no distance.
    least = ROUNDING * np.exp([np.median(one) for one in np.hsplit(logs, v)])
    logs = np.maximum(logs, np.repeat(np.log(least), logs.shape[1] // v))
    standard = Standardisation.of(logs)
    view = FarView(landmarks, least, standard.mean, standard.scale)
    return view, view.of_logs(logs)
