"""The tables and pictures of docs/research/examined.md: what each part of the paper's method does on the UCI sets.

EOCC_DATA=/folder/with/data python benchmarks/examined.py [--folds 3] [--images docs/images]

Means over the sets of the paper without Abalone and Concordia, raw and normalised, and over the first folds of each.
"""

import argparse
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score
from timing import table

import eocc
from eocc import EntropicOneClassClassifier
from eocc.entropic.partition import cut, members_of
from eocc.entropic.regions import default_extent
from eocc.entropic.synthesis import EntropySynthesis, embed
from eocc.experiments.protocol import NORMALISATIONS, UciSource
from eocc.plots.drawing import FAINT, INK, NORMAL, OTHER, new_figure

SETS = ("BI", "BW", "D", "E", "I", "L", "AR", "BC-D", "BC-P", "C", "S", "SP")
NORMS = {"l1": 1.0, "l2": 2.0, "l4": 4.0, "l8": 8.0, "sup": np.inf}
SIZES = (1, 2, 3, 5, 10, 20, 50, 100)
N_WEIGHTS = 60  # random weights p


def nearest_by_norm(D, T):
    """Return the distance of each test row to the nearest training row of the dissimilarity space, for every norm."""
    found = {name: np.empty(len(T)) for name in NORMS}
    for t, row in enumerate(T):
        gaps = np.abs(D - row)
        found["l1"][t], found["sup"][t] = gaps.mean(axis=1).min(), gaps.max(axis=1).min()
        squares = gaps * gaps
        found["l2"][t] = np.sqrt(squares.mean(axis=1).min())
        fourth = squares * squares
        found["l4"][t] = fourth.mean(axis=1).min() ** 0.25
        found["l8"][t] = (fourth * fourth).mean(axis=1).min() ** 0.125
    return found


class Fitted:
    """A fit at p = 1, its graph, and the test rows in its dissimilarity space."""

    def __init__(self, trial):
        self.trial, self.n = trial, len(trial.training)
        self.clf = EntropicOneClassClassifier.as_printed(measure="euclidean", search=None).fit(trial.training)
        self.prepared = self.clf.measure_.prepare(trial.training)
        self.workspace = np.empty((2, self.n, self.n))
        self.graph = embed(self.prepared, np.ones(trial.training.shape[1]), self.workspace)
        self.space = self.graph.space
        self.tested = self.clf.transform(trial.test.patterns)
        distances = cdist(self.tested - self.space.means, self.space.rows) * self.space.scale
        self.to_training = distances

    def auc(self, scores):
        return roc_auc_score(self.trial.test.y, scores)

    def ratios(self, k, extent):
        """Return d / tau in the best of the k regions that the tree is cut into."""
        default = default_extent(self.graph.tree)
        found = []
        for members in members_of(cut(self.graph.tree, k)):
            own = self.graph.distances[np.ix_(members, members)]
            pairs = own[np.triu_indices(len(members), 1)]
            tau = (extent(pairs) if len(pairs) else 0.0) or default
            found.append(self.to_training[:, members[np.argmin(own.sum(axis=1))]] / tau)
        return np.min(found, axis=0)


def steering(fitted, rng):
    """Return the standard deviations of entropy and M over random p, and the rank correlations with the objective."""
    assess = EntropySynthesis(0.5, 0.02).assessor(None)
    weights = rng.random((N_WEIGHTS, fitted.trial.training.shape[1]))
    found = [assess(p, embed(fitted.prepared, p, fitted.workspace)) for p in weights]
    entropy, modularity, objective = (np.array([getattr(one, name) for one in found])
                                      for name in ("entropy", "modularity", "objective"))  # fmt: skip
    ranks = [spearmanr(objective, values).statistic for values in (entropy, modularity, weights.mean(axis=1))]
    return [entropy.std(), modularity.std(), *ranks]


def examine(trial, seed):
    """Return all figures of one trial."""
    fitted, figures = Fitted(trial), {}
    y = trial.test.y
    for name, distances in nearest_by_norm(fitted.space.rows + fitted.space.means, fitted.tested).items():
        figures[f"1-NN {name}"] = fitted.auc(-distances)
    curve, lengths = fitted.clf.modularity_curve_, fitted.clf.spanning_tree_.lengths
    k = len(fitted.clf.regions_)
    best = int(np.argmax(curve[1:])) + 2
    figures |= {"k": k, "k of best Q": best, "Q": curve[k - 1], "best Q": curve.max(), "least Q": curve.min()}
    figures |= {"entropy": fitted.clf.entropy_, "edges > 0": (lengths > 0).mean(),
                "median |e|": np.median(lengths[lengths > 0]) ** 0.02}  # fmt: skip
    extents = {
        "mean": np.mean,
        "median": np.median,
        "quantile 0.9": lambda pairs: np.quantile(pairs, 0.9),
        "max": np.max,
    }
    for name, extent in extents.items():
        ratios = fitted.ratios(k, extent)
        figures[f"rejected {name}"], figures[f"AUC {name}"] = (ratios[y == 1] > 1).mean(), fitted.auc(-ratios)
        figures[f"accepted {name}"] = (ratios[y == -1] <= 1).mean()
    figures["AUC Algorithm 1"] = fitted.auc(fitted.clf.score_samples(trial.test.patterns))
    figures["AUC best Q"] = fitted.auc(-fitted.ratios(best, np.mean))
    for size in SIZES:
        figures[f"AUC k = {size}"] = fitted.auc(-fitted.ratios(min(size, fitted.n), np.mean))
    figures["AUC k = n"] = fitted.auc(-fitted.to_training.min(axis=1))
    if hasattr(eocc, "RegionClassifier"):
        regions = eocc.RegionClassifier().fit(trial.training)
        figures["AUC RegionClassifier"] = fitted.auc(regions.score_samples(trial.test.patterns))
        figures["rejected RegionClassifier"] = (regions.predict(trial.test.patterns)[y == 1] == -1).mean()
    steered = steering(fitted, np.random.default_rng(seed))
    names = ("sd entropy", "sd M", "rank entropy", "rank M", "rank mean weight")
    return figures | dict(zip(names, steered, strict=True))


def means_by_set(folds):
    """Return the figures of every set and form, averaged over the folds."""
    found = {}
    for name in SETS:
        for form in NORMALISATIONS:
            rows = defaultdict(list)
            for run in range(folds):
                for key, value in examine(UciSource(name).trial(form, 0, run), run).items():
                    rows[key].append(value)
            found[name, form] = {key: float(np.mean(values)) for key, values in rows.items()}
    return found


def draw(mean, folder):
    figure = new_figure(11, 4)
    left, right = figure.subplots(1, 2)
    left.plot(list(NORMS), [mean(f"1-NN {name}") for name in NORMS], "o-", color=NORMAL)
    left.set(title="1-NN among the rows of the dissimilarity space", xlabel="norm", ylabel="mean AUC")
    right.semilogx(SIZES, [mean(f"AUC k = {size}") for size in SIZES], "o-", color=NORMAL, label="the tree cut into k")
    lines = {"Algorithm 1": ("AUC Algorithm 1", OTHER), "best Q": ("AUC best Q", FAINT),
             "every row a region": ("AUC k = n", INK)}  # fmt: skip
    if not np.isnan(mean("AUC RegionClassifier")):
        lines["RegionClassifier"] = ("AUC RegionClassifier", "black")
    for place, (label, (key, colour)) in enumerate(lines.items()):
        right.axhline(mean(key), color=colour, linestyle=("--", ":", "-.", "-")[place], label=label)
    right.set(title="From EOCC-1 to every row a region", xlabel="number of regions", ylabel="mean AUC")
    right.legend(fontsize=8, loc="lower right")
    figure.savefig(folder / "examined.png", dpi=100)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--folds", type=int, default=3)
    arguments.add_argument("--images", type=Path)
    chosen, started = arguments.parse_args(), time.perf_counter()
    found = means_by_set(chosen.folds)

    def mean(key):
        return float(np.mean([figures.get(key, np.nan) for figures in found.values()]))

    keys = list(dict.fromkeys(key for figures in found.values() for key in figures))
    print(table([["figure", "mean over the sets"], *([key, f"{mean(key):.4f}"] for key in keys)]))
    shown = ("entropy", "edges > 0", "median |e|", "Q", "best Q", "k", "k of best Q", "AUC Algorithm 1", "AUC k = n")
    print(table([["set", *shown], *([f"{name}, {form}", *(f"{figures[key]:.4f}" for key in shown)]
                                    for (name, form), figures in found.items())]))  # fmt: skip
    if chosen.images:
        draw(mean, chosen.images)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
