"""How many functions of the library, in how many files, a default fit enters.

Run: python benchmarks/default_fit.py
"""

import sys
import threading

import numpy as np

from eocc import SurpriseClassifier


def entered(work):
    """Return (file, function, line) of every named function that the work calls, on all threads."""
    found = set()

    def note(frame, event, argument):
        code = frame.f_code
        if event == "call" and "/eocc/" in code.co_filename and not code.co_name.startswith("<"):
            found.add((code.co_filename, code.co_name, code.co_firstlineno))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def main():
    X = np.random.default_rng(0).normal(size=(200, 4))
    SurpriseClassifier().fit(X)  # loads and compiles what the second fit needs
    found = entered(lambda: SurpriseClassifier().fit(X))
    print(f"{len(found)} functions in {len({path for path, _, _ in found})} files")


if __name__ == "__main__":
    main()
