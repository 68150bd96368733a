"""A first look: train on the normal class of a data set that comes with scikit-learn, test on all the rest."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.foundation.types import Matrix
from eocc.foundation.wording import counted


@dataclass(frozen=True)
class DemoSet:
    """A bundled data set: how to load it, which class is normal, and what its kinds are called."""

    load: Callable[[], Any]
    target: int
    normal: str
    other: str


DEMO_SETS = {
    "breast-cancer": DemoSet(load_breast_cancer, 1, "benign tumours", "malignant tumours"),
    "iris": DemoSet(load_iris, 0, "setosa flowers", "other irises"),
    "wine": DemoSet(load_wine, 0, "wines of cultivar 1", "wines of cultivars 2, 3"),
}


@dataclass(frozen=True, eq=False)
class Trial:
    """A classifier trained on most targets, and the standardised patterns it has not seen, by kind."""

    clf: EntropicOneClassClassifier
    training_rows: NDArray[np.int64]
    normal: Matrix
    other: Matrix
    names: DemoSet


def demo(name: str = "breast-cancer", seed: int = 0) -> str:
    """Train, test and tell: regions, decisions, memberships and AUC, in plain words."""
    names = DEMO_SETS[name]
    data = names.load()
    X, is_target = np.asarray(data.data), np.asarray(data.target) == names.target
    targets = np.random.default_rng(seed).permutation(np.flatnonzero(is_target))
    n_train = int(0.9 * len(targets))
    train, held_out = np.sort(targets[:n_train]), np.sort(targets[n_train:])
    scaler = StandardScaler().fit(X[train])
    clf = EntropicOneClassClassifier(random_state=seed).fit(scaler.transform(X[train]))
    trial = Trial(clf, train, scaler.transform(X[held_out]), scaler.transform(X[~is_target]), names)
    opening = [
        f"Data: {name}, as scikit-learn ships it: {len(X)} rows, {X.shape[1]} features, standardised.",
        f"Trained on {n_train} {names.normal} and nothing else. Tested on {len(held_out)} more of them",
        f"and on {len(trial.other)} {names.other}, none of which it has seen.",
    ]
    parts = [opening, _regions(trial), _decisions(trial), _examples(trial), _ranking(trial)]
    return "\n\n".join("\n".join(part) for part in parts)


def _regions(trial: Trial) -> list[str]:
    clf = trial.clf
    lines = [f"The training rows fall into {counted(len(clf.regions_), 'region')} of what is normal:"]
    for number, region in enumerate(clf.regions_):
        row = trial.training_rows[region.representative]
        kind = f"round row {row}" if len(region.members) > 1 else f"row {row} by itself"
        lines.append(f"  region {number}: {len(region.members):3d} of them, {kind}, extent {region.extent:.3f}")
    return lines


def _decisions(trial: Trial) -> list[str]:
    width = max(len(trial.names.normal), len(trial.names.other))
    lines = ["Hard decisions: accepted is what lies within the border of what is normal, set so that about",
             f"{trial.clf.calibration_.rate:.0%} of new {trial.names.normal} lie beyond it.",
             f"  {'':<{width}}  accepted  rejected"]  # fmt: skip
    for kind, X in ((trial.names.normal, trial.normal), (trial.names.other, trial.other)):
        accepted = int((trial.clf.predict(X) == 1).sum())
        lines.append(f"  {kind:<{width}}  {accepted:8d}  {len(X) - accepted:8d}")
    return lines


def _examples(trial: Trial) -> list[str]:
    """Show three patterns of each kind: the most, middle and least normal of it."""
    border = np.exp(trial.clf.offset_)
    lines = [f"Soft decisions: membership from 0 to 1, {border:.3f} at the border. Most, middle, least normal:"]
    for kind, X in ((trial.names.normal, trial.normal), (trial.names.other, trial.other)):
        ranked = np.sort(trial.clf.membership(X))[::-1]
        grades = ", ".join(f"{grade:.3f}" for grade in ranked[[0, len(ranked) // 2, -1]])
        lines.append(f"  {kind}: {grades}")
    return lines


def _ranking(trial: Trial) -> list[str]:
    y = np.repeat([1, 0], [len(trial.normal), len(trial.other)])
    auc = roc_auc_score(y, trial.clf.score_samples(np.vstack([trial.normal, trial.other])))
    return [
        f"AUC {auc:.3f}: of one of the {trial.names.normal} and one of the {trial.names.other}, the former",
        f"is found the more normal {auc:.0%} of the time; guessing would give 50%.",
    ]
