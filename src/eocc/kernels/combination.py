"""Weighted sums of matrices."""

from eocc.kernels.compile import kernel


@kernel
def combine(components, weights, out):
    """Fill out_ij with sum_k weights_k components_kij, summed in the order of k."""
    for i in range(out.shape[0]):
        row = out[i]
        for j in range(row.shape[0]):
            row[j] = 0.0
        for k in range(components.shape[0]):
            weight, part = weights[k], components[k, i]
            for j in range(row.shape[0]):
                row[j] += weight * part[j]
