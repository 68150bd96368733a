"""A first look: both classifiers on a data set that comes with scikit-learn, with and without a few labels."""

from typing import NamedTuple

import numpy as np
from sklearn import clone, datasets
from sklearn.metrics import roc_auc_score

from eocc.classifiers.base import OneClassClassifier
from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.classifiers.surprise import SurpriseClassifier
from eocc.foundation.types import Matrix
from eocc.search.genetic import GeneticSearch

N_LABELLED = 10
# Time matters more here than the last digit of the objective.
SEARCH_GENERATIONS = 20


class DemoSet(NamedTuple):
    """A data set: its loader in scikit-learn, the class that is normal, and the names of both kinds."""

    loader: str
    normal_class: int
    normal: str
    other: str


DEMO_SETS = {
    "breast-cancer": DemoSet("load_breast_cancer", 1, "benign tumours", "malignant tumours"),
    "iris": DemoSet("load_iris", 0, "setosa flowers", "other irises"),
    "wine": DemoSet("load_wine", 0, "wines of cultivar 1", "wines of cultivars 2 and 3"),
}


class Split(NamedTuple):
    """Rows: normal ones to train on, a few labelled outliers, and test rows of both kinds."""

    train: Matrix
    outliers: Matrix
    normal: Matrix
    other: Matrix
    names: tuple[str, ...]


def run_demo(name: str = "breast-cancer", seed: int = 0) -> str:
    """Return a comparison of the methods as a table, and the explanation of one rejected row."""
    kind = DEMO_SETS[name]
    split = split_of(kind, seed)
    fitted = _fitted(split, seed)
    lines = [
        f"{name}: {len(split.train)} {kind.normal} to learn from, {split.train.shape[1]} columns.",
        f"Tested on {len(split.normal)} other {kind.normal} and {len(split.other)} {kind.other}.",
        f'"{N_LABELLED} labels" means that {N_LABELLED} {kind.other} are known in training.',
        "",
        f"{'':<30}regions  false alarms   misses     AUC",
        *(_row(title, classifier, split) for title, classifier in fitted.items()),
        "",
        f"False alarms are rejected {kind.normal}, misses are accepted {kind.other}. The AUC is the probability",
        "that a normal row gets a higher score than another; 0.5 is guessing.",
        "",
        *_explained(fitted["SurpriseClassifier"], split, kind),
    ]
    return "\n".join(lines)


def split_of(kind: DemoSet, seed: int) -> Split:
    """Split a data set at random: 80 % of the normal rows train, and some outliers are labelled."""
    data = getattr(datasets, kind.loader)()
    X, is_normal = np.asarray(data.data), np.asarray(data.target) == kind.normal_class
    rng = np.random.default_rng(seed)
    normal, other = (X[rng.permutation(np.flatnonzero(flags))] for flags in (is_normal, ~is_normal))
    n_train = int(0.8 * len(normal))
    names = tuple(map(str, data.feature_names))
    return Split(normal[:n_train], other[:N_LABELLED], normal[n_train:], other[N_LABELLED:], names)


def _fitted(split: Split, seed: int) -> dict[str, OneClassClassifier]:
    """Return the classifiers by title."""
    rows = np.vstack([split.train, split.outliers])
    y = np.repeat([1, -1], [len(split.train), len(split.outliers)])

    def entropic(synthesis: str) -> EntropicOneClassClassifier:
        search = GeneticSearch(max_generations=SEARCH_GENERATIONS)
        return EntropicOneClassClassifier(measure="standardised", synthesis=synthesis, validation_fraction=0.5,
                                          search=search, random_state=seed, n_jobs=-1)  # fmt: skip

    surprise = SurpriseClassifier(measure="standardised", n_jobs=-1)
    return {
        "EOCC-1": entropic("entropy").fit(split.train),
        f"EOCC-2, {N_LABELLED} labels": entropic("validation").fit(rows, y),
        "SurpriseClassifier": clone(surprise).fit(split.train),
        f"SurpriseClassifier, {N_LABELLED} labels": surprise.fit(rows, y),
    }


def _row(title: str, classifier: OneClassClassifier, split: Split) -> str:
    false_alarms = float(np.mean(classifier.predict(split.normal) == -1))
    misses = float(np.mean(classifier.predict(split.other) == 1))
    truth = np.repeat([1, 0], [len(split.normal), len(split.other)])
    auc = roc_auc_score(truth, classifier.score_samples(np.vstack([split.normal, split.other])))
    return f"{title:<30}{len(classifier.regions_):>7}{false_alarms:>14.1%}{misses:>9.1%}{auc:>8.3f}"


def _explained(classifier: OneClassClassifier, split: Split, kind: DemoSet) -> list[str]:
    """Explain the rejected row of median margin."""
    margins = classifier.decision_function(split.other)
    rejected = np.flatnonzero(margins < 0)
    if len(rejected) == 0:
        return []
    row = rejected[np.argsort(margins[rejected])[len(rejected) // 2]]
    classifier.feature_names_in_ = np.array(split.names, dtype=object)
    (explanation,) = classifier.explain_patterns(split.other[[row]])
    return [f"Why one of the {kind.other} was rejected:", str(explanation)]
