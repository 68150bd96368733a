"""The rivals that estimate a density, or centres of one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from scipy.stats import gaussian_kde, multivariate_normal, norm
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

from eocc.rivals.densities import MixtureOfGaussians, NaiveParzen, Parzen, likeliest_width
from eocc.rivals.neighbours import KNearestNeighbours
from eocc.rivals.reconstructions import KMeansDescription


def cloud(n=40, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def clusters(n_each=20, d=2, n_clusters=3, apart=50.0):
    return np.vstack([cloud(n_each, d, seed) + apart * seed for seed in range(n_clusters)])


def left_out_log_likelihood(X, width):
    """By definition, pattern by pattern."""
    total = 0.0
    for index, row in enumerate(X):
        rest = np.delete(X, index, axis=0)
        total += logsumexp(norm.logpdf(rest, loc=row, scale=width).sum(axis=1)) - np.log(len(rest))
    return total


# Mixture of Gaussians


def test_one_gaussian_has_the_closed_form():
    X = cloud() * [1.0, 5.0, 0.2]
    covariance = np.cov(X.T, bias=True)
    regularised = covariance + 0.1 * np.trace(covariance) / 3 * np.eye(3)
    rival = MixtureOfGaussians(n_components=1, regularisation=0.1, random_state=0).fit(X)
    assert_allclose(
        rival.score_samples(cloud(seed=1)), multivariate_normal(X.mean(0), regularised).logpdf(cloud(seed=1))
    )
    assert_allclose(rival.training_scores_, rival.score_samples(X))


def test_mixture_is_the_weighted_sum_of_its_densities():
    rival = MixtureOfGaussians(n_components=3, random_state=0).fit(clusters())
    new = clusters()[::7] + 0.3
    density = np.zeros(len(new))
    for weight, mean, whitening in zip(rival.weights_, rival.means_, rival.whitenings_, strict=True):
        density += weight * multivariate_normal(mean, np.linalg.inv(whitening @ whitening.T)).pdf(new)
    assert_allclose(rival.score_samples(new), np.log(density), rtol=1e-9)
    assert_allclose(sorted(rival.means_[:, 0]), [part[:, 0].mean() for part in np.split(clusters(), 3)], rtol=1e-6)
    assert_allclose(rival.weights_, 1 / 3, rtol=1e-6)


def test_a_mixture_follows_the_unit_of_the_data():
    X, new = clusters(apart=4.0), clusters(apart=4.0)[::5] + 0.5
    small = MixtureOfGaussians(random_state=0).fit(X).score_samples(new)
    large = MixtureOfGaussians(random_state=0).fit(1024 * X).score_samples(1024 * new)
    assert_allclose(large, small - 2 * np.log(1024), rtol=1e-6)


def test_a_mixture_has_no_more_gaussians_than_distinct_rows():
    rival = MixtureOfGaussians(n_components=5, random_state=0).fit(np.repeat(cloud(3), 4, axis=0))
    assert rival.n_components_ == 3


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "many", None])
def test_invalid_n_components_is_an_error(value):
    with pytest.raises(ValueError, match="n_components must be an integer >= 1"):
        MixtureOfGaussians(n_components=value).fit(cloud())


@pytest.mark.parametrize("value", [0, -0.1, np.nan, np.inf, "a"])
def test_invalid_regularisation_is_an_error(value):
    with pytest.raises(ValueError, match="regularisation must be a number >= 1e-10"):
        MixtureOfGaussians(regularisation=value).fit(cloud())


def test_the_least_regularisation_gives_every_covariance_an_inverse():
    X = np.vstack([cloud(20, 40), np.ones((5, 40))])
    rival = MixtureOfGaussians(regularisation=1e-10, random_state=0).fit(X)
    assert np.isfinite(rival.score_samples(X)).all()


def test_other_errors_of_scikit_learn_are_not_hidden(monkeypatch):
    def fail(*_):
        raise ValueError("another cause")

    monkeypatch.setattr(GaussianMixture, "fit", fail)
    with pytest.raises(ValueError, match="another cause"):
        MixtureOfGaussians(random_state=0).fit(cloud())


# Parzen


def test_parzen_by_hand():
    rival = Parzen(width=2.0).fit([[0.0], [2.0], [6.0]])
    kernels = np.exp([0, -0.5, -4.5]), np.exp([-0.5, 0, -2.0]), np.exp([-4.5, -2.0, 0])
    normaliser = 2 * np.sqrt(2 * np.pi)
    assert_allclose(rival.score_samples([[0.0], [2.0], [6.0]]), np.log(np.mean(kernels, axis=1) / normaliser))
    left_out = [(np.sum(row) - 1) / 2 for row in kernels]
    assert_allclose(rival.training_scores_, np.log(np.array(left_out) / normaliser))


def test_parzen_is_scikit_learns_kernel_density():
    rival = Parzen(width=0.7).fit(cloud())
    assert_allclose(
        rival.score_samples(cloud(seed=1)), KernelDensity(bandwidth=0.7).fit(cloud()).score_samples(cloud(seed=1))
    )


def test_parzen_training_scores_are_left_out():
    X = cloud(8)
    rival = Parzen(width=0.7).fit(X)
    refitted = [Parzen(width=0.7).fit(np.delete(X, i, axis=0)).score_samples(X[[i]])[0] for i in range(8)]
    assert_allclose(rival.training_scores_, refitted)


def test_the_width_for_two_patterns_is_their_distance_over_the_root_of_the_dimension():
    assert_allclose(Parzen().fit([[0.0, 0.0], [3.0, 4.0]]).width_, 5 / np.sqrt(2), rtol=1e-3)


@pytest.mark.parametrize("d", [1, 2, 15])
def test_the_automatic_width_beats_all_others(d):
    X = np.vstack([cloud(10, d), 0.1 * cloud(10, d, seed=1) + 5])
    width = Parzen().fit(X).width_
    best = left_out_log_likelihood(X, width)
    others = [left_out_log_likelihood(X, other) for other in np.geomspace(0.05, 20, 60)]
    assert best >= max(others) - 1e-4
    assert min(others) < best - 1


def test_a_few_copies_do_not_change_the_automatic_width():
    X = np.vstack([cloud(10, 1), cloud(10, 1)[:2]])
    width = Parzen().fit(X).width_
    others = [left_out_log_likelihood(X, other) for other in np.geomspace(0.01, 10, 60)]
    assert left_out_log_likelihood(X, width) >= max(others) - 1e-4


def test_width_is_that_of_rounding_if_every_row_has_copies():
    lattice = np.repeat([[0.0, 0.0], [0.0, 3.0], [3.0, 0.0], [3.0, 3.0]], 10, axis=0)
    assert_allclose(Parzen().fit(lattice).width_, 3 / np.sqrt(12 * 2), rtol=1e-3)


def test_lower_bound_of_the_width_is_inactive_without_copies():
    for seed in range(20):
        X = cloud(6, 1 + seed % 4, seed) ** 3
        D = cdist(X, X)
        nearest = np.where(D > 0, D, np.inf).min(axis=1)
        assert likeliest_width(D, float(X.shape[1])) > np.median(nearest) / np.sqrt(2.01 * X.shape[1])


def test_width_of_distances_that_are_not_a_metric():
    no_metric = np.zeros((5, 5))
    no_metric[0, 1] = no_metric[1, 0] = 2.0
    assert_allclose(likeliest_width(no_metric, 1.0), 2 / np.sqrt(12), rtol=1e-3)


def test_parzen_log_density_is_finite_far_away():
    scores = Parzen(width=1.0).fit(cloud()).score_samples([[1e3, 0, 0], [1e6, 0, 0]])
    assert np.isfinite(scores).all()
    assert scores[0] > scores[1]


def test_precomputed_distances_change_the_scores_by_a_constant():
    X, new = cloud(), cloud(seed=1)
    rows = Parzen(width=0.5).fit(X)
    given = Parzen(width=0.5, metric="precomputed").fit(cdist(X, X))
    assert rows.dimension_ == 3
    assert 1 < given.dimension_ < 5
    difference = rows.score_samples(new) - given.score_samples(cdist(new, X))
    assert_allclose(difference, difference[0])


@pytest.mark.parametrize("rival", [Parzen, NaiveParzen])
@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, True, "wide", None])
def test_invalid_width_is_an_error(rival, value):
    with pytest.raises(ValueError, match="width must be a number > 0 or 'auto'"):
        rival(width=value).fit(cloud())


# Naive Parzen


def test_naive_parzen_is_the_sum_over_features_of_scipys_density():
    X, new = cloud(), cloud(seed=1)
    rival = NaiveParzen().fit(X)
    total = np.zeros(len(new))
    for column, width, values in zip(X.T, rival.widths_, new.T, strict=True):
        total += gaussian_kde(column, bw_method=width / column.std(ddof=1)).logpdf(values)
    assert_allclose(rival.score_samples(new), total)


def test_naive_parzen_is_parzen_of_each_feature():
    X = np.column_stack([cloud(30, 2), np.repeat(cloud(10, 1), 3)])
    parts = [Parzen().fit(column[:, None]) for column in X.T]
    rival = NaiveParzen().fit(X)
    assert_allclose(rival.widths_, [part.width_ for part in parts], rtol=2e-3)
    fixed = NaiveParzen(width=0.3).fit(X)
    parts = [Parzen(width=0.3).fit(column[:, None]) for column in X.T]
    assert_allclose(fixed.training_scores_, sum(part.training_scores_ for part in parts))
    assert_allclose(fixed.score_samples(X), sum(part.score_samples(X[:, [i]]) for i, part in enumerate(parts)))


def test_naive_parzen_ranks_alike_in_any_units():
    X, new, units = cloud(), cloud(seed=1), np.array([1e-6, 1.0, 1e6])
    scores = NaiveParzen().fit(X).score_samples(new)
    assert_allclose(NaiveParzen().fit(X * units).score_samples(new * units), scores, rtol=1e-2)


def test_widths_of_a_binary_and_of_a_constant_feature():
    X = np.column_stack([np.arange(40) % 4 == 0, np.full(40, 7.0)]).astype(float)
    rival = NaiveParzen().fit(X)
    assert_allclose(rival.widths_, [1 / np.sqrt(12), 1.0], rtol=1e-3)
    often, seldom, never = rival.score_samples([[0.0, 7.0], [1.0, 7.0], [0.0, 9.0]])
    assert often > seldom
    assert_allclose(often - never, 2.0)


def test_naive_parzen_is_finite_far_away():
    assert np.isfinite(NaiveParzen().fit(cloud()).score_samples([[1e9, -1e9, 0.0]])).all()


# k-means


def test_k_means_by_hand():
    rival = KMeansDescription(k=2, random_state=0).fit([[0.0], [1.0], [2.0], [20.0], [22.0]])
    assert sorted(rival.centres_.ravel()) == [1.0, 21.0]
    assert_array_equal(rival.score_samples([[1.0], [4.0], [25.0]]), [0.0, -9.0, -16.0])
    # Left out: 0 meets the mean of 1 and 2, 1 that of 0 and 2, 20 only 22.
    assert_array_equal(rival.training_scores_, [-2.25, 0.0, -2.25, -4.0, -4.0])


def test_k_means_training_scores_are_left_out():
    def best_of_starts(X):
        runs = [KMeansDescription(k=3, random_state=seed).fit(X) for seed in range(9)]
        return max(runs, key=lambda run: run.score_samples(X).sum())

    X = clusters(6)
    rival = best_of_starts(X)
    for index in range(len(X)):
        rest = best_of_starts(np.delete(X, index, axis=0))
        assert_allclose(rest.score_samples(X[[index]])[0], rival.training_scores_[index])


def test_a_cluster_of_one_is_scored_by_the_other_centres():
    rival = KMeansDescription(k=2, random_state=0).fit([[0.0], [1.0], [2.0], [50.0]])
    assert_allclose(rival.training_scores_[-1], -(49.0**2))


def test_there_are_no_more_centres_than_distinct_rows():
    rival = KMeansDescription(k=5, random_state=0).fit(np.repeat(cloud(3), 4, axis=0))
    assert rival.k_ == 3
    assert_allclose(rival.score_samples(cloud(3)), 0, atol=1e-25)


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "many", None])
def test_invalid_k_is_an_error(value):
    with pytest.raises(ValueError, match="k must be an integer >= 1"):
        KMeansDescription(k=value).fit(cloud())


@pytest.mark.parametrize("rival", [KMeansDescription, MixtureOfGaussians])
def test_invalid_random_state_is_an_error(rival):
    with pytest.raises(ValueError, match="random_state must be an integer"):
        rival(random_state="seed").fit(cloud())


@pytest.mark.parametrize("far", [1.0, 1e60])
def test_the_automatic_number_of_neighbours_does_not_overflow(far):
    codes = np.append(np.repeat([0.0, 1.0], [40, 5]), 2.0**53)[:, None]  # most rows are copies
    assert np.isfinite(KNearestNeighbours().fit(codes).score_samples(codes)).all()
    x = np.append(np.arange(12.0) * 1e-250, far)
    near_copies = KNearestNeighbours(metric="precomputed").fit(np.abs(x[:, None] - x))
    assert np.isfinite(near_copies.score_samples(np.abs(x[:, None] - x))).all()
