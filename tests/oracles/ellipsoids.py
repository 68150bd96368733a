"""Regions of one shape from their definition: explicit covariances and inverses, one row and one cut at a time."""

import math

import numpy as np


def scatter(rows):
    """The sum of squared distances from the mean."""
    return float(((rows - rows.mean(axis=0)) ** 2).sum()) if len(rows) else 0.0


def components(n, edges):
    """The parts of a forest, as sorted lists of vertices."""
    parts = [{vertex} for vertex in range(n)]
    for a, b in edges:
        one, two = (next(part for part in parts if end in part) for end in (a, b))
        if one is not two:
            parts = [part for part in parts if part is not one and part is not two] + [one | two]
    return sorted(sorted(part) for part in parts)


def cut_parts(rows, edges, n_regions):
    """Cut, n_regions - 1 times, the edge whose removal leaves the least scatter within parts."""
    left = [tuple(edge) for edge in edges]
    while len(parts := components(len(rows), left)) < n_regions:
        if not left:
            break
        options = [[other for other in left if other != edge] for edge in left]
        totals = [sum(scatter(rows[part]) for part in components(len(rows), option)) for option in options]
        if min(totals) >= sum(scatter(rows[part]) for part in parts) - 1e-9 * scatter(rows):
            break
        left = options[int(np.argmin(totals))]
    return parts


def shape(rows, labels):
    """The pooled covariance within regions, and the shrinkage of Ledoit and Wolf, element by element."""
    n, r = rows.shape
    regions = sorted(set(labels.tolist()))
    gaps = np.array([row - rows[labels == label].mean(axis=0) for row, label in zip(rows, labels, strict=True)])
    gaps *= math.sqrt(n / (n - len(regions)))
    S = sum(np.outer(gap, gap) for gap in gaps) / n
    mean = np.trace(S) / r
    noise = sum(((np.outer(gap, gap) - S) ** 2).sum() for gap in gaps) / n**2
    spread = ((S - mean * np.eye(r)) ** 2).sum()
    return S, min(max(noise / spread, 1e-4), 1.0), mean


def covariance(rows, labels):
    S, rho, mean = shape(rows, labels)
    return (1 - rho) * S + rho * mean * np.eye(rows.shape[1])


def log_membership(row, rows, labels, sigma):
    """ln sum_i (n_i / n) exp(-delta_i^2 / 2)."""
    inverse, total = np.linalg.inv(sigma), 0.0
    for label in sorted(set(labels.tolist())):
        own = rows[labels == label]
        gap = row - own.mean(axis=0)
        total += len(own) / len(rows) * math.exp(-gap @ inverse @ gap / 2)
    return math.log(total)


def left_out(i, rows, labels):
    """The log-membership of row i without its part in its centre and in the covariance."""
    S, rho, mean = shape(rows, labels)
    n, k = len(rows), len(set(labels.tolist()))
    own = np.flatnonzero(labels == labels[i])
    factor = len(own) / (len(own) - 1)
    gap = rows[i] - rows[own].mean(axis=0)
    # What row i adds to the scatter around its centre is factor * gap gap', with the divisor n - k.
    without = (1 - rho) * (S - factor / (n - k) * np.outer(gap, gap)) + rho * mean * np.eye(rows.shape[1])
    kept = np.delete(np.arange(n), i)
    return log_membership(rows[i], rows[kept], labels[kept], without)
