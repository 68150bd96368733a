"""One long series: windows and a SurpriseClassifier against matrix profiles (stumpy), by the AUC of single rows.

The labelled series are those that the package aeon ships, each with a normal series to learn from: an electrocardiogram
(ecg-diff-count-3) and blood pressure (UCR anomaly 135, whose file begins with the normal series; that is left out).

Run, with stumpy and aeon installed: python benchmarks/windows.py --length 100
The share of false alarms with windows that overlap or not: python benchmarks/windows.py --false-alarms
"""

import argparse
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.signal import lfilter
from sklearn.metrics import roc_auc_score
from timing import table

from eocc import RegionClassifier, SurpriseClassifier, windows

SERIES = {
    "electrocardiogram": ("UnitTest/ecg-diff-count-3_TRAIN_NA.csv", "UnitTest/ecg-diff-count-3_TEST.csv"),
    "blood pressure": ("KDD-TSAD_135/135_UCR_Anomaly_InternalBleeding16_TRAIN.csv",
                       "KDD-TSAD_135/135_UCR_Anomaly_InternalBleeding16_TEST.csv"),
}  # fmt: skip


def folder() -> Path:
    """Return where aeon keeps its data, without importing it."""
    found = find_spec("aeon")
    assert found is not None
    assert found.submodule_search_locations is not None
    return Path(next(iter(found.submodule_search_locations))) / "datasets" / "data"


def by_windows(model: Any, train: Any, test: Any, length: int, features: bool) -> Any:
    """Return the strangeness of every row: that of the strangest window that holds it."""
    own = windows(train, length, max(1, length // 20), features=features)
    new = windows(test, length, max(1, length // 20), features=features)
    return -new.per_row(model.fit(own.X).score_samples(new.X))


def by_profile(profile: Any, train: Any, test: Any, length: int) -> Any:
    """Return the same from the matrix profile: the distance of a window to the nearest one of the training series."""
    found = np.zeros(len(test))
    for name in test:
        one, other = test[name].to_numpy(float), train[name].to_numpy(float)
        distances = profile(one, length, other, ignore_trivial=False)[:, 0].astype(float)
        rows = np.full(len(test), -np.inf)
        for k in range(length):
            rows[k : k + len(distances)] = np.maximum(rows[k : k + len(distances)], distances)
        found += rows
    return found


def false_alarms() -> list[list[str]]:
    """Return the share of rejected windows of 20 values, the training windows 1 or 20 values apart; rate 0.05.

    Each value is a share of the last and noise. Means of six pairs of series.
    """
    rng = np.random.default_rng(5)
    cases = [(model, step) for step in (1, 20) for model in (SurpriseClassifier, RegionClassifier)]
    lines = [["share of the last value", *(f"{model.__name__}, step {step}" for model, step in cases)]]
    for share in (0.0, 0.9, 0.99):
        lines.append([f"{share}"])
        for model, step in cases:
            found = []
            for _ in range(6):
                train, test = (lfilter([1], [1, -share], rng.normal(size=n + 200))[200:] for n in (1500, 6000))
                fitted = model(false_alarm_rate=0.05).fit(windows(train, 20, step).X)
                found.append((fitted.predict(windows(test, 20, 20).X) < 0).mean())
            lines[-1].append(f"{np.mean(found):.3f}")
    return lines


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--series", nargs="*", choices=SERIES, default=list(SERIES))
    parser.add_argument("--false-alarms", action="store_true")
    asked = parser.parse_args()
    if asked.false_alarms:
        print(table(false_alarms()))
        return
    import stumpy

    length = asked.length
    detectors = {
        "surprise, values": lambda *given: by_windows(SurpriseClassifier(), *given, False),
        "surprise, features": lambda *given: by_windows(SurpriseClassifier(), *given, True),
        "regions, values": lambda *given: by_windows(RegionClassifier(), *given, False),
        "stumpy, z-normalised": lambda *given: by_profile(stumpy.stump, *given),
        "stumpy, as it is": lambda *given: by_profile(stumpy.aamp, *given),
    }
    lines = [["series", *detectors]]
    seconds = ["processor time, s"]
    times = dict.fromkeys(detectors, 0.0)
    for name in asked.series:
        train_file, test_file = SERIES[name]
        test = pd.read_csv(folder() / test_file).drop(columns="timestamp").astype(float)
        is_anomaly = test.pop("is_anomaly").to_numpy() > 0
        train = pd.read_csv(folder() / train_file).drop(columns=["timestamp", "is_anomaly"]).astype(float)
        if train.equals(test[: len(train)]):
            test, is_anomaly = test[len(train) :].reset_index(drop=True), is_anomaly[len(train) :]
        line = [name]
        for called, detect in detectors.items():
            start = time.process_time()
            found = detect(train, test, length)
            times[called] += time.process_time() - start
            known = np.isfinite(found)
            line.append(f"{roc_auc_score(is_anomaly[known], found[known]):.3f}")
        lines.append(line)
    print(table([*lines, [*seconds, *(f"{spent:.1f}" for spent in times.values())]]))


if __name__ == "__main__":
    main()
