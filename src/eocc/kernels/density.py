"""Sums of Gaussian kernels, several at a time."""

from eocc.kernels.compile import summing_kernel

# exp(x) = exp(x / 256)^256: of so small a number few powers are enough, and eight squarings undo the division.
SHARE = 1 / 256
# Kernels below exp(-40) count for nothing: a million of them are less than rounding beside one.
LEAST = -40.0


@summing_kernel
def kernel_sums(distances, width, sums):
    """Fill `sums` with the sum of exp(-(d / width)^2 / 2) over the distances d of each row, to some 14 digits.

    Written out, unlike a call of exp, the loop runs four numbers at a time. Infinite distances count for nothing.
    """
    factor = 0.5**0.5 / width
    for i in range(distances.shape[0]):
        row, total = distances[i], 0.0
        for j in range(row.shape[0]):
            root = row[j] * factor
            power = -(root * root)
            x = max(power, LEAST) * SHARE
            y = x * (1 / 24 + x * (1 / 120 + x * (1 / 720 + x * (1 / 5040))))
            y = 1.0 + x * (1.0 + x * (1 / 2 + x * (1 / 6 + y)))
            y *= y
            y *= y
            y *= y
            y *= y
            y *= y
            y *= y
            y *= y
            y *= y
            total += y if power > LEAST else 0.0
        sums[i] = total
