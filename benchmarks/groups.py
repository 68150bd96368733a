"""A level shift of one group's rows, found with and without a baseline of the group.

    python benchmarks/groups.py [--repeats 10]

40 machines have 5 or 60 training rows each: a volume around the machine's own level, and three irrelevant columns.
Levels are lognormal with a standard deviation of 0.8 on the log scale, values of one machine of 0.2. Each machine gets
new normal rows, and new rows whose volume is down by 80 %. Printed are the share of the shifted rows that are rejected
and the share of the normal ones, for all machines in turn.
"""

import argparse

import numpy as np
import pandas as pd

from eocc import RegionClassifier, SurpriseClassifier

N_GROUPS = 40


def rows(rng, levels, n, factor=1.0):
    """Return n rows of each machine."""
    machine = np.repeat(np.arange(len(levels)), n)
    volume = factor * levels[machine] * np.exp(rng.normal(0, 0.2, len(machine)))
    others = {name: rng.normal(size=len(machine)) for name in ("noise", "load", "offset")}
    return pd.DataFrame({"machine": [f"A{k}" for k in machine], "volume": volume, **others})


def run(classifier, n, repeats, seed=0):
    """Return the share of shifted rows found, and of normal rows rejected, over some training sets."""
    found, alarms = [], []
    for k in range(repeats):
        rng = np.random.default_rng([seed, k])
        levels = np.exp(rng.normal(4, 0.8, N_GROUPS))
        clf = classifier.fit(rows(rng, levels, n))
        found.append((clf.predict(rows(rng, levels, 5, factor=0.2)) == -1).mean())
        alarms.append((clf.predict(rows(rng, levels, 25)) == -1).mean())
    return np.mean(found), np.mean(alarms)


def main():
    """Print one line per classifier and size of groups."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=10)
    given = parser.parse_args()
    print(f"{'classifier':20} {'baseline_by':12} {'rows of a group':>16} {'found':>7} {'false alarms':>13}")
    for kind in (SurpriseClassifier, RegionClassifier):
        for by in (None, "machine"):
            for n in (5, 60):
                found, alarms = run(kind(baseline_by=by), n, given.repeats)
                print(f"{kind.__name__:20} {by or '-':12} {n:16} {found:7.3f} {alarms:13.3f}", flush=True)


if __name__ == "__main__":
    main()
