"""Scores of every classifier with every measure, as they were: a change that only moves code changes none of them.

Written again with `PYTHONPATH=tests python tests/base/test_golden_scores.py`, in the commit that means to change them.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eocc import EntropicOneClassClassifier, RegionClassifier, SurpriseClassifier
from eocc.measures import MEASURES
from samples import samples

GOLDEN = Path(__file__).parents[1].joinpath("golden_scores.json")
# No search: its result depends on comparisons of nearly equal objectives.
MAKE = {
    "surprise": lambda measure: SurpriseClassifier(measure=measure),
    "regions": lambda measure: RegionClassifier(measure=measure),
    "entropic": lambda measure: EntropicOneClassClassifier(measure=measure, search=None, false_alarm_rate=0.1),
}
CASES = [f"{classifier} {measure}" for classifier in MAKE for measure in MEASURES]


def figures(case):
    classifier, measure = case.split()
    X, new = samples(measure, n=40)
    clf = MAKE[classifier](measure)
    if classifier == "entropic":
        clf.set_params(random_state=0)
    clf.fit(X)
    known = {} if classifier == "entropic" or measure == "precomputed" else with_outliers(MAKE[classifier](measure), X)
    return {"scores": clf.score_samples(new).tolist(), "p": clf.p_values(new).tolist(), "limit": clf.offset_} | known


def with_outliers(clf, X):
    y = np.where(np.arange(len(X)) < 35, 1, -1)
    return {"with known outliers": clf.fit(X, y).score_samples(X)[::8].tolist()}


@pytest.mark.parametrize("case", CASES)
def test_scores_are_as_they_were(case):
    wanted = json.loads(GOLDEN.read_text())[case]
    found = figures(case)
    assert found.keys() == wanted.keys()
    for name, values in wanted.items():
        # Another processor or BLAS rounds differently; with known outliers a regression ends a little elsewhere.
        rtol = 1e-7 if name == "with known outliers" else 1e-9
        assert_allclose(found[name], values, rtol=rtol, atol=1e-12, err_msg=name)


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({case: figures(case) for case in CASES}, indent=0) + "\n")
