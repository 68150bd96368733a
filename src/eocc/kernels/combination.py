"""Weighted sums of matrices."""

from eocc.kernels.compile import kernel


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
