"""Learn what healthy machines look like from records that mix numbers, words, yes/no, grades and gaps.

    python examples/mixed_records.py

Needs pandas and the extra ``tables``.
"""

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from eocc import EntropicOneClassClassifier
from eocc.entropic.search import GeneticSearch
from eocc.measures.tables import Gower

GRADES = ["none", "slight", "heavy"]


def healthy_machines(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Pumps run slow and cool, presses fast and warm; one record in ten lacks its temperature."""
    press = rng.random(n) < 0.4
    records = pd.DataFrame(
        {
            "machine": np.where(press, "press", "pump"),
            "speed": np.where(press, 1500.0, 900.0) + rng.normal(0, 40, n),
            "temperature": np.where(press, 70.0, 45.0) + rng.normal(0, 3, n),
            "oil": rng.choice(["A", "B"], n),
            "serviced": rng.random(n) < 0.95,
            "wear": pd.Categorical(rng.choice(GRADES[:2], n), categories=GRADES, ordered=True),
            "last_check": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D"),
        }
    )
    return lacking(records, "temperature", rng)


def faulty_machines(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """All more worn; half run hot, the others at the wrong speed on an oil nobody used before."""
    records = healthy_machines(n, rng)
    hot = rng.random(n) < 0.5
    records["temperature"] += np.where(hot, 25.0, 0.0)
    records["oil"] = np.where(hot, records["oil"], "C")
    records["speed"] = np.where(hot, records["speed"], 2400.0 - records["speed"])
    records["wear"] = pd.Categorical(rng.choice(GRADES[1:], n), categories=GRADES, ordered=True)
    return records


def lacking(records: pd.DataFrame, column: str, rng: np.random.Generator) -> pd.DataFrame:
    """Return the records without one value in ten of a column."""
    return records.assign(**{column: records[column].mask(rng.random(len(records)) < 0.1)})


def main() -> None:
    """Fit healthy machines only, then classify new ones, healthy and faulty."""
    rng = np.random.default_rng(0)
    training = healthy_machines(150, rng)
    healthy, faulty = healthy_machines(60, rng), faulty_machines(60, rng)
    # An extent that covers 9 in 10 distances inside a region; the default, their mean, is stricter.
    search = GeneticSearch(max_generations=15)
    clf = EntropicOneClassClassifier(measure=Gower(), search=search, extent="quantile", random_state=0).fit(training)

    print(f"Learned from {len(training)} healthy machines: {len(clf.regions_)} kinds of normal.")
    print("How much each column counts, from 0 to 1:")
    for name, kind, weight in zip(clf.measure_.names, clf.measure_.kinds, clf.weights_, strict=True):
        print(f"  {name:<12} {kind:<12} {weight:.2f}")

    print("Four healthy machines, then four faulty ones, with their membership and the decision:")
    few = pd.concat([healthy[:4], faulty[:4]], ignore_index=True).round({"speed": 0, "temperature": 1})
    few = few.assign(membership=clf.membership(few).round(3), decision=np.where(clf.predict(few) == 1, "normal", "odd"))
    print(few.drop(columns="last_check").to_string(index=False))

    accepted, rejected = int((clf.predict(healthy) == 1).sum()), int((clf.predict(faulty) == -1).sum())
    print(f"Of {len(healthy)} new healthy machines {accepted} were accepted as normal;")
    print(f"of {len(faulty)} faulty ones {rejected} were called odd.")
    scores = np.concatenate([clf.score_samples(healthy), clf.score_samples(faulty)])
    auc = roc_auc_score(np.repeat([1, 0], [len(healthy), len(faulty)]), scores)
    print(f"A healthy machine scores higher than a faulty one in {auc:.0%} of all pairs (the AUC).")


if __name__ == "__main__":
    main()
