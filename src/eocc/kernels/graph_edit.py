"""Pairs of labelled graphs -> the components of the three-weight edit scheme (TWEC).

A set of graphs is a tuple of flat arrays. `shape`: where the vertices and edges of each graph begin. `links`: the
degree of each vertex and where its neighbours begin; the vertex (counted within the graph) and the edge of each
neighbour; the ends of each edge. Then the attributes of vertices and of edges, one row each: numbers (NaN if missing)
and the scales of their differences, categories and texts (codes, -1 if missing). A table holds the distances of texts
of both sets.
"""

import numpy as np

from eocc.kernels.compile import inlined_kernel, kernel, minimising_kernel
from eocc.kernels.distances import drop_spare_bits


@inlined_kernel
def add_number_distances(value, others, scale, cost):
    """Add |value - others_j| scale to cost_j; missing against missing is 0, missing against present 1."""
    if value == value:
        for j in range(cost.shape[0]):
            difference = abs(value - others[j]) * scale
            cost[j] += difference if difference == difference else 1.0
    else:
        for j in range(cost.shape[0]):
            cost[j] += 1.0 if others[j] == others[j] else 0.0


@inlined_kernel
def add_code_distances(code, others, cost):
    """Add 1 to cost_j where the codes differ."""
    for j in range(cost.shape[0]):
        cost[j] += 1.0 if others[j] != code else 0.0


@inlined_kernel
def add_text_distances(code, others, table, cost):
    """Add the table's entry to cost_j; missing against missing is 0, missing against present 1."""
    for j in range(cost.shape[0]):
        if code >= 0 and others[j] >= 0:
            cost[j] += table[code, others[j]]
        else:
            cost[j] += 1.0 if others[j] != code else 0.0


@inlined_kernel
def attribute_costs(item, numbers, scales, codes, texts, first, o_numbers, o_codes, o_texts, table, cost):
    """Fill cost_j with the mean dissimilarity of `item` and of item first + j of another set."""
    last = first + cost.shape[0]
    for j in range(cost.shape[0]):
        cost[j] = 0.0
    for k in range(numbers.shape[0]):
        add_number_distances(numbers[k, item], o_numbers[k, first:last], scales[k], cost)
    for k in range(codes.shape[0]):
        add_code_distances(codes[k, item], o_codes[k, first:last], cost)
    for k in range(texts.shape[0]):
        add_text_distances(texts[k, item], o_texts[k, first:last], table, cost)
    count = numbers.shape[0] + codes.shape[0] + texts.shape[0]
    if count > 1:
        share = 1.0 / count
        for j in range(cost.shape[0]):
            cost[j] *= share


@minimising_kernel
def least_of(values, count):
    """Return the minimum of values[:count]."""
    least = np.inf
    for t in range(count):
        least = values[t] if values[t] < least else least
    return least


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
    lowest = least_of(least, n_live)
    count, pick = 0, 0
    for t in range(n_live):
        same = least[t] == lowest
        count += 1 if same else 0
        pick += t if same else 0
    if count > 1:
        pick = -1
        for t in range(n_live):
            if least[t] == lowest:
                if pick < 0:
                    pick = t
                else:
                    own = abs(degree[live[t]] - degrees[best[t]])
                    other = abs(degree[live[pick]] - degrees[best[pick]])
                    if own < other or (own == other and live[t] < live[pick]):
                        pick = t
    return pick


@kernel
def pair_greedily(cost, degree, degrees, partner, live, best, least, closed):
    """Fill partner[i]: the globally cheapest free pair first, ties by difference of degrees, then i, then j."""
    # live[t] are the free rows, best[t] their best free columns at cost least[t]. A round scans the live rows, and
    # searches again only for those whose best column was taken. Returns the total cost of the pairs.
    n, total = cost.shape[0], 0.0
    for j in range(cost.shape[1]):
        closed[j] = 0.0
    for i in range(n):
        live[i], best[i] = i, best_column(cost[i], closed, degree[i], degrees)
        least[i] = cost[i, best[i]]
    for count in range(n, 0, -1):
        pick = best_row(degree, degrees, live, best, least, count)
        taken = best[pick]
        partner[live[pick]] = taken
        total += least[pick]
        closed[taken] = np.inf
        live[pick], best[pick], least[pick] = live[count - 1], best[count - 1], least[count - 1]
        for t in range(count - 1):
            if best[t] == taken:
                i = live[t]
                best[t] = best_column(cost[i], closed, degree[i], degrees)
                least[t] = cost[i, best[t]]
    return total


@kernel
def edit_row(g, one, other, first, last, swapped, mirrored, table, room, components):
    """Compare graph g of set `one` with the graphs h in [first, last) of set `other` that have no fewer vertices."""
    # Writes (S, I, E), each divided by the number of vertices and edges of both, into components[:, g, h]; `swapped`,
    # into components[:, h, g], and only for graphs h that have more vertices; `mirrored`, into both.
    costs, bits, partner, live, best, least, closed = room
    (vertices, edges), (degree, _, _, _, ends), of_vertices, (e_numbers, e_scales, e_codes, e_texts) = one
    numbers, scales, codes, texts = of_vertices
    (o_vertices, o_edges), (o_degree, begin, neighbour, edge_of, _), of_o_vertices, o_of_edges = other
    (o_numbers, _, o_codes, o_texts), (oe_numbers, _, oe_codes, oe_texts) = of_o_vertices, o_of_edges
    v, n, n_edges = vertices[g], vertices[g + 1] - vertices[g], edges[g + 1] - edges[g]
    for h in range(first, last):
        w, m, m_edges = o_vertices[h], o_vertices[h + 1] - o_vertices[h], o_edges[h + 1] - o_edges[h]
        if m < n or (swapped and m == n):
            continue
        changed, shared = 0.0, 0
        cost = costs[: n * m].reshape(n, m)  # contiguous, so that loops over rows are vectorised
        for i in range(n):
            attribute_costs(v + i, numbers, scales, codes, texts, w, o_numbers, o_codes, o_texts, table, cost[i])
        drop_spare_bits(bits[: n * m])  # costs that differ by rounding only are ties
        if n > 0:
            changed = pair_greedily(
                cost, degree[v : v + n], o_degree[w : w + m], partner, live, best, least, closed
            )  # fmt: skip
        for e in range(edges[g], edges[g + 1]):
            a, b = w + partner[ends[e, 0]], partner[ends[e, 1]]
            for t in range(begin[a], begin[a + 1]):
                if neighbour[t] == b:
                    shared += 1
                    attribute_costs(
                        e, e_numbers, e_scales, e_codes, e_texts, edge_of[t], oe_numbers, oe_codes, oe_texts, table,
                        least[:1],
                    )  # fmt: skip
                    changed += least[0]
                    break
        size = max(n + m + n_edges + m_edges, 1)
        row, column = (h, g) if swapped else (g, h)
        components[0, row, column] = changed / size
        components[1, row, column] = (m - n + m_edges - shared) / size
        components[2, row, column] = (n_edges - shared) / size
        if mirrored and m > n:
            for k in range(3):
                components[k, column, row] = components[k, row, column]


@kernel
def edit_components(start, stop, left, right, mirrored, table, back_table, room, components):
    """Fill components[:, i, j], i in [start, stop), for graph i of `left` and graph j of `right`."""
    # The graph with fewer vertices goes first, the left one on ties. If left and right are the same set (`mirrored`), a
    # pair of different sizes is computed once. `table` holds the distances of texts from left to right, `back_table`
    # from right to left. `room` is scratch: costs (n n,) and their bits, then five arrays of (n,).
    for i in range(start, stop):
        edit_row(i, left, right, 0, components.shape[2], False, mirrored, table, room, components)
    if not mirrored:
        for j in range(components.shape[2]):
            edit_row(j, right, left, start, stop, True, False, back_table, room, components)
