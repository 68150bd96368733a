"""A made-up table with text, numbers, dates and gaps: the readings of pumps at work, and of pumps with a fault."""

from collections.abc import Callable
from typing import Any

import numpy as np

Row = dict[str, Any]

# The share of pumps whose vibration is missing.
GAPS = 0.03

# What a fault changes: a bearing runs hot, a seal leaks, a sensor is in another unit, readings are lost, or a pump is
# set up in a way that no normal pump is.
FAULTS: dict[str, Callable[[Row], Row]] = {
    "hot bearing": lambda row: {"temp_c": round(row["temp_c"] + 9, 1), "vibration": round(row["vibration"] * 2, 2)},
    "leaking seal": lambda row: {"pressure_bar": round(0.6 * row["pressure_bar"], 2)},
    "wrong unit": lambda row: {"temp_c": round(1.8 * row["temp_c"] + 32, 1)},
    "readings lost": lambda row: {"vibration": None, "oil": None, "pressure_bar": None},
    "wrong oil": lambda row: {"oil": "SAE-30"},
    "idle but hot": lambda row: {"load": 0.2, "temp_c": 52.5},
}


def make_pumps(n_normal: int = 300, n_faulty: int = 0, random_state: int = 0) -> tuple[list[Row], list[str]]:
    """Return rows of normal pumps, then of faulty ones, and the fault of each row, "" if it has none.

    Parameters
    ----------
    n_normal, n_faulty : int
        Numbers of rows. The faults take turns.
    random_state : int
        Random seed.

    Returns
    -------
    rows : list of dict
        One dict per pump, None where a reading is missing.
    faults : list of str
        The fault of each row, "" for a normal pump.

    Examples
    --------
    >>> rows, faults = make_pumps(2, 1)
    >>> list(rows[0])
    ['pump', 'site', 'model', 'serviced', 'load', 'temp_c', 'pressure_bar', 'vibration', 'oil']
    >>> faults
    ['', '', 'hot bearing']
    """
    rng = np.random.default_rng(random_state)
    names = list(FAULTS)
    faults = [""] * n_normal + [names[k % len(names)] for k in range(n_faulty)]
    rows = [_normal(rng, k) for k in range(len(faults))]
    rows = [row | (FAULTS[fault](row) if fault else {}) for row, fault in zip(rows, faults, strict=True)]
    return [row | ({"vibration": None} if rng.random() < GAPS else {}) for row in rows], faults


def _normal(rng: np.random.Generator, number: int) -> Row:
    """Return a pump whose temperature and pressure follow its load, and whose oil follows its model."""
    load, model = rng.uniform(0.2, 0.95), str(rng.choice(["K4", "K7", "M2"], p=[0.5, 0.3, 0.2]))
    serviced = np.datetime64("2026-01-05") + int(rng.integers(0, 150))
    return {
        "pump": f"P{number:04}",
        "site": str(rng.choice(["north", "south", "harbour"])),
        "model": model,
        "serviced": str(serviced),
        "load": round(load, 2),
        "temp_c": round(30 + 25 * load + rng.normal(0, 1), 1),
        "pressure_bar": round(2 + 4 * load + rng.normal(0, 0.15), 2),
        "vibration": round(float(rng.gamma(9, 0.2)), 2),
        "oil": "ISO-46" if model == "M2" else "ISO-68",
    }
