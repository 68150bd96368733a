"""The options that ``eocc fit`` and ``eocc plan`` share, and their checks, before anything is read."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from eocc.classifiers.fitting import RESOLUTIONS
from eocc.classifiers.plan import AUTO, bytes_of
from eocc.cli.app import one_of, usage
from eocc.foundation.arguments import check_number
from eocc.measures import MEASURES
from eocc.search import SEARCHES
from eocc.space.prototypes import SELECTIONS
from eocc.space.prototypes.select import count_of
from eocc.synthesis.graph_kinds import GRAPHS


def checked(check: Callable[[str], Any]) -> Callable[[str], str]:
    """Return a check of an option's text, before anything is read."""

    def callback(value: str) -> str:
        with usage():
            if value:
                check(value)
        return value

    return callback


def checked_rate(value: float | None) -> float | None:
    """Refuse a rate of false alarms that is none."""
    with usage():
        if value is not None:
            check_number("the rate", value, "between 0 and 1", lambda rate: 0 < rate < 1)
    return value


def check_both_kinds(synthesis: str, label: str) -> None:
    """Refuse to validate without labels, which tell the kinds apart."""
    if synthesis == "validation" and not label:
        raise typer.BadParameter("--synthesis validation needs patterns of both kinds: pass --label and --target")


def check_sample(sample: int, synthesis: str, input_format: str) -> None:
    """Refuse to draw rows from what is no table of targets."""
    if sample and synthesis == "validation":
        raise typer.BadParameter("--sample learns from targets alone; leave --synthesis validation out")
    if sample and input_format:
        raise typer.BadParameter("--sample reads files whose names tell their format; leave --input-format out")


def checked_jobs(value: int) -> int:
    """Refuse to work on no threads."""
    if value == 0:
        raise typer.BadParameter("0 threads do no work; pass 1 or more, or -1 for all cores")
    return value


def prototypes_of(text: str) -> int | float | None:
    """Return how many prototypes are wanted: an integer, a fraction, or all where nothing is said.

    >>> prototypes_of("256"), prototypes_of("0.1"), prototypes_of("")
    (256, 0.1, None)
    """
    if not text:
        return None
    try:
        wanted = int(text) if text.strip().isdigit() else float(text)
        count_of(wanted, 1)
    except ValueError:
        raise typer.BadParameter(f"must be an integer >= 1 or a fraction in (0, 1], not {text!r}") from None
    return wanted


Measure = Annotated[
    str,
    typer.Option(
        help="How patterns are compared; by what they are, if not given.", callback=one_of("measure", MEASURES)
    ),
]
Prototypes = Annotated[
    str,
    typer.Option(
        help="How many patterns, or which share of them, all are compared with; all if not given.",
        callback=checked(prototypes_of),
    ),
]
SelectionName = Annotated[
    str,
    typer.Option(
        help="How prototypes are chosen: random, farthest-first, k-medoids or density-spread.",
        callback=one_of("selection", SELECTIONS),
    ),
]
Graph = Annotated[
    str,
    typer.Option(
        help="complete (of all pairs), knn (of nearest neighbours), or auto: complete where that is quick and fits.",
        callback=one_of("graph", (AUTO, *GRAPHS)),
    ),
]
MaxMemory = Annotated[
    str,
    typer.Option(
        help="What a fit may add, 2GiB say; 70 % of what is free if not given.",
        callback=checked(bytes_of),
    ),
]
Sample = Annotated[
    int,
    typer.Option(
        min=0,
        help="Learn from so many rows drawn at random from a table of numbers larger than memory, and set the border "
        "by all; 0 reads the whole file.",
    ),
]
Synthesis = Annotated[
    str,
    typer.Option(
        help="entropy (targets alone) or validation (others too).",
        callback=one_of("synthesis", ("entropy", "validation")),
    ),
]
Resolution = Annotated[
    str,
    typer.Option(
        help="multi (neighbourhoods of several sizes decide) or single (a region a cluster, as in the paper).",
        callback=one_of("resolution", RESOLUTIONS),
    ),
]
SearchName = Annotated[
    str,
    typer.Option(
        help="Of weights: genetic, cma-es, differential-evolution, random or none; "
        "auto is none with multi, genetic with single.",
        callback=one_of("search", (AUTO, *SEARCHES, "none")),
    ),
]
Rate = Annotated[
    float | None,
    typer.Option(
        help="The share of new targets to reject, about; if not given, 0.05 with multi, and extents decide with "
        "single.",
        callback=checked_rate,
    ),
]
Jobs = Annotated[
    int, typer.Option(help="Threads; -1 for all cores. The model does not depend on it.", callback=checked_jobs)
]


def options_of(settings: Mapping[str, object]) -> str:
    """Return the options of eocc fit that make these settings.

    >>> options_of({"prototypes": 256, "graph": "knn"})
    '--prototypes 256 --graph knn'
    """
    names = {"prototypes": "--prototypes", "graph": "--graph", "n_jobs": "--jobs"}
    return " ".join(f"{names[name]} {value}" for name, value in settings.items())
