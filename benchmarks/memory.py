"""The memory contract: what a plan says of a fit, beside what the fit took. Every fit runs in a process of its own.

Run: python benchmarks/memory.py [--largest 100000]
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist

from eocc import EntropicOneClassClassifier
from eocc.measures import Composite, LabelledGraph
from eocc.search import GeneticSearch

SPARSE = {"graph": "knn", "prototypes": 256}
SINGLE = {"resolution": "single", "search": None}
VALIDATED = {"synthesis": "validation", **SINGLE}
# kind of data, patterns, numbers (symbols, vertices) of one, settings, known non-targets beside them; a genetic search
# makes so many "generations" of six candidates
CASES = [
    ("rows", 1000, 10, {"graph": "complete"}, 0),
    ("rows", 3000, 10, {"graph": "complete"}, 0),
    ("rows", 3000, 100, {"graph": "complete"}, 0),
    ("rows", 10_000, 10, {"graph": "complete"}, 0),
    ("clusters", 3000, 10, {"graph": "complete"}, 0),
    ("rows", 4000, 10, {"graph": "complete", "prototypes": 256}, 0),
    ("clusters", 4000, 10, {"graph": "complete", "prototypes": 256}, 0),
    ("rows", 4000, 10, {"graph": "complete", "prototypes": 256, "extent": "median"}, 0),
    ("clusters", 4000, 10, {"graph": "complete", "prototypes": 256, "extent": "median"}, 0),
    ("clusters", 3000, 10, SINGLE, 0),
    ("rows", 3000, 10, {**SINGLE, "extent": "median"}, 0),
    ("clusters", 3000, 10, {**SINGLE, "extent": "median"}, 0),
    ("rows", 2000, 10, {"resolution": "single"}, 0),
    ("rows", 3000, 10, {"resolution": "single", "generations": 2, "n_jobs": 2}, 0),
    ("rows", 3000, 10, {"resolution": "single", "generations": 2, "n_jobs": 2, "precision": "single"}, 0),
    ("rows", 2000, 10, {"resolution": "single", "generations": 1, "false_alarm_rate": 0.05}, 0),
    ("rows", 3000, 10, {"graph": "knn"}, 0),
    ("rows", 10_000, 10, SPARSE, 0),
    ("rows", 30_000, 10, SPARSE, 0),
    ("rows", 30_000, 10, {"graph": "knn", "prototypes": 1024}, 0),
    ("rows", 30_000, 50, SPARSE, 0),
    ("rows", 100_000, 10, SPARSE, 0),
    ("clusters", 100_000, 10, {**SPARSE, **SINGLE}, 0),
    ("rows", 100_000, 10, {**SPARSE, "resolution": "single", "generations": 2, "n_jobs": 2}, 0),
    ("rows", 20_000, 10, {**SPARSE, "resolution": "single", "generations": 1, "false_alarm_rate": 0.05}, 0),
    ("rows", 1_000_000, 10, SPARSE, 0),
    ("rows", 1500, 10, {"synthesis": "validation"}, 1000),
    ("rows", 100_000, 10, {**SPARSE, "synthesis": "validation"}, 1000),
    ("rows", 20_000, 100, {**SPARSE, "synthesis": "validation"}, 300),
    ("rows", 20_000, 200, {"graph": "knn", "prototypes": 32, "synthesis": "validation"}, 300),
    ("rows", 1000, 10, {"synthesis": "validation"}, 20_000),
    ("rows", 3000, 10, VALIDATED, 3000),
    ("rows", 1500, 10, {**VALIDATED, "validation_fraction": 0.4, "performance": "auc"}, 1500),
    ("rows", 1500, 10, {**VALIDATED, "extent": "median"}, 1500),
    ("rows", 100_000, 10, {**SPARSE, **VALIDATED}, 100_000),
    ("rows", 100_000, 10, {**SPARSE, **VALIDATED, "performance": "auc"}, 100_000),
    ("records", 1000, 4, {"measure": "gower"}, 0),
    ("records", 3000, 10, {"measure": "gower"}, 0),
    ("records", 100_000, 4, {"measure": "gower", **SPARSE}, 0),
    ("square", 3000, 10, {"measure": "precomputed"}, 0),
    ("square", 10_000, 10, {"measure": "precomputed", **SPARSE}, 0),
    ("both", 1000, 10, {}, 0),
    ("both", 100_000, 10, SPARSE, 0),
    ("strings", 1000, 15, {"measure": "string-edit"}, 0),
    ("strings", 10_000, 15, {"measure": "string-edit", **SPARSE}, 0),
    ("graphs", 1000, 10, {"measure": "graph-edit"}, 0),
]
WARM = 300  # patterns of a first fit, which loads and compiles what the second one needs


def patterns(kind, n, size, seed=0):
    """Draw n patterns; records have numbers and categories, "both" is a row and a string."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, size))
    if kind == "clusters":
        return rows / 10 + rng.integers(4, size=(n, 1))
    if kind == "square":
        return cdist(rows, rows)
    if kind == "records":
        kinds = [float, lambda x: "low" if x < -1 else "high" if x > 1 else "middle"]
        return [{str(k): kinds[k % 2](x) for k, x in enumerate(row)} for row in rows.tolist()]
    if kind == "both":
        return [{"row": row, "word": word} for row, word in zip(rows, patterns("strings", n, size), strict=True)]
    if kind == "rows":
        return rows
    sizes = rng.integers(size // 2, size + size // 2 + 1, size=n)
    if kind == "strings":
        return ["".join(rng.choice(list("abcdefgh"), size=length)) for length in sizes]
    return [
        LabelledGraph(int(m), [[i, i + 1] for i in range(m - 1)], {"x": rng.normal(size=m).tolist()}) for m in sizes
    ]


def data_of(kind, n, size, n_others, seed):
    """Draw patterns and their labels; the last `n_others`, rows all, are none of the targets."""
    X = patterns(kind, n + n_others, size, seed)
    if n_others:
        X[n:] += 2
    return X, np.repeat([1, -1], [n, n_others])


def classifier_of(kind, settings):
    """Return the classifier with these settings."""
    settings = {"random_state": 0, **settings}
    if "generations" in settings:
        settings["search"] = GeneticSearch(population_size=6, max_generations=settings.pop("generations"))
    if kind == "both":
        settings["measure"] = Composite({"row": "euclidean", "word": "string-edit"})
    return EntropicOneClassClassifier(**settings)


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def measure(kind, n, size, settings, n_others, is_traced):
    """Fit once to few patterns and once to all; return the plan, the bytes that the second fit added, its seconds."""
    X, y = data_of(kind, n, size, n_others, seed=0)
    classifier_of(kind, settings).fit(*data_of(kind, WARM, size, min(n_others, WARM), seed=1))
    before, start = resident(), time.process_time()
    if is_traced:
        tracemalloc.start()
    classifier = classifier_of(kind, settings).fit(X, y)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    peak = tracemalloc.get_traced_memory()[1] if is_traced else most
    plan = classifier.plan_
    return {"planned": plan.peak, "peak": peak, "guessed": plan.seconds, "seconds": time.process_time() - start}


def in_process(case, is_traced):
    command = [sys.executable, __file__, "--case", json.dumps(case), *(["--traced"] if is_traced else [])]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=100_000, help="leave out cases of more patterns")
    parser.add_argument("--case", help="measure this one here (the program calls itself so)")
    parser.add_argument(
        "--traced", action="store_true", help="count what Python and numpy allocate, not what is resident"
    )
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(measure(*json.loads(arguments.case), arguments.traced)))
        return
    head = ("data", "n", "others", "size", "planned", "allocated", "ratio", "resident", "ratio", "guess s", "CPU s")
    print(("{:9}" + "{:>10}" * 10 + "  settings; sizes in MiB").format(*head))
    for case in (case for case in CASES if case[1] <= arguments.largest):
        traced, plain = in_process(case, True), in_process(case, False)
        planned, allocated, held = (size / 2**20 for size in (plain["planned"], traced["peak"], plain["peak"]))
        print(
            f"{case[0]:9}{case[1]:10}{case[4]:10}{case[2]:10}{planned:10.1f}"
            f"{allocated:10.1f}{planned / allocated:10.2f}{held:10.1f}{planned / held:10.2f}"
            f"{plain['guessed']:10.1f}{plain['seconds']:10.1f}  {case[3]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
