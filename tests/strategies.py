"""Data for hypothesis: grids full of ties and duplicates, and plain floats; from a single row upwards."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


def points(min_rows=1, max_rows=12, max_columns=4):
    shape = st.tuples(st.integers(min_rows, max_rows), st.integers(1, max_columns))
    grid = hnp.arrays(np.float64, shape, elements=st.integers(-2, 2).map(float))
    # Six decimals: what is 1e-16 of a column's range apart counts as equal.
    wide = hnp.arrays(np.float64, shape, elements=st.floats(-100, 100).map(lambda value: round(value, 6)))
    return st.one_of(grid, wide)


@st.composite
def distance_matrices(draw, min_rows=1, max_rows=9):
    """Symmetric matrices in [0, 1]: drawn from few values, so that ties and zeros abound, or from many."""
    n = draw(st.integers(min_rows, max_rows))
    values = draw(st.sampled_from([st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1, allow_subnormal=False)]))
    upper = draw(st.lists(values, min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n, 1)] = upper
    return matrix + matrix.T
