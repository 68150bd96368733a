"""The surprise model: the views of a row and the largest of them, a threshold, labels and answers.

Each view gives a row a number, higher = less normal. It is centred by its median and divided by its interquartile range
/ 1.349 (1 for a normal distribution), over the training rows, each left out. A handicap is subtracted, so that the
helpers are silent where the neighbours are right. The surprise of a row is the largest result.

A training row, or a copy of one, keeps the numbers that it had when it was left out.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from eocc.base.checks import Sizes, demand, numbers
from eocc.base.stored import Unstored, check_keys, declared, restored, stacked, written
from eocc.base.types import HUGE, ROUNDING, TINY, Indices, Matrix
from eocc.calibration.conformal import Threshold
from eocc.kernels.content import row_hashes
from eocc.measures.protocol import FittedMeasure
from eocc.space.prototypes.content import words_of
from eocc.space.representation import LeftOutWeights
from eocc.surprise.comparison import Comparison, Nearest, Reference
from eocc.surprise.helpers import CovarianceView, FarView, cells_of, fit_covariance, fit_far
from eocc.surprise.likelihood_ratio import N_NEAR, Labelled, LikelihoodRatio, fit_labelled, labelled, restored_ratio
from eocc.surprise.neighbours import NeighboursView, fit_neighbours, larger_first, restored_neighbours, sum_columns

# The unit of a view is at least a quarter of the same from its 5 % and 95 % quantiles. The folds of the covariance with
# and without a training row that is very far away have different levels: by the quartiles alone, such a row raises the
# limit for all.
LEAST_UNIT = 0.25 / 3.290
# The reach of an answer is this share of its distance from the nearest training row.
REACH = 0.5
# Near-copies with opposite answers cancel; with less of this they would swing widely.
NOISE = 0.05
# The length of the lists of nearest outliers: one of them may be the row itself.
OUTLIER_LIST = N_NEAR + 1


NEIGHBOURS = "neighbours"
# What is subtracted from the view of a helper, in standard units. A helper looks at what the neighbours do not show.
HANDICAPS = {"far": 2.5, "covariance": 1.0, "cell": 2.5}


@dataclass(frozen=True, eq=False)
class Correction:
    """Adds amounts_j (1 - (d(x, a_j) / reaches_j)^2)^2 to the surprise of x, for each answered row a_j within reach."""

    answered: Unstored[Reference]
    # No correction is nearly as large; with a larger one the sum of the terms could overflow.
    amounts: Annotated[Matrix, numbers("a", "[-1e290, 1e290]")]
    reaches: Annotated[Matrix, numbers("a", "(0, inf)")]

    def of(self, patterns: Any) -> Matrix:
        """Return the correction of every row: (m,)."""
        return sum_columns(self.kernels(patterns) * self.amounts)

    def kernels(self, patterns: Any) -> Matrix:
        """Return the factors of the amounts (m, a)."""
        distances = Comparison(self.answered, patterns, length=0).rows(self.answered.weightings[0])
        return np.asarray((1 - np.minimum(distances / self.reaches, 1.0) ** 2) ** 2)


@dataclass(frozen=True, eq=False)
class SurpriseModel:
    """The surprise among the `normal` rows, and its threshold; with labels also the likelihood ratio and the outliers.

    `normal` and `outliers` are the rows that new rows are compared with. The views are that of the `neighbours` and
    those of the `helpers` that apply to the data, by name. `training` (n, h) holds the helpers' numbers of the
    prototypes, each left out. `centres` and `units` (1 + h,) are those of the views. Answered rows have a `correction`.
    """

    normal: Unstored[Reference]
    neighbours: Unstored[NeighboursView]
    helpers: Unstored[dict[str, Any]]
    training: Annotated[Matrix, numbers("r t", "[-1e280, 1e280]")]
    centres: Annotated[Matrix, numbers("w", "[-1e280, 1e280]")]
    units: Annotated[Matrix, numbers("w", "[1e-280, inf)")]
    threshold: Threshold
    likelihood_ratio: LikelihoodRatio | None = None
    outliers: Unstored[Reference | None] = None
    correction: Correction | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the views, in the order of their columns."""
        return (NEIGHBOURS, *self.helpers)

    @property
    def n_outliers(self) -> int:
        """How many known outliers new rows are compared with."""
        return 0 if self.outliers is None else len(self.outliers.prototypes)

    def compare(self, patterns: Any) -> tuple[Comparison, list[Nearest]]:
        """Return new patterns compared with the normal rows, and the nearest of these."""
        rows = Comparison(self.normal, patterns)
        return rows, self.neighbours.nearest(rows)

    def views(self, rows: Comparison, near: list[Nearest]) -> Matrix:
        """Return every view of rows with these neighbours, in standard units, less its handicap: (m, 1 + h).

        The helpers' numbers of copies of a prototype are known. The largest view is about 0 for an ordinary training
        row, higher = less normal.
        """
        found, is_known = np.empty((len(rows.own), 1 + len(self.helpers))), rows.own >= 0
        found[:, 0] = larger_first(self.neighbours.by_weighting(near))
        for k, helper in enumerate(self.helpers.values(), 1):
            found[:, k] = 0.0 if is_known.all() else helper.of(rows)
        found[is_known, 1:] = self.training[rows.own[is_known]]
        handicaps = [0.0, *(HANDICAPS[name] for name in self.helpers)]
        with np.errstate(over="ignore"):
            return np.clip((found - self.centres) / self.units - handicaps, -HUGE, HUGE)

    def labelled(self, rows: Comparison, near: list[Nearest], to_outliers: Comparison | None = None) -> Labelled:
        """Return what the likelihood ratio needs of rows with these neighbours."""
        assert self.outliers is not None
        to_outliers = Comparison(self.outliers, rows.patterns) if to_outliers is None else to_outliers
        means = [one.mean_distance for one in self.neighbours.weightings]
        return labelled(self.views(rows, near).max(axis=1), rows, near, to_outliers, means)

    def surprises(self, patterns: Any, compared: tuple[Comparison, list[Nearest]] | None = None) -> Matrix:
        """Return the surprise of new patterns, which may be `compared` already."""
        compared, ratio = self.compare(patterns) if compared is None else compared, self.likelihood_ratio
        surprises = self.views(*compared).max(axis=1) if ratio is None else ratio.of(self.labelled(*compared))
        return np.asarray(surprises if self.correction is None else surprises + self.correction.of(patterns))


def fit_surprise(
    reference: Reference, outliers: Any, left_out: LeftOutWeights, confirmed: Any = None
) -> tuple[SurpriseModel, Matrix]:
    """Return the model of the normal rows and known outliers, and the surprise of every normal row as if it were new.

    `confirmed` rows are normal by an answer. The threshold of the model is still to be set.
    """
    among = reference.among_itself()
    neighbours = fit_neighbours(among, left_out)
    near = neighbours.nearest(among)
    hashes = row_hashes(words_of(reference.prototypes))
    _, first, kinds = np.unique(hashes, return_index=True, return_inverse=True)
    fits: tuple[tuple[Any, Matrix] | None, ...] = (
        fit_far(among, first, kinds),
        None if reference.measure.coordinates is None else fit_covariance(among, kinds),
        None if reference.measure.cell_values is None else cells_of(reference),
    )
    fitted = {name: one for name, one in zip(HANDICAPS, fits, strict=True) if one is not None}
    helpers = {name: helper for name, (helper, _) in fitted.items()}
    training = np.column_stack([np.empty((len(kinds), 0)), *(values for _, values in fitted.values())])
    columns = np.column_stack([larger_first(neighbours.by_weighting(near)), training])
    least, low, centres, high, most = np.quantile(columns, [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
    units = np.maximum((high - low) / 1.349, LEAST_UNIT * (most - least))
    units = np.where(units > ROUNDING, units, 1.0)
    model = SurpriseModel(reference, neighbours, helpers, training, centres, units, Threshold(0.0, 1.0))
    if outliers is not None:
        return _with_outliers(model, among, near, outliers, confirmed)
    near = neighbours.nearest(among) if neighbours.leave_twins_out(among) else near
    return model, model.views(among, near).max(axis=1)


def _with_outliers(
    model: SurpriseModel, among: Comparison, near: list[Nearest], outliers: Any, confirmed: Any
) -> tuple[SurpriseModel, Matrix]:
    """Return the model that also compares with known outliers, and the labelled surprise of every normal row."""
    normal, view, answered = model.normal, model.neighbours, None
    known = Reference(normal.measure, outliers, normal.weightings, length=OUTLIER_LIST)
    model, to_outliers = replace(model, outliers=known), Comparison(known, normal.prototypes)
    inside = scored = model.labelled(among, near, to_outliers)
    outside = model.labelled(*model.compare(outliers), known.among_itself())
    if confirmed is not None:
        answered = model.labelled(*model.compare(confirmed))
    if view.leave_twins_out(among):
        scored = model.labelled(among, view.nearest(among), to_outliers)
    ratio, surprises = fit_labelled(inside, outside, answered, scored)
    return replace(model, likelihood_ratio=ratio), surprises


def corrected(model: SurpriseModel, rows: Any, y: Indices, surprises: Matrix) -> SurpriseModel:
    """Return the model with a correction around answered rows; `surprises` are those of the normal rows.

    An answer y = 1 pulls the row's surprise down to the median of the normal rows, y = -1 up to as far above their
    95 % quantile as that is above the median. Rows that are there already stay as they are. The correction vanishes at
    half the distance of the nearest training row: answers move no training row and no limit.
    """
    middle, high = np.quantile(surprises, [0.5, 0.95]).tolist()
    compared = model.compare(rows)
    here = model.surprises(rows, compared)
    wanted = np.where(y == 1, np.minimum(middle - here, 0.0), np.maximum(2 * high - middle - here, 0.0))
    reaches = np.maximum(REACH * compared[1][0].distances[:, 0], TINY)
    found = Correction(Reference(model.normal.measure, rows, model.normal.weightings), wanted, reaches)
    # A lone answer is followed exactly.
    kernels = (found.kernels(rows) + NOISE * np.eye(len(wanted))) / (1 + NOISE)
    return replace(model, correction=replace(found, amounts=np.linalg.solve(kernels, wanted)))


# Sizes: h prototypes with weights of their own, r prototypes, u weights, v weightings, s neighbourhood sizes,
# t helpers, w views, m landmarks, f their distances, d active columns, b columns of a basis, l single columns,
# c columns of labels, a answers.


def surprise_state(model: SurpriseModel) -> dict[str, Any]:
    """Return all but the known outliers, as numbers, arrays and dictionaries of these."""
    view = model.neighbours
    # A cell view is computed from the prototypes, which gives the same numbers.
    helpers = {name: {} if name == "cell" else written(helper) for name, helper in model.helpers.items()}
    return {
        "weightings": stacked(view.weightings),
        "left_out": written(view.left_out),
        "standardisation": written(view.standardisation),
        "helpers": helpers,
        **written(model),
    }


def surprise_from_state(
    state: Any, measure: FittedMeasure, prototypes: Any, outliers: Any, answered: Any
) -> SurpriseModel:
    """Return the model of these prototypes, outliers and answered rows; a ValueError says which array is wrong."""
    is_old = type(state) is dict and "helpers" not in state
    demand(not is_old, "its score is that of eocc 0.2, which this version does not have; fit the model again")
    own = ("weightings", "left_out", "standardisation", "helpers")
    check_keys("surprise", state, (*own, *declared(SurpriseModel)))
    sizes = {"r": len(prototypes), "u": measure.n_parameters}
    neighbours = restored_neighbours(state, sizes)
    normal = Reference(measure, prototypes, state["weightings"]["weights"])
    helpers = _helpers(state["helpers"], normal, sizes)
    sizes |= {"t": len(helpers), "w": 1 + len(helpers)}
    ratio, correction = state["likelihood_ratio"], state["correction"]
    demand((ratio is None) == (outliers is None), "known outliers and a likelihood ratio come together or not at all")
    demand((correction is None) == (answered is None), "answers and a correction come together or not at all")
    if correction is not None:
        reference = Reference(measure, answered, normal.weightings)
        correction = restored(Correction, correction, "correction", {"a": len(answered)}, answered=reference)
    ratio = None if ratio is None else restored_ratio(ratio, sizes["v"], normal)
    values = {name: state[name] for name in declared(SurpriseModel)}
    return restored(
        SurpriseModel, {**values, "likelihood_ratio": ratio, "correction": correction}, "", sizes, normal=normal,
        neighbours=neighbours, helpers=helpers,
        outliers=None if outliers is None else Reference(measure, outliers, normal.weightings, length=OUTLIER_LIST),
    )  # fmt: skip


def _helpers(state: Any, normal: Reference, sizes: Sizes) -> dict[str, Any]:
    """Return the stored helpers, and the cells of a table."""
    is_right, found = type(state) is dict and {*state} <= {*HANDICAPS}, dict[str, Any]()
    demand(is_right, f"helpers must be some of {', '.join(HANDICAPS)}")
    for name in (name for name in HANDICAPS if name in state):
        if name == "cell":
            check_keys("helpers.cell", state[name], ())
            demand(normal.measure.cell_values is not None, "only tables have a cell view")
            found[name] = cells_of(normal)[0]
        elif name == "far":
            found[name] = restored(FarView, state[name], "helpers.far", dict(sizes))
        else:
            demand(normal.measure.coordinates is not None, "only rows of numbers have a covariance view")
            d = int((normal.weightings[-1] > 0).sum())
            found[name] = restored(CovarianceView, state[name], "helpers.covariance", {**sizes, "d": d})
    return found
