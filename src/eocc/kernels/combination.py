"""Weighted sums of matrices, and the smallest of many values."""

from eocc.kernels.compile import inlined_kernel, kernel


@kernel
def combine(components, weights, start, out):
    """Fill row i of `out` with sum_k weights_k components_k,start+i,j, summed in the order of k."""
    for i in range(out.shape[0]):
        row = out[i]
        for j in range(row.shape[0]):
            row[j] = 0.0
        for k in range(components.shape[0]):
            weight, part = weights[k], components[k, start + i]
            for j in range(row.shape[0]):
                row[j] += weight * part[j]


@inlined_kernel
def insert(value, number, near, numbers):
    """Insert a value with its number into the smallest so far, sorted by (value, number); a number of -1 is padding."""
    place = near.shape[0] - 1
    if number < 0 or value > near[place] or (value == near[place] and number > numbers[place]):
        return
    while place > 0 and (value < near[place - 1] or (value == near[place - 1] and number < numbers[place - 1])):
        near[place], numbers[place] = near[place - 1], numbers[place - 1]
        place -= 1
    near[place], numbers[place] = value, number
