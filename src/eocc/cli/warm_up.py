"""``eocc warm-up``."""

import warnings
from collections.abc import Callable
from typing import Any

import click

from eocc.cli.app import command, say


def _table(rng: Any) -> list[Any]:
    words, cells = ["red", "green", "blue", None], zip(rng.normal(size=400), rng.integers(0, 4, 400), strict=True)
    return [{"size": float(size) if code else None, "colour": words[code]} for size, code in cells]


def _graph(rng: Any, n: int) -> Any:
    from eocc.measures import LabelledGraph

    return LabelledGraph(n, [(k, k + 1) for k in range(n - 1)], {"x": rng.normal(size=n).tolist()})


def _word(rng: Any, length: int, letters: str = "abcdef") -> str:
    return "".join(rng.choice(list(letters), length))


# Rows of each kind, of the sizes at which other kernels are chosen.
KINDS: dict[str, Callable[[Any], list[Any]]] = {
    "numbers": lambda rng: [rng.normal(size=size) for size in ((60, 3), (300, 8), (1500, 8), (33_000, 6))],
    "tables": lambda rng: [_table(rng)],
    "strings": lambda rng: [[_word(rng, n) for n in [*rng.integers(3, 12, 80), *rng.integers(70, 90, 10)]]],
    "sets": lambda rng: [[set(_word(rng, 4, "abcdefgh")) for _ in range(60)]],
    "series": lambda rng: [[rng.normal(size=length) for length in rng.integers(8, 20, 40)]],
    "graphs": lambda rng: [[_graph(rng, n) for n in rng.integers(3, 7, 40).tolist()]],
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
    import numpy as np

    from eocc import EntropicOneClassClassifier, RegionClassifier, SurpriseClassifier
    from eocc.base.compiling import CompilingWarning

    warnings.simplefilter("ignore", CompilingWarning)
    for kind in kinds or KINDS:
        for rows in KINDS[kind](np.random.default_rng(0)):
            detector = SurpriseClassifier().fit(rows)
            detector.predict(rows[:20])
            if len(rows) < 10_000:
                detector.explain(rows[:2] * 50 if kind == "numbers" else rows[:2])  # a strange row has more to say
                SurpriseClassifier().fit(rows, [-1] * 4 + [1] * (len(rows) - 4)).predict(rows[:20])
                RegionClassifier().fit(rows).explain(rows[:2])
                EntropicOneClassClassifier(search=None).fit(rows).explain(rows[:2])
        say(f"{kind}: compiled.")
    print("Ready.")
