"""A first look: train on the normal class of a data set that comes with scikit-learn, test on all the rest."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import roc_auc_score

from eocc.classifier import EntropicOneClassClassifier


@dataclass(frozen=True)
class DemoSet:
    """A bundled data set: how to load it, which class is normal, and what its kinds are called."""

    load: Callable[[], object]
    target: int
    normal: str
    other: str


DEMO_SETS = {
    "breast-cancer": DemoSet(load_breast_cancer, 1, "benign tumours", "malignant tumours"),
    "iris": DemoSet(load_iris, 0, "setosa flowers", "other irises"),
    "wine": DemoSet(load_wine, 0, "wines of cultivar 1", "wines of cultivars 2 and 3"),
}


def demo(name: str = "breast-cancer", seed: int = 0) -> str:
    """Train, test and tell: regions, decisions, memberships and AUC, in plain words."""
    choice = DEMO_SETS[name]
    data = choice.load()
    X, is_target = np.asarray(data.data), np.asarray(data.target) == choice.target  # type: ignore[attr-defined]
    train, test = _split(is_target, seed)
    clf = EntropicOneClassClassifier(random_state=seed).fit(X[train])
    return "\n".join(
        [
            f"Data: {name}, as scikit-learn ships it: {len(X)} rows, {X.shape[1]} features.",
            f"Trained on {len(train)} {choice.normal} only (90 % of them). Tested on the other",
            f"{is_target[test].sum()} {choice.normal} and on {(~is_target).sum()} {choice.other}, none seen before.",
            "",
            *_regions(clf, train),
            "",
            *_decisions(clf, X[test], is_target[test], choice),
            "",
            *_examples(clf, X, test, is_target, choice),
            "",
            *_ranking(clf, X[test], is_target[test], choice),
        ]
    )


def _split(is_target: NDArray[np.bool_], seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    targets = np.random.default_rng(seed).permutation(np.flatnonzero(is_target))
    n_train = int(0.9 * len(targets))
    return np.sort(targets[:n_train]), np.sort(np.concatenate([targets[n_train:], np.flatnonzero(~is_target)]))


def _regions(clf: EntropicOneClassClassifier, train: NDArray[np.int64]) -> list[str]:
    lines = [
        f"  region {number}: {len(region.members):3d} of the training rows, typically like row "
        f"{train[region.representative]}, extent {region.extent:.3f}"
        for number, region in enumerate(clf.regions_, start=1)
    ]
    return [f"Normal falls into {len(clf.regions_)} regions (entropy {clf.entropy_:.3f}, "
            f"modularity {clf.modularity_:.3f}):", *lines]  # fmt: skip


def _decisions(
    clf: EntropicOneClassClassifier, X: NDArray[np.float64], is_target: NDArray[np.bool_], choice: DemoSet
) -> list[str]:
    accepted = clf.predict(X) == 1
    width = max(len(choice.normal), len(choice.other))
    rows = [
        f"  {kind:<{width}}  {(accepted & group).sum():8d}  {(~accepted & group).sum():8d}"
        for kind, group in ((choice.normal, is_target), (choice.other, ~is_target))
    ]
    return ["Hard decisions:", f"  {'':<{width}}  accepted  rejected", *rows]


def _examples(
    clf: EntropicOneClassClassifier,
    X: NDArray[np.float64],
    test: NDArray[np.int64],
    is_target: NDArray[np.bool_],
    choice: DemoSet,
) -> list[str]:
    """Show three patterns of each kind: the least, middle and most normal of it."""
    lines = ["Soft decisions, the most, middle and least normal of each kind:"]
    for kind, group in ((choice.normal, test[is_target[test]]), (choice.other, test[~is_target[test]])):
        ranked = group[np.argsort(-clf.score_samples(X[group]), kind="stable")]
        chosen = ranked[[0, len(ranked) // 2, -1]]
        grades = ", ".join(
            f"{grade:.3f} ({'accepted' if label == 1 else 'rejected'})"
            for grade, label in zip(clf.membership(X[chosen]), clf.predict(X[chosen]), strict=True)
        )
        lines.append(f"  {kind}: membership {grades}")
    return lines


def _ranking(
    clf: EntropicOneClassClassifier, X: NDArray[np.float64], is_target: NDArray[np.bool_], choice: DemoSet
) -> list[str]:
    auc = roc_auc_score(is_target, clf.score_samples(X))
    return [
        f"AUC {auc:.3f}: of a random pair, one of the {choice.normal} and one of the {choice.other},",
        f"the first is found more normal {auc:.0%} of the time (50 % would be guessing).",
    ]
