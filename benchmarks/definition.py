"""Fits of EOCC-1 to random sets with copies, compared with the definition: how many differ in any stage.

python benchmarks/definition.py [--sets 2000]
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from copied_rows import differing_stages, random_problem


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=2000)
    n_sets = parser.parse_args().sets
    counts: Counter[str] = Counter()
    differing = 0
    for seed in range(n_sets):
        stages = differing_stages(*random_problem(np.random.default_rng(seed)))
        counts.update(stages)
        differing += bool(stages)
    print(f"{n_sets} random sets of 3 to 60 rows with copies: {differing} differ from the definition. {dict(counts)}")


if __name__ == "__main__":
    main()
