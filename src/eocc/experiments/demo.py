"""A first look: three classifiers at one false-alarm rate on a messy table, one row explained, one rule."""

import csv
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from eocc.base.progress import stage
from eocc.classifiers.base import OneClassClassifier
from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.classifiers.regions import RegionClassifier
from eocc.classifiers.surprise import SurpriseClassifier
from eocc.datasets.synthetic import make_pumps

N_TRAINING, N_NORMAL, N_FAULTY = 300, 200, 60
RATE = 0.05


def run_demo(seed: int = 0) -> str:
    """Return a comparison of the classifiers as a table, the explanation of one row, and one rule."""
    train, _ = make_pumps(N_TRAINING, random_state=seed)
    new, faults = make_pumps(N_NORMAL, N_FAULTY, seed + 1)
    names = [row.pop("pump") for row in new]
    train = [{name: value for name, value in row.items() if name != "pump"} for row in train]
    is_normal = np.array([not fault for fault in faults])
    classifiers: dict[str, OneClassClassifier] = {
        "SurpriseClassifier": SurpriseClassifier(n_jobs=-1),
        "RegionClassifier": RegionClassifier(n_jobs=-1),
        "EOCC-1, the paper's": EntropicOneClassClassifier.as_printed(
            false_alarm_rate=RATE, random_state=seed, n_jobs=-1),
    }  # fmt: skip
    lines = [
        f"A table of pumps: {N_TRAINING} normal rows to learn from, with text, numbers, dates and gaps.",
        f"Tested on {N_NORMAL} other normal pumps and {N_FAULTY} with a fault, at a false-alarm rate of {RATE}.",
        "",
        f"{'':<22}{'false alarms':>12}{'faults found':>14}{'AUC':>8}{'seconds':>9}",
    ]
    with stage("demo", len(classifiers)) as report:
        for done, (title, classifier) in enumerate(classifiers.items(), 1):
            started = time.perf_counter()
            margins = classifier.fit(train).decision_function(new)
            seconds, auc = time.perf_counter() - started, roc_auc_score(is_normal, margins)
            alarms, found = np.mean(margins[is_normal] < 0), np.mean(margins[~is_normal] < 0)
            lines.append(f"{title:<22}{alarms:>12.1%}{found:>14.1%}{auc:>8.3f}{seconds:>9.1f}")
            report(done)
    lone = faults.index("idle but hot")
    lines += [
        "",
        f"Why SurpriseClassifier rejects pump {names[lone]}, which is idle but hot:",
        str(classifiers["SurpriseClassifier"].explain([new[lone]])[0]),
        "",
        "What RegionClassifier learned, the first of its rules:",
        str(classifiers["RegionClassifier"].rules()[0]),
        "",
        "Next, with files: eocc demo --files pumps, then eocc fit pumps/normal.csv -o pumps/model.eocc",
    ]
    return "\n".join(lines)


def write_files(folder: Path, seed: int = 0) -> None:
    """Write the rows of the demo: normal.csv to learn from, and new.csv, in which 1 row in 10 has a fault."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("normal", make_pumps(N_TRAINING, random_state=seed)[0]),
                       ("new", make_pumps(54, 6, seed + 1)[0])):  # fmt: skip
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
