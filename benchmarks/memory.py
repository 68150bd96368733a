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

from eocc import EntropicOneClassClassifier
from eocc.measures import LabelledGraph

SPARSE = {"graph": "knn", "prototypes": 256}
# kind of data, patterns, numbers (symbols, vertices) of one, settings
CASES = [
    ("rows", 1000, 10, {"graph": "complete"}),
    ("rows", 3000, 10, {"graph": "complete"}),
    ("rows", 3000, 100, {"graph": "complete"}),
    ("rows", 10_000, 10, {"graph": "complete"}),
    ("rows", 2000, 10, {"resolution": "single"}),
    ("rows", 3000, 10, {"graph": "knn"}),
    ("rows", 10_000, 10, SPARSE),
    ("rows", 30_000, 10, SPARSE),
    ("rows", 30_000, 10, {"graph": "knn", "prototypes": 1024}),
    ("rows", 30_000, 50, SPARSE),
    ("rows", 100_000, 10, SPARSE),
    ("rows", 1_000_000, 10, SPARSE),
    ("strings", 1000, 15, {"measure": "string-edit"}),
    ("strings", 10_000, 15, {"measure": "string-edit", **SPARSE}),
    ("graphs", 300, 10, {"measure": "graph-edit"}),
    ("graphs", 1000, 10, {"measure": "graph-edit"}),
]
WARM = 300  # patterns of a first fit, which loads and compiles what the second one needs


def patterns(kind, n, size, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "rows":
        return rng.normal(size=(n, size))
    sizes = rng.integers(size // 2, size + size // 2 + 1, size=n)
    if kind == "strings":
        return ["".join(rng.choice(list("abcdefgh"), size=length)) for length in sizes]
    return [
        LabelledGraph(int(m), [[i, i + 1] for i in range(m - 1)], {"x": rng.normal(size=m).tolist()}) for m in sizes
    ]


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def measure(kind, n, size, settings, is_traced):
    """Fit once to few patterns and once to all; return the plan, the bytes that the second fit added, its seconds."""
    X = patterns(kind, n, size)
    EntropicOneClassClassifier(random_state=0, **settings).fit(patterns(kind, WARM, size, seed=1))
    before, start = resident(), time.process_time()
    if is_traced:
        tracemalloc.start()
    classifier = EntropicOneClassClassifier(random_state=0, **settings).fit(X)
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
    head = (
        "data",
        "n",
        "size",
        "planned MiB",
        "allocated",
        "ratio",
        "resident",
        "ratio",
        "guess s",
        "CPU s",
        "settings",
    )
    print(("{:8}" + "{:>12}" * 9 + "  {}").format(*head))
    for case in (case for case in CASES if case[1] <= arguments.largest):
        traced, plain = in_process(case, True), in_process(case, False)
        planned, allocated, held = (size / 2**20 for size in (plain["planned"], traced["peak"], plain["peak"]))
        print(
            f"{case[0]:8}{case[1]:12}{case[2]:12}{planned:12.1f}{allocated:12.1f}{planned / allocated:12.2f}"
            f"{held:12.1f}{planned / held:12.2f}{plain['guessed']:12.1f}{plain['seconds']:12.1f}  {case[3]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
