"""Sums of Gaussian kernels and of squares."""

import numpy as np

from eocc.kernels.compile import contracting_kernel, summing_kernel

# exp(x) = exp(x / 256)^256: a short power series suffices for x / 256, and eight squarings give the power.
SQUARINGS = 8
SHARE = 1 / 2**SQUARINGS
# Kernels below exp(-40) count as 0: the sum of a million of them is below 1e-11.
LEAST = -40.0


@summing_kernel
def kernel_sums(distances, width, sums):
    """Fill `sums` with the sum of exp(-(d / width)^2 / 2) over the distances d of each row."""
    # The absolute error of a kernel is at most 1e-14. Infinite distances count as 0. Unlike a call of exp, the loop is
    # vectorised.
    factor = 0.5**0.5 / width
    for i in range(distances.shape[0]):
        row, total = distances[i], 0.0
        for j in range(row.shape[0]):
            root = row[j] * factor
            power = -(root * root)
            x = max(power, LEAST) * SHARE
            y = x * (1 / 24 + x * (1 / 120 + x * (1 / 720 + x * (1 / 5040))))
            y = 1.0 + x * (1.0 + x * (1 / 2 + x * (1 / 6 + y)))
            for _ in range(SQUARINGS):
                y *= y
            total += y if power > LEAST else 0.0
        sums[i] = total


@summing_kernel
def finite_squares(distances, sums):
    """Fill `sums` (m, 2) with the sum of squares of the finite distances of each row, and their number."""
    for i in range(distances.shape[0]):
        row, total, count = distances[i], 0.0, 0
        for j in range(row.shape[0]):
            is_finite = row[j] < np.inf
            total += row[j] * row[j] if is_finite else 0.0
            count += is_finite
        sums[i, 0] = total
        sums[i, 1] = count


@contracting_kernel
def polynomial_at(points, origins, first, width, reach, polynomials, sums):
    """Fill `sums` with the polynomial of each point's box, and with 0 where a point lies in no box."""
    # Run r has the boxes first[r] to first[r + 1], one `width` wide, of which `reach` begin before origins[r].
    for i in range(points.shape[0]):
        low, high = 0, origins.shape[0]
        while high - low > 1:
            middle = (low + high) // 2
            if (points[i] - origins[middle]) / width >= -reach:
                low = middle
            else:
                high = middle
        place = (points[i] - origins[low]) / width + reach
        total = 0.0
        if place >= 0 and place < first[low + 1] - first[low]:
            box = int(place)
            coefficients, z = polynomials[first[low] + box], place - box - 0.5
            for m in range(coefficients.shape[0] - 1, -1, -1):
                total = total * z + coefficients[m]
        sums[i] = total
