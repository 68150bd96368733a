"""Sources of comparisons for the tests: a quiet one, and one that hangs or kills its process in some runs."""

import os
import signal
import time
from dataclasses import dataclass

import numpy as np

from eocc.experiments.protocol import TableSource, trial_of_rows


def source(n=40, n_others=20, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.vstack([rng.normal(size=(n, 3)), rng.normal(size=(n_others, 3)) + 3])
    is_target = (True,) * n + (False,) * n_others
    return TableSource("made", rows=tuple(map(tuple, rows.tolist())), is_target=is_target)


@dataclass(frozen=True)
class Trouble:
    """A source that hangs or kills its process in some runs."""

    name: str
    what: str
    normalisations: tuple = ("raw",)
    kind: str = "rows"
    repetitions: int = 1
    ships_validation: bool = False
    identity: str = "trouble"
    variant_of: str = ""
    n_folds: int = 10

    def trial(self, normalisation, seed, run):
        if run == 1 and self.what == "hang":
            time.sleep(60)
        if run == 1 and self.what == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        made = source()
        return trial_of_rows(np.array(made.rows), np.array(made.is_target), "raw", run)
