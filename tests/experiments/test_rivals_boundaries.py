import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from scipy.spatial.distance import cdist
from sklearn.kernel_ridge import KernelRidge

from eocc.rivals.base import intrinsic_dimension
from eocc.rivals.boundaries import (
    LinearProgrammingDescription,
    MinimaxProbabilityMachine,
    SupportVectorDescription,
    gaussian_kernel,
    lightest_plane,
    likely_width,
    regress_one,
    saturate,
)
from eocc.rivals.densities import left_out_log_density


def cloud(n=40, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_the_gaussian_ball_of_two_points_lies_between_them():
    ball = SupportVectorDescription(width=2.0, nu=0.0).fit([[0.0], [2.0]])
    assert_allclose(ball.weights_, 0.5)
    # ||phi(x) - c||^2 = 1 - 2 sum a K + sum a a K, of which 2 sum a K varies: K = exp(-1) between the two and exp(-1/4)
    # to their middle.
    assert_allclose(ball.score_samples([[1.0], [0.0]]), [2 * np.exp(-0.25), 1 + np.exp(-1)])


def test_with_nu_1_the_centre_is_the_mean():
    assert_allclose(SupportVectorDescription(width=1.0, nu=1.0).fit(cloud()).weights_, 1 / 40)


def test_no_more_than_nu_stay_outside_and_no_fewer_are_support_vectors():
    ball = SupportVectorDescription(width=1.0, nu=0.2).fit(cloud(50))
    inner = ball.weights_ < (1 - 1e-3) / (0.2 * 50)
    on_the_boundary = ball.training_scores_[ball.support_[inner]]
    assert len(on_the_boundary) > 0
    scale = abs(ball.training_scores_).max()
    assert_allclose(on_the_boundary, on_the_boundary[0], atol=1e-3 * scale)
    assert (ball.training_scores_ < on_the_boundary.min() - 1e-3 * scale).mean() <= 0.2
    assert len(ball.support_) >= 0.2 * 50


def test_the_likely_width_makes_left_out_patterns_likeliest():
    X = np.linspace(0, 1, 30)[:, None] ** 2
    D = cdist(X, X)
    width = likely_width(D)
    dimension = intrinsic_dimension(D)

    def likelihood(width):
        return left_out_log_density(D, width / np.sqrt(2), dimension).mean()

    assert all(likelihood(width) >= likelihood(width * factor) for factor in (0.5, 0.8, 0.95, 1.05, 1.25, 2))
    assert SupportVectorDescription().fit(X).width_ == width
    assert MinimaxProbabilityMachine().fit(X).width_ == width
    assert LinearProgrammingDescription().fit(X).width_ == width


@pytest.mark.parametrize(
    "rival", [SupportVectorDescription(), LinearProgrammingDescription(), MinimaxProbabilityMachine()]
)
def test_many_features_do_not_make_all_scores_equal(rival):
    X = cloud(60, 1000)
    new = np.vstack([cloud(20, 1000, seed=1), 1.2 * cloud(20, 1000, seed=2)])
    scores = rival.fit(X).score_samples(new)
    nearest = (cdist(X, X) + np.diag(np.full(60, np.inf))).min(axis=1)
    assert_allclose(rival.width_, np.median(nearest) / 3)
    assert len(np.unique(scores)) == 40
    assert scores[:20].min() > scores[20:].max()


def test_copies_do_not_narrow_the_likely_width():
    X = np.repeat([[0.0, 0.0], [0.0, 3.0], [3.0, 0.0], [3.0, 3.0]], 10, axis=0)
    assert likely_width(cdist(X, X)) >= 1.0
    assert likely_width(np.zeros((4, 4))) == np.sqrt(2)


@pytest.mark.parametrize("rival", [SupportVectorDescription(width=1.0), LinearProgrammingDescription(width=1.0)])
def test_scores_of_far_patterns_differ(rival):
    scores = rival.fit(cloud()).score_samples([[10.0, 0.0], [12.0, 0.0], [20.0, 0.0]])
    assert scores[0] > scores[1] > scores[2] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nu": 1.5}, "nu must be a number in \\[0, 1\\], or None, not 1.5"),
        ({"width": 0}, "width must be a number > 0 or 'auto', not 0"),
        ({"width": "wide"}, "width must be a number"),
    ],
)
def test_invalid_arguments_of_svdd_are_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        SupportVectorDescription(**arguments).fit(cloud(10))


@pytest.mark.parametrize("rho", [1e-3, 0.1, 10.0])
def test_the_minimax_direction_is_the_regularised_covariances_inverse_times_the_mean(rho):
    X = cloud(30, 3) + np.array([1.0, 2.0, 0.5])
    covariance = np.cov(X.T, bias=True)
    direction = np.linalg.solve(covariance + rho * np.eye(3), X.mean(axis=0))
    weights, _ = regress_one(X @ X.T, rho)
    found = X.T @ weights
    assert_allclose(found / np.linalg.norm(found), direction / np.linalg.norm(direction))


def test_the_minimax_machine_of_two_points_by_hand():
    machine = MinimaxProbabilityMachine(width=1.0, regularisation=0.25).fit([[0.0], [1.0]])
    # (K + I/2) g = 1 has g = 1 / (3/2 + k) twice, k = exp(-1).
    assert_allclose(machine.weights_, 1 / (1.5 + np.exp(-1)))
    assert_allclose(machine.score_samples([[0.5]]), 2 * np.exp(-0.25) / (1.5 + np.exp(-1)))
    # Without the one, the other's weight is 1 / (3/2).
    assert_allclose(machine.training_scores_, np.exp(-1) / 1.5)


def test_minimax_training_scores_are_left_out():
    X = cloud(15)
    machine = MinimaxProbabilityMachine(width=0.8, regularisation=0.01).fit(X)
    kernel = gaussian_kernel(cdist(X, X), 0.8)
    for left_out in range(15):
        others = np.delete(np.arange(15), left_out)
        twin = KernelRidge(alpha=15 * 0.01, kernel="precomputed").fit(kernel[np.ix_(others, others)], np.ones(14))
        assert_allclose(machine.training_scores_[left_out], twin.predict(kernel[[left_out]][:, others])[0])


def test_minimax_machine_accepts_distances_that_are_not_euclidean():
    D = np.ones((6, 6)) - np.eye(6)
    D[0, 1] = D[1, 0] = 5.0  # against the triangle inequality
    assert np.linalg.eigvalsh(gaussian_kernel(D, 3.0))[0] < 0
    machine = MinimaxProbabilityMachine(metric="precomputed", width=3.0).fit(D)
    assert np.isfinite(machine.training_scores_).all()
    assert machine.score_samples(np.full((1, 6), 9.0))[0] < machine.score_samples(D).min()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"regularisation": 0.0}, "regularisation must be a number >= 1e-10, not 0.0"),
        ({"width": -1.0}, "width must be a number > 0 or 'auto', not -1.0"),
        ({"width": "wide"}, "width must be a number"),
    ],
)
def test_invalid_arguments_of_mpm_are_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        MinimaxProbabilityMachine(**arguments).fit(cloud(10))


def test_the_plane_of_three_points_by_hand():
    # The heights at 0 and 4 add up to 4 whatever the weights: the lower of their maxima is 2 each.
    plane = LinearProgrammingDescription(width=None, nu=0.0).fit([[0.0], [1.0], [4.0]])
    assert_allclose(plane.score_samples([[0.0], [4.0], [5.0], [-3.0]]), [-2, -2, -3, -5])


def test_with_nu_1_all_weight_is_on_the_medoid():
    # With nu = 1 the objective is the mean height, least at the point nearest to all.
    D = cdist([[0.0], [1.0], [2.5], [7.0], [9.0]], [[0.0], [1.0], [2.5], [7.0], [9.0]])
    assert_allclose(lightest_plane(D, 1.0), [0, 0, 1, 0, 0])


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("width", [None, 0.5, 2.0])
def test_weights_reach_the_optimum_of_the_dual(nu, width):
    n = 25
    D = saturate(cdist(cloud(n), cloud(n)), width)
    heights = D @ lightest_plane(D, nu)
    # At its best rho, rho + 1/(nu n) sum max(0, h - rho) is one of the heights'.
    primal = min(rho + np.maximum(heights - rho, 0).sum() / (nu * n) for rho in heights)
    # The dual: the largest v with sum_i p_i d_ij >= v for all j, p a distribution of at most 1/(nu n) each.
    dual = linprog(
        np.r_[np.zeros(n), -1.0],
        A_ub=np.column_stack([-D.T, np.ones(n)]),
        b_ub=np.zeros(n),
        A_eq=np.r_[np.ones(n), 0.0][None, :],
        b_eq=[1.0],
        bounds=[(0, 1 / (nu * n))] * n + [(None, None)],
    )
    assert_allclose(primal, -dual.fun, rtol=1e-6)


def test_the_sigmoid_is_dd_tools():
    d = np.array([0.0, 1e-4, 0.5, 2.0, 30.0])
    assert_allclose(saturate(d, 1.5), 2 / (1 + np.exp(-(d**2) / 1.5**2)) - 1, atol=1e-15)
    assert_array_equal(saturate(d, None), d)
    plain = LinearProgrammingDescription(width=1.5).fit([[0.0]])
    assert_allclose(plain.score_samples(d[:, None]), 1 - saturate(d, 1.5), atol=1e-15)
    plane = LinearProgrammingDescription(width=1.5).fit(cloud())
    heights = saturate(cdist(cloud(5, seed=1), cloud()[plane.support_]), 1.5) @ plane.weights_
    assert_allclose(plane.score_samples(cloud(5, seed=1)), 1 - heights)


def test_only_targets_of_positive_weight_are_needed_to_score():
    X, new = cloud(60), cloud(8, seed=1)
    plane = LinearProgrammingDescription(width=None, metric="precomputed").fit(cdist(X, X))
    assert len(plane.support_) < 15
    block = cdist(new, X)
    spoilt = np.full_like(block, 1e6)
    spoilt[:, plane.support_] = block[:, plane.support_]
    assert_array_equal(plane.score_samples(spoilt), plane.score_samples(block))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nu": -0.1}, "nu must be a number in"),
        ({"width": 0.0}, "width must be a number > 0, 'auto' or None, not 0.0"),
        ({"width": "wide"}, "width must be a number"),
    ],
)
def test_invalid_arguments_of_lpdd_are_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        LinearProgrammingDescription(**arguments).fit(cloud(10))
