"""
Letters as graphs
=================

A letter is a graph: corners are vertices with a position in the plane, strokes are edges. The model learns from 60
letters A, each a little distorted. Then we score other letters.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

from eocc import SurpriseClassifier

SHAPES = {
    "A": ([(0, 0), (1, 2), (2, 0), (0.5, 1), (1.5, 1)], [(0, 3), (3, 1), (1, 4), (4, 2), (3, 4)]),
    "H": ([(0, 0), (0, 2), (2, 0), (2, 2), (0, 1), (2, 1)], [(0, 4), (4, 1), (2, 5), (5, 3), (4, 5)]),
    "F": ([(0, 0), (0, 2), (1.6, 2), (0, 1), (1.2, 1)], [(0, 3), (3, 1), (1, 2), (3, 4)]),
    "V": ([(0, 2), (1, 0), (2, 2)], [(0, 1), (1, 2)]),
    "Z": ([(0, 2), (2, 2), (0, 0), (2, 0)], [(0, 1), (1, 2), (2, 3)]),
}
rng = np.random.default_rng(1)


def letter(name, shake=0.12):
    """Return a distorted letter as a networkx graph."""
    corners, strokes = SHAPES[name]
    graph = nx.Graph(strokes)
    nx.set_node_attributes(graph, {k: rng.normal(place, shake).tolist() for k, place in enumerate(corners)}, "pos")
    return graph


clf = SurpriseClassifier().fit([letter("A") for _ in range(60)])

# %%
# We score two good As, an A without its cross-bar, a strongly distorted A, and four other letters.

without_bar = letter("A")
without_bar.remove_edge(3, 4)
new = [letter("A"), letter("A"), without_bar, letter("A", 0.5), *map(letter, "HFVZ")]
scores = clf.how_far_out(new)
print(clf.explain([without_bar])[0])

# %%

figure, places = plt.subplots(2, 4, figsize=(8, 4.6), layout="constrained")
for axes, graph, score in zip(places.flat, new, scores, strict=True):
    colour = "#0072b2" if score <= 1 else "#d55e00"
    nx.draw(
        graph, nx.get_node_attributes(graph, "pos"), axes, node_size=20, node_color="0.2", edge_color=colour, width=3
    )
    axes.set_title(f"{score:.1f} times the limit", color=colour, fontsize=10)
    axes.set(xlim=(-1, 3), ylim=(-1, 3), aspect="equal")
figure.suptitle("How far each letter lies from the 60 letters A (above 1: rejected)")
plt.show()
