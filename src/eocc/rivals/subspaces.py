"""Errors of a copy of the row: by the principal components, by a neural network."""

import warnings
from typing import Annotated, Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from eocc.base.checks import is_integer, number
from eocc.base.types import Matrix
from eocc.rivals.base import COUNT, Rival, seed_of
from eocc.rivals.densities import n_directions


class PrincipalComponents(Rival):
    """Principal component analysis: score_samples is minus the squared distance to the principal subspace.

    The subspace passes through the mean of the targets, along the directions in which they vary most:
    -||(x - m) - V'V(x - m)||². `n_components` is their number, or the fraction of the variance that the fewest of them
    must keep; 0.9 is dd_tools' default. At least one direction in which the targets vary is always left out: otherwise
    all errors would be zero. Features keep their unit.

    >>> rival = PrincipalComponents().fit([[-2.0, 0.0], [2.0, 0.0], [0.0, 0.5], [0.0, -0.5]])
    >>> rival.score_samples([[9.0, 0.0], [0.0, 3.0]])
    array([-0., -9.])
    """

    n_components: float = 0.9

    def _learn(self, X: Matrix) -> None:
        if not (is_integer(self.n_components) and self.n_components >= 0):
            fraction = number("(0, 1)", ", a fraction of the variance, or an integer >= 0")
            fraction("n_components", self.n_components)
        self.mean_ = X.mean(axis=0)
        self.components_ = np.empty((0, X.shape[1]))
        if np.ptp(X, axis=0).any():
            analysis = PCA(svd_solver="full").fit(X)
            kept = np.cumsum(analysis.singular_values_**2)
            n_asked = np.searchsorted(kept, self.n_components * kept[-1]) + 1
            n_asked = self.n_components if is_integer(self.n_components) else n_asked
            n_kept = min(int(n_asked), max(0, n_directions(X, analysis.singular_values_) - 1))
            self.components_ = np.ascontiguousarray(analysis.components_[:n_kept])
        self.n_components_ = len(self.components_)

    def _score(self, X: Matrix) -> Matrix:
        centred = X - self.mean_
        # einsum sums each row by itself: a matrix product would round differently in other batches.
        coordinates = np.einsum("ij,kj->ik", centred, self.components_)
        residuals = centred - np.einsum("ik,kj->ij", coordinates, self.components_)
        return np.asarray(-np.einsum("ij,ij->i", residuals, residuals))


class AutoEncoder(Rival):
    """A neural network that copies its input: score_samples is minus the squared error of the copy, -||x - f(x)||².

    One hidden layer of `n_hidden` tanh units and a linear output, fitted by L-BFGS for at most `max_iter` steps. The
    features are centred and divided by one number, the root of their mean variance, so that the network trains well in
    any unit while features keep their relative scale, as in the published figures.
    """

    n_hidden: Annotated[int, COUNT] = 5
    max_iter: Annotated[int, COUNT] = 1000
    random_state: Any = None

    def _learn(self, X: Matrix) -> None:
        self.mean_, self.scale_ = X.mean(axis=0), float(np.sqrt(X.var(axis=0).mean())) or 1.0
        scaled = (X - self.mean_) / self.scale_
        network = MLPRegressor(
            hidden_layer_sizes=(self.n_hidden,), activation="tanh", solver="lbfgs", max_iter=self.max_iter,
            random_state=seed_of(self.random_state),
        )  # fmt: skip
        with warnings.catch_warnings():
            # A network stopped at max_iter is as good as any other: its errors are what is measured.
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit(scaled, scaled[:, 0] if scaled.shape[1] == 1 else scaled)
        self.layers_, self.n_iter_ = list(zip(network.coefs_, network.intercepts_, strict=True)), network.n_iter_

    def _score(self, X: Matrix) -> Matrix:
        (inward, inward_bias), (outward, outward_bias) = self.layers_
        scaled = (X - self.mean_) / self.scale_
        # einsum sums each row by itself: the network's own matrix product would round differently in other batches.
        hidden = np.tanh(np.einsum("ij,jk->ik", scaled, inward) + inward_bias)
        residuals = (scaled - np.einsum("ik,kj->ij", hidden, outward) - outward_bias) * self.scale_
        return np.asarray(-np.einsum("ij,ij->i", residuals, residuals))
