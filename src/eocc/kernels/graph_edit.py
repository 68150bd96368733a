"""Pairs of labelled graphs -> what the three-weight edit scheme and TWEC count.

A set of graphs is three groups of arrays. `shape`: where the vertices and the edges of each graph begin, and the degree
of each vertex. `links`: the ends of each edge, counted within the graph, and which graphs are directed. `attributes`:
numbers and texts of vertices, then of edges, one row each.
Numbers come with `units` (2, rows): the scale and the limit of a difference. A category is a number with scale and
limit 1. NaN is a missing number, -1 a missing text. A table holds the distances of texts.
"""

import numpy as np

from eocc.kernels.compile import inlined_kernel, kernel, minimising_kernel
from eocc.kernels.distances import drop_spare_bits


@inlined_kernel
def add_number_distances(value, others, scale, limit, cost):
    """Add |value - others_j| scale, at most the limit, to cost_j; missing against missing is 0, against present 1."""
    if value == value:
        for j in range(cost.shape[0]):
            difference = abs(value - others[j]) * scale
            difference = limit if difference > limit else difference
            cost[j] += difference if difference == difference else 1.0
    else:
        for j in range(cost.shape[0]):
            cost[j] += 1.0 if others[j] == others[j] else 0.0


@kernel
def fill_costs(first, other_first, numbers, units, texts, distances, cost):
    """Fill cost_ij with the mean dissimilarity of items first + i and other_first + j."""
    # `distances` is (table, step, other_step): the distance of texts a and b is table[step * a + other_step * b].
    table, step, other_step = distances
    n, m = cost.shape
    count = numbers.shape[0] + texts.shape[0]
    share = 1.0 / max(count, 1)
    for i in range(n):
        row = cost[i]
        for j in range(m):
            row[j] = 0.0
        for k in range(numbers.shape[0]):
            others = numbers[k][other_first : other_first + m]
            add_number_distances(numbers[k, first + i], others, units[0, k], units[1, k], row)
        for k in range(texts.shape[0]):
            code = texts[k, first + i]
            for j in range(m):
                other = texts[k, other_first + j]
                if code >= 0 and other >= 0:
                    row[j] += table[step * code + other_step * other]
                else:
                    row[j] += 1.0 if other != code else 0.0
        if count > 1:
            for j in range(m):
                row[j] *= share


@minimising_kernel
def least_open(cost, closed):
    """Return the least cost of an open column; `closed` is infinite for the others."""
    least = np.inf
    for j in range(cost.shape[0]):
        value = cost[j] + closed[j]
        least = value if value < least else least
    return least


@inlined_kernel
def best_column(cost, closed, degree, degrees):
    """Return the first open column by (cost, difference of degrees, column)."""
    least = least_open(cost, closed)
    # Usually one column costs the least: this form of the loop, which finds it, is vectorised.
    count, best = 0, 0
    for j in range(cost.shape[0]):
        same = cost[j] + closed[j] == least
        count += 1 if same else 0
        best += j if same else 0
    if count > 1:
        best = -1
        for j in range(cost.shape[0]):
            if cost[j] + closed[j] == least:
                if best < 0 or abs(degree - degrees[j]) < abs(degree - degrees[best]):
                    best = j
    return best


@inlined_kernel
def best_row(degree, degrees, live, best, least, n_live):
    """Return the first of live[:n_live] by (cost of its best column, difference of degrees, row)."""
    pick, lowest, least_gap = 0, np.inf, 0
    for t in range(n_live):
        if least[t] <= lowest:
            gap = abs(degree[live[t]] - degrees[best[t]])
            if least[t] < lowest or gap < least_gap or (gap == least_gap and live[t] < live[pick]):
                pick, lowest, least_gap = t, least[t], gap
    return pick


@kernel
def pair_greedily(cost, degree, degrees, partner, live, best, least, closed):
    """Fill partner[i]: the globally cheapest free pair first, ties by difference of degrees, then i, then j."""
    # live[t] are the free rows, best[t] their best free columns at cost least[t]. A round searches again only for the
    # rows whose best column was taken, at first for all. Returns the total cost of the pairs.
    n, total, taken = cost.shape[0], 0.0, -1
    for j in range(cost.shape[1]):
        closed[j] = 0.0
    for i in range(n):
        live[i], best[i] = i, taken
    for count in range(n, 0, -1):
        for t in range(count):
            if best[t] == taken:
                i = live[t]
                best[t] = best_column(cost[i], closed, degree[i], degrees)
                least[t] = cost[i, best[t]]
        pick = best_row(degree, degrees, live, best, least, count)
        taken = best[pick]
        partner[live[pick]] = taken
        total += least[pick]
        closed[taken] = np.inf
        live[pick], best[pick], least[pick] = live[count - 1], best[count - 1], least[count - 1]
    return total


@kernel
def pair_in_order(cost, partner, closed):
    """Fill partner[i], in the order of the rows: the cheapest free column, ties to the lower. Return the total cost."""
    total = 0.0
    for j in range(cost.shape[1]):
        closed[j] = 0.0
    for i in range(cost.shape[0]):
        row = cost[i]
        least, j = least_open(row, closed), 0
        while row[j] + closed[j] != least:
            j += 1
        partner[i] = j
        closed[j] = np.inf
        total += least
    return total


@kernel
def compare_pairs(pairs, is_in_order, graphs, distances, room, found):
    """Fill found[t] with the costs of graphs pairs[t]: of paired vertices, of shared edges, of both; then numbers.

    A shared edge joins paired vertices in both graphs. The numbers are those of shared edges, of edges between paired
    vertices in the first graph, and in the second.
    """
    # Vertices are paired in the order of the first graph, as many as the smaller graph has; or greedily, where the
    # first graph has no more vertices. `distances` is (table, n_left, n_texts): the rows of the table are texts of the
    # first `n_left` graphs, its n_texts columns texts of the others, or of all if there are no others. `room` is
    # scratch: costs (n n,) and their bits, then five arrays of (n,). closed[j] is infinite for paired vertices.
    costs, bits, partner, live, best, least, closed = room
    (vertices, edges, degree), (ends, is_directed), attributes = graphs
    numbers, units, texts, e_numbers, e_units, e_texts = attributes
    (table, n_left, n_texts), single = distances, np.empty((1, 1))
    for t in range(pairs.shape[0]):
        g, h = pairs[t, 0], pairs[t, 1]
        of_texts = (table, n_texts, 1) if g < n_left else (table, 1, n_texts)
        v, w, m = vertices[g], vertices[h], vertices[h + 1] - vertices[h]
        n = min(vertices[g + 1] - v, m)
        changed, edge_cost, shared, between, other_between = 0.0, 0.0, 0, 0, 0
        if n > 0:
            cost = costs[: n * m].reshape(n, m)  # contiguous, so that loops over rows are vectorised
            fill_costs(v, w, numbers, units, texts, of_texts, cost)
            drop_spare_bits(bits[: n * m])  # costs that differ by rounding only are ties
            if is_in_order:
                changed = pair_in_order(cost, partner, closed)
            else:
                changed = pair_greedily(cost, degree[v : v + n], degree[w : w + m], partner, live, best, least, closed)
        # The costs are used up. In their place, entry (a, b) of a table is the edge of the second graph from a to b.
        # Only entries that are read are cleared.
        edge_at, total = bits, changed
        for e in range(edges[g], edges[g + 1]):
            if ends[e, 0] < n and ends[e, 1] < n:
                between += 1
                edge_at[partner[ends[e, 0]] * m + partner[ends[e, 1]]] = -1
        for e in range(edges[h], edges[h + 1]):
            a, b = ends[e, 0], ends[e, 1]
            edge_at[a * m + b] = e
            if not is_directed[h]:
                edge_at[b * m + a] = e
            other_between += n > 0 and closed[a] > 0.0 and closed[b] > 0.0
        for e in range(edges[g], edges[g + 1]):
            if ends[e, 0] < n and ends[e, 1] < n:
                other = edge_at[partner[ends[e, 0]] * m + partner[ends[e, 1]]]
                if other >= 0:
                    fill_costs(e, other, e_numbers, e_units, e_texts, of_texts, single)
                    shared, edge_cost, total = shared + 1, edge_cost + single[0, 0], total + single[0, 0]
        found[t, 0], found[t, 1], found[t, 2] = changed, edge_cost, total
        found[t, 3], found[t, 4], found[t, 5] = shared, between, other_between
