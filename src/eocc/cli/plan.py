"""``eocc plan``."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from eocc.arguments import check_number
from eocc.classifier import EntropicOneClassClassifier
from eocc.cli.app import app, one_of, say, usage
from eocc.cli.output import TextFormat, json_line, writing
from eocc.cli.reading import Data, Drop, InputFormat, Label, Target, check_label, is_same, labels_of
from eocc.entropic_graph import GRAPHS
from eocc.explanations.wording import counted
from eocc.files import Schema, guess_format, guess_schema, open_chunks
from eocc.files.printing import printable_lines
from eocc.fitting import MULTI, RESOLUTIONS, size_of
from eocc.labels import parts_by_kind, parts_of
from eocc.measures import MEASURES
from eocc.plan import (
    AUTO,
    Plan,
    Request,
    budget_of,
    bytes_of,
    changes,
    fitting_plan,
    shown_bytes,
    told_budget,
    within_choice,
)
from eocc.prototypes import SELECTIONS, count_of
from eocc.search import SEARCHES


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


@dataclass(frozen=True)
class Extent:
    """How many patterns of a file are targets, how many are not, and the size of one."""

    n: int
    n_others: int
    size: int
    schema: Schema

    def split_for(self, synthesis: str, resolution: str) -> tuple[int, int]:
        """Return how many patterns a fit would train on, and how many it would compare them with."""
        if synthesis != "validation":
            return self.n, 0
        kinds = np.repeat([1, -1], [self.n, self.n_others])
        rows, rng = np.arange(len(kinds)), np.random.default_rng(0)
        fraction = EntropicOneClassClassifier().validation_fraction
        parts = parts_by_kind(rows, kinds) if resolution == MULTI else parts_of(rows, kinds, fraction, rng)
        return len(parts.training), len(parts.targets) + len(parts.others)


@app.command()
def plan(
    data: Data,
    input_format: InputFormat = "",
    measure: Measure = "",
    label: Label = "",
    target: Target = "",
    drop: Drop = "",
    synthesis: Annotated[
        str, typer.Option(help="As in fit.", callback=one_of("synthesis", ("entropy", "validation")))
    ] = "entropy",
    resolution: Annotated[str, typer.Option(help="As in fit.", callback=one_of("resolution", RESOLUTIONS))] = MULTI,
    search: Annotated[
        str, typer.Option(help="As in fit.", callback=one_of("search", (AUTO, *SEARCHES, "none")))
    ] = AUTO,
    prototypes: Prototypes = "",
    selection: SelectionName = "random",
    graph: Graph = AUTO,
    false_alarm_rate: Annotated[float | None, typer.Option(help="As in fit.", callback=checked_rate)] = None,
    jobs: Annotated[int, typer.Option(help="As in fit.", callback=checked_jobs)] = -1,
    max_memory: MaxMemory = "",
    form: TextFormat = "text",
) -> None:
    """Say how much memory and time a fit to a file would take, and whether it fits; nothing is learnt.

    The file is read through once, a part at a time, to count its patterns.

    Example: eocc plan normal.csv --prototypes 256
    """
    check_both_kinds(synthesis, label)
    check_label(label, target)
    found = extent_of(data, input_format, label, target, drop, measure)
    n, n_others = found.split_for(synthesis, resolution)
    say(f"{data}: {counted(n, 'pattern')} to learn from; at first sight {found.schema.describe()}.")
    request = Request(
        n=n,
        n_features=found.size,
        measure=measure or found.schema.measure,
        prototypes=prototypes_of(prototypes),
        graph=graph,
        resolution=resolution,
        search=None if search == "none" else search,
        n_jobs=jobs,
        false_alarm_rate=false_alarm_rate,
        n_others=n_others,
        selection=selection,
    )
    with writing(None) as file:
        facts = facts_of(request, max_memory or None)
        file.write(json_line(facts) if form == "json" else printable_lines(table_of(facts)) + "\n")


def extent_of(path: Path, form: str, label: str, target: str, drop: str, measure: str) -> Extent:
    """Count the patterns of a file, a chunk at a time; the first chunk tells what they are."""
    apart = [name.strip() for name in drop.split(",") if name.strip()]
    schema, size, n_targets, total = None, 1, 0, 0
    for chunk in open_chunks(path, form or guess_format(path)):
        if schema is None and len(chunk):
            labels = [label] if label and chunk.columns else []
            schema = guess_schema([chunk], str(path), [*apart, *labels], measure or None)
            size = len(schema.columns) or size_of(schema.patterns(chunk))
        total += len(chunk)
        n_targets += sum(is_same(cell, target) for cell in labels_of(chunk, path, label)) if label else len(chunk)
    if schema is None or not n_targets:
        which = f" with {label} = {target!r}" if label else ""
        raise ValueError(f"{path} holds no patterns{which}; at least 1 is required")
    return Extent(n_targets, total - n_targets, size, schema)


def facts_of(request: Request, max_memory: str | None) -> dict[str, Any]:
    """Return a plan as plain data: bytes, seconds, whether it fits, and what would.

    >>> facts = facts_of(Request(20_000, 10, graph="complete"), "1GB")
    >>> facts["fits"], facts["instead"]["options"]
    (False, '--prototypes 1024 --graph knn')
    """
    budget = budget_of(max_memory)
    plan = within_choice(request, budget)
    instead = None if plan.peak <= budget else fitting_plan(request, budget)
    return {
        **_figures(plan),
        "budget": None if math.isinf(budget) else round(budget),
        "budget in words": told_budget(budget, max_memory),
        "fits": plan.peak <= budget,
        "instead": None if instead is None else {"options": options_of(changes(request, instead)), **_figures(instead)},
    }


def _figures(plan: Plan) -> dict[str, Any]:
    return {
        "patterns": plan.n, "prototypes": plan.prototypes, "graph": plan.graph, "parts": dict(plan.parts),
        "peak": plan.peak, "seconds": plan.seconds,
    }  # fmt: skip


def options_of(settings: Mapping[str, object]) -> str:
    """Return the options of eocc fit that make these settings.

    >>> options_of({"prototypes": 256, "graph": "knn"})
    '--prototypes 256 --graph knn'
    """
    names = {"prototypes": "--prototypes", "graph": "--graph", "n_jobs": "--jobs"}
    return " ".join(f"{names[name]} {value}" for name, value in settings.items())


def table_of(facts: dict[str, Any]) -> str:
    """Return a plan as a small table."""
    rows = [("part", "size"), *((name, shown_bytes(size)) for name, size in facts["parts"].items())]
    rows += [
        ("peak", shown_bytes(facts["peak"])),
        ("budget", facts["budget in words"]),
        ("time", _told_time(facts["seconds"])),
        ("prototypes", f"{facts['prototypes']} of {facts['patterns']}"),
        ("graph", facts["graph"]),
        ("verdict", "fits" if facts["fits"] else "does not fit"),
    ]
    if not facts["fits"]:
        other = facts["instead"]
        fits = other and f"{other['options']}: {shown_bytes(other['peak'])}, {_told_time(other['seconds'])}"
        rows.append(("would fit", fits or "nothing that eocc knows; get more memory, or fewer patterns"))
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def _told_time(seconds: float) -> str:
    """Return a guessed time in words.

    >>> _told_time(0.2), _told_time(75.0), _told_time(9000.0)
    ('about 1 s', 'about 75 s', 'about 2.5 h')
    """
    if seconds < 120:
        return f"about {max(1, round(seconds))} s"
    return f"about {seconds / 60:.0f} min" if seconds < 7200 else f"about {seconds / 3600:.2g} h"
