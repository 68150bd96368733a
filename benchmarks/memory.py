"""What fits take in memory, next to what `memory_needed` says. Every fit runs in a process of its own.

Run: python benchmarks/memory.py
"""

import json
import subprocess
import sys

import numpy as np
from scipy.spatial.distance import cdist
from timing import peak_bytes, table

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.entropic.search import GeneticSearch
from eocc.measures.base import n_columns_of

SEARCH = {"search": "few", "n_jobs": 2}
# method, kind of data, rows, size of a row, settings
CASES = [
    ("surprise", "rows", 1000, 10, {}),
    ("surprise", "rows", 10_000, 10, {"n_jobs": 2}),
    ("surprise", "rows", 10_000, 100, {}),
    ("surprise", "rows", 100_000, 10, {"prototypes": 1000}),
    ("surprise", "strings", 1000, 15, {}),
    ("surprise", "records", 2000, 4, {}),
    ("surprise", "square", 2000, 10, {"measure": "precomputed"}),
    ("entropic", "rows", 1000, 10, {}),
    ("entropic", "rows", 3000, 10, {}),
    ("entropic", "rows", 2000, 10, SEARCH),
    ("entropic", "rows", 2000, 10, {"extent": "median"}),
    ("entropic", "rows", 4000, 10, {"prototypes": 256}),
    ("entropic", "strings", 1000, 15, {}),
    ("entropic", "records", 2000, 4, {}),
]


def data(kind, n, size):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, size))
    if kind == "strings":
        return ["".join(word) for word in rng.choice(list("abcdef"), size=(n, size))]
    if kind == "records":
        return [{"kind": str(k), **{f"x{i}": float(v) for i, v in enumerate(row)}} for k, row in enumerate(rows)]
    return cdist(rows, rows) if kind == "square" else rows


def classifier(method, settings):
    if method == "surprise":
        return SurpriseClassifier(**settings)
    search = GeneticSearch(population_size=6, max_generations=2) if settings.get("search") else None
    return EntropicOneClassClassifier(random_state=0, **{**settings, "search": search})


def measure(number):
    """Print the bytes that the fit added and the bytes that were foreseen."""
    method, kind, n, size, settings = CASES[number]
    X, clf = data(kind, n, size), classifier(method, settings)
    clf.fit(X[:200, :200] if kind == "square" else X[:200])  # loads and compiles what the second fit needs
    before = peak_bytes()
    clf.fit(X)
    added = peak_bytes() - before
    patterns = clf._read(X)
    foreseen, *_ = clf._plan_fit(len(patterns), n_columns_of(patterns), clf.resolved_measure_.pair_bytes(patterns))
    print(json.dumps([added, foreseen]))


def main():
    rows = [["method", "data", "rows", "size", "settings", "needed, MiB", "resident, MiB", "resident / needed"]]
    for number, (method, kind, n, size, settings) in enumerate(CASES):
        run = subprocess.run([sys.executable, __file__, str(number)], capture_output=True, text=True, check=True)
        added, foreseen = json.loads(run.stdout)
        named = ", ".join(f"{name}={value}" for name, value in settings.items())
        figures = [f"{foreseen / 2**20:.0f}", f"{added / 2**20:.0f}", f"{added / foreseen:.2f}"]
        rows.append([method, kind, f"{n:,}", str(size), named, *figures])
    print(table(rows))


if __name__ == "__main__":
    measure(int(sys.argv[1])) if len(sys.argv) > 1 else main()
