"""Count the functions and files of eocc that a warm call enters: how far a reader has to follow it.

``python benchmarks/entered.py`` prints both for ``SurpriseClassifier().fit(array)``, ``RegionClassifier().fit(array)``
and ``eocc score`` of a small mixed CSV; ``--list`` names them. Comprehensions and lambdas belong to the function around
them.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from click.testing import CliRunner

import eocc
from eocc.cli import app, main

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


def show(name, work):
    """Print how many functions and files a call enters, and with --list which."""
    called = entered(work)
    print(f"{name}: {len(called)} functions in {len({file for file, _ in called})} files")
    if "--list" in sys.argv:
        print("\n".join(f"    {file} {function}" for file, function in sorted(called)))


def mixed_csv(path, n, rng):
    """Write a table of an id, two numbers, a category, a truth value and a date."""
    lines = ["id,load,heat,city,open,day"]
    for k in range(n):
        city, is_open = rng.choice(["Oslo", "Rome", "Bern"]), rng.choice(["yes", "no"])
        day = f"2031-{rng.integers(1, 13):02d}-{rng.integers(1, 28):02d}"
        lines.append(f"M-{k},{rng.normal():.3f},{rng.normal(20):.2f},{city},{is_open},{day}")
    path.write_text("\n".join(lines) + "\n")


def score(folder):
    """Run ``eocc score`` in this process."""
    found = CliRunner().invoke(app, ["score", f"{folder}/m.eocc", f"{folder}/new.csv", "-o", f"{folder}/s.csv"])
    assert found.exit_code == 0, found.output


if __name__ == "__main__":
    X = np.random.default_rng(0).normal(size=(200, 5))
    for name in ("SurpriseClassifier", "RegionClassifier"):
        show(f"{name}().fit(array)", lambda name=name: getattr(eocc, name)().fit(X))
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        mixed_csv(Path(folder) / "normal.csv", 60, rng)
        mixed_csv(Path(folder) / "new.csv", 8, rng)
        assert main(["-q", "fit", f"{folder}/normal.csv", "-o", f"{folder}/m.eocc"]) == 0
        show("eocc score new.csv", lambda: score(folder))
