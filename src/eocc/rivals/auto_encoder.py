"""The auto-encoder."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from eocc.foundation.arguments import check_count, generator
from eocc.foundation.types import Indices, Matrix
from eocc.rivals.base import Rival, is_automatic
from eocc.rivals.consistency import most_complex_consistent

NUMBERS_TRIED = (1, 2, 3, 5, 8, 13, 21, 34)


class AutoEncoder(Rival):
    """A neural network that copies its input: score_samples is minus the squared error of the copy, -||x - f(x)||².

    One hidden layer of `n_hidden` tanh units and a linear output, fitted to copy the targets, by L-BFGS for at most
    `max_iter` steps. The features are centred and divided by one number, the root of their mean variance, so that the
    network trains well in any unit while features keep their relative scale, as in the published figures.
    Paper: Japkowicz, Myers, Gluck, A novelty detection approach to classification (1995); Tax, One-class
    classification (2001), section 3.3.5; dd_tools' autoenc_dd.
    Good at: targets near a bent sheet, many correlated features. Bad at: few rows; fewer features than hidden units,
    where only the bend of tanh keeps it from copying everything; features in different units.
    Automatic: n_hidden = "auto" takes the largest consistent number of 1, 2, 3, 5, 8, ... below the number of features;
    5 is dd_tools' default.
    """

    n_hidden: int | str = 5
    max_iter: int = 1000
    random_state: Any = None

    def _learn(self, X: Matrix) -> Matrix:
        check_count("max_iter", self.max_iter)
        seed = int(generator(self.random_state).integers(2**31))
        is_open = is_automatic("n_hidden", self.n_hidden)
        self.n_hidden_ = self._most_units(X, seed) if is_open else int(self.n_hidden)
        self.copier_ = trained(X, self.n_hidden_, self.max_iter, seed)
        self.n_iter_ = self.copier_.n_iter
        return self._score(X)

    def _score(self, X: Matrix) -> Matrix:
        return self.copier_.minus_errors(X)

    def _most_units(self, X: Matrix, seed: int) -> int:
        def scores_of(units: int, kept: Indices) -> Matrix:
            return trained(X[kept], units, self.max_iter, seed).minus_errors(X)

        candidates = [units for units in NUMBERS_TRIED if units < min(X.shape)] or [1]
        return most_complex_consistent(candidates, scores_of, len(X), self.rejection_rate)


@dataclass(frozen=True, eq=False)
class Copier:
    """A trained network with the mean and the one scale of the rows it was trained on."""

    mean: Matrix
    scale: float
    layers: list[tuple[Matrix, Matrix]]
    n_iter: int

    def minus_errors(self, X: Matrix) -> Matrix:
        """Return -||x - f(x)||² of each row."""
        (inward, inward_bias), (outward, outward_bias) = self.layers
        scaled = (X - self.mean) / self.scale
        # einsum sums each row by itself: the network's own matrix product would round differently in other batches.
        hidden = np.tanh(np.einsum("ij,jk->ik", scaled, inward) + inward_bias)
        residuals = (scaled - np.einsum("ik,kj->ij", hidden, outward) - outward_bias) * self.scale
        return np.asarray(-np.einsum("ij,ij->i", residuals, residuals))


def trained(X: Matrix, n_hidden: int, max_iter: int, seed: int) -> Copier:
    """Return the network that copies X."""
    mean, scale = X.mean(axis=0), float(np.sqrt(X.var(axis=0).mean())) or 1.0
    scaled = (X - mean) / scale
    network = MLPRegressor(
        hidden_layer_sizes=(n_hidden,), activation="tanh", solver="lbfgs", max_iter=max_iter, random_state=seed
    )
    with warnings.catch_warnings():
        # A network stopped at max_iter is as good as any other: its errors are what is measured.
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(scaled, scaled[:, 0] if scaled.shape[1] == 1 else scaled)
    layers = list(zip(network.coefs_, network.intercepts_, strict=True))
    return Copier(mean, scale, layers, network.n_iter_)
