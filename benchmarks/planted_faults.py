"""Faults planted in public tables that also hold near-ids, and false alarms on the tables: nothing is dropped by hand.

``python benchmarks/planted_faults.py [repetitions]``. Each table gets two columns of names, in which 43 % and 69 % of
the values are different. The model learns from a random half of the rows. Six faults are planted, each in its own row
of the other half: an unseen category, a wrong unit (a number times 1,000), two swapped columns of numbers, an
impossible combination (every other number from the other end of its column), a block of gaps (half of the columns),
and a far value (five ranges above the largest). A fault is found if its row is rejected. False alarms are the rejected
share of the other rows. The public tables are those of the packages palmerpenguins, river and scikit-learn.
"""

import sys
import warnings

import numpy as np
import pandas as pd
from palmerpenguins import load_penguins
from river import datasets
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from eocc import SurpriseClassifier

MOST_ROWS = 1200
FAULTS = ("category", "unit", "swap", "combination", "gaps", "far")


def of_river(stream):
    return pd.DataFrame([{**row, "outcome": y} if not isinstance(y, dict) else {**row, **y} for row, y in stream])


def chicks():
    return (
        of_river(datasets.ChickWeights()).assign(diet=lambda f: "diet " + f["diet"].astype(str)).drop(columns="chick")
    )


TABLES = {
    "penguins": lambda: load_penguins().dropna(subset=["body_mass_g"]),
    "solar flares": lambda: of_river(datasets.SolarFlare()).drop(columns="x-class-flares"),
    "chicks": chicks,
    "segments": lambda: of_river(datasets.ImageSegments()),
    "approval": lambda: of_river(datasets.TrumpApproval()).drop(columns="ordinal_date").assign(
        poll=lambda f: np.where(f["gallup"] > f["gallup"].median(), "high", "low")
    ),
    "wine": lambda: load_wine(as_frame=True).frame.assign(target=lambda f: "cultivar " + f["target"].astype(str)),
    "breast cancer": lambda: load_breast_cancer(as_frame=True).frame.assign(
        target=lambda f: "class " + f["target"].astype(str)
    ),
    "diabetes": lambda: load_diabetes(as_frame=True).frame.assign(sex=lambda f: np.where(f["sex"] > 0, "m", "f")),
}  # fmt: skip


def with_names(frame, rng):
    """Return the table with two columns of names; in the one 43 % of the values are different, in the other 69 %."""
    n = len(frame)
    for share, name in ((0.43, "customer"), (0.69, "item")):
        different = int(share * n)
        codes = np.r_[np.arange(different), rng.integers(0, different, n - different)]
        frame = frame.assign(**{name: [f"{name} {code}" for code in rng.permutation(codes)]})
    return frame


def planted(rows, training, rng):
    """Return one row for each fault."""
    rows = rows.astype(object).reset_index(drop=True)
    own = [name for name in training if name not in ("customer", "item")]
    numbers = [name for name in own if training[name].dtype.kind in "if" and training[name].nunique() > 2]
    texts = [name for name in own if training[name].dtype.kind not in "if"]
    chosen = rows.iloc[rng.permutation(len(rows))[: len(FAULTS)]].reset_index(drop=True)
    one, other = rng.permutation(numbers)[:2]
    chosen.loc[0, rng.choice(texts) if texts else one] = "never seen" if texts else 9e9
    chosen.loc[1, one] = 1000 * training[one].abs().max()
    chosen.loc[2, [one, other]] = chosen.loc[2, [other, one]].to_numpy()
    mirrored = {
        name: training[name].quantile(1 - float((training[name] < chosen.loc[3, name]).mean())) for name in numbers[::2]
    }
    chosen.loc[3, list(mirrored)] = list(mirrored.values())
    chosen.loc[4, own[: max(2, len(own) // 2)]] = None
    chosen.loc[5, one] = training[one].max() + 5 * np.ptp(training[one].dropna())
    return chosen.astype(object)


def main(repetitions=6):
    warnings.simplefilter("ignore")
    found, alarms = [], []
    for name, load in TABLES.items():
        caught, rates = np.zeros(len(FAULTS)), []
        for seed in range(repetitions):
            rng = np.random.default_rng(seed)
            frame = load().reset_index(drop=True)
            frame = frame.iloc[rng.permutation(len(frame))[:MOST_ROWS]].reset_index(drop=True)
            frame = with_names(frame, rng)
            training, new = frame[: len(frame) // 2], frame[len(frame) // 2 :]
            clf = SurpriseClassifier(n_jobs=-1).fit(training)
            rates.append(float((clf.predict(new) == -1).mean()))
            caught += clf.predict(planted(new, training, rng).to_dict("records")) == -1
        found.append(caught / repetitions)
        alarms.append(np.mean(rates))
        shares = ", ".join(f"{fault} {share:.2f}" for fault, share in zip(FAULTS, found[-1], strict=True))
        print(f"{name}: false alarms {alarms[-1]:.3f}; {shares}; left out {list(clf.ignored_columns_)}", flush=True)
    print(
        f"all: false alarms {np.mean(alarms):.3f}; found {np.mean(found):.2f}, of 30 faults {30 * np.mean(found):.1f}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
