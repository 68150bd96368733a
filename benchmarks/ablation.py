"""What each part and constant of the surprise score is worth: mean AUC and false alarms with one thing changed.

EOCC_DATA=/folder/with/data python benchmarks/ablation.py                all changes
EOCC_DATA=/folder/with/data python benchmarks/ablation.py cell far      changes whose names contain a word

AUC: the 13 UCI sets and the 27 further sets of score.py (three of the ten folds, both forms), the tables of categories,
the made-up shapes of shapes.py and new rows of a made-up clump. Alarms: the share of normal rows rejected at a rate of
0.05, the mean over the further sets, and the mean and the largest over the simulated kinds of calibration.py, n = 100.
"""

import sys
from contextlib import ExitStack
from unittest.mock import patch

import numpy as np
from clumps import of_made_up_clump
from score import GROUPS, figures
from shapes import SHAPES, of_shape
from timing import table, table_line

from calibration import KINDS, rates_in_settings
from eocc.surprise import helpers, model, neighbours

N_FOLDS, N_SEEDS, N_MODELS = 3, 2, 60
SIMULATED = {name: (draw, sizes[1:2]) for name, (draw, sizes) in KINDS.items()}


def constant(module, name, value):
    return patch.object(module, name, value)


def handicap(name, value):
    return patch.dict(model.HANDICAPS, {name: value})


def without(name):
    return patch.object(model, "cells_of" if name == "cell" else f"fit_{name}", lambda *_: None)


CHANGES = {
    "as it is": (),
    "neighbours alone": tuple(without(name) for name in model.HANDICAPS),
    **{f"without {name}": (without(name),) for name in model.HANDICAPS},
    **{f"handicap of far {value}": (handicap("far", value),) for value in (1.5, 3.5)},
    **{f"handicap of covariance {value}": (handicap("covariance", value),) for value in (0.0, 2.0)},
    **{f"handicap of cell {value}": (handicap("cell", value),) for value in (1.5, 3.5)},
    **{f"{value} landmarks of far": (constant(helpers, "N_LANDMARKS", value),) for value in (32, 128)},
    "landmarks of far up to all rows": (constant(helpers, "SHARE", 1),),
    **{f"{value} folds of covariance": (constant(helpers, "N_FOLDS", value),) for value in (2, 10)},
    "profile up to the 4th neighbour": (constant(neighbours, "LARGEST_SIZE", 4),),
    "profile up to the 16th neighbour": (constant(neighbours, "LARGEST_SIZE", 16),),
    "profile alone": (constant(neighbours, "SHARES", (1.0, 0.0)),),
    "profile and ratio half each": (constant(neighbours, "SHARES", (0.5, 0.5)),),
    "both weightings half each": (constant(neighbours, "LARGER", 0.5),),
    "the larger weighting alone": (constant(neighbours, "LARGER", 1.0),),
    "copies are not left out": (patch.object(neighbours.NeighboursView, "leave_twins_out", lambda *_: False),),
    "rows set their own weights": (patch("eocc.space.representation.LEVERAGE", 2.0),),
}


def measured():
    """Return the columns of the table."""
    means = {
        name: np.mean([figures(one, "Surprise", N_FOLDS) for one in GROUPS[name]()], axis=0)
        for name in ("uci", "further", "categories")
    }
    aucs = [(raw + scaled) / 2 for raw, scaled, _ in means.values()]
    methods = ("Surprise",)
    shapes = [of_shape(shape, seed, methods) for shape in SHAPES.values() for seed in range(N_SEEDS)]
    clumps = [of_made_up_clump(0.05, False, seed, methods) for seed in range(10)]
    simulated = [found.mean() for *_, found in rates_in_settings(SIMULATED, 100 * N_MODELS, N_MODELS)]
    rest = np.mean([one[0] for one in clumps]), means["further"][2], np.mean(simulated), np.max(simulated)
    return [*aucs, np.mean([one[0] for one in shapes]), *rest]


def main():
    words = sys.argv[1:]
    print(table([["changed", "UCI", "further", "categories", "shapes", "clump", "alarms", "simulated", "largest"]]))
    for name, changes in CHANGES.items():
        if words and not any(word in name for word in words):
            continue
        with ExitStack() as stack:
            for change in changes:
                stack.enter_context(change)
            print(table_line([name, *(f"{value:.4f}" for value in measured())]), flush=True)


if __name__ == "__main__":
    main()
