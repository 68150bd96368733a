"""Random sets with copies of rows, and what of a fit of EOCC-1 to them differs from the definition."""

import numpy as np

from eocc import EntropicOneClassClassifier
from oracles.whole_fit import fit_eocc_1


def random_problem(rng, least=3, most=60):
    """Rows of which some are copies, also only after weights of 0; new rows; weights; a reading of Algorithm 1."""
    n, d = int(rng.integers(least, most + 1)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) * rng.choice([0.3, 1.0, 50.0]) + rng.choice([0.0, 1e3])
    for _ in range(int(rng.integers(1, max(2, n // 3)))):
        X[rng.integers(n)] = X[rng.integers(n)]
    p = np.where(rng.random(d) < 0.25, 0.0, rng.random(d)) if rng.random() < 0.6 else np.ones(d)
    p = p if p.any() else np.ones(d)
    if rng.random() < 0.5:  # copies in the columns that count
        X[0, p > 0] = X[-1, p > 0]
    new = np.vstack([X[: n // 2] + 1e-6, X[:3], rng.normal(size=(6, d)) * X.std() + X.mean()])
    return X, new, p, str(rng.choice(["always", "if-better"]))


def differing_stages(X, new, p, first_cut):
    """Return the names of the stages that differ."""
    clf = EntropicOneClassClassifier(measure="euclidean", weights=p, first_cut=first_cut).fit(X)
    truth = fit_eocc_1(X, new, p, first_cut=first_cut)
    extents = [region.extent for region in clf.regions_]
    same = {
        "entropy": np.isclose(clf.entropy_, truth.entropy, rtol=1e-9, atol=1e-9),
        "curve": np.allclose(clf.modularity_curve_, truth.curve, rtol=0, atol=1e-9),
        "partition": clf.labels_.tolist() == truth.labels,
        "extents": len(extents) == len(truth.extents) and np.allclose(extents, truth.extents, rtol=1e-9, atol=0),
        "decisions": (clf.predict(new) == 1).tolist() == truth.accepted,
    }
    return [name for name, is_same in same.items() if not is_same]
