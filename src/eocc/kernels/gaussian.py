"""Rows of numbers against two Gaussians."""

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
