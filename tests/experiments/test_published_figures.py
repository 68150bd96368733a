from collections import Counter

import pytest

from eocc.experiments.results import TABLES
from eocc.experiments.results import published as all_published
from published_datasets import published_datasets

LOW = ["AB", "BI", "BW", "D", "E", "I", "L"]
HIGH = ["AR", "BC-D", "BC-P", "C", "CO", "S", "SP"]
GRAPHS = ["A", "G", "L-L", "L-H", "M", "P"]
SYSTEMS = [
    "EOCC-1", "EOCC-2", "EOCC-2_10%", "Gauss", "MoG", "Naive Parzen", "Parzen", "k-Means", "1-NN", "k-NN",
    "Auto-encoder", "PCA", "SOM", "MST_CD", "k-Centres", "SVDD", "MPM", "LPDD", "CHAMELEON",
]  # fmt: skip


def published(table, quantity="auc"):
    return [figure for figure in all_published(table) if figure.quantity == quantity]


def cell(table, normalisation, dataset, system, quantity="auc"):
    place = (normalisation, dataset, system)
    (found,) = [f for f in published(table, quantity) if (f.normalisation, f.dataset, f.system) == place]
    return found.mean, found.std, found.significant


@pytest.mark.parametrize(("table", "datasets"), [("uci_low", LOW), ("uci_high", HIGH)])
def test_a_uci_table_has_every_system_on_every_set_in_both_forms(table, datasets):
    places = [(f.normalisation, f.system, f.dataset) for f in published(table)]
    assert places == [(form, system, d) for form in ("raw", "unit-variance") for system in SYSTEMS for d in datasets]


@pytest.mark.parametrize("quantity", ["auc", "accuracy", "regions"])
def test_the_graph_table_has_both_systems_on_every_set(quantity):
    places = [(f.dataset, f.system) for f in published("iam", quantity)]
    assert places == [(dataset, system) for dataset in GRAPHS for system in ("EOCC-1", "EOCC-2")]


def test_dashes_and_bold_cells_are_as_many_as_printed():
    cells = {table: published(table) for table in TABLES}
    assert {table: sum(f.mean is None for f in found) for table, found in cells.items()} == {
        "uci_low": 9,
        "uci_high": 44,
        "iam": 0,
    }
    assert {table: sum(f.significant for f in found) for table, found in cells.items()} == {
        "uci_low": 49,
        "uci_high": 22,
        "iam": 0,
    }


def test_a_cell_has_a_deviation_where_it_has_a_mean_and_is_then_a_sensible_figure():
    for figure in [figure for table in TABLES for figure in all_published(table)]:
        assert (figure.mean is None) == (figure.std is None)
        assert not (figure.significant and figure.mean is None)
        assert figure.quantity == "regions" or figure.mean is None or 0 <= figure.mean <= 1


@pytest.mark.parametrize(
    ("place", "printed"),
    [
        (("uci_low", "raw", "AB", "EOCC-1"), (0.685, 0.013, False)),
        (("uci_low", "raw", "BW", "EOCC-1"), (0.990, 0.003, True)),
        (("uci_low", "raw", "BW", "MoG"), (0.785, 1.003, False)),
        (("uci_low", "raw", "L", "Naive Parzen"), (0.614, 0.002, True)),
        (("uci_low", "raw", "L", "CHAMELEON"), (0.580, 0.009, False)),
        (("uci_low", "unit-variance", "AB", "Parzen"), (0.877, 0.001, True)),
        (("uci_low", "unit-variance", "E", "Auto-encoder"), (0.888, 0.023, False)),
        (("uci_low", "unit-variance", "L", "MST_CD"), (None, None, False)),
        (("uci_high", "raw", "BC-D", "EOCC-2_10%"), (0.946, 0.005, True)),
        (("uci_high", "raw", "BC-D", "Gauss"), (None, None, False)),
        (("uci_high", "raw", "SP", "LPDD"), (0.934, 0.033, False)),
        (("uci_high", "raw", "BC-P", "MPM"), (0.053, 0.001, False)),
        (("uci_high", "unit-variance", "SP", "k-NN"), (0.959, 0.011, True)),
        (("uci_high", "unit-variance", "CO", "SVDD"), (0.0, 0.0, False)),
        (("iam", "graphs", "A", "EOCC-1"), (0.977, 0.012, False)),
        (("iam", "graphs", "M", "EOCC-2", "regions"), (123.0, 1.05, False)),
        (("iam", "graphs", "P", "EOCC-2", "accuracy"), (0.921, 0.012, False)),
    ],
)
def test_cells_are_as_printed(place, printed):
    assert cell(*place) == printed


def test_the_lists_of_data_sets_are_as_printed():
    rows = {row.dataset: row for row in published_datasets()}
    assert list(rows) == LOW + HIGH + GRAPHS
    assert Counter(row.table for row in rows.values()) == {"uci_low": 7, "uci_high": 7, "iam": 6}
    assert (rows["CO"].n_targets, rows["CO"].n_others, rows["CO"].n_features) == (400, 3600, 1024)
    assert (rows["A"].target_class, rows["A"].n_targets, rows["A"].n_features) == ("a", 200, None)
