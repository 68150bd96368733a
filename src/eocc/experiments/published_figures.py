"""The figures that the paper prints, cell by cell."""

import csv
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

from eocc.foundation.registry import choose

TABLES = ("uci_low", "uci_high", "iam")
QUANTITIES = ("auc", "accuracy", "regions")
COUNTS = ("n_targets", "n_others", "n_features")


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


class PublishedDataset(NamedTuple):
    """One row of the paper's lists of data sets; graph sets have no number of features."""

    table: str
    dataset: str
    title: str
    target_class: str
    n_targets: int
    n_others: int
    n_features: int | None


def published(table: str, quantity: str = "auc") -> list[PublishedFigure]:
    """Return the cells of "uci_low", "uci_high" or "iam", row by row as printed.

    The UCI tables hold "auc" for "raw" and "unit-variance" data; "iam" holds "auc", "accuracy" and "regions" (how
    many decision regions) for "graphs".

    >>> first = published("uci_low")[0]
    >>> first.dataset, first.system, first.mean, first.std
    ('AB', 'EOCC-1', 0.685, 0.013)
    >>> [figure.mean for figure in published("iam", "regions")][:2]
    [2.0, 3.4]
    """
    choose("table of published figures", dict.fromkeys(TABLES), table)
    choose("published quantity", dict.fromkeys(QUANTITIES), quantity)
    return [
        PublishedFigure(**{**cell, "significant": cell["significant"] == "1"})
        for cell in _read(f"{table}.csv", {"mean": float, "std": float})
        if cell["quantity"] == quantity
    ]


def published_datasets() -> list[PublishedDataset]:
    """Return the data sets of all three tables, as the paper names and counts them.

    >>> [row.dataset for row in published_datasets() if row.table == "iam"]
    ['A', 'G', 'L-L', 'L-H', 'M', 'P']
    """
    return [PublishedDataset(**row) for row in _read("datasets.csv", dict.fromkeys(COUNTS, int))]


def _read(name: str, numbers: Mapping[str, Callable[[str], float]]) -> list[dict[str, Any]]:
    """Return the rows of a file, with the numbers converted; None where there is none."""
    text = files("eocc").joinpath("experiments", "published", name).read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = list(csv.DictReader(text.splitlines()))
    return [{**row, **{key: kind(row[key]) if row[key] else None for key, kind in numbers.items()}} for row in rows]
