"""What makes a row or a record strange: its least usual columns and parts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from eocc.explain.fitted import FittedClassifier
from eocc.explain.reasons import N_NEAR, Reason, column_reasons, largest_of, looked_at, strangest
from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import shortened
from eocc.kernels.strangeness import MOST, UNSEEN
from eocc.measures.cells import Cells
from eocc.measures.composite import FittedComposite, RecordPart
from eocc.measures.difference import difference_of, ranked_contributions

# The distances of similar normal rows in a part count as varying by at least this share of their median.
LEAST_SPREAD = 0.1


def least_usual(
    classifier: FittedClassifier, patterns: Any, weights: Matrix, distances: Matrix
) -> list[tuple[Reason, ...]] | None:
    """Return the least usual columns and parts of each pattern, the strangest first; None if it has neither.

    `distances` (m, n) are those from the prototypes, infinite for a prototype that is the pattern itself.
    """
    measure, prototypes = classifier.measure_, classifier.prototypes_
    if isinstance(measure, FittedComposite):
        return record_reasons(measure.parts(weights), patterns, prototypes, distances)
    return column_reasons(measure, patterns, prototypes, weights, classifier._feature_names)


def record_reasons(
    parts: Sequence[RecordPart], patterns: Any, prototypes: Any, distances: Matrix
) -> list[tuple[Reason, ...]]:
    """Return the least usual columns of each record, and parts without columns, the strangest first."""
    tables = [part for part in parts if part.measure.cells is not None]
    wholes = [part for part in parts if part.weight > 0 and part.measure.cells is None]
    active = np.flatnonzero(np.concatenate([[], *(part.weight * part.own for part in tables)]) > 0)
    found: list[list[Reason]] = [[] for _ in range(len(patterns))]
    strangeness = np.empty((len(patterns), len(active) + len(wholes)))
    if len(active):
        cells = _joined_cells(tables, patterns, looked_at(prototypes, len(active)))
        strange = strangest(cells, active)
        strangeness[:, : len(active)] = strange.values
    near = [row[np.isfinite(distances[i, row])] for i, row in enumerate(_nearest(distances))]
    closest = np.empty((len(patterns), len(wholes)), np.int64)
    for number, part in enumerate(wholes):
        for i, rows in enumerate(near):
            value, closest[i, number] = part_strangeness(part, patterns[i : i + 1], prototypes, rows)
            strangeness[i, len(active) + number] = value
    for i, largest in enumerate(largest_of(strangeness)):
        for place, share in largest:
            number = place - len(active)
            if number < 0:
                found[i].append(strange.reason(cells, i, place, share))
            else:
                other = prototypes[closest[i, number] : closest[i, number] + 1]
                found[i].append(_part_reason(wholes[number], patterns[i : i + 1], other, share))
    return [tuple(one) for one in found]


def _nearest(distances: Matrix) -> Indices:
    """Return the nearest prototypes (m, r) of each record."""
    n = distances.shape[1]
    return np.argsort(distances, axis=1, kind="stable")[:, : min(N_NEAR, max(1, n // 2))]


def _joined_cells(tables: Sequence[RecordPart], patterns: Any, prototypes: Any) -> Cells:
    """Return the columns of all parts that are tables; those of a part with several are called "part: column"."""
    found = [part.measure.cells(patterns.parts[part.name], prototypes.parts[part.name]) for part in tables]
    names = [
        f"{part.name}: {name}" if len(cells.names) > 1 else str(part.name)
        for part, cells in zip(tables, found, strict=True)
        for name in cells.names
    ]
    owners = [(cells, k) for cells in found for k in range(len(cells.names))]
    return Cells(
        tuple(names), np.hstack([cells.rows for cells in found]), np.vstack([cells.columns for cells in found]),
        np.concatenate([cells.is_code for cells in found]),
        lambda i, k: owners[k][0].value(i, owners[k][1]), lambda j, k: owners[k][0].prototype_value(j, owners[k][1]),
    )  # fmt: skip


def part_strangeness(part: RecordPart, pattern: Any, prototypes: Any, near: Indices) -> tuple[float, int]:
    """Return how strange a part without columns is, and the near prototype that is most like it in this part.

    It is by how much its median distance from the near prototypes exceeds the median distance among these, over the
    standard deviation of the latter.
    """
    rows = prototypes.parts[part.name][near]
    here = part.measure.prepare(pattern.parts[part.name], rows).evaluate(part.own)[0]
    among = part.measure.prepare(rows).evaluate(part.own)[np.triu_indices(len(near), 1)]
    usual, spread = (float(np.median(among)), float(among.std())) if len(among) else (0.0, 0.0)
    excess, scale = max(float(np.median(here)) - usual, 0.0), max(spread, LEAST_SPREAD * usual)
    strangeness = min(excess / scale, MOST) if scale > 0 else UNSEEN * (excess > 0)
    return strangeness, int(near[here.argmin()])


def _part_reason(part: RecordPart, pattern: Any, prototype: Any, share: float) -> Reason:
    """Return the reason for a part without columns: it, and the most similar one of the near prototypes."""
    here, there = (one.parts[part.name] for one in (pattern, prototype))
    said, normal = (shortened(part.measure.describe(one, None)) for one in (here, there))
    text = f"{part.name} is {said}; the most similar normal row near it has {normal}"
    if said == normal:
        ranked = ranked_contributions(difference_of(part.measure, here, there, part.own).contributions)
        text = f"{part.name}: {ranked[0].text}" if ranked else text
    return Reason(str(part.name), text, said, None, None, share, said, normal)
