"""``eocc warm-up``."""

import warnings
from collections.abc import Callable
from typing import Any

import click

from eocc.cli.app import command, say

# What the rows of each kind are made of: the sizes at which other kernels are chosen.
NUMBERS = ((60, 3), (300, 8), (1500, 8), (33_000, 6))


def _tables(rng: Any) -> list[Any]:
    words = ["red", "green", "blue", None]
    cells = zip(rng.normal(size=400).tolist(), rng.integers(0, 4, 400).tolist(), strict=True)
    return [[{"size": size if code else None, "colour": words[code]} for size, code in cells]]


def _strings(rng: Any) -> list[Any]:
    lengths = [*rng.integers(3, 12, 80).tolist(), *rng.integers(70, 90, 10).tolist()]
    return [["".join(rng.choice(list("abcdef"), length)) for length in lengths]]


def _graphs(rng: Any) -> list[Any]:
    from eocc.measures import LabelledGraph

    def path(n: int) -> Any:
        return LabelledGraph(n, [(k, k + 1) for k in range(n - 1)], {"x": rng.normal(size=n).tolist()})

    return [[path(n) for n in rng.integers(3, 7, 40).tolist()]]


KINDS: dict[str, Callable[[Any], list[Any]]] = {
    "numbers": lambda rng: [rng.normal(size=size) for size in NUMBERS],
    "tables": _tables,
    "strings": _strings,
    "sets": lambda rng: [[set(rng.choice(list("abcdefgh"), 4).tolist()) for _ in range(60)]],
    "series": lambda rng: [[rng.normal(size=length) for length in rng.integers(8, 20, 40).tolist()]],
    "graphs": _graphs,
}


@command
@click.argument("kinds", nargs=-1, type=click.Choice(tuple(KINDS)), metavar="[KIND]...")
def warm_up(kinds: tuple[str, ...]) -> None:
    """Compile code in advance, for images and services.

    KIND is numbers, tables, strings, sets, series or graphs; without one, all of them. The compiled code is kept next
    to the package, or in the folder that the environment variable NUMBA_CACHE_DIR names, so that the first fit of a
    service or of a new image starts at once.

    Example: eocc warm-up numbers tables
    """
    from time import monotonic

    import numpy as np

    from eocc.base.compiling import CompilingWarning

    warnings.simplefilter("ignore", CompilingWarning)
    started = monotonic()
    for kind in kinds or KINDS:
        for rows in KINDS[kind](np.random.default_rng(0)):
            _use(rows, kind)
        say(f"{kind}: compiled.")
    print(f"Ready after {monotonic() - started:.0f} s.")


def _use(rows: Any, kind: str) -> None:
    """Fit and apply each classifier to the rows, also with known outliers."""
    from eocc import EntropicOneClassClassifier, RegionClassifier, SurpriseClassifier

    is_large = len(rows) > 10_000
    y = [-1] * 4 + [1] * (len(rows) - 4)
    detector = SurpriseClassifier().fit(rows)
    detector.predict(rows[:20])
    if is_large:
        return
    detector.explain(rows[:2] * 50 if kind == "numbers" else rows[:2])  # a strange row has more to say
    SurpriseClassifier().fit(rows, y).predict(rows[:20])
    RegionClassifier().fit(rows).explain(rows[:2])
    EntropicOneClassClassifier(search=None).fit(rows).explain(rows[:2])
