"""Records of several kinds of parts, and which of them matters.

    python examples/composite_records.py

Each machine has a model name, a few settings and a vibration trace. What is abnormal shows in the trace alone.
"""

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from eocc import EntropicOneClassClassifier
from eocc.measures import DTW, Composite, Euclidean, StringEdit

MODELS = ["pump-A1", "pump-A2", "fan-B7"]


def machine(rng: np.random.Generator, worn: bool) -> dict[str, Any]:
    """Return a record; a worn machine's trace shakes."""
    t = np.linspace(0, 4 * np.pi, int(rng.integers(40, 50)))
    shake = 0.25 * np.sin(9 * t) if worn else 0.0
    return {
        "model": str(rng.choice(MODELS)),
        "settings": rng.normal(size=3),
        "trace": np.sin(t + rng.normal(0, 0.1)) + shake + rng.normal(0, 0.05, len(t)),
    }


def main() -> None:
    """Let the search weigh the parts, with two fifths of the machines kept to validate."""
    rng = np.random.default_rng(0)
    machines = [machine(rng, worn=False) for _ in range(80)] + [machine(rng, worn=True) for _ in range(40)]
    y = np.repeat([1, -1], [80, 40])
    measure = Composite({"model": StringEdit(), "settings": Euclidean(), "trace": DTW()})
    clf = EntropicOneClassClassifier(
        measure=measure, synthesis="validation", validation_fraction=0.4, random_state=0
    ).fit(machines, y)
    for name, weight in zip(clf.measure_.parameter_names, clf.weights_, strict=True):
        print(f"  {name:12} {weight:.2f}")
    test = [machine(rng, worn=k % 2 == 1) for k in range(60)]
    truth = np.array([1, -1] * 30)
    print(f"{(clf.predict(test) == truth).mean():.0%} of new machines classified correctly, ", end="")
    print(f"AUC {roc_auc_score(truth, clf.score_samples(test)):.3f}")


if __name__ == "__main__":
    main()
