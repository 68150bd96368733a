"""The selections of prototypes by their definitions: loops over the matrix of dissimilarities."""

from itertools import combinations


def nearest(D, i, chosen):
    return min(float(D[i][j]) for j in chosen)


def radius(D, chosen):
    """max_i min_j d(x_i, r_j)."""
    return max(nearest(D, i, chosen) for i in range(len(D)))


def least_radius(D, count):
    return min(radius(D, chosen) for chosen in combinations(range(len(D)), count))


def spread(D, count, first):
    """Choose the pattern of largest distance to those chosen, the lowest on ties, `count` times."""
    chosen = [first]
    while len(chosen) < count:
        rest = [i for i in range(len(D)) if i not in chosen]
        chosen.append(max(rest, key=lambda i: (nearest(D, i, chosen), -i)))
    return chosen


def without_copies(D, order, count):
    """Take those of the order that are not copies of one taken, then the copies."""
    kept = []
    for i in order:
        if all(D[i][j] != 0 for j in kept):
            kept.append(i)
    return (kept + [i for i in order if i not in kept])[:count]
