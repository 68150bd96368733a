"""The chunks of a training file -> its schema: which columns there are, and what each holds."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from eocc.foundation.printing import complaint, has_instead, printable, quoted
from eocc.foundation.types import Matrix
from eocc.foundation.wording import counted
from eocc.io.files.cells import INFINITE, NESTED, code_in, kinds_in, remedy_for, units_in, values_in
from eocc.io.files.chunk import Chunk
from eocc.io.files.schema import Schema, as_table, channels_of, described, kind_of_object, shown
from eocc.measures import measures_of
from eocc.measures.auto import kind_of
from eocc.measures.naming import NO_VALUES, listed_reasons, may_name, why_naming
from eocc.measures.schema import DATE, NUMBER, TEXT
from eocc.measures.spelling import ABSENT, PLAIN, judge, microseconds
from eocc.measures.text_format import TextFormat

FirstCells = dict[str | None, tuple[Chunk, int]]


class Column(NamedTuple):
    """The kind of value in a column, whether some or all are missing, and a remark with a remedy for the user."""

    name: str
    kind: str
    has_gaps: bool
    remark: str = ""
    remedy: str = ""
    unit: str = ""
    is_empty: bool = False


def guess_schema(
    chunks: Sequence[Chunk],
    where: str,
    apart: Iterable[str] = (),
    measure: str | None = None,
    keeps_names: bool = False,
    has_label: bool = False,
) -> Schema:
    """Return the schema of all chunks of a file, without the columns named in `apart`.

    Columns that name the rows (see `eocc.measures.naming`) or hold no values are set aside, unless `keeps_names`. A
    table of numbers without gaps is "numbers", any other table is "records", unless the `measure` compares only one of
    the two. Objects are of the kind that `eocc.measures.auto` finds, unless the measure compares another. Unless
    `has_label`, a remark asks whether a single column of text holds the labels.

    >>> guess_schema([Chunk("a.csv", 0, {"x": ["1", "2"], "y": ["a", "b"]}, is_text=True)], "a.csv").columns
    (('x', 'number'), ('y', 'text'))
    """
    filled = [chunk for chunk in chunks if len(chunk)]
    if not filled:
        raise complaint(where, None, "holds no rows; at least 1 is required")
    if filled[0].columns:
        schema = _of_table(filled, set(apart), measure, keeps_names or not filled[0].is_named, has_label)
    else:
        schema = _of_objects(filled, measure)
    known = measures_of(schema.kind)
    if measure is not None and measure not in known:
        known = (*known, *(measures_of("records") if schema.kind == "numbers" else ()))
        use = " or ".join(filter(None, [", ".join(known[:-1]), known[-1]]))
        raise complaint(where, None, f"holds {schema.describe()}, which {quoted(measure)} does not compare; use {use}")
    return schema


def _of_table(
    chunks: Sequence[Chunk], apart: set[str], measure: str | None, keeps_names: bool, has_label: bool = False
) -> Schema:
    where, names = chunks[0].where, list(chunks[0].columns)
    for unknown in sorted(apart - set(names)):
        raise complaint(where, None, f"has no column {quoted(unknown)}; {has_instead(unknown, names)}")
    found = [_column(chunks, name) for name in names if name not in apart]
    aside, doubts = ({}, []) if keeps_names else _naming(chunks, found)
    columns = [column for column in found if column.name not in aside]
    if not columns:
        remedy = f"{listed_reasons(aside)}; {_keeping(aside)}" if aside else "drop fewer"
        raise complaint(where, None, f"has no columns left to compare; {remedy}")
    odd = next((column for column in columns if column.kind != NUMBER), None)
    is_numbers = odd is None and not any(column.has_gaps for column in columns)
    if measure in (*measures_of("numbers"), *measures_of("records")):
        is_numbers = measure in measures_of("numbers")
    if is_numbers and odd:
        why = odd.remark or f"column {quoted(odd.name)} holds {odd.kind}"
        raise complaint(
            where, None, f"{why}, but {measure} compares numbers; pass --drop {shlex.quote(shown(odd.name))}"
        )
    kind = "numbers" if is_numbers else "records"
    is_named = chunks[0].is_named or bool(apart)  # if some columns are left out, the others go by their numbers
    remarks = [column.remark + column.remedy for column in columns if column.remark] + doubts
    if aside:
        remarks.insert(0, f"not compared: {listed_reasons(aside)}; {_keeping(aside)}")
    if measure is None:
        remarks += _remarks_on_records(columns, has_label)
    kept, spelling = tuple((column.name, column.kind) for column in columns), chunks[0].spelling
    written = [column for column in columns if column.unit or (column.kind in (NUMBER, DATE) and spelling != PLAIN)]
    text_format = TextFormat(spelling, {column.name: column.unit for column in written}) if written else TextFormat()
    reasons = {**aside, **{name: "" for name in names if name in apart}}
    return Schema(kind, kept, is_named, remarks=tuple(remarks), reasons=reasons, text_format=text_format)


def _present(chunks: Sequence[Chunk], column: Column) -> Sequence[Any] | Matrix:
    """Return the values of a column that are not missing; dates in microseconds."""
    values = (values_in(chunk, column.name, column.kind) for chunk in chunks)
    if column.kind == NUMBER:
        return _integers(values)
    present = [value for part in values for value in part if value is not None]
    return [microseconds(day) for day in present] if column.kind == DATE else present


def _integers(parts: Iterable[Sequence[Any]]) -> Matrix:
    """Return a column of integers, without gaps; nothing, without reading on, if one number is not an integer."""
    found = list[Matrix]()
    for part in parts:
        numbers = np.array(part, np.float64)  # None becomes NaN
        found.append(numbers[~np.isnan(numbers)])
        if (found[-1] % 1).any():
            return np.empty(0)
    return np.concatenate(found)


def _naming(chunks: Sequence[Chunk], columns: Iterable[Column]) -> tuple[dict[str, str], list[str]]:
    """Return the columns that name the rows or hold no values, with the reason, and remarks on those that may be names.

    Text that is nearly numbers or dates names nothing: its remark says which cell to correct.
    """
    reasons, remarks = dict[str, str](), list[str]()
    for column in (column for column in columns if column.kind != TEXT or not column.remedy):
        values = _present(chunks, column)
        if why := NO_VALUES if column.is_empty else why_naming(column.kind, values):
            reasons[column.name] = why
        elif may_name(column.kind, values):
            name, option = quoted(column.name), shlex.quote(shown(column.name))
            remarks.append(f"column {name} has a different integer in every row; if it names them, --drop {option}")
    return reasons, remarks


def _keeping(aside: Mapping[str, str]) -> str:
    return f"--all-columns compares {'them' if len(aside) > 1 else 'it'}"


def _remarks_on_records(columns: Sequence[Column], has_label: bool) -> Iterable[str]:
    """Yield why a table that is nearly numbers is compared as records: gaps, or one column that is not numbers."""
    gaps = [column.name for column in columns if column.has_gaps]
    texts = [column for column in columns if column.kind != NUMBER]
    use = measures_of("records")[0]
    if gaps and not texts:
        more = f" and {counted(len(gaps) - 1, 'more column')}" if len(gaps) > 1 else ""
        yield f"values are missing in column {quoted(gaps[0])}{more}, so rows are compared by {use}"
    if len(texts) == 1 and len(columns) > 1 and not texts[0].remark:
        name, option = quoted(texts[0].name), shlex.quote(shown(texts[0].name))
        why = f"column {name} holds {texts[0].kind}, so rows are compared by {use}"
        labels = "" if has_label else f"if it holds labels pass --label {option}, "
        yield f"{why}; {labels}if it does not matter pass --drop {option}"


def _column(chunks: Sequence[Chunk], name: str) -> Column:
    counts: Counter[str | None] = Counter()
    first: FirstCells = {}
    for chunk in chunks:
        for index, kind in enumerate(kinds_in(chunk, name)):
            counts[kind] += 1
            first.setdefault(kind, (chunk, index))
    has_gaps = counts.pop(None, 0) > 0
    _refuse(name, first, counts)
    if not counts:
        return Column(name, TEXT, has_gaps, f"column {quoted(name)} {NO_VALUES}", is_empty=True)
    cells = {str(kind): str(chunk.columns[name][index]) for kind, (chunk, index) in first.items()}
    units = {unit for chunk in chunks for unit in units_in(chunk, name)} if set(counts) <= {NUMBER, ABSENT} else ()
    found = judge({str(kind): count for kind, count in counts.items()}, cells, units)
    has_gaps = has_gaps or (ABSENT in counts and found.kind in (NUMBER, DATE))
    if found.kind == NUMBER and (code := code_in(chunks, name)):
        chunk, index = code
        why = f"{quoted(str(chunk.columns[name][index]).strip())} ({printable(chunk.place(index))}) begins with 0"
        return Column(name, TEXT, has_gaps, f"column {quoted(name)} counts as text because {why}")
    if not found.fault:
        remark = f"column {quoted(name)} holds numbers with {found.unit}, which is left out" if found.unit else ""
        return Column(name, TEXT if found.kind == ABSENT else found.kind, has_gaps, remark, unit=found.unit)
    place, remedy = "", "write all in one unit"
    if found.odd:
        chunk, index = next(first[kind] for kind in counts if cells[str(kind)] == found.odd)
        place, remedy = f" ({printable(chunk.place(index))})", _remedy(found.odd, found.wanted, chunk, name)
    remark = f"column {quoted(name)} counts as text because {found.why(place)}"
    return Column(name, TEXT, has_gaps, remark, f"; {remedy}")


def _remedy(cell: str, kind: str, chunk: Chunk, name: str) -> str:
    option = remedy_for(cell, kind, chunk)
    return option if "--" in option else f"correct it, leave it empty, or --drop {shlex.quote(shown(name))}"


def _refuse(name: str, first: FirstCells, counts: Counter[str | None]) -> None:
    """Raise if a column holds lists, or numbers that are not finite."""
    if NESTED in counts:
        fault, what = NESTED, "is not a single value; drop the column, or split it into several"
    elif INFINITE in counts and set(counts) <= {NUMBER, INFINITE}:
        fault, what = INFINITE, "is not a finite number; correct it, or leave it empty"
    else:
        return
    chunk, index = first[fault]
    raise chunk.fault(index, f"column {quoted(name)}: {quoted(str(chunk.columns[name][index]))} {what}")


def _of_objects(chunks: Sequence[Chunk], measure: str | None) -> Schema:
    kind = _common_kind(chunks)
    values = [value for chunk in chunks for value in chunk.objects]
    if measure is None:
        kind = kind_of(values)
    elif kind == "series" and measure in measures_of("numbers"):
        kind = "numbers"
    if kind not in ("numbers", "records"):
        return Schema(kind, n_channels=channels_of(values[0]) if kind == "series" else 0)
    width = len(values[0])
    for chunk, index, value in _objects(chunks):
        if len(value) != width:
            raise chunk.fault(index, f"{described(value)} has {len(value)} values, but the first has {width}")
    return _of_table([as_table(chunk) for chunk in chunks], set(), measure, keeps_names=True)


def _common_kind(chunks: Sequence[Chunk]) -> str:
    """Return the kind of all objects; raise if one is of another kind."""
    first = kind_of_object(chunks[0].objects[0])
    for chunk, index, value in _objects(chunks):
        kind = kind_of_object(value)
        if not kind:
            wanted = "records, texts, lists of numbers (steps of one length), lists of texts or node-link graphs"
            raise chunk.fault(index, f"{described(value)} cannot be compared; write {wanted}")
        if kind != first:
            one = f"{described(value)} is one of {kind}, but the first object is one of {first}"
            raise chunk.fault(index, f"{one}; all must be of one kind")
    return first


def _objects(chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, int, Any]]:
    return ((chunk, index, value) for chunk in chunks for index, value in enumerate(chunk.objects))
