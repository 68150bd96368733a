"""The rivals that reconstruct a row: principal components, auto-encoder, self-organising map."""

import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from eocc.rivals.reconstructions import AutoEncoder, PrincipalComponents, SelfOrganisingMap

CROSS = np.array([[-2.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def cloud(n=40, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 7


def curve(n=80, seed=0):
    angle = np.random.default_rng(seed).uniform(0, np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle), angle])


# principal components


def test_the_error_is_the_distance_to_the_principal_line():
    rival = PrincipalComponents(n_components=1, rejection_rate=0.0).fit(CROSS)
    assert_allclose(rival.score_samples([[5.0, 0.0], [0.0, 3.0], [1.0, -2.0]]), [0, -9, -4], atol=1e-12)
    assert_allclose(rival.training_scores_, [0, 0, -1, -1], atol=1e-12)
    assert rival.offset_ == pytest.approx(-1)


@pytest.mark.parametrize("asked", [0.5, 0.9, 0.99, 1, 3, 4])
def test_components_and_errors_are_scikit_learns(asked):
    X, new = cloud(), cloud(10, seed=1)
    rival = PrincipalComponents(n_components=asked).fit(X)
    analysis = PCA(n_components=asked, svd_solver="full").fit(X)
    rebuilt = analysis.inverse_transform(analysis.transform(new))
    assert rival.n_components_ == analysis.n_components_
    assert_allclose(rival.score_samples(new), -((new - rebuilt) ** 2).sum(axis=1), rtol=1e-9)


@pytest.mark.parametrize("asked", [0.999999, 5, 50])
def test_one_direction_is_left_out_when_all_are_asked_for(asked):
    rival = PrincipalComponents(n_components=asked).fit(cloud())
    last = PCA(svd_solver="full").fit(cloud()).components_[-1]
    assert rival.n_components_ == 4
    assert_allclose(rival.training_scores_, -(((cloud() - cloud().mean(axis=0)) @ last) ** 2), rtol=1e-8)
    assert rival.offset_ < 0


def test_the_direction_left_out_is_one_in_which_targets_vary():
    X = np.column_stack([CROSS, np.full(4, 0.1)])
    rival = PrincipalComponents(n_components=3).fit(X)
    assert rival.n_components_ == 1
    assert_allclose(rival.score_samples([[0.0, 3.0, 4.1]]), [-25])


def test_without_components_the_error_is_the_distance_to_the_mean():
    assert_allclose(PrincipalComponents(n_components=0).fit(CROSS).score_samples([[3.0, 4.0]]), [-25])
    one_row = PrincipalComponents().fit([[1.0, 1.0]])
    assert one_row.n_components_ == 0
    assert_allclose(one_row.score_samples([[4.0, 5.0]]), [-25])
    assert_allclose(PrincipalComponents().fit([[0.0], [2.0], [7.0]]).score_samples([[5.0]]), [-4])


@pytest.mark.parametrize("asked", [0.0, 1.0, 1.5, -1, True, "mle", None])
def test_invalid_n_components_is_an_error(asked):
    with pytest.raises(ValueError, match="n_components must be a number in"):
        PrincipalComponents(n_components=asked).fit(CROSS)


@pytest.mark.parametrize(("d", "asked"), [(1, 0), (2, 1), (17, 1), (17, 9), (64, 33), (300, 20)])
def test_scores_do_not_depend_on_the_batch_for_any_number_of_columns(d, asked):
    rng = np.random.default_rng(d)
    X, new = rng.normal(size=(90, d)), rng.normal(size=(33, d))
    for rival in (PrincipalComponents(n_components=asked), AutoEncoder(max_iter=5, random_state=0)):
        scores = rival.fit(X).score_samples(new)
        assert_array_equal([rival.score_samples(row[None])[0] for row in new], scores)
        assert_array_equal(rival.score_samples(new[5:12]), scores[5:12])


# auto-encoder


@pytest.mark.parametrize("d", [1, 3, 6])
def test_errors_are_those_of_scikit_learns_network(d):
    X, new = cloud(60, d), cloud(12, d, seed=1)
    rival = AutoEncoder(n_hidden=2, random_state=3, max_iter=40).fit(X)
    mean, scale = X.mean(axis=0), np.sqrt(X.var(axis=0).mean())
    seed = int(np.random.default_rng(3).integers(2**31))
    network = MLPRegressor(
        hidden_layer_sizes=(2,), activation="tanh", solver="lbfgs", max_iter=40, random_state=seed
    )  # fmt: skip
    inputs = (X - mean) / scale
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(inputs, inputs.squeeze())
    copies = network.predict((new - mean) / scale).reshape(new.shape) * scale + mean
    assert_allclose(rival.score_samples(new), -((new - copies) ** 2).sum(axis=1), rtol=1e-7)
    assert rival.n_iter_ == network.n_iter_


def test_a_common_unit_only_scales_the_error():
    X, new = cloud(60, 4), cloud(12, 4, seed=1)
    in_metres = AutoEncoder(n_hidden=2, random_state=0, max_iter=50).fit(X).score_samples(new)
    # A power of two, so that only the exponent changes.
    in_another = AutoEncoder(n_hidden=2, random_state=0, max_iter=50).fit(1024 * X).score_samples(1024 * new)
    assert_allclose(in_another, 1024**2 * in_metres, rtol=1e-9)


def test_a_bent_sheet_is_copied_better_than_a_flat_one_could():
    bent = AutoEncoder(n_hidden=2, random_state=0).fit(curve())
    flat = PrincipalComponents(n_components=1).fit(curve())
    assert bent.training_scores_.mean() > flat.training_scores_.mean()


def test_the_network_depends_only_on_the_seed():
    scores = [AutoEncoder(random_state=s, max_iter=20).fit(cloud()).training_scores_ for s in (0, 0, 1)]
    assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


@pytest.mark.parametrize("units", [0, 2.5, "many", None, True])
def test_invalid_n_hidden_is_an_error(units):
    with pytest.raises(ValueError, match="n_hidden must be an integer >= 1"):
        AutoEncoder(n_hidden=units).fit(cloud())


def test_invalid_max_iter_is_an_error():
    with pytest.raises(ValueError, match="max_iter must be an integer >= 1"):
        AutoEncoder(max_iter=0).fit(cloud())


# self-organising map


def test_the_score_is_minus_the_squared_distance_to_the_nearest_unit():
    rival = SelfOrganisingMap(random_state=0, n_epochs=3).fit(cloud())
    new = cloud(10, seed=1)
    assert rival.units_.shape == (25, 5)
    assert_allclose(rival.score_samples(new), -(cdist(new, rival.units_).min(axis=1) ** 2))
    assert_allclose(rival.training_scores_, rival.score_samples(cloud()))


def test_a_single_unit_moves_as_kohonens_rule_says():
    X = np.array([[0.0], [1.0]])
    rival = SelfOrganisingMap(grid=(1, 1), n_epochs=2, random_state=0).fit(X)
    ends = []
    for start in X:
        for order in ([0, 1], [1, 0]):
            unit = start.copy()
            # The learning rate falls as 0.5 / (1 + t / (n_epochs / 2)), t the number of the epoch.
            for rate in (0.5, 0.25):
                for index in order:
                    unit = unit + rate * (X[index] - unit)
            ends.append(unit[0])
    assert np.isclose(rival.units_[0, 0], ends).any()


def test_neighbours_on_the_grid_follow_with_the_gaussian_of_their_distance():
    # One target, so all units start there; shown only itself, none moves.
    assert_array_equal(SelfOrganisingMap(grid=(2, 3), random_state=0).fit([[4.0, 5.0]]).units_, [[4.0, 5.0]] * 6)
    X = np.array([[0.0], [8.0]])
    narrow = SelfOrganisingMap(grid=(1, 4), width=0.01, random_state=0).fit(X).units_
    wide = SelfOrganisingMap(grid=(1, 4), width=4.0, random_state=0).fit(X).units_
    assert np.isin(narrow, X).all()  # a neighbour a hundred widths away does not move
    assert not np.isin(wide, X).any()


def test_units_settle_on_separate_clusters():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 2)) * 0.1, rng.normal(size=(30, 2)) * 0.1 + 50])
    rival = SelfOrganisingMap(random_state=0).fit(X)
    assert rival.training_scores_.min() > -1
    assert rival.score_samples([[0.0, 50.0]])[0] < -100


def test_a_common_unit_scales_the_map():
    units = SelfOrganisingMap(random_state=0, n_epochs=5).fit(cloud()).units_
    assert_allclose(SelfOrganisingMap(random_state=0, n_epochs=5).fit(1024 * cloud()).units_, 1024 * units, rtol=1e-9)


def test_the_map_depends_only_on_the_seed():
    units = [SelfOrganisingMap(random_state=s, n_epochs=2).fit(cloud()).units_ for s in (0, 0, 1)]
    assert_array_equal(units[0], units[1])
    assert not np.array_equal(units[0], units[2])


@pytest.mark.parametrize("grid", [5, (5,), (5, 0), (2.5, 2), "55", None])
def test_invalid_grid_is_an_error(grid):
    with pytest.raises(ValueError, match="grid must be"):
        SelfOrganisingMap(grid=grid).fit(cloud())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"n_epochs": 0}, "n_epochs must be an integer >= 1"), ({"width": 0.0}, "width must be a number in"),
     ({"width": 7.1}, "width must be a number in"), ({"width": "a"}, "width must be a number in")],
)  # fmt: skip
def test_invalid_epochs_and_width_are_errors(arguments, words):
    with pytest.raises(ValueError, match=words):
        SelfOrganisingMap(**arguments).fit(cloud())


def test_missing_minisom_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "minisom", None)
    with pytest.raises(ImportError, match=r"SelfOrganisingMap needs the package minisom: pip install minisom"):
        SelfOrganisingMap().fit(cloud())
