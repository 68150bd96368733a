"""The selections of prototypes by their definitions: loops over the matrix of dissimilarities."""

from itertools import combinations


def nearest(D, i, chosen):
    return min(float(D[i][j]) for j in chosen)


def total(D, chosen):
    """sum_i min_j d(x_i, r_j)."""
    return sum(nearest(D, i, chosen) for i in range(len(D)))


def radius(D, chosen):
    """max_i min_j d(x_i, r_j)."""
    return max(nearest(D, i, chosen) for i in range(len(D)))


def least_radius(D, count):
    return min(radius(D, chosen) for chosen in combinations(range(len(D)), count))


def spread(D, count, first, weights):
    """Choose the pattern of largest weighted distance to those chosen, the lowest on ties, `count` times."""
    chosen = [first]
    while len(chosen) < count:
        rest = [i for i in range(len(D)) if i not in chosen]
        chosen.append(max(rest, key=lambda i: (float(weights[i]) * nearest(D, i, chosen), -i)))
    return chosen


def without_copies(D, order, count):
    """Take those of the order that are not copies of one taken, then the copies."""
    kept = []
    for i in order:
        if all(D[i][j] != 0 for j in kept):
            kept.append(i)
    return (kept + [i for i in order if i not in kept])[:count]


def swapped_medoids(D, medoids):
    """Swap every pattern in turn for the medoid where the sum falls most, until a whole round changes nothing."""
    medoids, changed = list(medoids), True
    while changed:
        changed = False
        for candidate in range(len(D)):
            swaps = [[*medoids[:k], candidate, *medoids[k + 1 :]] for k in range(len(medoids))]
            best = min(swaps, key=lambda swap: total(D, swap))
            if total(D, best) < total(D, medoids):
                medoids, changed = best, True
    return medoids


def spacings(D, sample, neighbours):
    """The dissimilarity of each pattern to the k-th nearest of the others in the sample."""
    found = []
    for i in range(len(D)):
        others = sorted(float(D[i][j]) for j in sample if j != i)
        found.append(others[min(neighbours, len(sample) - 1) - 1])
    return found
