"""What the constants of the labelled form, of drift and of the scale of the limit are worth, one changed at a time.

python benchmarks/constants.py labels   mean AUC: ten asked rows, 100 known outliers, a new kind of outliers
python benchmarks/constants.py drift    the share of batches in which drift is said, without drift and with some shifts
python benchmarks/constants.py scale    how often the least scale of a limit acts

`labels` has the protocol of asking.py, every third set by name, one split; `drift` and `scale` are simulated.
"""

import sys
from contextlib import ExitStack
from functools import partial
from unittest.mock import patch

import numpy as np
from asking import N_KNOWN, Task, taught
from drift import SHIFTS, SOURCES, p_values
from further_sets import tables
from timing import table, table_line

from calibration import KINDS
from eocc import SurpriseClassifier
from eocc.calibration import conformal, drift
from eocc.surprise import likelihood_ratio, model

LABELS = {
    "as it is": (),
    "coefficient of the surprise 0.3": ((likelihood_ratio, "OF_SURPRISE", 0.3),),
    "coefficient of the surprise 1.2": ((likelihood_ratio, "OF_SURPRISE", 1.2),),
    "prior 0": ((likelihood_ratio, "PRIOR", 0.0),),
    "prior 0.3": ((likelihood_ratio, "PRIOR", 0.3),),
    "ridge 1": ((likelihood_ratio, "RIDGE", 1.0),),
    "ridge 25": ((likelihood_ratio, "RIDGE", 25.0),),
    "1 neighbour of either kind": ((likelihood_ratio, "N_NEAR", 1), ("eocc.surprise.model", "N_NEAR", 1)),
    "no floor of distances": ((likelihood_ratio, "FLOOR", 1e-9),),
    "single columns share 1 unit": ((likelihood_ratio, "SINGLE_UNITS", 1.0),),
    "single columns share 16 units": ((likelihood_ratio, "SINGLE_UNITS", 16.0),),
    "no least evidence": ((likelihood_ratio, "LEAST_EVIDENCE", 0.0),),
    "no limit of a term": ((likelihood_ratio, "LARGEST_TERM", 10.0),),
    "mean and variance of the outliers as they are": ((likelihood_ratio, "MORE_OUTLIERS", 1e-9),),
    "10 more outliers at 0": ((likelihood_ratio, "MORE_OUTLIERS", 10.0),),
    "share of the identity 0.01": ((likelihood_ratio, "LEAST_IDENTITY", 0.01),),
    "share of the identity 0.5": ((likelihood_ratio, "LEAST_IDENTITY", 0.5),),
    "no covariance": ((likelihood_ratio, "MOST_CORRELATED", 0),),
    "training rows stay in the covariance": ((likelihood_ratio, "MOST_LEFT_OUT", 1.0),),
    "500 normal rows": ((likelihood_ratio, "MOST_NORMAL", 500),),
    "reach of an answer 0.25": ((model, "REACH", 0.25),),
    "reach of an answer 1": ((model, "REACH", 1.0),),
    "no correction": ((model, "REACH", 1e-9),),
    "noise of answers 0.5": ((model, "NOISE", 0.5),),
}  # fmt: skip
DRIFT = {
    "as it is": (),
    "levels 0.5": ((drift, "LEVELS", (0.5,)),),
    "no slack of a level": ((drift, "LEVEL_SLACK", 0.0),),
    "no slack of a score": ((drift, "SCORE_SLACK", 0.0),),
}
EVERY = 3  # of the sets by name, every third
CASES = ((50, 1000, 3, "normal"), (60, 500, 20, "normal"), (200, 1000, 5, "t"), (100, 1000, 3, "integers"),
         (1000, 10_000, 4, "normal"))  # fmt: skip


def changed(changes):
    """Return a context in which constants have other values."""
    stack = ExitStack()
    for module, name, value in changes:
        stack.enter_context(patch(f"{module if isinstance(module, str) else module.__name__}.{name}", value))
    return stack


def by_set(X, is_normal):
    """Return the AUC with ten asked rows, with known outliers (NaN if there are too few), and on a new kind."""
    task = Task(X, is_normal, 0)
    if not task.is_large_enough:
        return None
    clf, nothing = SurpriseClassifier().fit(task.training), np.zeros(len(task.pool), bool)
    asked = task.auc(taught(task, clf, np.array([query.index for query in clf.queries(task.pool, 10)]), nothing))
    known = np.nan
    if len(task.outlier_test) >= 2 * N_KNOWN:
        outliers, task.outlier_test = np.split(task.outlier_test, [N_KNOWN])
        y = np.repeat([1, -1], [len(task.training), N_KNOWN])
        model = SurpriseClassifier().fit(np.vstack([task.training, outliers]), y)
        known = task.auc(lambda rows: -model.decision_function(rows))
    task = Task(X, is_normal, 0)
    new = np.nan
    if task.with_new_kind():
        nothing = np.zeros(len(task.pool), bool)
        new = task.auc(taught(task, clf, np.array([query.index for query in clf.queries(task.pool, 10)]), nothing))
    return asked, known, new


def labels():
    sets = [(X, is_normal) for _, (X, is_normal, _) in sorted(tables().items())][::EVERY]
    first = None
    print(table([["changed", "10 asked", "100 known", "new kind", "sets that lose more than 0.005 with 10 asked"]]))
    for name, changes in LABELS.items():
        with changed(changes):
            found = np.array([one for one in (by_set(*rows) for rows in sets) if one is not None])
        first = found if first is None else first
        lost = int((found[:, 0] < first[:, 0] - 0.005).sum())
        print(table_line([name, *(f"{value:.4f}" for value in np.nanmean(found, axis=0)), f"{lost}"]), flush=True)


def drifts(n_models=150):
    print(table([["changed", *(f"{n}, {m}, {d}, {source}" for n, m, d, source in CASES), *SHIFTS]]))
    for name, changes in DRIFT.items():
        with changed(changes):
            clf = SurpriseClassifier()
            none = [p_values(clf, partial(draw_of, d, source), n, m, n_models) for n, m, d, source in CASES]
            some = [p_values(clf, partial(draw_of, 5, "normal"), 200, 100, n_models, new) for new in SHIFTS.values()]
        print(table_line([name, *(f"{(found <= 0.01).mean():.3f}" for found in [*none, *some])]), flush=True)


def draw_of(d, source, rng, n):
    return SOURCES[source](d, rng, n)


def scales(n_models=40):
    print(table([["kind", "rows", "share of models in which the least scale acts"]]))
    for name, (draw, sizes) in KINDS.items():
        for size in sizes[:2]:
            rng, acts = np.random.default_rng(0), []
            for _ in range(n_models):
                model = SurpriseClassifier().fit(draw(rng, size))
                acts.append(model.surprise_model_.threshold.scale <= conformal.LEAST_SCALE)
            print(table_line([name, f"{size[0]}", f"{np.mean(acts):.2f}"]), flush=True)


if __name__ == "__main__":
    for part in sys.argv[1:] or ["labels", "drift", "scale"]:
        {"labels": labels, "drift": drifts, "scale": scales}[part]()
