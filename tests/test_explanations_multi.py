"""Explanations and rules of classifiers that decide by neighbourhoods of several sizes."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from eocc import EntropicOneClassClassifier
from eocc.explain import LocalRatio, Neighbourhoods, NonTargets, Rung, Term, explain, rules
from eocc.explain.rules import border_degree_in_words
from eocc.measures import MEASURES, Composite
from eocc.regions.memberships import Bell, Gaussian, Trapezoidal, Triangular, TwoSided
from eocc.surprise.score import rungs
from samples import samples


def words(told):
    return " ".join(str(told).split())


def agrees(clf, new):
    """Explain, and compare with what the classifier says itself."""
    explanations = explain(clf, new)
    assert [one.is_target for one in explanations] == (clf.predict(new) == 1).tolist()
    assert_array_equal([one.membership for one in explanations], clf.membership(new))
    assert_array_equal([one.ratio for one in explanations], clf.judge(new).ratios)
    assert_array_equal([one.neighbourhoods.p_value for one in explanations], clf.p_values(new))
    border = clf.surprise_model_.border
    for one in explanations:
        known = one.neighbourhoods
        assert (one.runner_up, one.profile, one.reach, known.border) == (None, None, 1.0, border.at)
        assert_allclose(sum(term.amount for term in known.terms), known.surprise, rtol=1e-9, atol=1e-12)
        assert_allclose(border.ratios(np.array([known.surprise]))[0], one.ratio, rtol=1e-12)
        assert json.loads(json.dumps(one.to_dict(), allow_nan=False))["neighbourhoods"]["ratio"] == one.ratio
        assert one.decision[1:] in words(one)
    return explanations


@pytest.fixture(scope="module")
def frame():
    return load_iris(as_frame=True).data


@pytest.fixture(scope="module")
def clf(frame):
    return EntropicOneClassClassifier().fit(frame[:50])


@pytest.mark.parametrize("name", MEASURES)
def test_explanations_agree_with_the_classifier(name):
    training, new = samples(name)
    clf = EntropicOneClassClassifier(measure=name).fit(training)
    rows = clf.transform(new)
    for one, row in zip(agrees(clf, new), rows, strict=True):
        nearest = one.nearest.exemplars
        order = np.argsort(row, kind="stable")[:3]
        assert [exemplar.index for exemplar in nearest] == order.tolist()
        assert [exemplar.dissimilarity for exemplar in nearest] == row[order].tolist()
        assert one.nearest.region == clf.labels_[order[0]]
        assert one.difference.dissimilarity == row[order[0]]


@pytest.mark.parametrize("name", MEASURES)
def test_a_pattern_is_explained_the_same_alone_as_in_a_batch(name):
    training, new = samples(name)
    clf = EntropicOneClassClassifier(measure=name).fit(training)
    for i, explanation in enumerate(explain(clf, new)):
        assert explain(clf, new[i : i + 1]) == [explanation]


@pytest.mark.parametrize("name", sorted(set(MEASURES) - {"precomputed"}))
def test_known_non_targets_are_told_of_for_every_measure(name):
    training, new = samples(name)
    _, others = samples(name, seed=7)
    labels = [1] * 5 + [-1] * 5
    both = np.concatenate([new, others]) if isinstance(new, np.ndarray) else _joined(new, others)
    clf = EntropicOneClassClassifier(measure=name, synthesis="validation").fit(training, validation=(both, labels))
    for i, one in enumerate(agrees(clf, others)):
        comparison = one.neighbourhoods.non_targets
        # A pattern among those known lies at no distance from itself; a copy may come before it.
        assert (comparison.n_known, comparison.dissimilarity) == (5, 0.0)
        assert comparison.index <= i
        own = [term.amount for term in one.neighbourhoods.terms if term.kind in ("ladder", "local ratio")]
        assert_allclose(sum(own) + comparison.amount, one.neighbourhoods.surprise, atol=1e-12)
        assert f"{comparison.amount:.3g} by the comparison with 5 known non-targets" in words(one)


def _joined(one, other):
    return one + other if isinstance(one, list) else pd.concat([one, other], ignore_index=True)


def test_the_figures_by_hand():
    # The largest distance, 8, is the unit. At 2 the nearest are 0.125, 0.25, 0.75 away; of three neighbours that a
    # left-out pattern has, the nearest alone is on the ladder.
    clf = EntropicOneClassClassifier().fit([[0.0], [1.0], [3.0], [8.0]])
    (one,) = explain(clf, [[2.0]])
    known = one.neighbourhoods
    assert [exemplar.index for exemplar in one.nearest.exemplars] == [1, 2, 0]
    # Left out, 0 and 1 are 1 apart, 3 is 2 from its nearest, 8 is 5: the median of 1, 1, 2, 5 is 1.5.
    assert [(rung.n_nearest, rung.distance, rung.usual) for rung in known.ladder] == [(1, 0.125, 1.5 / 8)]
    # Mean distances to the others: 4, 10/3, 10/3 and 20/3 for 0, 1, 3 and 8, of which a tenth is shared.
    extents = 0.9 * np.array([4, 10 / 3, 10 / 3]) + 0.1 * np.mean([4, 10 / 3, 10 / 3, 20 / 3])
    assert (known.local.n_nearest, known.equalised) == (3, None)
    assert_allclose([known.local.distance, known.local.ratio], [4 / 3 / 8, 4 / 3 / extents.mean()])
    assert [term.kind for term in known.terms] == ["ladder", "local ratio"]
    assert_allclose(known.surprise, sum(part * term.value for part, term in zip((0.8, 0.2), known.terms, strict=True)))
    assert f"80% of {known.terms[0].value:.3g} (distances) and 20% of {known.terms[1].value:.3g} (ratio)." in words(one)
    assert known.n_farther == 4
    assert "its nearest training pattern lies within 0.125, that of a usual one within 0.188." in words(one)


def test_the_ladder_tells_distances_to_its_rungs():
    clf = EntropicOneClassClassifier().fit(np.random.default_rng(0).normal(size=(200, 2)))
    (one,) = explain(clf, [[0.5, 0.5]])
    row = np.sort(clf.transform([[0.5, 0.5]])[0])
    counts = rungs(199).tolist()
    assert [rung.n_nearest for rung in one.neighbourhoods.ladder] == counts
    assert [rung.distance for rung in one.neighbourhoods.ladder] == row[np.array(counts) - 1].tolist()
    assert f"its nearest {', '.join(map(str, counts))} training patterns lie within" in words(one)


def test_a_long_ladder_is_told_in_part():
    ladder = tuple(Rung(2**k, float(k), k / 2) for k in range(7))
    said = " ".join(
        made(1.0, ladder=ladder, local=LocalRatio(4, 1.0, 2.0), terms=(Term("ladder", 0, None, 1.0, 1.0),) * 2).lines()
    )
    assert "its nearest 1, 4, 8, 16, 64 training patterns lie within 0, 2, 3, 4, 6, those of a usual" in " ".join(
        said.split()
    )


def test_the_other_view_is_told_with_its_own_neighbour_and_difference(clf, frame):
    base, equalised = (view.weights for view in clf.surprise_model_.surprise.views)
    for one, row in zip(explain(clf, frame[::9]), frame.to_numpy()[::9], strict=True):
        other = one.neighbourhoods.equalised
        gaps = np.sqrt((equalised * (frame.to_numpy()[:50] - row) ** 2).sum(axis=1)) / clf.measure_.delta
        assert other.neighbour.index == np.argmin(gaps)
        assert_allclose(other.difference.dissimilarity, gaps.min(), atol=1e-12)
        assert_allclose([rung.distance for rung in other.ladder], np.sort(gaps)[rungs(49) - 1], atol=1e-9)
        assert [(term.kind, term.view) for term in one.neighbourhoods.terms] == [
            ("ladder", 0), ("local ratio", 0), ("ladder", 1), ("local ratio", 1),
        ]  # fmt: skip
    assert_array_equal(base, np.ones(4))


def test_a_difference_that_counts_only_where_weights_are_equalised_is_told():
    numbers = ["AB-1234", "AB-1299", "CD-4711", "CD-4007", "AB-8281", "CD-1918", "AB-5555", "CD-8088"]
    clf = EntropicOneClassClassifier(measure="string-edit").fit(numbers)
    (one,) = explain(clf, ["AB--12x4"])
    assert one.difference.meaning == "by edits that turn the pattern into the neighbour"
    assert "Dissimilarity 0.25 from neighbour 0, by edits" in words(one)
    assert "with every weight made equally telling" in words(one)
    assert "most by delete '-' at position 3 (99%)" in words(one)


def made(ratio, p_value=0.5, **changed):
    plain = {"rate": 0.05, "n_left_out": 9, "surprise": 0.0, "border": 1.0, "ladder": (), "local": None,
             "equalised": None, "terms": (), "non_targets": None}  # fmt: skip
    return Neighbourhoods(ratio, p_value, **{**plain, **changed})


@pytest.mark.parametrize(
    ("ratio", "place"),
    [
        (0.001, "far inside the border"),
        (0.7, "at 0.70 of the border"),
        (0.9999, "just inside the border"),
        (1 + 1e-10, "just inside the border"),
        (1.001, "just beyond the border"),
        (2.34, "at 2.34 times the border"),
    ],
)
def test_how_far_out_in_words(ratio, place):
    assert made(ratio).place == f"{place} of what is normal"


@pytest.mark.parametrize(
    ("p_value", "rarity"),
    [
        (0.1, "none lies as far out: p-value 0.1."),
        (0.2, "1 lies as far out or farther: p-value 0.2."),
        (1.0, "9 lie as far out or farther: p-value 1."),
    ],
)
def test_how_rare_in_words(p_value, rarity):
    assert made(1.0, p_value).rarity() == f"Of 9 training patterns, each left out in turn, {rarity}"


def test_the_text_is_short_and_names_features(clf, frame):
    outside = explain(clf, frame[75:76])[0]
    lines = str(outside).splitlines()
    assert lines[0].startswith(f"Not a target: at {outside.ratio:.3g} times the border of what is normal, nearest to")
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 16
    assert "petal length (cm): 4.4, neighbour 1.7" in str(outside)
    inside = explain(clf, frame[0:1])[0]
    assert inside.decision == f"target: at {inside.ratio:.2f} of the border of what is normal, in region 0"


@pytest.mark.parametrize("training", [[[1.0]], [[1.0], [1.0]], np.ones((6, 2)), [[0.0], [1.0]]])
def test_few_patterns_and_copies_are_explained(training):
    training = np.array(training)
    clf = EntropicOneClassClassifier().fit(training)
    alike, far = agrees(clf, np.vstack([training[:1], training[:1] + 1e3]))
    assert alike.is_target
    assert not far.is_target
    assert all("What decides" in words(one) for one in (alike, far))
    assert rules(clf)


def test_copies_keep_no_distance_of_which_a_text_could_speak():
    clf = EntropicOneClassClassifier().fit(np.ones((6, 2)))
    for one in explain(clf, [[1.0, 1.0], [1e300, -1e300]]):
        assert one.neighbourhoods.local is None
        assert "What decides is how far it lies from the training patterns." in words(one)
        json.dumps(one.to_dict(), allow_nan=False)


def test_labels_in_y_count_rows_of_the_fit(frame):
    y = np.where(np.arange(150) < 50, 1, -1)
    turned = frame.iloc[::-1].reset_index(drop=True)
    clf = EntropicOneClassClassifier(synthesis="validation").fit(turned, y[::-1])
    inside, outside = agrees(clf, frame.iloc[[0, 75]])
    assert inside.nearest.exemplars[0].row == 149
    assert outside.neighbourhoods.non_targets.n_known == 100
    assert outside.neighbourhoods.non_targets.index == 99 - 25
    kinds = [term.kind for term in outside.neighbourhoods.terms]
    assert kinds[4:7] == ["ratio to non-targets"] * 2 + ["densities"]
    assert [term.weight for term in outside.neighbourhoods.terms[7:]] == [0, 1, 2, 3]


def test_non_targets_without_dissimilarities_only_weigh():
    training, new = samples("precomputed")
    clf = EntropicOneClassClassifier(measure="precomputed", synthesis="validation")
    clf.fit(training, validation=(new, [1, 1, 1, -1, -1]))
    for one in agrees(clf, new):
        assert one.neighbourhoods.non_targets == NonTargets(0.0, None, None, None)
        assert "by these, weighed so as to tell known non-targets best." in words(one)


def test_precomputed_non_targets_in_y_are_compared_with():
    training, new = samples("precomputed")
    y = np.where(np.arange(20) < 14, 1, -1)
    clf = EntropicOneClassClassifier(measure="precomputed", synthesis="validation").fit(training, y)
    for one, row in zip(agrees(clf, new), new, strict=True):
        comparison = one.neighbourhoods.non_targets
        assert (comparison.n_known, comparison.index) == (6, np.argmin(row[14:]))
        assert_allclose(comparison.dissimilarity, row[14:].min() / training[:14, :14].max())


def test_composite_records_speak_of_the_neighbour_in_every_part():
    rng = np.random.default_rng(0)
    records = [{"size": rng.normal(size=2), "name": f"{'ab'[i % 2]}{i}"} for i in range(12)]
    clf = EntropicOneClassClassifier(measure=Composite({"size": "euclidean", "name": "string-edit"})).fit(records)
    (one,) = agrees(clf, [{"size": [9.0, 9.0], "name": "zz"}])
    inner = [part.inner for part in one.difference.contributions]
    assert "neighbour" in inner[0].contributions[0].text
    assert inner[1].meaning == "by edits that turn the pattern into the neighbour"
    assert "prototype" not in str(one.difference)


@pytest.mark.parametrize("rate", [None, 0.2])
def test_rules_say_what_decides(frame, rate):
    clf = EntropicOneClassClassifier(false_alarm_rate=rate).fit(frame[:50])
    share = {None: 95, 0.2: 80}[rate]
    for number, rule in enumerate(rules(clf)):
        region = clf.regions_[number]
        assert (rule.region, rule.n_members, rule.reach) == (number, len(region.members), 1.0)
        assert rule.beyond == clf.calibration_.rate == (rate or 0.05)
        text = words(rule)
        assert text.startswith(f"IF the nearest training pattern is one of region {number} ({rule.n_members} pattern")
        assert f"within the border, which about {share}% of new targets keep, judging by left-out training" in text
        assert "THEN target to the degree exp(-r^2 / 2), where r is 1 at the border." in text
        values = frame["petal width (cm)"].iloc[region.members]
        assert (rule.ranges[3].minimum, rule.ranges[3].maximum) == (values.min(), values.max())
        json.dumps(rule.to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", MEASURES)
def test_rules_of_every_measure_print(name):
    training, _ = samples(name)
    for rule in rules(EntropicOneClassClassifier(measure=name).fit(training)):
        assert str(rule).startswith(f"IF the nearest training pattern is one of region {rule.region} ")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (Gaussian(), "exp(-r^2 / 2)"),
        (TwoSided(), "exp(-r^2 / 2)"),
        (Bell(slope=1.5), "1 / (1 + r^3)"),
        (Triangular(support=3), "1 - r / 3, 0 from r = 3 on"),
        (Trapezoidal(core=0.5, support=2), "1 up to r = 0.5, then in a straight line down to 0 at r = 2"),
    ],
)
def test_memberships_in_words(function, said):
    assert border_degree_in_words(function) == f"{said}, where r is 1 at the border"
