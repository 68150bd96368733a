"""Explanations and rules of a classifier that decides by the nearest training rows."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from eocc import SurpriseClassifier
from eocc.base.wording import format_number
from eocc.measures import MEASURES, Composite
from eocc.surprise.neighbours import neighbourhood_sizes
from samples import samples


def words(explained):
    return " ".join(getattr(explained, "detail", str(explained)).split())


def agrees(clf, new):
    """Explain, and compare with what the classifier says itself."""
    explanations = clf.explain(new)
    assert [one.is_target for one in explanations] == (clf.predict(new) == 1).tolist()
    assert_array_equal([one.membership for one in explanations], clf.membership(new))
    assert_array_equal([one.how_far_out for one in explanations], clf._score_all(new).ratios)
    assert_array_equal([one.p_value for one in explanations], clf.p_values(new))
    threshold = clf.surprise_model_.threshold
    for one in explanations:
        assert one.threshold == threshold.value
        assert one.difference == one.neighbourhoods[0].difference
        assert one.views[one.decided_by] == max(one.views.values())
        assert tuple(one.views) == clf.surprise_model_.names
        if one.outliers is None:
            assert one.surprise == one.views[one.decided_by]
        assert_allclose(threshold.ratios(np.array([one.surprise]))[0], one.how_far_out, rtol=1e-12)
        assert json.loads(json.dumps(one.to_dict(), allow_nan=False))["how_far_out"] == one.how_far_out
        assert one.decision[1:] in words(one)
    return explanations


@pytest.fixture(scope="module")
def frame():
    return load_iris(as_frame=True).data


@pytest.fixture(scope="module")
def clf(frame):
    return SurpriseClassifier().fit(frame[:50])


@pytest.mark.parametrize("name", MEASURES)
def test_explanations_agree_with_the_classifier(name):
    training, new = samples(name)
    clf = SurpriseClassifier(measure=name).fit(training)
    rows, explanations = clf.transform(new), agrees(clf, new)
    for i, (one, row) in enumerate(zip(explanations, rows, strict=True)):
        order = np.argsort(row, kind="stable")[:3]
        assert [exemplar.index for exemplar in one.exemplars] == order.tolist()
        assert [exemplar.dissimilarity for exemplar in one.exemplars] == row[order].tolist()
        assert one.compared_with == (f"nearest training row {order[0]}", one.exemplars[0])
        assert one.difference.dissimilarity == row[order[0]]
        assert clf.explain(new[i : i + 1]) == [one]  # alone as in a batch
    assert not clf._has_regions


def test_rows_are_explained_in_blocks_so_that_ctrl_c_works():
    X, sizes = np.random.default_rng(0).normal(size=(1000, 3)), []
    clf = SurpriseClassifier().fit(X)
    explain_block = clf._explain_patterns
    clf._explain_patterns = lambda patterns: sizes.append(len(patterns)) or explain_block(patterns)
    assert len(clf.explain(X[np.arange(2100) % 1000])) == 2100
    assert sizes == [524] * 4 + [4]


@pytest.mark.parametrize("name", sorted(set(MEASURES) - {"precomputed"}))
def test_known_outliers_are_compared_with_for_every_measure(name):
    training, outliers = samples(name)
    both = np.concatenate([training, outliers]) if isinstance(training, np.ndarray) else _joined(training, outliers)
    clf = SurpriseClassifier(measure=name).fit(both, [1] * 20 + [-1] * 5)
    for i, one in enumerate(agrees(clf, outliers)):
        assert one.outliers.n_known == 5
        if name != "gower" or outliers.iloc[i].notna().all():
            # A known outlier without gaps lies at distance 0 from itself; a copy may come before it.
            assert one.outliers.dissimilarity == 0
            assert one.outliers.index <= i
        model = clf.surprise_model_
        ratio = model.likelihood_ratio
        own = ratio.coefficients[0] * one.views[one.decided_by] / ratio.standardisation.scale[0]
        assert_allclose(own + one.outliers.amount, one.surprise, rtol=1e-9, atol=1e-9)
        assert "The comparison with 5 known outliers, the nearest at dissimilarity" in words(one)
        assert f"adds {format_number(one.outliers.amount)}." in words(one)


def _joined(one, other):
    return one + other if isinstance(one, list) else pd.concat([one, other], ignore_index=True)


def test_the_numbers_by_hand():
    # The largest distance, 8, is the unit. At 2 the nearest are 0.125, 0.125, 0.25 away; of the three neighbours that a
    # left-out row has, only the nearest is in the profile.
    clf = SurpriseClassifier().fit([[0.0], [1.0], [3.0], [8.0]])
    (one,) = clf.explain([[2.0]])
    assert [exemplar.index for exemplar in one.exemplars] == [1, 2, 0]
    (near,) = one.neighbourhoods
    # Left out, 0 and 1 are 1 apart, 3 is 2 from its nearest, 8 is 5: the median of 1, 1, 2, 5 is 1.5.
    assert (near.sizes, near.distances, near.medians) == ((1,), (0.125,), (1.5 / 8,))
    # Mean distances of 0, 1 and 3 to the others.
    scales = np.array([4, 10 / 3, 10 / 3])
    assert near.n_local == 3
    assert_allclose(near.local_ratio, 4 / 3 / scales.mean())
    assert list(one.views) == ["neighbours", "covariance", "cell"]
    assert "Its nearest training row lies within 0.125; for a typical training row it lies within 0.188." in words(one)


def test_the_profile_holds_the_distances_at_its_sizes():
    clf = SurpriseClassifier().fit(np.random.default_rng(0).normal(size=(200, 2)))
    (one,) = clf.explain([[0.5, 0.5]])
    row, sizes = np.sort(clf.transform([[0.5, 0.5]])[0]), neighbourhood_sizes(199).tolist()
    assert one.neighbourhoods[0].sizes == tuple(sizes)
    assert_allclose(one.neighbourhoods[0].distances, row[np.array(sizes) - 1], rtol=1e-12)
    assert f"Its {', '.join(map(str, sizes))} nearest training rows lie within" in words(one)


def test_the_equalised_weighting_has_its_own_neighbour_and_difference(clf, frame):
    equalised = clf._weightings["variance-equalised"]
    for one, row in zip(clf.explain(frame[50::9]), frame.to_numpy()[50::9], strict=True):
        near = one.neighbourhoods[1]
        gaps = np.sqrt((equalised * (frame.to_numpy()[:50] - row) ** 2).sum(axis=1)) / clf.measure_.delta
        assert near.neighbour.index == np.argmin(gaps)
        assert_allclose(near.difference.dissimilarity, gaps.min(), atol=1e-12)
        assert len(one.neighbourhoods) == 2


def test_a_training_row_is_compared_with_the_others(clf, frame):
    alike, copied = clf.explain(frame[7:8])[0], clf.explain(frame[7:8] + 1e-13)[0]
    assert 7 not in [exemplar.row for exemplar in (*alike.exemplars, *copied.exemplars)]
    assert 7 not in [near.neighbour.row for near in alike.neighbourhoods]
    assert alike.exemplars[0].dissimilarity == alike.neighbourhoods[0].distances[0] > 0


def test_a_difference_that_counts_only_with_equalised_weights_is_named():
    numbers = ["AB-1234", "AB-1299", "CD-4711", "CD-4007", "AB-8281", "CD-1918", "AB-5555", "CD-8088"]
    clf = SurpriseClassifier(measure="string-edit").fit(numbers)
    text = words(clf.explain(["AB--12x4"])[0])
    assert "Dissimilarity 0.25 from the nearest training row 0, by edits" in text
    assert "with variance-equalised weights" in text
    assert "mostly by delete '-' at position 3 (99%)" in text


def test_the_p_value_holds_for_all_rows_if_few_margins_are_kept(monkeypatch):
    monkeypatch.setattr("eocc.classifiers.surprise.MOST_BINS", 100)
    X = np.random.default_rng(0).normal(size=(1000, 2))
    clf = SurpriseClassifier(prototypes=200).fit(X)
    margins, new = clf._score_all(X).margins, np.linspace(0, 4, 40)[:, None] * [1.0, 0.0]
    assert len(clf.calibration_.margins) == 100
    for one, margin in zip(clf.explain(new), clf._score_all(new).margins, strict=True):
        most = round(one.p_value * 1001)
        # The rank of the next margin that is kept: one of the 100 stands for ten rows, up to rounding.
        assert most - 12 <= (margins <= margin).sum() <= most + 2


def test_the_detail_is_short_and_names_columns(clf, frame):
    outside = clf.explain(frame[75:76])[0]
    lines = outside.detail.splitlines()
    assert lines[0].startswith(f"Rejected: {outside.how_far_out:.3g} times as far out as the limit. Membership")
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 16
    assert "petal length (cm): 4.4, neighbour 1.7" in outside.detail


@pytest.mark.parametrize("training", [[[1.0]], [[1.0], [1.0]], np.ones((6, 2)), [[0.0], [1.0]]])
def test_few_rows_and_copies_are_explained(training):
    training = np.array(training)
    clf = SurpriseClassifier().fit(training)
    alike, far = agrees(clf, np.vstack([training[:1], training[:1] + 1e3]))
    assert not far.is_target
    assert alike.how_far_out < far.how_far_out
    assert clf.rules()


def test_labels_in_y_count_rows_of_the_fit(frame):
    y = np.where(np.arange(150) < 50, 1, -1)
    turned = frame.iloc[::-1].reset_index(drop=True)
    inside, outside = agrees(SurpriseClassifier().fit(turned, y[::-1]), frame.iloc[[0, 75]])
    assert (inside.exemplars[0].row, inside.exemplars[0].index) == (149 - 17, 49 - 17)  # row 17 is nearest to row 0
    assert (outside.outliers.n_known, outside.outliers.index) == (100, 99 - 25)


def test_precomputed_outliers_are_compared_with():
    training, new = samples("precomputed")
    clf = SurpriseClassifier(measure="precomputed").fit(training, np.where(np.arange(20) < 14, 1, -1))
    for one, row in zip(agrees(clf, new), new, strict=True):
        assert (one.outliers.n_known, one.outliers.index) == (6, np.argmin(row[14:]))
        assert_allclose(one.outliers.dissimilarity, row[14:].min() / training[:14, :14].max())


def test_composite_records_name_the_neighbour_in_every_part():
    rng = np.random.default_rng(0)
    records = [{"size": rng.normal(size=2), "name": f"{'ab'[i % 2]}{i}"} for i in range(12)]
    clf = SurpriseClassifier(measure=Composite({"size": "euclidean", "name": "string-edit"})).fit(records)
    (one,) = agrees(clf, [{"size": [9.0, 9.0], "name": "zz"}])
    assert "neighbour" in one.difference.contributions[0].inner.contributions[0].text
    assert "prototype" not in str(one.difference)


@pytest.mark.parametrize("rate", [None, 0.2])
def test_rules_say_what_decides(frame, rate):
    clf = SurpriseClassifier(false_alarm_rate=rate).fit(frame[:50])
    share = {None: 95, 0.2: 80}[rate]
    for number, rule in enumerate(clf.rules()):
        region = clf.regions_[number]
        assert (rule.region, rule.n_members) == (number, len(region.members))
        text = words(rule)
        assert text.startswith(f"Region {number}, {rule.n_members} of 50 rows: ")
        assert f"accepted if its surprise is at most the limit, as for about {share}% of new normal rows." in text
        assert "It is normal to the degree exp(-r^2 / 2), where r = 1 at the limit." in text
        values = frame["petal width (cm)"].iloc[region.members]
        assert (rule.columns[3].low, rule.columns[3].high) == (values.min(), values.max())
        json.dumps(rule.to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", MEASURES)
def test_rules_of_every_measure_print(name):
    training, _ = samples(name)
    for rule in SurpriseClassifier(measure=name).fit(training).rules():
        assert str(rule).startswith(f"Region {rule.region}, ")


def test_few_prototypes_are_named_as_such(frame):
    clf = SurpriseClassifier(prototypes=8).fit(frame[:50])
    (one,) = agrees(clf, frame[75:76])
    first = one.exemplars[0]
    assert (one.n_prototypes, one.compared_with[0]) == (8, f"nearest prototype {first.name}")
    assert first.row == clf.training_indices_[clf.prototype_indices_[first.column]]
    assert all("A row whose nearest prototype is one of these" in rule.condition for rule in clf.rules())
