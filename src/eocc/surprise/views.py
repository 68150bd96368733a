"""The views, and the surprise: the largest of them.

Each view gives a row a number, higher = less normal. It is centred by its median and divided by its interquartile range
/ 1.349 (1 for a normal distribution), over the training rows, each left out. A handicap is subtracted, so that the
helpers are silent where the neighbours are right. The surprise of a row is the largest result.

A training row, or a copy of one, keeps the numbers that it had when it was left out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np

from eocc.base.array_checks import numbers
from eocc.base.stored import Unstored
from eocc.base.types import HUGE, ROUNDING, Matrix
from eocc.neighbours.in_rows import Nearest
from eocc.space.prototypes.content import row_hashes, words_of
from eocc.space.weightings import LeftOutWeights
from eocc.surprise.cell import fit_cell
from eocc.surprise.comparison import Comparison
from eocc.surprise.covariance import fit_covariance
from eocc.surprise.far import fit_far
from eocc.surprise.neighbours import NeighboursView, fit_neighbours

# The unit of a view is at least a quarter of the same from its 5 % and 95 % quantiles. The folds of the covariance with
# and without a training row that is very far away have different levels: by the quartiles alone, such a row raises the
# limit for all.
LEAST_UNIT = 0.25 / 3.290


class Helper(Protocol):
    """A fitted view that looks at what the neighbours do not show."""

    def of(self, rows: Comparison) -> Matrix:
        """Return the view (m,) of new rows."""


class HelperKind(NamedTuple):
    """How a helper is fitted, and what is subtracted from it in standard units."""

    fit: Callable[..., tuple[Any, Matrix] | None]
    handicap: float


NEIGHBOURS = "neighbours"
HELPERS = {
    "far": HelperKind(fit_far, 2.5),
    "covariance": HelperKind(fit_covariance, 1.0),
    "cell": HelperKind(fit_cell, 2.5),
}


@dataclass(frozen=True, eq=False)
class Surprise:
    """The `neighbours` view and the `helpers` that apply to the data, by name.

    `training` (n, h) holds the helpers' numbers of the prototypes, each left out. `centres` and `units` (1 + h,) are
    those of the neighbours and the helpers.
    """

    neighbours: Unstored[NeighboursView]
    helpers: Unstored[dict[str, Helper]]
    training: Annotated[Matrix, numbers("r t", "[-1e280, 1e280]")]
    centres: Annotated[Matrix, numbers("w", "[-1e280, 1e280]")]
    units: Annotated[Matrix, numbers("w", "[1e-280, inf)")]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the views, in the order of their columns."""
        return (NEIGHBOURS, *self.helpers)

    def views(self, rows: Comparison, near: list[Nearest]) -> Matrix:
        """Return every view of rows with these neighbours, in standard units, less its handicap: (m, 1 + h).

        The helpers' numbers of copies of a prototype are known.
        """
        found, is_known = np.empty((len(rows.own), 1 + len(self.helpers))), rows.own >= 0
        found[:, 0] = self.neighbours.of(near)
        for k, helper in enumerate(self.helpers.values(), 1):
            found[:, k] = 0.0 if is_known.all() else helper.of(rows)
        found[is_known, 1:] = self.training[rows.own[is_known]]
        handicaps = [0.0, *(HELPERS[name].handicap for name in self.helpers)]
        with np.errstate(over="ignore"):
            return np.clip((found - self.centres) / self.units - handicaps, -HUGE, HUGE)

    def of(self, rows: Comparison, near: list[Nearest]) -> Matrix:
        """Return the surprise: about 0 for an ordinary training row, higher = less normal."""
        return np.asarray(self.views(rows, near).max(axis=1))


def fit_surprise(among: Comparison, left_out: LeftOutWeights) -> Surprise:
    """Return the views of the prototypes, which are compared with each other, each left out."""
    neighbours = fit_neighbours(among, left_out)
    keys = row_hashes(words_of(among.reference.prototypes))
    found = {name: kind.fit(among, keys) for name, kind in HELPERS.items()}
    fitted = {name: one for name, one in found.items() if one is not None}
    helpers = {name: helper for name, (helper, _) in fitted.items()}
    training = np.column_stack([np.empty((len(keys), 0)), *(values for _, values in fitted.values())])
    columns = np.column_stack([neighbours.of(neighbours.nearest_left_out(among)), training])
    least, low, centres, high, most = np.quantile(columns, [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
    units = np.maximum((high - low) / 1.349, LEAST_UNIT * (most - least))
    return Surprise(neighbours, helpers, training, centres, np.where(units > ROUNDING, units, 1.0))
