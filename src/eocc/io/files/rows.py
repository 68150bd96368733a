"""The chunks of files -> rows as a classifier takes them, and what the user should know about their columns."""

import shlex
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import numpy as np

from eocc.foundation.printing import complaint, has_instead, printable, quoted
from eocc.foundation.types import Indices
from eocc.foundation.wording import counted
from eocc.io.files.chunk import Chunk
from eocc.io.files.objects import as_table, checked_objects, describe, schema_of_objects
from eocc.measures import measures_of
from eocc.tables.judge import BadCellError, Fault, remedy_for
from eocc.tables.matching import used_rows
from eocc.tables.naming import listed_reasons
from eocc.tables.reading import ANY, NothingLeftError, Read, Reading, fit_reading, shown
from eocc.tables.spelling import PLAIN, Spelling
from eocc.tables.table import NUMBER, Table, join_tables

TABLE_MEASURES = (*measures_of("numbers"), *measures_of("records"))


@dataclass(frozen=True)
class Choices:
    """What the user says about files to learn from: columns to leave out, kinds, and which rows to skip."""

    apart: Sequence[str] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    keeps_all: bool = False
    skips_incomplete: bool = False
    skips_bad: bool = False
    has_label: bool = False


@dataclass(frozen=True, eq=False)
class Learnt:
    """Rows to learn from: X, their kind, a description, the reading of a table, and which rows of the files these are.

    `incomplete` are the rows that were left out because of gaps, `faults` the cells that could not be read.
    """

    X: Any
    kind: str
    described: str
    reading: Reading | None
    kept: Indices
    incomplete: Indices = field(default_factory=lambda: np.empty(0, np.int64))
    faults: Sequence[Fault] = ()


class Places:
    """Where the rows of several chunks are, by their number among all."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks, self._ends = chunks, list(accumulate(map(len, chunks)))

    def at(self, row: int) -> tuple[Chunk, int]:
        """Return the chunk of a row, and its index there."""
        number = bisect_right(self._ends, row)
        return self._chunks[number], row - (self._ends[number - 1] if number else 0)

    def name(self, row: int) -> str:
        """Return the line or the number of a row."""
        chunk, index = self.at(row)
        return printable(chunk.place(index))

    def fault(self, error: BadCellError, spelling: Spelling = PLAIN) -> ValueError:
        """Return the error about a cell with its file and line, and the option that would read it, if there is one."""
        chunk, index = self.at(error.fault.row)
        remedy = next(filter(None, (remedy_for(error.fault, spelling), error.remedy)))
        return error.placed(chunk.fault(index, f"{error.fault}; {remedy}"))


def learn(chunks: Sequence[Chunk], where: str, measure: str | None = None, choices: Choices | None = None) -> Learnt:
    """Return the rows of all chunks as a classifier takes them.

    A table of numbers without gaps is "numbers", any other table is "records", unless the `measure` compares only one
    of the two. Objects are of the kind that "auto" finds, unless the measure compares another.
    """
    choices = choices or Choices()
    if not chunks:
        raise complaint(where, None, "holds no rows; at least 1 is required")
    if chunks[0].table is None:
        schema = schema_of_objects(chunks, measure)
        if schema.kind not in ("numbers", "records"):
            _check_measure(schema.kind, describe(schema), where, measure)
            X = [one for chunk in chunks for one in checked_objects(chunk, schema)]
            return Learnt(X, schema.kind, describe(schema), None, np.arange(len(X)))
        width = len(chunks[0].objects[0])
        chunks = [as_table(chunk, width, schema.kind == "numbers", describe(schema)) for chunk in chunks]
    return _learn_table(chunks, where, measure, choices)


def _learn_table(chunks: Sequence[Chunk], where: str, measure: str | None, choices: Choices) -> Learnt:
    faults: list[Fault] | None = [] if choices.skips_bad else None
    reading, table = read_first(chunks, where, choices, faults)
    readable, rows = (used_rows(table, faults, skips) for skips in (False, choices.skips_incomplete))
    if not len(rows):
        raise complaint(where, None, "holds no complete rows; at least 1 is required")
    table = table if len(rows) == len(table) else table[rows]
    is_numbers = all(one.kind == NUMBER and not np.isnan(one.values).any() for one in table.columns)
    if measure in TABLE_MEASURES:
        is_numbers = measure in measures_of("numbers")
        _check_numbers(reading, is_numbers, where, str(measure))
        if is_numbers and not choices.has_label:  # with labels, rows that are not used may have gaps
            try:
                replace(reading, is_numbers=True).patterns(table, allows_gaps=False)
            except BadCellError as error:
                raise Places(chunks).fault(error) from None
    reading, kind = replace(reading, is_numbers=is_numbers), "numbers" if is_numbers else "records"
    _check_measure(kind, reading.describe(), where, measure)
    incomplete = np.setdiff1d(readable, rows, assume_unique=True) if len(rows) < len(readable) else rows[:0]
    return Learnt(Read(table, reading), kind, reading.describe(), reading, rows, incomplete, faults or ())


def read_first(
    chunks: Sequence[Chunk], where: str, choices: Choices, faults: list[Fault] | None
) -> tuple[Reading, Table]:
    """Return how a table to learn from is read, and all its rows so read."""
    raw = _training_table(chunks, where, choices)
    try:
        return fit_reading(raw, not chunks[0].is_named, faults=faults, apart=choices.apart)
    except BadCellError as error:
        raise Places(chunks).fault(error) from None
    except NothingLeftError as error:
        keeping = f"--all-columns compares {'them' if len(error.left_out) > 1 else 'it'}"
        why = f"{listed_reasons(error.left_out)}; {keeping}" if error.left_out else "drop fewer"
        raise complaint(where, None, f"has no columns left to compare; {why}") from None
    except ValueError as error:
        raise complaint(where, None, str(error)) from None


def _training_table(chunks: Sequence[Chunk], where: str, choices: Choices) -> Table:
    """Return the rows of all chunks as one raw table, with the kinds that the user declared."""
    table = join_tables([chunk.table for chunk in chunks if chunk.table is not None])
    names = list(map(str, table.names))
    for unknown in (name for name in (*choices.apart, *choices.kinds) if name not in names):
        raise complaint(where, None, f"has no column {quoted(unknown)}; {has_instead(unknown, names)}")
    kept = ANY if choices.keeps_all else ""
    columns = [column.declare(choices.kinds.get(str(column.name), kept)) for column in table.columns]
    if not chunks[0].is_named and not choices.apart:  # if some are left out, the others go by their numbers
        columns = [column.rename(k) for k, column in enumerate(columns)]
    return replace(table, columns=tuple(columns))


def _check_numbers(reading: Reading, is_numbers: bool, where: str, measure: str) -> None:
    for odd in (one for one in reading.columns if is_numbers and one.kind != NUMBER):
        why = next(
            (one.text for one in reading.remarks if one.name == odd.name),
            f"column {quoted(str(odd.name))} holds {odd.kind}",
        )
        option = f"pass --drop {shlex.quote(shown(odd.name))}"
        raise complaint(where, None, f"{why.replace('{place}', '')}, but {measure} compares numbers; {option}")


def _check_measure(kind: str, described: str, where: str, measure: str | None) -> None:
    """Refuse a measure that does not compare data of this kind."""
    known = measures_of(kind)
    if measure is not None and measure not in known:
        known = (*known, *(measures_of("records") if kind == "numbers" else ()))
        use = " or ".join(filter(None, [", ".join(known[:-1]), known[-1]]))
        raise complaint(where, None, f"holds {described}, which {quoted(measure)} does not compare; use {use}")


def remarks_on(learnt: Learnt, chunks: Sequence[Chunk], has_label: bool, is_auto: bool) -> Iterator[str]:
    """Yield what the user should know about the columns of a training table."""
    if learnt.reading is None:
        return
    places = Places(chunks)
    for remark in learnt.reading.remarks:
        place = "" if remark.row is None else f" ({places.name(remark.row)})"
        yield remark.said(remark.option, place)
    if is_auto:
        yield from _why_records(learnt.reading, learnt.X.patterns, has_label)


def _why_records(reading: Reading, table: Table, has_label: bool) -> Iterator[str]:
    """Yield why a table that is nearly numbers is compared as records: gaps, or one column that is not numbers."""
    texts, use = [one for one in reading.columns if one.kind != NUMBER], measures_of("records")[0]
    gaps = [column.name for column in table.columns if np.isnan(column.values).any()]
    if gaps and not texts:
        more = f" and {counted(len(gaps) - 1, 'more column')}" if len(gaps) > 1 else ""
        yield f"values are missing in column {quoted(str(gaps[0]))}{more}, so rows are compared by {use}"
    odd = {remark.name for remark in reading.remarks}
    if len(texts) == 1 and len(reading.columns) > 1 and texts[0].name not in odd and not texts[0].keeps_words:
        name, option = quoted(str(texts[0].name)), shlex.quote(shown(texts[0].name))
        labels = "" if has_label else f"if it holds labels pass --label {option}, "
        why = f"column {name} holds {texts[0].kind}, so rows are compared by {use}"
        yield f"{why}; {labels}if it does not matter pass --drop {option}"
