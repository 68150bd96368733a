"""What known outliers add, by its definition, one row and one weight at a time; for rows of numbers."""

import math
from fractions import Fraction

import numpy as np
from scipy.optimize import minimize_scalar


def kernel_sum(distances, width):
    """The sum of Gaussian kernels over some distances."""
    return math.fsum(math.exp(-0.5 * (d / width) ** 2) for d in distances)


def squared_spread(values):
    """Half the mean squared difference over ordered pairs of two values, as an exact fraction."""
    exact = [Fraction(value) for value in values]
    squares = [(a - b) ** 2 for i, a in enumerate(exact) for j, b in enumerate(exact) if i != j]
    return sum(squares) / len(squares) / 2 if squares else Fraction(0)


class LikelihoodRatio:
    """Normal rows X and outliers, their distances divided by delta; `weightings` are pairs (weights, mean distance)."""

    def __init__(self, X, outliers, delta, weightings, normal_terms, outlier_terms, left_out):
        self.X, self.outliers, self.delta, self.weightings = X, outliers, delta, weightings
        self.left_out = left_out  # the weights of some normal rows, instead of the last, for distances to normal rows
        self.kept = list(range(X.shape[1]))
        self.widths = np.array([[self._width(kind, k, unit) for k in self.kept] for kind, unit in
                                ((X, None), (outliers, X))])  # fmt: skip
        columns = [
            np.array([self._columns(X[i], normal_terms[i], skip_normal=i) for i in range(len(X))]),
            np.array(
                [
                    self._columns(row, outlier_terms[i], skip_normal=self._copy_of(row), skip_outlier=i)
                    for i, row in enumerate(outliers)
                ]
            ),
        ]
        self.mean = columns[0].mean(axis=0)
        self.scale = np.maximum(np.vstack(columns).std(axis=0), 1e-9)
        self.scale[-len(self.kept) :] *= math.sqrt(len(self.kept))
        self.standard = [(part - self.mean) / self.scale for part in columns]
        n_columns = len(self.mean)
        self.prior = np.where(np.arange(n_columns) < n_columns - len(self.kept), 0.1, 0.0)
        self.least = np.where(np.arange(n_columns) < normal_terms.shape[1], 0.01, 0.0)

    def _copy_of(self, x):
        """The first normal row that x is a copy of."""
        return next((i for i, row in enumerate(self.X) if (row == x).all()), None)

    def _spread(self, rows, k):
        gaps = [(a[k] - b[k]) / self.delta for i, a in enumerate(rows) for j, b in enumerate(rows) if i != j]
        return math.sqrt(sum(gap * gap for gap in gaps) / len(gaps) / 2)

    def _width(self, rows, k, normal):
        own = self._spread(rows if normal is None else normal, k)
        spread = own if normal is None else max(self._spread(rows, k), 0.1 * own)
        return 1.06 * spread * max(len(rows), 2) ** -0.2 + 0.05 * own

    def _distances(self, x, rows, p, skip):
        return [math.sqrt(sum(p * (x - row) ** 2)) / self.delta for i, row in enumerate(rows) if i != skip]

    def _columns(self, x, terms, skip_normal=None, skip_outlier=None):
        sides = ((self.X, skip_normal), (self.outliers, skip_outlier))
        k = min(3, max(1, len(self.outliers) - 1), max(1, len(self.X) - 1))
        found = list(terms)
        for number, (p, mean) in enumerate(self.weightings):
            is_last = number == len(self.weightings) - 1
            own = self.left_out.get(skip_normal, p) if is_last else p
            logs = [
                np.mean([math.log(min(max(d, 0.01 * mean), 1e7 * mean)) for d in
                         sorted(self._distances(x, rows, q, skip))[:k]])
                for (rows, skip), q in zip(sides, (own, p), strict=True)
            ]  # fmt: skip
            found.append(logs[0] - logs[1])
        single = []
        for weight in self.kept:
            e = np.eye(self.X.shape[1])[weight]
            normal, outlier = (
                math.log((sum(math.exp(-0.5 * (d / width) ** 2) for d in self._distances(x, rows, e, skip)) + 0.05)
                         / (len(rows) * width))
                for (rows, skip), width in zip(sides, self.widths[:, weight], strict=True)
            )  # fmt: skip
            single.append(outlier - normal)
        return [*found, sum(single), *single]

    def loss(self, b):
        """The loss of the coefficients and, last, the intercept."""
        m, n = len(self.outliers), len(self.X)
        total = 5.0 * sum((b[:-1] - self.prior) ** 2)
        for rows, kind, share in ((self.standard[0], 0, m / n), (self.standard[1], 1, 1.0)):
            for row in rows:
                odds = float(row @ b[:-1] + b[-1])
                total += share * (np.logaddexp(0.0, odds) - kind * odds)
        return total

    def best_intercept(self, coefficients):
        return minimize_scalar(lambda c: self.loss(np.append(coefficients, c)), tol=1e-12).x

    def of(self, new, terms, coefficients):
        columns = np.array([self._columns(x, own) for x, own in zip(new, terms, strict=True)])
        return (columns - self.mean) / self.scale @ coefficients
