"""Speed of the graph measures, as ratios in one run.

python benchmarks/graph_edit.py    the table of docs/research/printed_figures.md

Random graphs of mean degree 4 with two numbers per vertex and one per edge.
"""

import time
from functools import partial

import networkx as nx
import numpy as np
from scipy.optimize import linear_sum_assignment
from timing import least_seconds, seconds, table

from eocc.base.threads import threads
from eocc.measures.graphs import GraphEdit, Twec
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.objects import Objects

SIZES = {15: 400, 30: 250, 100: 80}  # vertices: graphs


def random_graph(n, seed):
    """A graph of n vertices and 2 n edges."""
    rng = np.random.default_rng(seed)
    graph = nx.gnm_random_graph(n, 2 * n, seed=seed)
    edges = np.array(graph.edges)
    return LabelledGraph(n, edges, {"x": rng.random(n), "y": rng.random(n)}, {"w": rng.random(len(edges))})


def arrays(graph):
    """What the baseline keeps ready: vertex values, edges with their values, and the same by ends."""
    ends = {tuple(edge): w for edge, w in zip(graph.edges.tolist(), graph.edge_attributes["w"], strict=True)}
    return np.column_stack([graph.vertex_attributes["x"], graph.vertex_attributes["y"]]), ends


def assigned_counts(one, other):
    """S, I and E with the pairing by scipy's linear_sum_assignment."""
    (x, edges), (y, others) = one, other
    cost = np.abs(x[:, None] - y).mean(axis=2)
    rows, columns = linear_sum_assignment(cost)
    partner = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    changed, shared = cost[rows, columns].sum(), 0
    for (a, b), w in edges.items():
        c, d = partner[a], partner[b]
        found = others.get((c, d), others.get((d, c)))
        if found is not None:
            shared += 1
            changed += abs(w - found)
    return changed, len(y) - len(x) + len(others) - shared, len(edges) - shared


def assigned_pairs(graphs):
    """All pairs through the baseline."""
    kept = [arrays(graph) for graph in graphs]
    for one in kept:
        for other in kept:
            assigned_counts(one, other)


def first_approximation(one, other):
    """networkx's first approximation of the graph edit distance."""
    graphs = []
    for graph in (one, other):
        made = nx.Graph()
        for v in range(graph.n_vertices):
            made.add_node(v, x=graph.vertex_attributes["x"][v], y=graph.vertex_attributes["y"][v])
        made.add_edges_from(graph.edges.tolist())
        graphs.append(made)

    def cost(a, b):
        return (abs(a["x"] - b["x"]) + abs(a["y"] - b["y"])) / 2

    return seconds(lambda: next(nx.optimize_graph_edit_distance(*graphs, node_subst_cost=cost)))


def size_row(measure, n, count):
    graphs = Objects([random_graph(n, seed) for seed in range(count)])
    name, measure = measure.__name__, measure().fit(graphs)
    prepare = partial(measure.prepare, graphs)

    def on_two():
        with threads(2):
            prepare()

    few = Objects(list(graphs)[:12])
    one, two = least_seconds([prepare, on_two], 5)
    per_pair = one / count**2
    baseline = min(seconds(partial(assigned_pairs, few)) for _ in range(3)) / len(few) ** 2
    networkx = first_approximation(graphs[0], graphs[1])
    prepared = prepare()
    again = least_seconds([partial(prepared.evaluate, np.array([0.3, 0.5, 0.7]))], 20)[0]
    return [name, str(n), f"{1 / per_pair:,.0f}", f"{baseline / per_pair:.0f} x", f"{networkx / per_pair:,.0f} x",
            f"{one / two:.2f} x", f"1/{one / again:,.0f}"]  # fmt: skip


def main():
    started = time.perf_counter()
    head = ["measure", "vertices", "pairs a second, one thread",
            "against linear_sum_assignment (20 x, 40 x; Twec 15 x, 30 x)",
            "against networkx (2500 x, 5000 x)", "two threads / one (1.8 x, 1.95 x)",
            "a second p / the first (1/100, 1/1000)"]  # fmt: skip
    print(table([head, *(size_row(one, n, count) for one in (GraphEdit, Twec) for n, count in SIZES.items())]))
    print(f"\nIn brackets: must and aim. {time.perf_counter() - started:.0f} s.")


if __name__ == "__main__":
    main()
