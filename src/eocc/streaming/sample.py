"""Rows, one part at a time -> a random sample, also stratified."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eocc.foundation.registry import choose
from eocc.foundation.types import Indices, Matrix
from eocc.streaming.source import Rows, Source

# A column with more values than this identifies rows, not kinds of rows.
MOST_STRATA = 1000
PROPORTIONAL, EQUAL = "proportional", "equal"
# The stratum of all rows of a source without strata.
ALL = ""

Check = Callable[[int, int], object]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a source: their sorted `indices`, their `values`; `n_rows` and column `names` of the source."""

    indices: Indices
    values: Matrix
    n_rows: int
    names: Sequence[str] | None = None


def draw_sample(
    source: Source, size: int, shares: str, rng: np.random.Generator, check: Check = lambda n, n_columns: None
) -> Sample:
    """Return `size` rows of a source, or all if there are no more; stratified if the source has strata.

    The rows with the smallest random keys are drawn. A key is drawn for each row, in order, so the sample does not
    depend on the chunks. check(size, number of columns) is called as soon as the size of the sample is known.
    """
    choose("shares", dict.fromkeys((PROPORTIONAL, EQUAL)), shares)
    sizes = {ALL: size} if source.stratify is None else _sizes(_checked(source, size, check), size, shares)
    kept: dict[str, list[Matrix]] = {}
    n_rows, names = 0, None
    for part in _checked(source, size, check):
        keys, indices = rng.random(len(part.values)), part.first + np.arange(len(part.values))
        strata = np.array(part.strata) if part.strata else np.full(len(keys), ALL)
        for stratum in np.unique(strata).tolist():
            if stratum not in sizes:
                raise changed(f"it had no row with {stratum!r} at first")
            own = strata == stratum
            new = [keys[own], indices[own], part.values[own]]
            kept[stratum] = _smallest([kept[stratum], new] if stratum in kept else [new], sizes[stratum])
        n_rows, names = n_rows + len(keys), part.names
    if not n_rows:
        raise ValueError(f"the source holds no rows{source.in_words()}; at least 1 is required")
    _, found, values = (np.concatenate(arrays) for arrays in zip(*kept.values(), strict=True))
    order = np.argsort(found)
    return Sample(found[order], values[order], n_rows, names)


def _checked(source: Source, size: int, check: Check) -> Iterator[Rows]:
    """Yield all rows; at most a sample and a chunk of them before the check."""
    n_seen, is_checked = 0, False
    for part in source.rows():
        n_seen += len(part.values)
        if not is_checked and (n_seen >= size or source.n_rows is not None):
            check(min(size, n_seen if source.n_rows is None else source.n_rows), part.values.shape[1])
            is_checked = True
        yield part


def _smallest(parts: list[list[Matrix]], size: int) -> list[Matrix]:
    """Return keys, indices and values of the rows with the smallest keys, in the order of the rows."""
    keys, indices, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    least = np.sort(np.argsort(keys, kind="stable")[:size])
    return [keys[least], indices[least], values[least]]


def changed(what: str) -> ValueError:
    """Return the error for a source that does not give the same rows again."""
    return ValueError(f"the source changed while it was read: {what}; try again when nothing writes to it")


def _sizes(rows: Iterator[Rows], size: int, shares: str) -> dict[str, int]:
    """Return the number of rows to draw from each stratum."""
    counts: Counter[str] = Counter()
    most = min(MOST_STRATA, size)
    for part in rows:
        counts.update(part.strata)
        if len(counts) > most:
            remedy = "use a column with fewer, or a larger sample"
            raise ValueError(f"the stratify column holds more than {most} values; {remedy}")
    return quotas(counts, size, shares)


def quotas(counts: dict[str, int], size: int, shares: str) -> dict[str, int]:
    """Return the sample size of each stratum: at least 1, at most all its rows, `size` in all if there are as many.

    One row at a time is given to the stratum with the largest w / (2 q + 1), where q is the number of rows it has been
    given, and w is its number of rows ("proportional") or 1 ("equal"). This is Sainte-Laguë's rule; ties go to the
    stratum seen first.

    >>> quotas({"day": 90, "night": 10}, 10, "proportional"), quotas({"day": 90, "night": 3}, 10, "equal")
    ({'day': 9, 'night': 1}, {'day': 7, 'night': 3})
    """
    most = np.array(list(counts.values()))
    weights, given = most if shares == PROPORTIONAL else np.ones(len(most)), np.ones(len(most), np.int64)
    for _ in range(min(size, int(most.sum())) - len(most)):
        given[np.argmax(np.where(given < most, weights / (2 * given + 1), -1.0))] += 1
    return dict(zip(counts, given.tolist(), strict=True))
