"""What each view of the surprise saw in a row, in words; the view that decided speaks first."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from eocc.base.types import Flags, Matrix
from eocc.base.wording import counted, format_value, format_within, to_json
from eocc.explain.reasons import N_NEAR, Reason, categories_in_words, extent_of, largest_of, range_reason
from eocc.measures.cells import Cells
from eocc.surprise.cell import CellView, cells_of, values_of
from eocc.surprise.comparison import Comparison, Reference
from eocc.surprise.covariance import CovarianceView, columns_of
from eocc.surprise.far import FarView
from eocc.surprise.model import SurpriseModel

# The middle share of the normal rows that is shown for a value within their range.
MIDDLE = (0.01, 0.99)


# What a view saw: words that introduce the reasons, and the reasons, the main one first.
Seen = tuple[str, tuple[Reason, ...]]


def seen_by(
    model: SurpriseModel, rows: Comparison, i: int, names: Sequence[str] | None, given: Sequence[int],
    distances: Matrix, name: str,
) -> Seen | None:  # fmt: skip
    """Return what a view saw in row i, whose distances from all prototypes are known; None if the neighbours say it.

    `given` are the places of the columns of the data, without further parts of dates.
    """
    view: Any = model.surprise.helpers.get(name)
    reference, own = rows.reference, int(rows.own[i])
    if own >= 0:  # a training row is compared with the others
        others = reference.prototypes[np.delete(np.arange(len(reference)), own)]
        reference = Reference(reference.measure, others, reference.weightings)
    if isinstance(view, CellView):
        view = cells_of(reference)[0] if own >= 0 else view
        return _cells_seen(view, reference, rows.patterns[i : i + 1], names, given)
    if isinstance(view, CovarianceView):
        return _covariance_seen(view, reference, rows, i, names)
    if isinstance(view, FarView):
        return _clump_seen(view, rows, distances)
    return None


def _cells_seen(
    view: CellView, reference: Reference, pattern: Any, names: Sequence[str] | None, given: Sequence[int]
) -> Seen:
    measure: Any = reference.measure
    # The number of gaps comes first: it says more than any one of them.
    strangeness = np.roll(view.by_column(values_of(reference, pattern)), 1, axis=1)
    cells = measure.cells(pattern, reference.prototypes, names)
    columns = [None, *np.flatnonzero(reference.active).tolist()]
    (largest,) = largest_of(strangeness)
    is_gap = np.isnan(cells.rows[0])
    # Several gaps are one reason, a single one is its column: the others among these cells count to it.
    is_block = is_gap.sum() > 1 and 0 in dict(largest)
    gaps = [place for place, k in enumerate(columns) if k is None or is_gap[k]]
    if is_block or is_gap.sum() == 1:
        strangeness[0, gaps[0 if is_block else -1]] = np.linalg.norm(strangeness[0, gaps])
        strangeness[0, gaps[1:] if is_block else gaps[:-1]] = 0.0
        (largest,) = largest_of(strangeness)
    return "", tuple(_cell_reason(cells, columns[place], share, given) for place, share in largest)


def _cell_reason(cells: Cells, k: int | None, share: float, given: Sequence[int]) -> Reason:
    """Return the reason for the cell in column k; None is the number of gaps in the `given` columns."""
    if k is None:
        here, most = (int(np.isnan(table[:, given]).sum(axis=1).max()) for table in (cells.rows, cells.columns.T))
        normal = f"at most {most}" if most else "none"
        text = f"{here} of {len(given)} values are missing; normal rows have {normal}"
        return Reason("missing values", text, here, 0, most, share, str(here), normal)
    column, value, name = cells.columns[k], cells.value(0, k), cells.names[k]
    known = column[~np.isnan(column)]
    said = format_value(value)
    if value is None or value != value:  # NaN
        return Reason(name, f"{name} is missing; {_how_many(np.isnan(column), 'lack')} it", None, None, None, share,
                      "missing")  # fmt: skip
    if cells.is_code[k]:
        text = f"{name} is {said}; {_how_many(column == cells.rows[0, k], 'have')} it"
        common = Counter(format_value(cells.prototype_value(int(j), k)) for j in np.flatnonzero(~np.isnan(column)))
        return Reason(name, text, to_json(value), None, None, share, said, categories_in_words(common))
    order = np.flatnonzero(~np.isnan(column))[np.argsort(known, kind="stable")]
    is_outside = not known.min() <= cells.rows[0, k] <= known.max()
    shares = (0.0, 1.0) if is_outside else MIDDLE
    ends = [cells.prototype_value(int(order[round(part * (len(order) - 1))]), k) for part in shares]
    rows = "normal rows" if is_outside else "98 % of normal rows"
    everyone = "all " if ends[0] == ends[1] and is_outside else ""
    return range_reason(name, value, ends[0], ends[1], share, f"{everyone}{rows} have {{}}", is_outside)


def _how_many(has_it: Flags, verb: str) -> str:
    count, one = int(has_it.sum()), {"have": "has", "lack": "lacks"}[verb]
    some = f"{count:,} of {len(has_it):,} normal rows {one if count == 1 else verb}"
    return some if count else f"no normal row {one}"


def _covariance_seen(
    view: CovarianceView, reference: Reference, rows: Comparison, i: int, names: Sequence[str] | None
) -> Seen | None:
    """Return the value that goes least with the others, and the column that says so most.

    Given the other columns, x_k is expected at x_k - (P x)_k / P_kk, with the inverse covariance P. Column j moves this
    expectation by -P_kj x_j / P_kk.
    """
    x = columns_of(reference, rows.coordinates[i : i + 1])[0] - view.mean
    inside = view.basis @ (view.basis.T @ x)
    diagonal = view.whole + view.inside * (view.basis**2).sum(axis=1)
    apart = (view.whole * x + view.inside * inside) / np.sqrt(diagonal)
    k = int(np.abs(apart).argmax())
    row = view.inside * (view.basis @ view.basis[k])
    row[k] = 0.0
    j = int(np.abs(row * x).argmax())
    measure: Any = reference.measure
    cells = measure.cells(rows.patterns[i : i + 1], reference.prototypes, names)
    here, there = (int(np.flatnonzero(reference.weightings[-1])[place]) for place in (k, j))
    alike = np.argsort(np.abs(cells.columns[there] - cells.rows[0, there]), kind="stable")[:N_NEAR]
    ordered = alike[np.argsort(cells.columns[here][alike], kind="stable")]
    is_inside = cells.columns[here][ordered[0]] <= cells.rows[0, here] <= cells.columns[here][ordered[-1]]
    if is_inside or k == j:
        return None
    value, other = cells.value(0, here), cells.value(0, there)
    ends = [cells.prototype_value(int(end), here) for end in ordered[[0, -1]]]
    said, low, high = format_within(extent_of(value, *ends), value, *ends)
    (at,) = format_within(float(np.ptp([cells.prototype_value(int(one), there) for one in alike])), other)
    name, partner = cells.names[here], cells.names[there]
    low_end, high_end = np.nanquantile(cells.columns, MIDDLE, axis=1)
    is_usual = bool(((low_end <= cells.rows[0]) & (cells.rows[0] <= high_end)).all())  # in every column
    alone = "No single value is unusual, but " if is_usual else ""
    together, normal = f"{alone}{name} and {partner} do not go together", f"{low} to {high}"
    text = f"{together}: at {partner} {at} normal rows have {name} {normal}; here {said}"
    return "", (Reason(name, text, to_json(value), to_json(ends[0]), to_json(ends[1]), 1.0, said, normal),)


def _clump_seen(view: FarView, rows: Comparison, distances: Matrix) -> Seen | None:
    far = float(np.sort(distances[view.landmarks])[min(len(view.landmarks) // 4, len(view.landmarks) - 1)])
    count = int((distances <= far / 2).sum())
    if not 0 < count < len(distances) / 2:
        return None
    near = f"{counted(count, 'training row')} that {'is' if count == 1 else 'are'}"
    copies = "far from all others" if count == 1 else "near copies of each other and far from all others"
    return f"Its only near {'row is' if count == 1 else 'rows are'} {near} {copies}.", ()
