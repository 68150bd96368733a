"""The paper's lists of data sets: names, target classes and counts; graph sets have no number of features."""

import csv
from pathlib import Path
from types import SimpleNamespace

COUNTS = ("n_targets", "n_others", "n_features")


def published_datasets():
    rows = csv.DictReader(Path(__file__).with_suffix(".csv").read_text().splitlines())
    return [SimpleNamespace(**row | {name: int(row[name]) if row[name] else None for name in COUNTS}) for row in rows]
