"""The figures that the paper prints, cell by cell."""

import csv
from dataclasses import dataclass
from importlib.resources import files

from eocc.foundation.registry import choose

TABLES = ("uci_low", "uci_high", "iam")
QUANTITIES = ("auc", "accuracy", "regions")


@dataclass(frozen=True)
class PublishedFigure:
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


@dataclass(frozen=True)
class PublishedDataset:
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
    cells = (_figure(cell) for cell in _read(f"{table}.csv"))
    return [figure for figure in cells if figure.quantity == quantity]


def published_datasets() -> list[PublishedDataset]:
    """Return the data sets of all three tables, as the paper names and counts them.

    >>> [row.dataset for row in published_datasets() if row.table == "iam"]
    ['A', 'G', 'L-L', 'L-H', 'M', 'P']
    """
    return [
        PublishedDataset(
            row["table"],
            row["dataset"],
            row["title"],
            row["target_class"],
            int(row["n_targets"]),
            int(row["n_others"]),
            int(row["n_features"]) if row["n_features"] else None,
        )
        for row in _read("datasets.csv")
    ]


def _figure(cell: dict[str, str]) -> PublishedFigure:
    mean, std = (float(cell[name]) if cell[name] else None for name in ("mean", "std"))
    return PublishedFigure(
        cell["table"],
        cell["normalisation"],
        cell["dataset"],
        cell["system"],
        cell["quantity"],
        mean,
        std,
        cell["significant"] == "1",
    )


def _read(name: str) -> list[dict[str, str]]:
    text = files("eocc").joinpath("experiments", "published", name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
