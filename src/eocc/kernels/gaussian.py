"""Rows of numbers against two Gaussians."""

import numpy as np

from eocc.kernels.compile import contracting_kernel


@contracting_kernel
def gaussian_columns(rows, mean, variance, logs, direction, precision, limit, out):
    """Fill `out` (m, 3) with what two Gaussians say of standardised rows (m, d).

    First the sum over the columns of log(density of a normal distribution of this mean and variance / standard normal
    density), each within +-limit, where logs are -log(variance) / 2; then the projection on the direction; then
    z' precision z, where an empty precision is the identity.
    """
    d, has_precision = rows.shape[1], precision.shape[0] > 0
    for i in range(rows.shape[0]):
        ratio, along, square = 0.0, 0.0, 0.0
        for j in range(d):
            z = rows[i, j]
            apart = z - mean[j]
            one = logs[j] - apart * apart / (2.0 * variance[j]) + z * z / 2.0
            ratio += min(max(one, -limit), limit)
            along += direction[j] * z
            if has_precision:
                total = 0.0
                for k in range(d):
                    total += precision[j, k] * rows[i, k]
                square += z * total
            else:
                square += z * z
        out[i, 0] = ratio
        out[i, 1] = along
        out[i, 2] = square


@contracting_kernel
def squared_projections(rows, basis, is_triangular, out):
    """Fill `out` (m, 2) with |x|^2 and |basis^T x|^2 of every row x; basis is (d, r), and may be upper triangular."""
    inner = np.empty(basis.shape[1])
    for i in range(rows.shape[0]):
        length, inside = 0.0, 0.0
        inner[:] = 0.0
        for j in range(rows.shape[1]):
            value, first = rows[i, j], j if is_triangular else 0
            length += value * value
            column, sums = basis[j, first:], inner[first:]
            for k in range(sums.shape[0]):
                sums[k] += value * column[k]
        for k in range(inner.shape[0]):
            inside += inner[k] * inner[k]
        out[i, 0] = length
        out[i, 1] = inside
