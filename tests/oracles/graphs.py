"""Two edit schemes as their definitions give them, on dictionaries, in exact fractions."""

from fractions import Fraction


def attribute_distance(one, other, ranges):
    """Mean over the attributes: numbers by difference over the range, all else by 0 or 1; missing values by 0 or 1."""
    names = sorted(ranges)
    if not names:
        return 0.0
    total = Fraction(0)
    for name in names:
        a, b = one.get(name), other.get(name)
        if a is None or b is None:
            total += 0 if a is None and b is None else 1
        elif ranges[name] is None:
            total += 0 if a == b else 1
        else:
            total += Fraction(abs(a - b)) / Fraction(ranges[name])
    return float(Fraction(total) / len(names))


def has_edge(graph, a, b):
    """The edge's attributes, or None."""
    if (a, b) in graph["edges"]:
        return graph["edges"][a, b]
    return graph["edges"].get((b, a)) if not graph["directed"] else None


def degree(graph, vertex):
    """Ends of edges at the vertex; a self-loop has two."""
    return sum((a == vertex) + (b == vertex) for a, b in graph["edges"])


def edit_counts(first, second, vertex_ranges, edge_ranges):
    """(S, I, E) of two graphs, the one with fewer vertices first (ties: as given), each over the size of both."""
    if len(second["vertices"]) < len(first["vertices"]):
        first, second = second, first
    n, m = len(first["vertices"]), len(second["vertices"])
    pairs = sorted(
        (
            attribute_distance(first["vertices"][i], second["vertices"][j], vertex_ranges),
            abs(degree(first, i) - degree(second, j)),
            i,
            j,
        )
        for i in range(n)
        for j in range(m)
    )
    partner = {}
    changed = 0.0
    for cost, _, i, j in pairs:
        if i not in partner and j not in partner.values():
            partner[i] = j
            changed += cost
    shared = 0
    for (a, b), attributes in first["edges"].items():
        found = has_edge(second, partner[a], partner[b])
        if found is not None:
            shared += 1
            changed += attribute_distance(attributes, found, edge_ranges)
    inserted = m - n + len(second["edges"]) - shared
    deleted = len(first["edges"]) - shared
    size = n + m + len(first["edges"]) + len(second["edges"])
    return tuple(value / size if size else 0.0 for value in (changed, inserted, deleted))


def twec_costs(first, second, vertex_ranges, edge_ranges):
    """(C_N, C_E, C_ED, C_ND): vertices of the first graph, in order, take the nearest free vertex of the second."""
    n, m = len(first["vertices"]), len(second["vertices"])
    free, partner, changed = list(range(m)), {}, []
    for i in range(min(n, m)):
        costs = [attribute_distance(first["vertices"][i], second["vertices"][j], vertex_ranges) for j in free]
        changed.append(min(costs))
        partner[i] = free.pop(costs.index(min(costs)))
    taken = set(partner.values())
    inside = {edge: values for edge, values in first["edges"].items() if edge[0] in partner and edge[1] in partner}
    found = [(values, has_edge(second, partner[a], partner[b])) for (a, b), values in inside.items()]
    shared = [attribute_distance(values, other, edge_ranges) for values, other in found if other is not None]
    between = sum(a in taken and b in taken for a, b in second["edges"])
    n_edges = len(first["edges"]) + len(second["edges"])
    return (
        sum(changed) / len(changed) if changed else 0.0,
        sum(shared) / len(shared) if shared else 0.0,
        (len(inside) + between - 2 * len(shared)) / n_edges if n_edges else 0.0,
        abs(n - m) / (n + m) if n + m else 0.0,
    )
