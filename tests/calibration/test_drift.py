"""Drift: the test is valid for batches of any size, finds shifts, names the column, and says the same everywhere."""

from itertools import combinations, product
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, hypergeom

from doubles import plain
from eocc import SurpriseClassifier, load
from eocc.calibration.conformal import Calibration
from eocc.calibration.drift import ALPHA, NORMAL, UNUSUAL, ColumnDrift, Drift, DriftCounts, tail
from eocc.cli import main
from eocc.measures import Gower
from eocc.report import write_report
from eocc.streaming import score_stream
from samples import MAKERS, samples

SENTENCE = "11 of 20 rows rejected, 5 % expected: the new data differ from the training data, most of all in temp_c."


def machines(rng, n, warmer=0):
    """Readings of machines; the first `warmer` rows are too warm."""
    frame = pd.DataFrame({"temp_c": rng.normal(60, 2, n), "load": rng.uniform(0, 1, n), "rpm": rng.normal(900, 30, n)})
    frame.loc[: warmer - 1, "temp_c"] += 25
    frame["rpm"] /= 20
    return frame


@pytest.fixture(scope="module")
def fitted():
    return SurpriseClassifier().fit(machines(np.random.default_rng(0), 300))


def tail_by_listing(count, rank, n_new, n_known):
    """Of all orders of new and known values, the share with `count` new ones below the known one of this rank."""
    found = 0
    for places in combinations(range(n_new + n_known), n_known):
        found += places[rank - 1] - (rank - 1) >= count
    return found / comb(n_new + n_known, n_known)


@pytest.mark.parametrize(("n_new", "n_known"), [(1, 1), (1, 4), (3, 4), (5, 2), (4, 5)])
def test_the_tail_is_the_share_of_all_orders(n_new, n_known):
    for rank in range(1, n_known + 1):
        for count in range(n_new + 1):
            expected = tail_by_listing(count, rank, n_new, n_known)
            assert tail(count, rank, n_new, n_known) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("count", "rank", "n_new", "n_known"), [
    (13, 5, 200, 1000), (700, 30, 1000, 999), (3, 50, 20, 999), (5_010_000, 111_500, 10_000_000, 223_000),
])  # fmt: skip
def test_the_tail_is_that_of_a_hypergeometric_distribution(count, rank, n_new, n_known):
    expected = hypergeom(n_known + n_new, n_known, count + rank - 1).cdf(rank - 1)
    assert tail(count, rank, n_new, n_known) == pytest.approx(expected, rel=1e-8)


def test_the_tail_of_millions_of_rows_is_finite_and_falls():
    tails = [tail(count, 3277, 10_000_000, 65_536) for count in (490_000, 500_000, 510_000, 600_000, 2_000_000)]
    assert tails == sorted(tails, reverse=True)
    assert 0.3 < tails[1] < 0.7
    assert 0 <= tails[-1] < tails[-2] < 1e-10


def test_the_p_value_by_hand():
    # 99 held-out margins 1, ..., 99. Rows below the 5th are rejected. Rows below the 10th, 25th and 50th count too, by
    # the tails of the 11th, 26th and 51st; so do rows above the 90th, 75th and 50th, by the same tails from above. The
    # median is 45 above the threshold, and a row must be 0.02 * 45 = 0.9 beyond the 10th, 25th and 50th.
    calibration = Calibration(np.arange(1.0, 100.0), 0.05)

    def drift(margins):
        rows = np.array(margins)[:, None]
        counts = DriftCounts(calibration, calibration.threshold, calibration.margins[:, None], [], (UNUSUAL, NORMAL))
        return counts.add(rows[:, 0], rows).result()

    two = drift([4.5, 4.5])
    assert (two.n_rejected, two.n_expected) == (2, 0.1)
    assert drift([50.0] * 131).n_expected == 6.55  # 0.05 * 131 is 6.550000000000001
    assert two.p_value == pytest.approx(2 * 5 * 6 / (100 * 101))
    assert drift([24.15] * 4).p_value == pytest.approx(12 * 51 * 52 * 53 * 54 / (100 * 101 * 102 * 103))
    four = drift([24.05] * 4)
    assert four.n_rejected == 0
    assert four.p_value == pytest.approx(12 * 26 * 27 * 28 * 29 / (100 * 101 * 102 * 103))
    assert drift([75.85] * 6).p_value == pytest.approx(12 * np.prod(np.arange(51, 57) / np.arange(100, 106)))
    assert drift([75.95] * 4).p_value == pytest.approx(12 * 26 * 27 * 28 * 29 / (100 * 101 * 102 * 103))
    said = str(drift([75.95] * 9 + [60.0]))
    assert said.startswith("0 of 10 rows rejected, 5 % expected; 90 % are more normal than 75 % of the ")
    assert "; 100 % are more unusual than 75 % of the training rows, 25 % expected: the new" in str(drift([24.0] * 9))
    assert drift([5.0] * 9).n_rejected == 0  # as many held-out rows are more unusual as the rate allows
    assert drift([4.5]).p_value == pytest.approx(0.1)
    assert drift([20.5, 50.5, 80.5] * 10).p_value == 1.0
    assert ALPHA == 0.01


@pytest.mark.parametrize("n_new", [1, 7, 100, 5000])
def test_without_drift_a_small_p_value_is_rare_however_many_rows_there_are(n_new):
    rng, n_batches, found, naive = np.random.default_rng(1), 400, [], []
    for _ in range(n_batches):
        held_out, new = np.sort(rng.normal(size=60)), rng.normal(size=n_new)
        calibration = Calibration(held_out, 0.05)
        counts = DriftCounts(calibration, calibration.threshold, held_out[:, None], [], (UNUSUAL, NORMAL))
        found.append(counts.add(new, new[:, None]).result().p_value)
        naive.append(binom.sf((calibration.p_values(new) <= 0.05).sum() - 1, n_new, 0.05))
    for level in (0.01, 0.05, 0.2):
        assert np.mean(np.array(found) <= level) <= level + 3 * np.sqrt(level / n_batches)
    # A binomial test, which takes the p-values of new rows for independent, speaks too often about large batches.
    assert (np.mean(np.array(naive) <= 0.05) > 0.2) == (n_new > 100)


def integers(rng, n):
    return rng.integers(0, 6, size=(n, 3)).astype(float)


def clouds(rng, n):
    return rng.normal(size=(n, 3)) + 4 * (rng.random((n, 1)) < 0.4)


@pytest.mark.parametrize("draw", [integers, clouds])
def test_new_rows_from_the_same_source_are_no_drift(draw):
    rng = np.random.default_rng(2)
    found = [SurpriseClassifier().fit(draw(rng, 80)).drift(draw(rng, 600)) for _ in range(30)]
    assert sum(one.p_value <= 0.05 for one in found) <= 4  # 5 or more have a probability below 0.02


def test_many_new_rows_of_integers_are_no_drift():
    # A training row that counted in the local scales of its neighbours would look less normal than new rows do.
    found = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        training, new = (rng.integers(0, 10, size=(n, 3)).astype(float) for n in (1000, 5000))
        found.append(SurpriseClassifier().fit(training).drift(new).is_drift)
    assert sum(found) <= 1


def test_half_of_new_rows_are_more_normal_than_half_of_the_training_rows():
    shares = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        clf = SurpriseClassifier().fit(rng.normal(size=(1000, 4)))
        shares.append((clf.p_values(rng.normal(size=(3000, 4))) <= 0.5).mean())
    assert abs(np.mean(shares) - 0.5) < 0.015  # 0.026 below it if left-out rows counted in local scales


@pytest.mark.parametrize(
    ("pool", "n"),
    [
        ([f"item {k:03d}" for k in range(400)], 240),
        (list(product(map(float, range(10)), repeat=3)), 600),
        (list(product(map(float, range(20)), repeat=2)), 200),
    ],
)
def test_the_rest_of_a_pool_without_copies_is_no_drift(pool, n):
    for seed in range(3):
        mixed = [pool[k] for k in np.random.default_rng(seed).permutation(len(pool))]
        assert SurpriseClassifier().fit(mixed[:n]).drift(mixed[n:]).p_value > 0.2


def test_rejections_are_compared_with_the_promised_rate():
    # The tail of 2 rejected rows takes the 50th of 999 held-out rows.
    calibration = Calibration(np.arange(1.0, 1000.0), 0.05)
    counts = DriftCounts(calibration, calibration.threshold, calibration.margins[:, None], [], (UNUSUAL,))
    found = counts.add(np.array([1.5, 1.5]), np.zeros((2, 1))).result()
    assert found.p_value == pytest.approx(2 * 50 * 51 / (1000 * 1001))


def test_training_rows_are_no_drift(setosa):
    assert not SurpriseClassifier().fit(setosa).drift(setosa).is_drift
    assert not plain(false_alarm_rate=0.05, random_state=0).fit(setosa).drift(setosa).is_drift


def test_the_sentence_is_the_same_in_python_streams_commands_and_the_report(tmp_path, fitted, capsys):
    new = machines(np.random.default_rng(4), 20, warmer=11)
    drift = fitted.drift(new)
    assert str(drift) == SENTENCE
    assert drift.is_drift
    assert (drift.n_rows, drift.n_rejected, drift.n_expected) == (20, 11, 1.0)
    assert drift.p_value < 1e-6
    assert drift.columns[0].name == "temp_c"
    assert drift.columns[0].p_value < 1e-3 < drift.columns[1].p_value
    assert score_stream(fitted, [new[:7], new[7:]], tmp_path / "s.csv").drift == drift
    fitted.save(tmp_path / "m.eocc")
    new.to_csv(tmp_path / "new.csv", index=False)
    assert main(["score", str(tmp_path / "m.eocc"), str(tmp_path / "new.csv"), "-o", str(tmp_path / "s.csv")]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == f"Note: {SENTENCE}"
    assert load(tmp_path / "m.eocc").drift(new) == drift
    page = write_report(fitted, tmp_path / "r.html", new).read_text()
    assert f"<li>Drift: {SENTENCE}</li>" in page


def test_without_drift_the_command_is_silent_and_the_report_has_one_line(tmp_path, fitted, capsys):
    new = machines(np.random.default_rng(3), 20)
    fitted.save(tmp_path / "m.eocc")
    new.to_csv(tmp_path / "new.csv", index=False)
    assert main(["score", str(tmp_path / "m.eocc"), str(tmp_path / "new.csv"), "-o", str(tmp_path / "s.csv")]) == 0
    assert "differ" not in capsys.readouterr().err
    said = str(fitted.drift(new))
    assert said.endswith(" of 20 rows rejected, 5 % expected: no sign that the new data differ from the training data.")
    assert f"<li>Drift: {said}</li>" in write_report(fitted, tmp_path / "r.html", new).read_text()
    labels = np.where(np.arange(40) < 20, 1, -1)
    both = pd.concat([new, machines(np.random.default_rng(4), 20, warmer=20)])
    page = write_report(fitted, tmp_path / "r.html", both, labels).read_text()
    assert f"<li>Drift of the rows labelled normal: {said}</li>" in page


def test_a_column_that_differs_without_drift_is_named():
    columns = ColumnDrift("age", 1e-140), ColumnDrift("sex", 0.3)
    said = "52 of 1,004 rows rejected, 5 % expected: no "
    assert (
        str(Drift(0.83, 1004, 52, 50.2, columns)) == f"{said}more unusual than the training data, but different in age."
    )
    assert str(Drift(0.83, 1004, 52, 50.2, columns[1:])).startswith(f"{said}sign that")


def test_training_rows_with_copies_are_compared_as_new_ones():
    rejected = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        clf = SurpriseClassifier().fit(np.repeat(rng.normal(size=(80, 2)), 2, axis=0))
        rejected.append(clf.drift(rng.normal(size=(500, 2))).n_rejected)
        assert clf.drift(rng.normal(size=(100, 2)) + 2).is_drift
    assert 15 < np.mean(rejected) < 35  # 25 are expected


def test_columns_may_come_in_another_order():
    rng = np.random.default_rng(10)
    rows = [{"a": float(rng.integers(4)), "b": "xyz"[rng.integers(3)], "c": float(rng.integers(9))} for _ in range(150)]
    clf = SurpriseClassifier(measure="gower").fit(rows[:100])
    assert clf.drift(rows[100:]) == clf.drift([{name: row[name] for name in "cab"} for row in rows[100:]])


def test_precomputed_rows_have_their_drift(setosa):
    distances = np.linalg.norm(setosa[:, None] - setosa, axis=2)
    clf = SurpriseClassifier(measure="precomputed").fit(distances)
    assert clf.drift(distances).p_value == 1.0
    assert clf.drift(distances + 5).is_drift


def test_rows_that_are_too_normal_are_drift():
    rng = np.random.default_rng(5)
    clf = SurpriseClassifier().fit(rng.normal(size=(300, 4)))
    drift = clf.drift(0.2 * rng.normal(size=(100, 4)))
    assert drift.is_drift
    assert "more normal than" in str(drift)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"state": "worn"}, "state"),
        ({"state": "never seen"}, "state"),
        ({"heat": None}, "heat"),
        ({"on": False}, "on"),
        ({"day": "2035-01-01"}, "day"),
    ],
)
def test_the_column_that_differs_is_named_whatever_it_holds(change, name):
    rng = np.random.default_rng(6)

    def records(n):
        return [
            {"heat": float(rng.normal()), "state": "good" if rng.random() < 0.9 else "worn", "on": bool(k % 10),
             "day": np.datetime64("2031-01-01") + int(rng.integers(90))}
            for k in range(n)
        ]  # fmt: skip

    clf = SurpriseClassifier().fit(records(200))
    change = {key: np.datetime64(value) if key == "day" else value for key, value in change.items()}
    drift = clf.drift([{**record, **change} for record in records(80)])
    assert drift.columns[0].name == name
    assert drift.columns[0].p_value < 1e-6 < min(one.p_value for one in drift.columns[1:])


def test_a_column_that_is_constant_in_training_is_named_in_both_directions(fitted):
    rng = np.random.default_rng(7)
    rows = np.column_stack([np.full(100, 5.0), rng.normal(size=100)])
    for value in (4.0, 6.0):
        drift = SurpriseClassifier().fit(rows).drift(np.column_stack([np.full(30, value), rng.normal(size=30)]))
        assert str(drift).endswith("most of all in feature 0.")


def test_rare_labels_do_not_name_a_column():
    rng = np.random.default_rng(8)
    names = [{"serial": f"s{rng.integers(10**9)}", "x": float(rng.normal())} for _ in range(200)]
    drift = SurpriseClassifier(measure=Gower()).fit(names[:100]).drift(names[100:])
    assert {one.name: one.p_value for one in drift.columns}["serial"] == 1.0


@pytest.mark.parametrize("name", [*MAKERS, "precomputed"])
def test_every_measure_has_its_drift(name):
    training, new = samples(name)
    for clf in (SurpriseClassifier(measure=name), plain(measure=name, false_alarm_rate=0.2, random_state=0)):
        drift = clf.fit(training).drift(new)
        assert 0 < drift.p_value <= 1
        assert (drift.n_rows, drift.n_rejected) == (len(new), (clf.predict(new) == -1).sum())


def test_one_row_and_a_model_that_is_not_calibrated(setosa, tmp_path):
    clf = SurpriseClassifier().fit(setosa)
    assert str(clf.drift(setosa[:1] + 100)) == (
        "1 of 1 row rejected, 5 % expected: no sign that the new data differ from the training data."
    )
    with pytest.raises(ValueError, match="this model is not calibrated: fit it with a false_alarm_rate"):
        plain(random_state=0).fit(setosa).drift(setosa)
    assert score_stream(plain(random_state=0).fit(setosa), setosa, tmp_path / "s.csv").drift is None
