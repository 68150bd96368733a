"""One long series in files -> windows, which are the rows of a model."""

from collections.abc import Sequence
from dataclasses import replace

from eocc.base.printing import complaint, printable, quoted
from eocc.base.registry import listed
from eocc.base.wording import counted
from eocc.cli.app import say
from eocc.cli.options import DataOptions
from eocc.formats.files.chunk import Chunk
from eocc.formats.files.rows import Choices, placed_remarks, placing, read_first, read_table
from eocc.tables.judge import Fault
from eocc.tables.reading import ANY
from eocc.tables.table import DATE, NUMBER, TEXT, Column, Table, encoded
from eocc.tables.windows import Windowing, Windows

# The columns that say which window of a series a row is; the first names it.
ENDS = ("window", "group", "first", "last")


def places_in(chunk: Chunk) -> list[str]:
    """Return the columns of a chunk of windows that say when each begins and ends, and in which group."""
    return [name for name in ENDS[1:] if name in chunk.columns]


def training_windows(chunk: Chunk, about: DataOptions, choices: Choices) -> tuple[Chunk, DataOptions, Windowing]:
    """Return the windows of a series to learn from as one chunk, what is said about it, and how they are cut."""
    _check_table(chunk)
    given = {about.time: ANY, about.by: "category"}
    kinds = {name: kind for name, kind in given.items() if name} | about.kinds
    reading, table, faults = read_first(chunk, replace(choices, kinds=kinds))
    dates = tuple(f"{quoted(str(one.name))} is compared" for one in reading.columns if one.kind == DATE)
    said = tuple(one for one in reading.remarks if one.name not in given and not one.text.startswith(dates))
    for note in placed_remarks(replace(reading, remarks=said), chunk):
        say(f"Note: {note}.")
    _say_gaps(faults, chunk)
    kept = tuple(one for one in reading.columns if one.kind == NUMBER or one.name in given)
    if others := [ascii(str(one.name)) for one in reading.columns if one not in kept]:
        say(f"Note: only numbers are part of windows, so these columns are not: {listed(others)}.")
    reading = replace(reading, columns=kept, remarks=())
    assert about.window
    windowing = Windowing(about.window, about.step or 1, about.by or None, about.time or None, about.features, reading)
    cut, _ = _cut(chunk, Table(tuple(table.column(one.name) for one in kept)), windowing)
    drop = ",".join(places_in(cut))
    about = DataOptions(drop=drop, all_columns=True, id_column=ENDS[0], input_format=about.input_format)
    return cut, about, windowing


def _check_table(chunk: Chunk) -> None:
    if chunk.table is None:
        raise complaint(chunk.where, None, "has no columns; windows are cut from a table of numbers")


def windows_for(windowing: Windowing, chunk: Chunk, about: DataOptions) -> tuple[list[Chunk], DataOptions, Windows]:
    """Return the windows of a new series as one chunk, what is said about it, and the windows as they are."""
    about = replace(about, window=windowing.length)  # refuses labels and ids
    _check_table(chunk)
    table, faults, *_ = read_table(chunk, windowing.series, Choices(skips_bad=not about.strict))
    _say_gaps(faults, chunk)
    cut, windows = _cut(chunk, table, windowing)
    return [cut], DataOptions(id_column=ENDS[0], input_format=about.input_format), windows


def _say_gaps(faults: Sequence[Fault], chunk: Chunk) -> None:
    """Print how many cells of a series cannot be read."""
    if faults:
        first = min(faults)
        say(f"Note: {counted(len(faults), 'cell')} taken for missing, as they cannot be read: "
            f"{chunk.place(first.row)}: {printable(str(first))}.")  # fmt: skip


def _cut(chunk: Chunk, table: Table, windowing: Windowing) -> tuple[Chunk, Windows]:
    """Return the windows of a series as one chunk of numbers, with the columns of ENDS, and as they are."""
    with placing(chunk):
        found = windowing.cut(table)
    n_series = len({*found.groups})
    series = f" of {counted(n_series, 'series', 'series')}" if windowing.by else ""
    say(f"{counted(len(table), 'row')}{series}: {counted(len(found), 'window')} of {windowing.length:,}.")
    if windowing.step < windowing.length:
        say("Note: the windows overlap, so drift and discoveries, which take rows for independent, mean little.")
    starts, ends = found.ends()
    named = [f"{start} to {end}" for start, end in zip(starts, ends, strict=True)]
    known = {"first": starts, "last": ends}
    if windowing.by:
        named = [f"{group}: {name}" for group, name in zip(found.groups, named, strict=True)]
        known["group"] = list(found.groups)
    places = [Column(name, TEXT, *encoded(cells)) for name in ENDS if (cells := {"window": named, **known}.get(name))]
    numbers = [Column(name, NUMBER, found.X[:, k]) for k, name in enumerate(found.names)]
    return Chunk(chunk.where, 0, Table((*places, *numbers)), layout=chunk.layout), found
