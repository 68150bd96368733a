"""The size of a Dask collection is known before it is loaded, and may be refused."""

import subprocess
import sys

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from eocc import EntropicOneClassClassifier, RegionClassifier, SurpriseClassifier
from eocc.scale.cluster import contents

ROWS = np.arange(60.0).reshape(20, 3)


class RefusedError(Exception):
    """Raised by the check in these tests."""


def test_an_array_of_known_shape_is_refused_before_any_block_is_computed():
    computed = []
    X = da.from_array(ROWS, chunks=(5, 3)).map_blocks(lambda block: computed.append(block) or block, meta=ROWS[:0])

    def refuse(n, n_columns):
        raise RefusedError(n, n_columns)

    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(RefusedError) as raised:
            contents(X, refuse)
        assert raised.value.args == (20, 3)
        assert computed == []
        assert_array_equal(contents(X, lambda n, n_columns: None), ROWS)
        assert len(computed) == 4


@pytest.mark.parametrize(
    ("X", "extent"),
    [
        (da.from_array(ROWS, chunks=(7, 2)), (20, 3)),
        (da.from_array(ROWS, chunks=(7, 3))[da.from_array(ROWS[:, 0] > 20, chunks=7)], (13, 3)),
        (dd.from_pandas(pd.DataFrame(ROWS, columns=["a", "b", "c"]), npartitions=3), (20, 3)),
        (db.from_sequence(["oak", "elm", "ash"], npartitions=2).map(str.upper), (3, 1)),
        (da.arange(5, chunks=2), (5, 1)),
    ],
    ids=["array", "array of unknown length", "frame", "bag", "labels"],
)
def test_the_check_gets_the_numbers_of_rows_and_columns(X, extent):
    found = []
    with dask.config.set(scheduler="synchronous"):
        whole = contents(X, lambda *numbers: found.append(numbers))
    assert found == [extent]
    assert len(whole) == extent[0]


def test_a_bag_of_rows_is_scored_like_an_array():
    clf = SurpriseClassifier().fit(ROWS)
    with dask.config.set(scheduler="synchronous"):
        found = clf.score_samples(db.from_sequence(ROWS.tolist(), npartitions=3)).compute()
        assert_array_equal(found, clf.score_samples(ROWS))
        wrong = clf.score_samples(db.from_sequence(ROWS[:, :2].tolist(), npartitions=3))
        with pytest.raises(ValueError, match="X has 2 features, but SurpriseClassifier is expecting 3"):
            wrong.compute()


def test_a_fit_before_distributed_is_imported_keeps_the_settings_of_dask():
    script = """
import sys
import dask.array, numpy as np
from eocc import EntropicOneClassClassifier, RegionClassifier, SurpriseClassifier
X = np.random.default_rng(0).normal(size=(60, 3))
assert "distributed" not in sys.modules
for _ in range(2):
    clf = SurpriseClassifier(prototypes=20).fit(dask.array.from_array(X, chunks=(20, 3)))
print(clf.n_rows_, dask.config.get("distributed.comm.timeouts.connect") is not None)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("60 True\n", "")


@pytest.mark.parametrize("classifier", [SurpriseClassifier, RegionClassifier, EntropicOneClassClassifier])
def test_a_collection_without_rows_is_an_error(classifier):
    frame = pd.DataFrame({"load": [1.0, 2.0], "state": ["a", "b"]}).iloc[:0]
    for X in (da.zeros((0, 2)), dd.from_pandas(frame, npartitions=1)):
        with pytest.raises(ValueError, match="X holds no rows; at least 1 is required"):
            classifier().fit(X)


@pytest.mark.parametrize("classifier", [SurpriseClassifier, RegionClassifier])
def test_partitions_without_rows_change_nothing(classifier):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc")).sort_values("a")
    parts = dd.from_pandas(frame.reset_index(drop=True), npartitions=3)
    parts = parts[parts["a"].between(-0.2, 0.2)]  # none of the first partition
    same = classifier().fit(parts.compute()).score_samples(frame)
    np.testing.assert_array_equal(classifier().fit(parts).score_samples(frame), same)
