"""Strings: learn what part numbers look like, from good ones only.

python examples/part_numbers.py
"""

import numpy as np
from sklearn.metrics import roc_auc_score

from eocc import EntropicOneClassClassifier
from eocc.measures import StringEdit

ODD = ["QX-12", "1234-AB-7", "AB1234567", "hello world", "AB--1234", "ab-1234-7-x", "CD-12a4-?", ""]


def part_number(rng: np.random.Generator) -> str:
    """Return a number such as CD-4711-3, of one of three product lines."""
    line = rng.choice(["AB", "CD", "EF"])
    return f"{line}-{rng.integers(1000, 10000)}-{rng.integers(10)}"


def main() -> None:
    """Fit good part numbers, then classify good and odd ones."""
    rng = np.random.default_rng(0)
    training = [part_number(rng) for _ in range(120)]
    good = [part_number(rng) for _ in range(30)]
    clf = EntropicOneClassClassifier(measure=StringEdit(), extent="max", random_state=0).fit(training)
    insertion, deletion, substitution = clf.weights_
    print(f"{len(clf.regions_)} regions; weights: insertion {insertion:.2f}, deletion {deletion:.2f}, ", end="")
    print(f"substitution {substitution:.2f}")
    print(f"{(clf.predict(good) == 1).sum()} of {len(good)} new good part numbers accepted")
    for text, decision, grade in zip(ODD, clf.predict(ODD), clf.membership(ODD), strict=True):
        print(f"  {text!r:14} {'accepted' if decision == 1 else 'rejected'}  membership {grade:.3f}")
    scores = clf.score_samples(good + ODD)
    print(f"AUC {roc_auc_score([1] * len(good) + [0] * len(ODD), scores):.3f}")


if __name__ == "__main__":
    main()
