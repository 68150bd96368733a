"""Data for hypothesis: rows, distances, texts, series and graphs, full of ties and duplicates."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from eocc.measures import LabelledGraph

BANDS = [0.0, 0.1, 0.3, 1.0, None]
# Few symbols make ties; all of Unicode, lone surrogates included, makes codes of all sizes.
TEXTS = st.one_of(
    st.text("ab", max_size=9),
    st.text("abc", max_size=9),
    st.text(st.characters(), max_size=4),
    st.sampled_from(["", "é", "e\u0301", "🌳🌲", "\U0001d538b", "\ud800", "ab" * 70, "ba" * 90 + "c"]),
)
TOKENS = st.lists(st.sampled_from(["to", "be", 3, ("a", 1), None, 2.5]), max_size=6)
VALUES = {"x": st.sampled_from([0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, None]), "kind": st.sampled_from(["a", "b", None])}


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


@st.composite
def sets_of_series(draw, max_size=11, max_channels=3):
    """Few values, so that ties and constant series abound, or many; lengths few, so that groups fill, or many."""
    u = draw(st.integers(1, max_channels))
    lengths = draw(st.sampled_from([st.sampled_from([3, 8]), st.integers(1, 12)]))
    wide = st.floats(-100, 100).map(lambda value: round(value, 6))
    values = draw(st.sampled_from([st.integers(-1, 1).map(float), wide]))
    one = lengths.flatmap(lambda length: hnp.arrays(np.float64, (length, u), elements=values))
    return draw(st.lists(one, min_size=1, max_size=max_size))


@st.composite
def plain_graphs(draw, directed, max_vertices=6):
    """A graph as dictionaries: loops, isolated vertices, missing attributes and the empty graph included."""
    n = draw(st.integers(0, max_vertices))
    attributes = st.fixed_dictionaries(VALUES)
    vertices = draw(st.lists(attributes, min_size=n, max_size=n))
    ends = [(a, b) for a in range(n) for b in range(n) if directed or a <= b]
    chosen = draw(st.lists(st.sampled_from(ends), unique=True, max_size=8)) if ends else []
    return {"vertices": vertices, "edges": {edge: draw(attributes) for edge in chosen}, "directed": directed}


def flat(graph):
    return LabelledGraph(
        len(graph["vertices"]),
        np.array(list(graph["edges"]), dtype=int).reshape(-1, 2),
        {name: [vertex[name] for vertex in graph["vertices"]] for name in VALUES},
        {name: [edge[name] for edge in graph["edges"].values()] for name in VALUES},
        directed=graph["directed"],
    )


def ranges(graphs, part):
    """Training ranges by attribute; None for categories."""
    found = [item["x"] for graph in graphs for item in part(graph) if item["x"] is not None]
    return {"kind": None, "x": (max(found) - min(found) or 1.0) if found else None}
