"""Near copies of one outlier among the training rows: are they found, and are new ones?

python benchmarks/clumps.py            clumps among the rows of public tables, three seeds each
python benchmarks/clumps.py --alone    SurpriseClassifier alone

3 % of the training rows are near copies, to be found by the scores of the training rows; or 5 %, and new near copies
are to be found among new rows. The tables are those of `further_sets.py`. 100 to 400 rows train. The outlier is a row
of the other class that is farther from the normal rows than 95 % of these are from each other; tables without one are
left out. Near copies have noise of 0.02 of each column's standard deviation; 0.02 was taken after a look at 0.05, where
version 0.2 had 0.46 and 0.18 instead of 0.30 and 0.05. `shapes.py` has the same with made-up rows.
"""

import argparse
import time
import warnings

import numpy as np
from further_sets import tables
from simple_methods import METHODS, head, line, result
from sklearn.neighbors import NearestNeighbors

N_NEW = 100


def of_clump(share, is_found, training, normal_rows, outlier, rng, methods):
    """A share of the training rows are near copies of an outlier: find them, or new ones among new rows."""
    n = round(share / (1 - share) * len(training))
    near = 0.02 * training.std(axis=0)
    copies, new = (outlier + near * rng.normal(size=(count, len(outlier))) for count in (n, N_NEW))
    is_outlier = np.repeat([False, True], [len(training), n]) if is_found else None
    return result(np.vstack([training, copies]), normal_rows, new, methods, is_outlier)


def of_made_up_clump(share, is_found, seed, methods, d=6):
    """The outlier lies 4 to 9 standard deviations from the mean, in a random direction."""
    rng = np.random.default_rng([seed, d])
    direction = rng.normal(size=d)
    outlier = rng.uniform(4, 9) * direction / np.linalg.norm(direction)
    return of_clump(share, is_found, *(rng.normal(size=(n, d)) for n in (300, 300)), outlier, rng, methods)


CLUMPS = {
    "clump, 3 %, found among the training rows": (0.03, True),
    "clump, 5 %, new rows of it": (0.05, False),
}


def outlying(X, is_normal, rng):
    """Return a row of the other class that is farther from normal rows than 95 % of them from each other, or None."""
    spread = X[is_normal].std(axis=0)
    Z = X / np.where(spread > 0, spread, 1)
    near = NearestNeighbors(n_neighbors=1).fit(Z[is_normal])
    limit = np.quantile(near.kneighbors()[0], 0.95)
    far = np.flatnonzero(~is_normal)[near.kneighbors(Z[~is_normal])[0][:, 0] > limit]
    return X[rng.choice(far)] if len(far) else None


def clumps_in_tables(methods, n_seeds):
    """Yield the name of a public table with a clump, and the mean figures; at most 400 rows train and 300 test."""
    for what, (share, is_found) in CLUMPS.items():
        for name, (X, is_normal, _) in sorted(tables().items()):
            found = []
            for seed in range(n_seeds):
                rng = np.random.default_rng([seed, len(X)])
                outlier = outlying(X, is_normal, rng)
                rows = rng.permutation(X[is_normal])
                n = min(400, 2 * len(rows) // 3)
                if outlier is not None and n >= 100:
                    found.append(of_clump(share, is_found, rows[:n], rows[n:][:300], outlier, rng, methods))
            if found:
                yield what, name, np.mean(found, axis=0)


def report_tables(methods, n_seeds):
    means = {}
    for what, name, values in clumps_in_tables(methods, n_seeds):
        means.setdefault(what, []).append(values)
        print(line(f"{what}: {name}", values, methods), flush=True)
    for what, values in means.items():
        print(line(f"{what}: mean of {len(values)}", np.mean(values, axis=0), methods))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--alone", action="store_true", help="SurpriseClassifier alone")
    arguments.add_argument("--seeds", type=int, default=3)
    given = arguments.parse_args()
    warnings.simplefilter("ignore")  # of other libraries
    started, methods = time.perf_counter(), list(METHODS)[: 1 if given.alone else None]
    print(head("clump, table", methods))
    report_tables(methods, given.seeds)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
