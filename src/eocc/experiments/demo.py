"""A first look: both classifiers on a data set that comes with scikit-learn, with and without a few labels."""

from collections.abc import Sequence

import numpy as np
from sklearn import clone, datasets
from sklearn.metrics import roc_auc_score

from eocc.classifiers.base import OneClassClassifier
from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.classifiers.surprise import SurpriseClassifier
from eocc.foundation.types import Matrix
from eocc.tables.table import NUMBER, Column, Table

N_LABELLED = 10


# The loader in scikit-learn, the class that is normal, and the names of both kinds.
DEMO_SETS = {
    "breast-cancer": (datasets.load_breast_cancer, 1, "benign tumours", "malignant tumours"),
    "iris": (datasets.load_iris, 0, "setosa flowers", "other irises"),
    "wine": (datasets.load_wine, 0, "wines of cultivar 1", "wines of cultivars 2 and 3"),
}


def run_demo(name: str = "breast-cancer", seed: int = 0) -> str:
    """Return a comparison of the methods as a table, and the explanation of one rejected row.

    A random 80 % of the normal rows train, and some outliers are labelled; all other rows test.
    """
    load, normal_class, normals, others = DEMO_SETS[name]
    data, rng = load(), np.random.default_rng(seed)
    is_normal = data.target == normal_class
    normal, other = (data.data[rng.permutation(np.flatnonzero(flags))] for flags in (is_normal, ~is_normal))
    train, normal = np.split(normal, [int(0.8 * len(normal))])
    labelled, other = np.split(other, [N_LABELLED])
    fitted = _fitted(train, labelled, seed, data.feature_names)
    normal, other = (_named(rows, data.feature_names) for rows in (normal, other))
    lines = [
        f"{name}: {len(train)} {normals} to learn from, {train.shape[1]} columns.",
        f"Tested on {len(normal)} other {normals} and {len(other)} {others}.",
        f'"{N_LABELLED} labels" means that {N_LABELLED} {others} are known in training.',
        "",
        f"{'':<30}regions  false alarms   misses     AUC",
        *(_row(title, classifier, normal, other) for title, classifier in fitted.items()),
        "",
        f"False alarms are rejected {normals}, misses are accepted {others}. The AUC is the probability",
        "that a normal row gets a higher score than an outlier; 0.5 is guessing.",
    ]
    classifier = fitted["SurpriseClassifier"]
    margins = classifier.decision_function(other)
    rejected = np.flatnonzero(margins < 0)
    if len(rejected):
        median = rejected[np.argsort(margins[rejected])[len(rejected) // 2]]
        (explanation,) = classifier.explain(other[[median]])
        lines += ["", f"Why one of the {others} was rejected:", str(explanation)]
    return "\n".join(lines)


def _named(rows: Matrix, names: Sequence[str]) -> Table:
    return Table(tuple(Column(str(name), NUMBER, column) for name, column in zip(names, rows.T, strict=True)))


def _fitted(rows: Matrix, labelled: Matrix, seed: int, names: Sequence[str]) -> dict[str, OneClassClassifier]:
    """Return the classifiers by title."""
    train = _named(rows, names)
    both, y = _named(np.vstack([rows, labelled]), names), np.repeat([1, -1], [len(rows), len(labelled)])

    def entropic(synthesis: str) -> EntropicOneClassClassifier:
        return EntropicOneClassClassifier.as_printed(
            synthesis, measure="standardised", validation_fraction=0.5, random_state=seed, n_jobs=-1
        )

    surprise = SurpriseClassifier(measure="standardised", n_jobs=-1)
    return {
        "EOCC-1": entropic("entropy").fit(train),
        f"EOCC-2, {N_LABELLED} labels": entropic("validation").fit(both, y),
        "SurpriseClassifier": clone(surprise).fit(train),
        f"SurpriseClassifier, {N_LABELLED} labels": surprise.fit(both, y),
    }


def _row(title: str, classifier: OneClassClassifier, normal: Table, other: Table) -> str:
    margins = np.concatenate([classifier.decision_function(rows) for rows in (normal, other)])
    is_normal = np.arange(len(margins)) < len(normal)
    false_alarms, misses = np.mean(margins[is_normal] < 0), np.mean(margins[~is_normal] >= 0)
    auc = roc_auc_score(is_normal, margins)
    return f"{title:<30}{len(classifier.regions_):>7}{false_alarms:>14.1%}{misses:>9.1%}{auc:>8.3f}"
