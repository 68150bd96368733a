"""Attack updates and windows: random tables, rows to forget, groups, gaps, copies, known outliers and bad input.

A good update is a fresh fit, bit for bit. A bad one raises an error of one line (about names of columns, the lines that
scikit-learn prescribes) and leaves the model as it was. Windows never span a gap or two groups.

``python benchmarks/fuzz_updates.py [cases] [seed]`` runs 1,000 cases. The exit status is 1 if one ends otherwise; it is
printed with its number. The same seed gives the same cases.
"""

import sys
import time
import warnings
from collections import Counter

import numpy as np
import pandas as pd

import eocc
from eocc import RegionClassifier, SurpriseClassifier

CASES = 1000
BAD = {
    "other columns": lambda new: new.rename(columns={new.columns[0]: "other"}),
    "empty": lambda new: new[:0],
    "text for numbers": lambda new: new.assign(**{new.columns[0]: "no number"}),
    "one column less": lambda new: new[new.columns[1:]],
}


def table(rng, n):
    """Return a frame of numbers and perhaps categories, with copies, ties and gaps."""
    frame = pd.DataFrame(rng.normal(size=(n, rng.integers(2, 6))) * 10.0 ** rng.integers(0, 4)).add_prefix("x")
    if rng.random() < 0.4:
        frame = frame.round(int(rng.integers(0, 2)))
    if rng.random() < 0.5:
        frame["machine"] = rng.choice(["A", "B", "C"], n)
    if rng.random() < 0.3:
        frame = frame.mask(rng.random(frame.shape) < 0.03)
    if rng.random() < 0.3:
        frame = frame.iloc[np.where(rng.random(n) < 0.1, 0, np.arange(n))].reset_index(drop=True)
    return frame


def state(model, rows):
    return model.calibration_.margins.tobytes(), model.score_samples(rows).tobytes(), model.n_rows_


def lines_of(error):
    is_short = len(str(error).splitlines()) == 1 or str(error).startswith("The feature names should match")
    return "one line" if is_short else "SEVERAL LINES"


def attack_update(rng):
    """Return how an update of a random model went."""
    n, n_new = int(rng.integers(20, 120)), int(rng.integers(1, 40))
    rows = table(rng, n + n_new)
    by = "machine" if "machine" in rows and rng.random() < 0.5 else None
    model = SurpriseClassifier(baseline_by=by).fit(rows[:n])
    before, new = state(model, rows), rows[n:]
    if rng.random() < 0.3:
        kind = str(rng.choice([*BAD, "forget too many", "forget nothing known"]))
        forget = {"forget too many": n + 1, "forget nothing known": "march.csv"}.get(kind)
        try:
            model.update(BAD.get(kind, lambda rows: rows)(new), forget=forget)
            outcome = f"{kind}: ACCEPTED"
        except (ValueError, TypeError) as error:
            outcome = f"{kind}: {lines_of(error)}"
    else:
        forget = int(rng.integers(0, n // 2)) if rng.random() < 0.6 else None
        fresh = SurpriseClassifier(baseline_by=by)
        fresh.fit(rows[forget or 0 :])
        found = model.update(new, forget=forget)
        if str(found.reading_) != str(fresh.reading_):
            outcome = "a fit reads the columns in another way"
        else:
            outcome = "same bits" if state(found, rows) == state(fresh, rows) else "OTHER BITS"
    return outcome if state(model, rows) == before else "MODEL CHANGED"


def attack_regions(rng):
    """Return how an update of regions went."""
    rows = rng.normal(size=(int(rng.integers(30, 700)), 3))
    model, n = RegionClassifier().fit(rows[:-10]), len(rows) - 10
    before = state(model, rows)
    found = model.update(rows[n:])
    is_right = found.n_rows_ == n + 10 and (np.diff(found.calibration_.margins) >= 0).all()
    is_right &= (found.predict(rows) == np.where(found.decision_function(rows) >= 0, 1, -1)).all()
    return ("regions: right" if is_right else "REGIONS WRONG") if state(model, rows) == before else "MODEL CHANGED"


def attack_windows(rng):
    """Return how the windows of a random series went."""
    n = int(rng.integers(1, 80))
    steps = rng.choice([1.0, 1.02, 5.0, 0.0], n, p=[0.9, 0.06, 0.035, 0.005])
    frame = pd.DataFrame({"t": np.cumsum(steps), "v": rng.normal(size=n), "s": rng.choice(["a", "b"], n)})
    frame = frame.sort_values("s", kind="stable") if rng.random() < 0.5 else frame.assign(s="a")
    frame.loc[rng.random(n) < 0.05, "v"] = rng.choice([np.nan, np.inf])
    if rng.random() < 0.1:
        frame.loc[0, "s" if rng.random() < 0.5 else "t"] = None
    frame = frame.sample(frac=1, random_state=int(rng.integers(10**6))).reset_index(drop=True)
    length, step = (
        int(rng.integers(0 if rng.random() < 0.1 else 1, 9)),
        int(rng.integers(0 if rng.random() < 0.1 else 1, 5)),
    )
    try:
        found = eocc.windows(frame, length, step, by="s", time="t", features=bool(rng.random() < 0.3))
    except ValueError as error:
        return f"windows: {lines_of(error)}"
    times, groups = frame["t"].to_numpy(), frame["s"].to_numpy()
    for window, group in zip(found.places, found.groups, strict=True):
        steps, usual = np.diff(times[window]), np.median(np.diff(np.sort(times[groups == group])))
        if (groups[window] != group).any() or (steps <= 0).any() or (steps > 1.6 * usual).any():
            return "WINDOW SPANS A GAP OR TWO SERIES"
    return "windows: right" if np.isfinite(found.X).all() else "WINDOW WITH A GAP"


def run_case(case, seed):
    """Return how a case went; capitals mean that a promise was broken."""
    attack = (attack_update, attack_regions, attack_windows, attack_windows)[case % 4]
    try:
        return attack(np.random.default_rng([seed, case]))
    except Exception as error:
        return f"CASE {case} RAISED {type(error).__name__}: {str(error)[:120]}"


def is_bad(outcome):
    return any(word.isupper() and len(word) > 1 for word in outcome.split())


def main():
    n_cases = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    seed, outcomes, n_bad, started = int(sys.argv[2]) if len(sys.argv) > 2 else 0, Counter(), 0, time.perf_counter()
    warnings.simplefilter("ignore")
    for case in range(n_cases):
        outcome = run_case(case, seed)
        outcomes[outcome] += 1
        if is_bad(outcome):
            n_bad += 1
            print(f"case {case}: {outcome}", flush=True)
    for outcome, count in sorted(outcomes.items(), key=lambda one: -one[1]):
        print(f"{count:6,} {outcome}")
    print(f"{n_cases:,} cases in {time.perf_counter() - started:.0f} s, {n_bad} bad")
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())
