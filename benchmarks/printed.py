"""How near the finished cells come to the printed figures: the counts of docs/research/printed_figures.md.

python benchmarks/printed.py [--folder docs/results]
"""

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
from timing import table

from eocc.experiments.cells import SYSTEMS
from eocc.experiments.protocol import ALL_ROWS
from eocc.experiments.results import TABLES, published
from eocc.experiments.studies import open_store

OTHER_CLASS = {"BW": "BW (malignant)", "L": "L (ill)", "A": "A (a)"}
NEAR = {"EOCC-1": 0.05, "EOCC-2": 0.05}
PLAIN = ("1-NN", "Gauss", "PCA")
# The cells that were used to find the protocol: these sets in both forms, and three more normalised.
OF_PROTOCOL = [(name, form) for name in ("D", "E", "BI", "AR", "BC-P") for form in ("raw", "unit-variance")]
OF_PROTOCOL += [(name, "unit-variance") for name in ("L", "BW", "S")]


def means_of(folder):
    """Return the mean AUC of every (data set, form, system) that has results."""
    runs = defaultdict(list)
    with open_store(folder) as (finished, _):
        for (dataset, form, system, *_), figures in finished.items():
            if not figures.reason:
                runs[dataset, form, system].append(figures.auc)
    return {place: float(np.mean(values)) for place, values in runs.items()}


def readings(means, figure):
    """Return the AUC of every reading of a printed figure: variants of the system, the other class, all rows."""
    systems = [figure.system, *(name for name, system in SYSTEMS.items() if system.variant_of == figure.system)]
    sets = [figure.dataset, *([OTHER_CLASS[figure.dataset]] if figure.dataset in OTHER_CLASS else [])]
    places = [(name, system) for name in sets for system in systems]
    forms = [figure.normalisation, *([ALL_ROWS] if figure.normalisation == "unit-variance" else [])]
    keys = [(name, form, system) for form in forms for name, system in places]
    return {key: means[key] for key in keys if key in means}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--folder", type=Path, default=Path(__file__).parents[1] / "docs" / "results")
    means = means_of(arguments.parse_args().folder)
    figures = [
        figure for name in TABLES for figure in published(name) if figure.quantity == "auc" and figure.mean is not None
    ]
    gaps = [abs(means[place] - figure.mean) for figure in figures
            if (place := (figure.dataset, figure.normalisation, figure.system)) in means
            and figure.system in PLAIN and place[:2] in OF_PROTOCOL]  # fmt: skip
    if gaps:
        print(
            f"{', '.join(PLAIN)}: median distance {np.median(gaps):.4f} over {len(gaps)} cells, largest {max(gaps):.3f}"
        )
    rows, near, near_as_printed, total = [], 0, 0, 0
    for figure in (figure for figure in figures if figure.system in NEAR):
        found = readings(means, figure)
        if not found:
            continue
        total += 1
        best = min(found, key=lambda place: abs(found[place] - figure.mean))
        own = found.get((figure.dataset, figure.normalisation, figure.system), np.nan)
        near += abs(found[best] - figure.mean) <= NEAR[figure.system]
        near_as_printed += abs(own - figure.mean) <= NEAR[figure.system]
        if abs(own - figure.mean) > NEAR[figure.system]:
            rows.append([figure.dataset, figure.normalisation, figure.system, f"{figure.mean:.3f}", f"{own:.3f}",
                         f"{found[best]:.3f}", "; ".join(best)])  # fmt: skip
    print(f"EOCC-1 and EOCC-2: {near_as_printed} of {total} cells within 0.05, {near} in the best reading")
    print(table([["set", "form", "system", "printed", "ours", "nearest reading", "which"], *rows]))


if __name__ == "__main__":
    main()
