"""Errors of a copy of the row: by the principal components, by a neural network."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from eocc.base.arguments import check_count, check_number
from eocc.base.checks import is_integer
from eocc.base.types import Indices, Matrix
from eocc.rivals.base import NUMBERS_TRIED, Rival, seed_of
from eocc.rivals.gaussians import n_directions


class PrincipalComponents(Rival):
    """Principal component analysis: score_samples is minus the squared distance to the principal subspace.

    The subspace passes through the mean of the targets, along the directions in which they vary most:
    -||(x - m) - V'V(x - m)||². `n_components` is their number, or the fraction of the variance that the fewest of them
    must keep. At least one direction in which the targets vary is always left out: otherwise all errors would be zero.
    Features keep their unit.
    Paper: Bishop, Pattern Recognition and Machine Learning (2006), section 12.1; dd_tools' pca_dd.
    Good at: targets near a flat sheet, many correlated features, outliers off that sheet. Bad at: outliers that lie in
    the subspace, however far; bent or clustered targets; features in different units.
    Automatic: the fraction sets the number of components; 0.9 is dd_tools' default.

    >>> rival = PrincipalComponents().fit([[-2.0, 0.0], [2.0, 0.0], [0.0, 0.5], [0.0, -0.5]])
    >>> rival.score_samples([[9.0, 0.0], [0.0, 3.0]])
    array([-0., -9.])
    """

    n_components: float = 0.9

    def _learn(self, X: Matrix) -> Matrix:
        if not (is_integer(self.n_components) and self.n_components >= 0):
            otherwise = ", a fraction of the variance, or an integer >= 0"
            check_number("n_components", self.n_components, "(0, 1)", otherwise)
        self.mean_ = X.mean(axis=0)
        self.components_ = np.empty((0, X.shape[1]))
        if np.ptp(X, axis=0).any():
            analysis = PCA(svd_solver="full").fit(X)
            variances = analysis.singular_values_**2
            n_kept = min(self._n_asked(variances), max(0, n_directions(X, analysis.singular_values_) - 1))
            self.components_ = np.ascontiguousarray(analysis.components_[:n_kept])
        self.n_components_ = len(self.components_)
        return self._score(X)

    def _n_asked(self, variances: Matrix) -> int:
        if is_integer(self.n_components):
            return int(self.n_components)
        kept = np.cumsum(variances)
        return int(np.searchsorted(kept, self.n_components * kept[-1])) + 1

    def _score(self, X: Matrix) -> Matrix:
        centred = X - self.mean_
        # einsum sums each row by itself: a matrix product would round differently in other batches.
        coordinates = np.einsum("ij,kj->ik", centred, self.components_)
        residuals = centred - np.einsum("ik,kj->ij", coordinates, self.components_)
        return np.asarray(-np.einsum("ij,ij->i", residuals, residuals))


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
        seed = seed_of(self.random_state)

        def scores_of(units: int, kept: Indices) -> Matrix:
            return trained(X[kept], units, self.max_iter, seed).minus_errors(X)

        candidates = [units for units in NUMBERS_TRIED[:8] if units < min(X.shape)] or [1]
        self.n_hidden_ = self._chosen("n_hidden", candidates, scores_of, len(X))
        self.copier_ = trained(X, self.n_hidden_, self.max_iter, seed)
        self.n_iter_ = self.copier_.n_iter
        return self._score(X)

    def _score(self, X: Matrix) -> Matrix:
        return self.copier_.minus_errors(X)


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
