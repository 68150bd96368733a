"""What known outliers add, by its definition, one row and one column at a time."""

import math


def limited(value, limit):
    return min(max(value, -limit), limit)


def gaussian_columns(z, mean, variance, direction, precision, limit):
    """The log ratio of two Gaussians, column by column; the projection; and z' precision z of one row."""
    ratios = [
        math.log(math.exp(-((x - m) ** 2) / (2 * v)) / math.sqrt(v)) + x * x / 2
        if (x - m) ** 2 / (2 * v) < 600
        else -math.inf
        for x, m, v in zip(z, mean, variance, strict=True)
    ]
    square = sum(
        z[j] * (precision[j][k] if len(precision) else float(j == k)) * z[k]
        for j in range(len(z))
        for k in range(len(z))
    )
    along = sum(d * x for d, x in zip(direction, z, strict=True))
    return sum(limited(one, limit) for one in ratios), along, square


def loss(columns, is_outlier, share, coefficients, intercept, prior):
    """The loss of a logistic regression with a ridge of 5 around the prior."""
    total = 2.5 * sum((b - p) ** 2 for b, p in zip(coefficients, prior, strict=True))
    for row, kind, weight in zip(columns, is_outlier, share, strict=True):
        odds = sum(x * b for x, b in zip(row, coefficients, strict=True)) + intercept
        total += weight * (max(odds, 0.0) + math.log1p(math.exp(-abs(odds))) - kind * odds)
    return total
