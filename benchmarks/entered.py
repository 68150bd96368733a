"""Count the functions and files of eocc that a warm call enters: how far a reader has to follow it.

``python benchmarks/entered.py`` prints both for ``SurpriseClassifier().fit(array)``; ``--list`` names them.
Comprehensions and lambdas belong to the function around them.
"""

import sys
from pathlib import Path

import numpy as np

import eocc

ROOT = str(Path(eocc.__file__).parent)


def entered(work):
    """Return the (file, function) pairs that a call enters."""
    found = set()

    def note(frame, event, argument):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT):
            found.add((code.co_filename[len(ROOT) + 1 :], code.co_qualname.split(".<locals>")[0]))

    work()  # compile, and fill caches
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


if __name__ == "__main__":
    X = np.random.default_rng(0).normal(size=(200, 5))
    for name in ("SurpriseClassifier", "RegionClassifier"):
        kind = getattr(eocc, name)
        called = entered(lambda kind=kind: kind().fit(X))
        print(f"{name}().fit(array): {len(called)} functions in {len({file for file, _ in called})} files")
        if "--list" in sys.argv:
            print("\n".join(f"    {file} {function}" for file, function in sorted(called)))
