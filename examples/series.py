"""Learn what a normal heartbeat looks like, then classify new ones: series of unequal lengths, two leads each.

    python examples/series.py

The beats are made, not measured: three smooth waves (P, QRS, T) that come a little sooner or later every time.
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from eocc import EntropicOneClassClassifier
from eocc.entropic.search import GeneticSearch
from eocc.measures.series import DTW

Beat = NDArray[np.float64]

# A wave: when it peaks (share of the beat), how wide it is, how high in either lead.
NORMAL = {"P": (0.2, 0.035, 0.2, 0.1), "QRS": (0.4, 0.02, 1.0, 0.6), "T": (0.65, 0.06, 0.35, 0.3)}
KINDS = {
    "normal": NORMAL,
    "T wave a third lower": {**NORMAL, "T": (0.65, 0.06, 0.23, 0.2)},
    "no P wave": {name: wave for name, wave in NORMAL.items() if name != "P"},
    "broad and early": {"QRS": (0.3, 0.07, 1.1, -0.5), "T": (0.6, 0.08, -0.4, 0.3)},
    "T wave upside down": {**NORMAL, "T": (0.65, 0.06, -0.3, -0.25)},
    "second lead loose": {name: (*wave[:3], 0.0) for name, wave in NORMAL.items()},
}


def beat(kind: str, rng: np.random.Generator) -> Beat:
    """Return one beat, (length, 2): of its own length, every wave shifted and scaled a little, with noise."""
    time = np.linspace(0, 1, int(rng.integers(70, 100)))[:, None]
    signal = rng.normal(0, 0.04, (len(time), 2))
    for peak, width, *heights in KINDS[kind].values():
        bump = np.exp(-(((time - peak - rng.normal(0, 0.015)) / width) ** 2) / 2)
        signal += bump * np.array(heights) * rng.normal(1, 0.15)
    return signal


def beats(kind: str, n: int, rng: np.random.Generator) -> list[Beat]:
    """Return n beats of a kind."""
    return [beat(kind, rng) for _ in range(n)]


def summary(clf: EntropicOneClassClassifier, new: list[Beat], normal: list[Beat]) -> str:
    """Return how many new beats are accepted, and how they rank against normal ones."""
    accepted, membership = (clf.predict(new) == 1).sum(), np.median(clf.membership(new))
    scores = clf.score_samples(normal + new)
    auc = roc_auc_score([1] * len(normal) + [0] * len(new), scores)
    decisions = f"{accepted:2d} of {len(new)} accepted as normal, median membership {membership:.2f}"
    return f"{decisions}; a normal beat ranks above it {auc:4.0%} of the time (AUC {auc:.2f})"


def main() -> None:
    """Fit normal beats only, then print the results for beats of every kind."""
    rng = np.random.default_rng(0)
    clf = EntropicOneClassClassifier(
        measure=DTW(band=0.1), search=GeneticSearch(max_generations=10), random_state=0
    ).fit(beats("normal", 60, rng))
    first, second = clf.weights_
    print(f"Learned from 60 normal beats: {len(clf.regions_)} regions.")
    print(f"Weight of the first lead {first:.2f}, of the second {second:.2f}.\n")
    normal = beats("normal", 40, rng)
    for kind in KINDS:
        print(f"{kind:>20}: {summary(clf, beats(kind, 20, rng), normal)}")


if __name__ == "__main__":
    main()
