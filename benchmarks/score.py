"""Mean AUC of SurpriseClassifier, and its false alarms at a rate of 0.05, on four groups of public sets.

EOCC_DATA=/folder/with/data python benchmarks/score.py                        all groups
EOCC_DATA=/folder/with/data python benchmarks/score.py uci --folds 3          a quick look: three of the ten folds
EOCC_DATA=/folder/with/data python benchmarks/score.py further categories --systems Surprise 1-NN "Isolation forest"

`uci`: the paper's 13 sets. `further`: the 27 tables of further_sets.py. `graphs`: the six IAM sets. `categories`: the
tables of category_sets.py. Rows of numbers have the protocol of docs/results/further_sets.md: ten folds of the normal
rows, one repetition, raw and with unit variance. Graphs have the split that comes with them.
"""

import argparse
import time

import numpy as np
from category_sets import category_tables
from further_sets import tables
from timing import table, table_line

from eocc.experiments.cells import SYSTEMS, Cell, can_run, run_cell
from eocc.experiments.protocol import N_FOLDS, TableSource
from eocc.experiments.studies import STUDIES


def as_source(name, X, is_normal):
    return TableSource(name, rows=tuple(map(tuple, X.tolist())), is_target=tuple(is_normal.tolist()))


def published(*studies):
    """Return the sets of these studies, without variants and without the one that is in no public place."""
    sources = (source for study in studies for source in STUDIES[study])
    return [source for source in sources if not source.variant_of and source.name != "CO"]


GROUPS = {
    "uci": lambda: published("uci-low", "uci-high"),
    "further": lambda: [as_source(name, X, is_normal) for name, (X, is_normal, _) in sorted(tables().items())],
    "graphs": lambda: published("iam"),
    "categories": lambda: [as_source(name, *rows) for name, rows in category_tables().items()],
}


def figures(source, system, n_folds):
    """Return the mean AUC by form of the data, and the mean share of normal test rows rejected."""
    if not can_run(SYSTEMS[system], source):
        return [np.nan] * 3
    found = []
    for normalisation in source.normalisations:
        cells = [Cell(source, normalisation, system, run, 0, 1) for run in range(min(n_folds, source.n_folds))]
        found.append([run_cell(cell) for cell in cells])
        reasons = {one.reason for one in found[-1]} - {""}
        if reasons:
            raise SystemExit(f"{source.name}, {system}: {reasons}")
    aucs = [np.mean([one.auc for one in form]) for form in found]
    alarms = 1 - np.mean([[one.recall for one in form] for form in found])
    return [aucs[0], aucs[-1], alarms]


def report(name, sources, systems, n_folds):
    """Print a line per set and system, then the means."""
    print(f"\n{name}\n")
    print(table([["set", "system", "AUC", "raw", "unit variance", "false alarms at 0.05"]]))
    found = {system: {} for system in systems}
    for source in sources:
        for system in systems:
            found[system][source.name] = figures(source, system, n_folds)
            print_figures(source.name, system, found[system][source.name])
    for system, by_set in found.items():
        print_figures(f"mean of {len(by_set)}", system, np.mean(list(by_set.values()), axis=0))
        if "SP" in by_set:
            rest = [values for name, values in by_set.items() if name != "SP"]
            print_figures(f"mean of {len(rest)} without SP", system, np.mean(rest, axis=0))


def print_figures(name, system, values):
    raw, scaled, alarms = values
    cells = f"{(raw + scaled) / 2:.4f}", f"{raw:.4f}", f"{scaled:.4f}", f"{alarms:.4f}"
    print(table_line([name, system, *cells]), flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("groups", nargs="*", help=f"some of {', '.join(GROUPS)}; all by default")
    arguments.add_argument("--folds", type=int, default=N_FOLDS, help="of the ten folds, so many")
    arguments.add_argument("--systems", nargs="+", default=["Surprise"], help="also 1-NN, 'Isolation forest'")
    arguments.add_argument("--sets", nargs="+", help="names of sets; all by default")
    given = arguments.parse_args()
    started = time.perf_counter()
    for name in given.groups or GROUPS:
        sources = [source for source in GROUPS[name]() if not given.sets or source.name in given.sets]
        if sources:
            report(name, sources, given.systems, given.folds)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
