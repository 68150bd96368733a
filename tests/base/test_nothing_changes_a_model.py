"""After fit nothing that the caller does changes a model, and neither fit nor predict change the data."""

import numpy as np
import pytest
from fuzz_fits import CLASSIFIERS, KINDS, change, fingerprint, run_case

from eocc import SurpriseClassifier
from eocc.measures import LabelledGraph

pytestmark = pytest.mark.filterwarnings("ignore")  # what small odd data are warned of is not the question


@pytest.mark.parametrize("kind", KINDS)
def test_data_changed_in_place_after_fit_change_nothing(kind, tmp_path):
    for number, name in enumerate(CLASSIFIERS):
        assert run_case(number, kind, tmp_path, kind, name) == (kind, name, "holds")


def test_answers_changed_in_place_after_teaching_change_nothing(tmp_path):
    rng = np.random.default_rng(0)
    rows, new = rng.normal(size=(60, 3)), rng.normal(size=(5, 3))
    X, y, names = new.copy() + 4, np.array([1, -1, -1, 1, 1]), list("abcde")
    model = SurpriseClassifier().fit(rows).teach(X, y, names)
    first, file = model.score_samples(new), tmp_path / "model.eocc"
    model.save(file)
    before = file.read_bytes()
    for thing in (rows, X, y, names):
        change(thing, {})
    model.save(file)
    assert file.read_bytes() == before
    assert model.score_samples(new).tolist() == first.tolist()


def test_a_graph_that_was_damaged_after_it_was_made_is_refused():
    graph = LabelledGraph(3, [[0, 1], [1, 2]])
    graph.edges[:] = 10**9
    with pytest.raises(ValueError, match="edges must join vertices"):
        SurpriseClassifier().fit([graph] * 30)


def test_the_changes_are_changes(tmp_path):
    for kind, make in KINDS.items():
        case = make(np.random.default_rng(0), tmp_path)
        before = fingerprint(case.X)
        for thing in case.owned:
            change(thing, {})
        assert (fingerprint(case.X) != before) is not (kind == "polars mixed"), kind
