"""``eocc plan``."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.classifiers.fitting import MULTI, size_of
from eocc.classifiers.labels import parts_by_kind, parts_of
from eocc.classifiers.plan import (
    AUTO,
    Plan,
    Request,
    budget_of,
    changes,
    fitting_plan,
    shown_bytes,
    told_budget,
    within_choice,
)
from eocc.cli.app import app, say
from eocc.cli.options import (
    Graph,
    Jobs,
    MaxMemory,
    Measure,
    Prototypes,
    Rate,
    Resolution,
    Sample,
    SearchName,
    SelectionName,
    Synthesis,
    check_both_kinds,
    check_sample,
    options_of,
    prototypes_of,
)
from eocc.cli.output import TextFormat, json_line, writing
from eocc.cli.reading import (
    Data,
    Drop,
    InputFormat,
    Label,
    Named,
    SkipIncomplete,
    Target,
    check_label,
    labels_of,
    names_in,
    say_left_out,
    say_remarks,
    whole_rows,
)
from eocc.foundation.printing import printable_lines
from eocc.foundation.wording import counted
from eocc.io.files import Schema, guess_format, guess_schema, open_chunks
from eocc.io.files.cells import complete_rows, is_same
from eocc.streaming import files_of


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
    synthesis: Synthesis = "entropy",
    resolution: Resolution = MULTI,
    search: SearchName = AUTO,
    prototypes: Prototypes = "",
    selection: SelectionName = "random",
    graph: Graph = AUTO,
    false_alarm_rate: Rate = None,
    sample: Sample = 0,
    jobs: Jobs = -1,
    skip_incomplete: SkipIncomplete = False,
    max_memory: MaxMemory = "",
    form: TextFormat = "text",
) -> None:
    """Say how much memory and time a fit to a file would take, and whether it fits; nothing is learnt.

    The file is read through once, a part at a time, to count its patterns.

    Example: eocc plan normal.csv --prototypes 256
    """
    check_both_kinds(synthesis, label)
    check_label(label, target)
    check_sample(sample, synthesis, input_format)
    left_out = Named() if skip_incomplete else None
    found = extent_of(data, sample, input_format, label, target, drop, measure, left_out)
    n, n_others = found.split_for(synthesis, resolution)
    n = min(n, sample or n)
    say(f"{data}: {counted(n, 'pattern')} to learn from; at first sight {found.schema.describe()}.")
    say_remarks(found.schema)
    say_left_out(left_out)
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


def extent_of(
    path: Path, sample: int, form: str, label: str, target: str, drop: str, measure: str, left_out: Named | None
) -> Extent:
    """Count the patterns of the files at a path, a chunk at a time; the first chunk tells what they are.

    What a fit would refuse is refused: to a sample it reads the targets alone, else all patterns.
    """
    files, measure = (files_of(path), measure or "standardised") if sample else ([path], measure)
    apart = [*names_in(drop), *([label] if label else [])]
    schema, size, n_targets, total = None, 1, 0, 0
    for chunk in (chunk for file in files for chunk in open_chunks(file, form or guess_format(file))):
        if left_out is not None:
            chunk = whole_rows(chunk, complete_rows(chunk, chunk.columns.keys() - apart), left_out)
        if schema is None and len(chunk):
            schema = guess_schema([chunk], str(path), apart if chunk.columns else names_in(drop), measure or None)
            size = len(schema.columns) or size_of(schema.patterns(chunk))
        are_targets = np.ones(len(chunk), bool)
        if label:
            are_targets[:] = [is_same(cell, target) for cell in labels_of(chunk, path, label)]
        if measure and schema is not None and schema.kind == "numbers":
            schema.patterns(chunk.some(are_targets) if sample else chunk)
        total, n_targets = total + len(chunk), n_targets + int(are_targets.sum())
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
