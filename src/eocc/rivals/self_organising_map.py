"""The self-organising map."""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from eocc.foundation.arguments import check_count, check_number, generator
from eocc.foundation.types import Matrix
from eocc.rivals.base import Rival, needed


class SelfOrganisingMap(Rival):
    """Kohonen's map: score_samples is minus the squared distance to the nearest unit, -min over units ||x - w||².

    The units, on a grid of `grid` rows and columns, start at random targets. Each of `n_epochs` passes shows every
    target once, in one random order kept throughout; the nearest unit and, less, its neighbours on the grid move
    towards it. The learning rate starts at 0.5, and the Gaussian of the neighbourhood at `width` grid steps; both fall
    to a third. Features keep their unit. Trained by the package minisom.
    Paper: Kohonen, Self-organizing maps (1995); Tax, One-class classification (2001), section 3.3.3; dd_tools' som_dd.
    Good at: clusters and bent sheets of two dimensions, many rows. Bad at: fewer rows than units; thin noise between
    clusters, where units of the grid are stretched; features in different units.
    Automatic: nothing is chosen from the data; 5 x 5 units and 100 epochs are dd_tools' defaults.
    """

    grid: tuple[int, int] = (5, 5)
    n_epochs: int = 100
    width: float = 1.0
    random_state: Any = None

    def _learn(self, X: Matrix) -> Matrix:
        n_rows, n_columns = self._sides()
        seed = int(generator(self.random_state).integers(2**31))
        som = needed("minisom", "minisom", by="SelfOrganisingMap").MiniSom(
            n_rows, n_columns, X.shape[1], sigma=float(self.width), learning_rate=0.5, random_seed=seed,
            decay_function="asymptotic_decay", sigma_decay_function="asymptotic_decay",
        )  # fmt: skip
        # minisom's other starts have length 1 whatever the unit of the data.
        som.random_weights_init(X)
        som.train(X, int(self.n_epochs), random_order=True, use_epochs=True)
        self.units_ = np.ascontiguousarray(som.get_weights().reshape(n_rows * n_columns, X.shape[1]))
        return self._score(X)

    def _score(self, X: Matrix) -> Matrix:
        return -np.asarray(cdist(X, self.units_, "sqeuclidean").min(axis=1))

    def _sides(self) -> tuple[int, int]:
        if not isinstance(self.grid, tuple | list) or len(self.grid) != 2:
            raise ValueError(f"grid must be two integers >= 1, rows and columns, not {self.grid!r}")
        for side in self.grid:
            check_count("each side of grid", side)
        check_count("n_epochs", self.n_epochs)
        n_rows, n_columns = int(self.grid[0]), int(self.grid[1])
        widest = max(1.0, float(np.hypot(n_rows, n_columns)))
        check_number("width", self.width, f"in (0, {widest:.3g}], as wide as the grid", lambda w: 0 < w <= widest)
        return n_rows, n_columns
