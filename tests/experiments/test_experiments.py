"""The protocol, the statistics and the tables of the comparisons."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.entropic.search import GeneticSearch
from eocc.experiments.cells import SYSTEMS, Cell, Figures, can_run, forms_of, measured_quality, run_cell
from eocc.experiments.figures import draw_ranks
from eocc.experiments.protocol import (
    ALL_ROWS,
    IamSource,
    TableSource,
    UciSource,
    fold_rows,
    normalised,
    rng_of,
    trial_of_rows,
    validation_rows,
)
from eocc.experiments.results import (
    PublishedFigure,
    Results,
    differs,
    published,
    rank_systems,
    ranks_and_intervals,
    summarise_runs,
)
from eocc.experiments.studies import Request
from eocc.experiments.writing import csv_text, figure_table, markdown
from eocc.rivals import RIVALS
from troubled_source import source


def test_every_target_is_held_out_once_in_a_repetition_and_all_outliers_are_tested_in_every_run():
    is_target = np.array([True, False] * 20 + [True] * 14)
    held_out = []
    for run in range(10):
        training, test = fold_rows(is_target, run, 0, "AB")
        assert is_target[training].all()
        assert_array_equal(np.sort(np.concatenate([training, test])), np.arange(54))
        held_out.append(test[is_target[test]])
    assert sorted(map(len, held_out)) == [3] * 6 + [4] * 4
    assert_array_equal(np.sort(np.concatenate(held_out)), np.flatnonzero(is_target))


def test_folds_depend_only_on_seed_set_and_repetition():
    is_target = np.array([True] * 30 + [False] * 9)
    first = fold_rows(is_target, 4, 1, "AB")[0]
    assert_array_equal(first, fold_rows(is_target, 4, 1, "AB")[0])
    for other in ((5, 1, "AB"), (14, 1, "AB"), (4, 2, "AB"), (4, 1, "BI")):
        assert not np.array_equal(first, fold_rows(is_target, *other)[0])


@pytest.mark.parametrize("is_target", [[True] * 9 + [False], [True] * 10, [False, False]])
def test_too_few_rows_to_split_are_an_error(is_target):
    with pytest.raises(ValueError, match="at least 10 targets and 1 outlier; there are"):
        fold_rows(np.array(is_target), 0, 0, "")


def test_a_tenth_of_each_kind_validates_and_at_least_one():
    y = np.repeat([1, -1], [4, 20])
    chosen = validation_rows(y, np.random.default_rng(0))
    assert_array_equal(np.sort(y[chosen]), [-1, -1, 1])


def test_the_variant_of_a_set_has_the_other_class_as_target():
    named, other = (UciSource(*names).trial("raw", 0, 0) for names in (("I",), ("I (other)", "I")))
    assert (len(named.training), len(other.training)) == (45, 90)
    assert (int((named.test.y == -1).sum()), int((other.test.y == -1).sum())) == (100, 50)


def test_normalisation_is_fitted_on_the_training_targets_alone():
    X, training = np.array([[1.0, 5.0], [3.0, 5.0], [9.0, 6.0]]), np.array([[1.0, 5.0], [3.0, 5.0]])
    assert_allclose(normalised(X, training, "unit-variance"), [[-1, 0], [1, 0], [7, 1]])
    assert_array_equal(normalised(X, training, "raw"), X)


def test_a_run_is_normalised_by_its_training_targets():
    trial = source().trial("unit-variance", 0, 0)
    assert_allclose(trial.training.mean(axis=0), 0, atol=1e-12)
    assert_allclose(trial.training.std(axis=0), 1)
    assert trial.test.patterns[trial.test.y == -1].mean() > 2  # the outliers did not shift the origin


def test_the_leaking_validation_rows_have_noise_of_a_tenth_of_the_spread():
    made = source()
    X, is_target = np.array(made.rows), np.array(made.is_target)
    trial, rng = trial_of_rows(X, is_target, "raw", 3), rng_of(0, "", "validation", 3)
    training, test = fold_rows(is_target, 3, 0, "")
    validation = validation_rows(trial.test.y, rng)
    noise = 0.1 * X[training].std(axis=0) * rng.normal(size=trial.honest.patterns.shape)
    assert_allclose(trial.leaking.patterns, X[test][validation] + noise, rtol=1e-12)


@pytest.mark.parametrize("normalisation", ["raw", "unit-variance"])
def test_columns_of_two_values_get_no_noise(normalisation):
    made = source()
    numbers, is_target = np.arange(len(made.rows)), np.array(made.is_target)
    two, three, two_of_targets = numbers % 2, numbers % 3, np.where(is_target, numbers % 2, numbers)
    X = np.column_stack([np.array(made.rows), two, three, two_of_targets])
    trial = trial_of_rows(X, is_target, normalisation, 0)
    has_noise = (trial.leaking.patterns != trial.honest.patterns).all(axis=0)
    assert_array_equal(has_noise, [True, True, True, False, True, True])


def test_honest_validation_rows_leave_the_test_set_and_leaking_ones_stay_with_noise():
    made = source()
    trial = made.trial("raw", 0, 0)
    kept = {tuple(row) for row in trial.test.patterns[trial.honest_test]}
    assert not kept & {tuple(row) for row in trial.honest.patterns}
    assert len(trial.honest.y) + len(trial.honest_test) == len(trial.test.y)
    assert set(trial.honest.y) == {-1, 1}
    gaps = trial.leaking.patterns - trial.honest.patterns
    assert 0 < np.abs(gaps).max() < 1
    assert {tuple(row) for row in trial.honest.patterns} <= {tuple(row) for row in trial.test.patterns}
    assert trial.training.shape == (36, 3)


@pytest.mark.parametrize(
    ("system", "synthesis", "changes"),
    [
        ("EOCC-1", "entropy", {}),
        ("EOCC-1 (one region allowed)", "entropy", {"first_cut": "if-better"}),
        ("EOCC-1 (p = 1)", "entropy", {"search": None}),
        ("EOCC-2", "validation", {}),
        ("EOCC-2_10%", "validation", {}),
        ("EOCC-1 (TWEC)", "entropy", {}),
        ("EOCC-2 (TWEC)", "validation", {}),
    ],
)
def test_the_systems_of_the_paper_are_the_preset_of_the_paper(system, synthesis, changes):
    made = SYSTEMS[system].make(7, 100, "euclidean")
    own = EntropicOneClassClassifier.as_printed(synthesis, measure="euclidean", random_state=7, **changes)
    assert made.get_params() == own.get_params()
    shorter = SYSTEMS[system].make(7, 3, "euclidean").search
    assert shorter is None or shorter == GeneticSearch(max_generations=3, first_population="random")


def test_a_rival_with_the_printed_settings_stands_next_to_the_printed_figures():
    made = SYSTEMS["MPM as printed"].make(0, 1, "euclidean")
    assert made.get_params() == RIVALS["MPM"](width=1.0, regularisation=1e-6).get_params()
    cells = [Cell(UciSource("I"), "raw", system, 0, 0, 0) for system in ("MPM", "MPM as printed")]
    results = Results(cells, {}, published("uci_low"))
    figures = [results.printed(("I", "raw"), system, "auc") for system in ("MPM", "MPM as printed")]
    assert figures[0] is not None
    assert figures[0] == figures[1]
    assert not can_run(SYSTEMS["MPM as printed"], IamSource("M"))
    assert can_run(SYSTEMS["EOCC-1 (TWEC)"], IamSource("M"))
    assert not can_run(SYSTEMS["EOCC-1 (TWEC)"], UciSource("I"))


def test_a_rival_with_the_printed_settings_is_not_ranked():
    systems = ("MPM", "1-NN", "Gauss", "MPM as printed")
    cells = [Cell(UciSource(name), "raw", system, 0, 0, 0) for name in ("I", "L") for system in systems]
    ranking = Results(cells, {cell.key: Figures(auc=0.5) for cell in cells}).ranking("raw")
    assert [one.name for one in ranking.systems] == ["MPM", "1-NN", "Gauss"]


def test_the_surprise_systems_learn_from_targets_and_from_the_honest_tenth():
    trial = source().trial("raw", 0, 0)
    for name, n_outliers in (("Surprise", 0), ("Surprise_10%", int((trial.honest.y == -1).sum()))):
        clf = SYSTEMS[name].fit_on(trial, SYSTEMS[name].make(0, 1, "euclidean"))
        assert type(clf) is SurpriseClassifier
        assert clf.surprise_model_.n_outliers == n_outliers
    assert len(clf.training_indices_) == len(trial.training) + int((trial.honest.y == 1).sum())


def test_results_of_decisions_derived_by_hand():
    y = np.array([1, 1, -1, -1])
    scores = np.array([3.0, -1.0, 1.0, -2.0])
    found = measured_quality(y, scores, scores >= 0)
    assert found == (0.75, 0.5, 0.5, 0.5, 0.5)


@pytest.mark.parametrize("system", ["Surprise", "Surprise_10%", "EOCC-1", "EOCC-2", "EOCC-2_10%", "1-NN"])
def test_a_cell_gives_the_same_results_again(system):
    cell = Cell(source(), "unit-variance", system, 1, 0, 1)
    one, two = run_cell(cell), run_cell(cell)
    assert one.reason == ""
    for name in ("auc", "accuracy", "precision", "recall", "f_measure"):
        assert getattr(one, name) == getattr(two, name)
    assert one.auc > 0.5
    assert np.isnan(one.regions) != SYSTEMS[system].is_entropic
    assert np.isnan(one.generations) != SYSTEMS[system].is_entropic


def test_a_failed_system_gives_a_one_line_reason():
    bad = TableSource("bad", rows=((1.0,), (2.0,)), is_target=(True, True))
    assert run_cell(Cell(bad, "raw", "Gauss", 0, 0, 1)).reason.startswith("ValueError: a comparison needs")


def test_every_system_runs_on_rows():
    names = [name for name, system in SYSTEMS.items() if "rows" in system.kinds]
    failed = {name: run_cell(Cell(source(), "raw", name, 0, 0, 1)).reason for name in names}
    assert not {name: reason for name, reason in failed.items() if reason}


def test_a_paired_t_test_marks_systems_that_do_not_differ_from_the_best():
    best = np.array([0.9, 0.8, 0.95, 0.85])
    near, far = best + np.array([0.01, -0.02, 0.005, -0.01]), best - np.array([0.05, 0.06, 0.05, 0.06])
    marked = summarise_runs({"best": best, "near": near, "far": far, "failed": np.array([0.9, np.nan])})
    assert (marked["best"].is_best, marked["near"].is_best, marked["far"].is_best) == (True, True, False)
    assert "failed" not in marked
    assert_allclose(marked["far"].std_repetitions, np.std(far, ddof=1))
    assert np.isnan(marked["far"].std_folds)
    of_two_folds = summarise_runs({"far": far}, n_folds=2)["far"]
    assert_allclose(of_two_folds.std_repetitions, np.std([far[:2].mean(), far[2:].mean()], ddof=1))
    assert_allclose(of_two_folds.std_folds**2, (np.var(far[:2], ddof=1) + np.var(far[2:], ddof=1)) / 2)
    assert differs(best, far) == (stats.ttest_rel(best, far).pvalue < 0.05)
    assert not any(summary.is_best for summary in summarise_runs({"a": best[:1], "b": far[:1]}).values())
    leaky = summarise_runs({"honest": near, "leaky": best + 0.1}, apart={"leaky"})
    assert (leaky["honest"].is_best, leaky["leaky"].is_best) == (True, False)
    assert not differs(np.ones(3), np.ones(3))
    assert differs(np.ones(3), np.full(3, 0.9))


def test_ranks_derived_by_hand_and_the_critical_difference_of_demsar():
    scores = np.array([[0.9, 0.8, np.nan], [0.7, 0.8, 0.1], [0.9, 0.9, 0.2]])
    ranking = rank_systems(["a", "b", "c"], scores)
    a, b, c = ranking.systems
    assert (a[:2], b[:2], c) == (("a", (1 + 2 + 1.5) / 3), ("b", (2 + 1 + 1.5) / 3), ("c", 3.0, 3.0, 3.0))
    # Demšar (2006), table 5: q = 2.343 for three systems.
    assert_allclose(ranking.critical_difference, 2.343 * np.sqrt(3 * 4 / (6 * 3)), rtol=1e-3)
    assert a.low < a.rank < a.high
    assert rank_systems(["a", "b"], scores[:, :2]) is None
    assert rank_systems(["a", "b", "c"], scores[:1]) is None


def test_bootstrap_intervals_are_those_of_the_binomial():
    # Of 100 sets half have rank 1 and half rank 2: the mean of a bootstrap is 1 + B / 100 with B ~ Bin(100, 1/2),
    # whose 2.5 % and 97.5 % quantiles are 40 and 60.
    ranks = np.repeat([[1.0, 2.0], [2.0, 1.0]], 50, axis=0)
    assert_allclose(ranks_and_intervals(ranks), np.transpose([[1.5, 1.40, 1.60]] * 2), atol=0.01)


def test_tables_show_our_mean_and_the_published_one():
    made = source()
    cells = [Cell(made, "raw", system, run, 0, 1) for system in ("EOCC-1", "1-NN") for run in (0, 1)]
    finished = {cell.key: Figures(auc=0.5 + 0.1 * cell.run, regions=2.0) for cell in cells}
    printed = PublishedFigure("uci_low", "raw", "made", "1-NN", "auc", 0.777, 0.1, False)
    results = Results(cells, finished, [printed])
    rows = figure_table(results, "raw")
    assert rows == [["system", "made", "mean"], ["EOCC-1", "**0.550** (-, -)", "0.550"],
                    ["1-NN", "**0.550** (-, -) [0.777]", "0.550"]]  # fmt: skip
    assert "| 1-NN | **0.550** (-, -) [0.777] | 0.550 |" in markdown(rows)
    assert markdown([["a", "b"], ["1", "2|3"]]) == "| a | b |\n|---|---|\n| 1 | 2\\|3 |"
    assert "made,raw,1-NN,auc,0.55," in csv_text(results)
    assert "0.777" in csv_text(results)


def test_every_set_has_its_own_number_of_runs():
    request = Request()
    sources = (UciSource("AB"), UciSource("BI"), UciSource("L (ill)", "L"), IamSource("G"), source())
    assert [request.n_runs(one) for one in sources] == [10, 30, 30, 10, 10]
    assert [Request(repetitions=2).n_runs(one) for one in sources] == [20, 20, 20, 2, 20]


def test_the_paper_s_systems_also_run_on_sets_normalised_by_all_rows():
    assert forms_of(SYSTEMS["EOCC-1"], UciSource("BI")) == ("raw", "unit-variance", ALL_ROWS)
    for name, one in (("EOCC-1", UciSource("AB")), ("1-NN", UciSource("BI")), ("EOCC-1", source())):
        assert forms_of(SYSTEMS[name], one) == ("raw", "unit-variance")
    assert Request().n_runs(UciSource("BI"), ALL_ROWS) == 10
    trial = UciSource("I").trial(ALL_ROWS, 0, 0)
    rows = np.vstack([trial.training, trial.test.patterns])
    assert_allclose(rows.mean(axis=0), 0, atol=1e-12)
    assert_allclose(rows.std(axis=0), 1)
    cells = [Cell(UciSource("BI"), form, name, 0, 0, 0) for form, name in (("raw", "1-NN"), (ALL_ROWS, "EOCC-1"))]
    results = Results(cells, {cell.key: Figures(auc=0.5) for cell in cells}, published("uci_low"))
    assert [row[:2] for row in figure_table(results, ALL_ROWS)] == [
        ["system", "BI"],
        ["EOCC-1", "0.500 (-, -) [0.867]"],
    ]
    assert results.counted() == [("BI", "raw")]


def test_systems_without_a_seed_run_once_on_a_fixed_split():
    keys = {
        name: {Cell(IamSource("G"), "graphs", name, run, 0, 1).key for run in range(4)} for name in ("1-NN", "EOCC-1")
    }
    assert {name: len(found) for name, found in keys.items()} == {"1-NN": 1, "EOCC-1": 4}
    cells = [Cell(IamSource("G"), "graphs", "1-NN", run, 0, 1) for run in range(4)]
    results = Results(cells, {cells[0].key: Figures(auc=0.5)})
    assert results.runs(("G", "graphs"), "1-NN", "auc").tolist() == [0.5] * 4


def test_a_missing_cell_is_a_dash_with_a_reason():
    made = source()
    cells = [Cell(made, "raw", system, 0, 0, 1) for system in ("EOCC-1", "1-NN")]
    finished = {cells[0].key: Figures(auc=0.5), cells[1].key: Figures(reason="not done within 3 s")}
    results = Results(cells, finished)
    assert figure_table(results, "raw")[2] == ["1-NN", "-", "-"]
    assert results.reasons() == [(("made", "raw"), "1-NN", "not done within 3 s", 1)]


def test_leaking_systems_and_repeated_sets_are_not_ranked():
    made = source()
    cells = [Cell(made, "raw", system, run, 0, 1) for system in ("EOCC-1", "EOCC-2", "Gauss") for run in (0, 1)]
    finished = {cell.key: Figures(auc=0.9 if cell.system == "EOCC-2" else 0.5 + 0.01 * cell.run) for cell in cells}
    results = Results(cells, finished)
    assert results.leaking == {"EOCC-2"}
    rows = figure_table(results, "raw")
    assert rows[2][0] == "EOCC-2 (leaks)"
    assert "**" not in rows[2][1]
    assert "**" in rows[1][1]


def test_variants_stand_next_to_the_published_figures_and_count_in_no_mean():
    sources = (IamSource("A"), IamSource("A (a)", "A", "a"), IamSource("G"))
    printed = PublishedFigure("iam", "graphs", "A", "EOCC-1", "auc", 0.9, 0.1, False)
    cells = [Cell(source, "graphs", "EOCC-1", 0, 0, 1) for source in sources]
    results = Results(cells, {}, [printed], absent={"G": "gone"})
    assert results.counted() == [("A", "graphs")]
    assert results.printed(("A (a)", "graphs"), "EOCC-1", "auc") is printed


def test_a_test_set_of_one_kind_is_an_error():
    with pytest.raises(ValueError, match="the test set holds targets only"):
        measured_quality(np.array([1, 1]), np.zeros(2), np.ones(2, bool))


def test_the_picture_of_the_ranks_names_every_system():
    ranking = rank_systems(["a", "b", "c"], np.array([[0.9, 0.8, 0.1]] * 8))
    assert [label.get_text() for label in draw_ranks(ranking).axes[0].get_yticklabels()] == ["a", "b", "c"]
