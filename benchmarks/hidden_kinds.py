"""Teach outliers of one kind: how many rows of the other kinds are still found?

python benchmarks/hidden_kinds.py [tables]

Made-up tables of 1,000 normal rows have five numbers and two categories, with gaps. New rows have one of five faults.
A model is taught three or ten rows of one fault. Figures are the shares of 60 new rows of each fault that are rejected,
by the model before and after the answers, means over three tables.
"""

import sys
import warnings

import numpy as np
import pandas as pd
from timing import table

from eocc import SurpriseClassifier

FAULTS = ("far", "unit", "category", "gaps", "swap")


def normal_rows(rng, n):
    city = rng.choice(list("abcdef"), n, p=[0.3, 0.25, 0.2, 0.15, 0.07, 0.03])
    load = rng.normal(size=n) + (city == "a")
    frame = pd.DataFrame({
        "load": load, "temp": 20 + 3 * load + rng.normal(size=n), "speed": rng.gamma(3, size=n),
        "press": rng.normal(5, 1, n), "vib": rng.exponential(size=n), "city": city, "mode": rng.choice(list("xyz"), n),
    })  # fmt: skip
    for name in ("press", "vib", "city"):
        frame.loc[rng.random(n) < 0.08, name] = None
    return frame


def faulty_rows(rng, fault, n):
    frame = normal_rows(rng, n)
    if fault == "far":
        frame["speed"] *= 100
    elif fault == "unit":
        frame["temp"] = frame.temp * 1.8 + 32
    elif fault == "category":
        frame["city"] = "ZZ"
    elif fault == "gaps":
        frame[["load", "temp", "press", "vib"]] = np.nan
    else:
        frame[["load", "temp"]] = frame[["temp", "load"]].to_numpy()
    return frame


def main():
    n_tables, shares = int(sys.argv[1]) if len(sys.argv) > 1 else 3, {}
    warnings.simplefilter("ignore")
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        clf = SurpriseClassifier().fit(normal_rows(rng, 1000))
        new = {fault: faulty_rows(rng, fault, 60) for fault in FAULTS}
        models = {"none": clf}
        for fault in FAULTS:
            for n in (3, 10):
                models[f"{n} of {fault}"] = clf.teach(faulty_rows(rng, fault, n), np.full(n, -1))
        for taught, model in models.items():
            found = [(model.predict(rows) == -1).mean() for rows in new.values()]
            shares.setdefault(taught, []).append(found)
    rows = [[name, *(f"{share:.2f}" for share in np.mean(found, axis=0))] for name, found in shares.items()]
    print(table([["taught", *FAULTS], *rows]))


if __name__ == "__main__":
    main()
