"""Chunks of a file to learn from -> what they hold."""

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from eocc.foundation.printing import complaint, has_instead, printable, quoted
from eocc.io.files.cells import INFINITE, NESTED, NUMBER, TEXT, kinds_in
from eocc.io.files.chunk import Chunk
from eocc.io.files.schema import MEASURES_OF, Schema, channels_of, described, kinds_of, shown


@dataclass(frozen=True)
class Holding:
    """What a column holds, whether a cell of it is missing, and what a user should know about it."""

    name: str
    kind: str
    has_gaps: bool
    remark: str = ""
    remedy: str = ""


def guess_schema(chunks: Sequence[Chunk], where: str, apart: Iterable[str] = (), measure: str | None = None) -> Schema:
    """Return what all the chunks of a file hold; columns named in `apart` (labels, names) do not count.

    A table whose columns are all numbers without gaps is "numbers", any other "records", unless the measure asks for
    one of them. Lists of numbers are "series", or "numbers" if the measure compares those.

    >>> guess_schema([Chunk("a.csv", 0, {"x": ["1", "2"], "y": ["a", "b"]}, is_text=True)], "a.csv").columns
    (('x', 'number'), ('y', 'text'))
    """
    filled = [chunk for chunk in chunks if len(chunk)]
    if not filled:
        raise complaint(where, None, "holds no patterns; at least 1 is required")
    schema = _table_schema(filled, set(apart), measure) if filled[0].columns else _schema_of_objects(filled, measure)
    if measure is not None and measure not in MEASURES_OF[schema.kind]:
        raise complaint(where, None, f"holds {schema.describe()}, which {quoted(measure)} does not compare; use "
                        f"{_measures_for(schema)}")  # fmt: skip
    return schema


def _measures_for(schema: Schema) -> str:
    """Return the measures that fit: records are what a table of numbers may be as well."""
    known = [*MEASURES_OF[schema.kind], *(MEASURES_OF["records"] if schema.kind == "numbers" else ())]
    return " or ".join(filter(None, [", ".join(known[:-1]), known[-1]]))


def _table_schema(chunks: Sequence[Chunk], apart: set[str], measure: str | None) -> Schema:
    where, names = chunks[0].where, list(chunks[0].columns)
    unknown = sorted(apart - set(names))
    if unknown:
        raise complaint(where, None, f"has no column {quoted(unknown[0])}; {has_instead(unknown[0], names)}")
    found = [_holding(chunks, name) for name in names if name not in apart]
    if not found:
        raise complaint(where, None, "has no columns left to compare; drop fewer")
    columns = tuple((holding.name, holding.kind) for holding in found)
    remarks = tuple(holding.remark + holding.remedy for holding in found if holding.remark)
    whole = all(holding.kind == NUMBER and not holding.has_gaps for holding in found)
    is_for_tables = measure in (*MEASURES_OF["numbers"], *MEASURES_OF["records"])
    wants_numbers = measure in MEASURES_OF["numbers"] if is_for_tables else whole
    odd = next((holding for holding in found if holding.kind != NUMBER), None)
    if wants_numbers and odd:
        why = odd.remark or f"column {quoted(odd.name)} holds {odd.kind}"
        raise complaint(where, None, f"{why}, but {measure} compares numbers; drop the column, or use gower")
    gaps = [holding.name for holding in found if holding.has_gaps and holding.kind == NUMBER]
    if gaps and not odd and not is_for_tables:
        remarks += (_remark_on_gaps(gaps),)
    texts = [holding for holding in found if holding.kind != NUMBER]
    if len(texts) == 1 and len(found) > 2 and not texts[0].remark and measure is None:
        remarks += (_remark_on_lone(texts[0]),)
    is_named = chunks[0].is_named or bool(apart)  # where some are left out, their numbers tell the others
    return Schema("numbers" if wants_numbers else "records", columns, is_named, remarks=remarks)


def _remark_on_gaps(names: Sequence[str]) -> str:
    """Say that numbers are compared as records for the sake of cells that are missing.

    >>> _remark_on_gaps(["load", "heat", "hum"])
    "'load' and 2 more columns miss some numbers, so rows are compared by gower; fill them in for standardised"
    """
    more = len(names) - 1
    which = f"{quoted(names[0])} and {more} more column{'s' if more > 1 else ''} miss" if more else (
        f"column {quoted(names[0])} misses"
    )  # fmt: skip
    best = MEASURES_OF["numbers"][0]
    return f"{which} some numbers, so rows are compared by {MEASURES_OF['records'][0]}; fill them in for {best}"


def _remark_on_lone(holding: Holding) -> str:
    """Say that numbers are compared as records for the sake of one column, which may not be meant to count.

    >>> _remark_on_lone(Holding("state", "text", has_gaps=False))
    "column 'state' holds text, so rows are compared by gower; if it says what a row is, --label state, \
if it does not count, --drop state"
    """
    name = shlex.quote(shown(holding.name))
    said = f"column {quoted(holding.name)} holds {holding.kind}, so rows are compared by {MEASURES_OF['records'][0]}"
    return f"{said}; if it says what a row is, --label {name}, if it does not count, --drop {name}"


def _holding(chunks: Sequence[Chunk], name: str) -> Holding:
    counts: Counter[str | None] = Counter()
    first: dict[str | None, tuple[Chunk, int]] = {}
    for chunk in chunks:
        for index, kind in enumerate(kinds_in(chunk, name)):
            counts[kind] += 1
            if kind not in first:
                first[kind] = chunk, index
    has_gaps = counts.pop(None, 0) > 0
    _refuse(name, first, counts)
    if len(counts) == 1:
        return Holding(name, str(next(iter(counts))), has_gaps)
    remedy = f"; correct it, leave it empty, or --drop {shlex.quote(shown(name))}" if counts else ""
    return Holding(name, TEXT, has_gaps, _remark(name, first, counts), remedy)


def _refuse(name: str, first: dict[str | None, tuple[Chunk, int]], counts: Counter[str | None]) -> None:
    """Raise where a column holds lists, or numbers that are not finite."""
    fault = NESTED if NESTED in counts else INFINITE if INFINITE in counts and set(counts) <= {NUMBER, INFINITE} else ""
    if not fault:
        return
    chunk, index = first[fault]
    cell = quoted(str(chunk.columns[name][index]))
    what = "is not a finite number; correct it, or leave it empty" if fault == INFINITE else (
        "is not a single value; drop the column, or make it several"
    )  # fmt: skip
    raise chunk.fault(index, f"column {quoted(name)}: {cell} {what}")


def _remark(name: str, first: dict[str | None, tuple[Chunk, int]], counts: Counter[str | None]) -> str:
    """Say that a column has no values, or what makes text of a column of numbers."""
    if not counts:
        return f"column {quoted(name)} holds no values"
    if counts[NUMBER] * 2 < counts.total():
        return ""
    chunk, index = first[next(kind for kind in counts if kind != NUMBER)]
    cell = quoted(str(chunk.columns[name][index]))
    return f"column {quoted(name)} counts as text: {cell} ({printable(chunk.place(index))}) is no number"


def _schema_of_objects(chunks: Sequence[Chunk], measure: str | None) -> Schema:
    kind = _common_kind(chunks)
    if kind != "series":
        return Schema(kind)
    if measure in MEASURES_OF["numbers"]:
        width = len(chunks[0].objects[0])
        return Schema("numbers", tuple((str(index + 1), NUMBER) for index in range(width)), is_named=False)
    n_channels = channels_of(chunks[0].objects[0])
    values = [value for chunk in chunks for value in chunk.objects]
    are_rows = n_channels == 1 and len(values) > 1 and all(len(one) == len(other) for one, other in pairwise(values))
    hint = "all are equally long: if they are rows of numbers and no series, use --measure standardised"
    return Schema("series", n_channels=n_channels, remarks=(hint,) if are_rows and measure is None else ())


def _common_kind(chunks: Sequence[Chunk]) -> str:
    """Return the one kind that all objects are of."""
    common = kinds_of(chunks[0].objects[0])
    for chunk in chunks:
        for index, value in enumerate(chunk.objects):
            kinds = kinds_of(value)
            if not kinds:
                raise chunk.fault(index, f"{described(value)} is no pattern; write records, texts, lists of numbers "
                                  "(each step as many), lists of texts or node-link graphs")  # fmt: skip
            if kinds != common:
                said = f"{described(value)} is of {kinds[0]}, but the first pattern is of {common[0]}"
                raise chunk.fault(index, f"{said}; patterns must all be of one kind")
    return common[0]
