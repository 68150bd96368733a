"""The figures that the paper prints, cell by cell."""

import csv
from importlib.resources import files
from typing import Any, NamedTuple

from eocc.foundation.registry import choose

TABLES = ("uci_low", "uci_high", "iam")
QUANTITIES = ("auc", "accuracy", "regions")


class PublishedFigure(NamedTuple):
    """One cell of a table: a mean over runs and its standard deviation, None where the paper prints a dash.

    `significant` says that the cell is bold: the best by the paper's t-test. The table of graph sets has no bold cells.
    """

    table: str
    normalisation: str
    dataset: str
    system: str
    quantity: str
    mean: float | None
    std: float | None
    significant: bool


def published(table: str, quantity: str = "auc") -> list[PublishedFigure]:
    """Return the cells of "uci_low", "uci_high" or "iam", row by row as printed.

    The UCI tables hold "auc" for "raw" and "unit-variance" data; "iam" holds "auc", "accuracy" and "regions" (how
    many decision regions) for "graphs".

    >>> first = published("uci_low")[0]
    >>> first.dataset, first.system, first.mean, first.std
    ('AB', 'EOCC-1', 0.685, 0.013)
    """
    choose("table of published figures", dict.fromkeys(TABLES), table)
    choose("published quantity", dict.fromkeys(QUANTITIES), quantity)
    text = files("eocc").joinpath("experiments", "published", f"{table}.csv").read_text(encoding="utf-8")
    cells: list[dict[str, Any]] = [cell for cell in csv.DictReader(text.splitlines()) if cell["quantity"] == quantity]
    for cell in cells:
        cell |= {name: float(cell[name]) if cell[name] else None for name in ("mean", "std")}
        cell["significant"] = cell["significant"] == "1"
    return [PublishedFigure(**cell) for cell in cells]
