"""A formula -> one SELECT statement."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.base.registry import choose
from eocc.base.types import Matrix
from eocc.ellipsoids.features import CATEGORIES, CONSTANT, LEVELS, DataColumn
from eocc.ellipsoids.model import Ellipsoids
from eocc.formats.export.formula import Formula, words_for_gaps

# A sum or a list of this many terms is written at a time: SQLite limits depth and the number of arguments.
AT_A_TIME = 50
# The least exponent: the exponential of a smaller one is 0, an error in Postgres.
LEAST_EXPONENT = -700.0
# The codes of the characters that count as blanks around a text: those of ASCII that Python strips.
BLANKS = (9, 10, 11, 12, 13, 28, 29, 30, 31, 32)
# Names that the statement gives to what it computes start with this.
PREFIX = "eocc_"
RESULTS = ("score", "p_value", "decision")
# What every level passes on.
KNOWN = ("known", f"{PREFIX}known")


def _doubled(mark: str) -> Callable[[str], str]:
    return lambda text: mark + text.replace(mark, 2 * mark) + mark


def _escaped(mark: str) -> Callable[[str], str]:
    return lambda text: mark + text.replace("\\", "\\\\").replace(mark, f"\\{mark}").replace("\n", "\\n") + mark


@dataclass(frozen=True)
class Dialect:
    """How a database writes names, texts and numbers, and what it calls the larger and the smaller of two.

    `is_no_number` says of the value {0} of a column of numbers that it is none: NaN, or in SQLite text, which would
    become 0 without a word. `string` is the type of texts, and `character` the function that makes one of a code.
    The `fence` at the end of a subquery keeps the database from copying its expressions to every place that uses them,
    which would take exponential time.
    """

    number: str
    is_no_number: str
    name: Callable[[str], str]
    text: Callable[[str], str]
    greatest: str = "GREATEST"
    least: str = "LEAST"
    fence: str = ""
    string: str = "VARCHAR"
    character: str = "CHR"


DIALECTS = {
    "duckdb": Dialect("DOUBLE", "ISNAN(CAST({0} AS DOUBLE))", _doubled('"'), _doubled("'")),
    "postgres": Dialect("DOUBLE PRECISION", "CAST({0} AS DOUBLE PRECISION) = 'NaN'", _doubled('"'), _doubled("'"),
                        fence="\nOFFSET 0"),
    "sqlite": Dialect("REAL", "{0} GLOB '*[^-+.0-9eE ]*' OR {0} NOT GLOB '*[0-9]*'", _doubled('"'), _doubled("'"),
                      "MAX", "MIN", "\nLIMIT -1", character="CHAR"),
    "bigquery": Dialect("FLOAT64", "IS_NAN(CAST({0} AS FLOAT64))", _escaped("`"), _escaped("'"), string="STRING"),
}  # fmt: skip


def select_statement(formula: Formula, table: str | Sequence[str], dialect: str, keep: Any = None) -> str:
    """Return a SELECT of the columns to `keep`, and of score, p_value and decision of each row of the table.

    A row with a missing value in a column of the model has NULL for all three: NULL, NaN, and in a column of categories
    text such as '' and 'NA'.
    """
    language = choose("dialect", DIALECTS, dialect)
    kept = formula.names if keep is None else list(keep)
    for name in (*kept, *formula.names, *([table] if isinstance(table, str) else table)):
        if not isinstance(name, str) or not name or "\0" in name:
            raise ValueError(f"names of tables and columns must be texts that are not empty, not {name!r}")
    for name in kept:
        if name.lower() in RESULTS or name.lower().startswith(PREFIX):
            raise ValueError(f"column {name!r} has the name of a result; leave it out with keep, or rename it")
    return _Writer(formula, language, [language.name(name) for name in kept]).statement(table)


class _Writer:
    """Writes the statement from the inside out: features, axes, height, regions, the largest term, score, results.

    What a label adds to the coordinates is looked up in a table of its column, so a label is written once.
    """

    def __init__(self, formula: Formula, language: Dialect, kept: list[str]) -> None:
        self._formula, self._language, self._kept = formula, language, kept
        labelled = [one for one in formula.columns if one.kind == CATEGORIES and not _holds_only(bool, one)]
        self._labelled = {f"{PREFIX}c{number}": column for number, column in enumerate(labelled)}
        # The coordinates along the axes and, if there is a height, the squared length.
        self._sums = [f"w{k}" for k in range(len(formula.scales))] + ["s"] * bool(formula.height)

    def statement(self, table: str | Sequence[str]) -> str:
        names = [table] if isinstance(table, str) else table
        inner = ".".join(map(self._language.name, names))
        levels = [(self._features(), ""), (self._axes(), ""), *map(self._looked_up, self._labelled)]
        levels += ((make(), "") for make in (self._height, self._terms, self._largest, self._score))
        for number, (level, join) in enumerate(levels):
            chosen = [*self._kept, *(f"{expression} AS {PREFIX}{name}" for name, expression in level)]
            inner = f"(SELECT {', '.join(chosen)}\nFROM {inner}{join}{self._language.fence}) AS {PREFIX}{number}"
        return f"SELECT {', '.join([*self._kept, *self._results()])}\nFROM {inner}{self._language.fence}"

    def _features(self) -> Iterator[tuple[str, str]]:
        for column in self._unlabelled:
            for place, expression in zip(column.places.tolist(), self._encoded(column), strict=True):
                yield f"f{place}", f"{expression} - {_number(self._formula.origin[place])}"
        yield from ((name.removeprefix(PREFIX), self._word(column)) for name, column in self._labelled.items())

    @property
    def _unlabelled(self) -> list[DataColumn]:
        return [one for one in self._formula.columns if one not in self._labelled.values()]

    def _word(self, column: DataColumn) -> str:
        """Return the category of a row, NULL if it is missing."""
        word = self._language.name(column.name)
        if _holds_only(str, column):
            blanks = " || ".join(f"{self._language.character}({code})" for code in BLANKS)
            word = f"TRIM(CAST({word} AS {self._language.string}), {blanks})"
        if not column.has_words_for_gaps:
            return word
        gaps = ", ".join(map(self._language.text, words_for_gaps(column)))
        return f"CASE WHEN LOWER({word}) IN ({gaps}) THEN NULL ELSE {word} END"

    def _encoded(self, column: DataColumn) -> list[str]:
        """Return the features of a column."""
        name, factor = self._language.name(column.name), _number(column.factor)
        if column.kind == CATEGORIES:
            # NULL for text such as 'yes', which some databases compare with TRUE without a word.
            return [f"CASE {name} WHEN {self._label(label)} THEN {factor} WHEN {self._label(not label)} THEN 0e0 END"
                    for label in column.labels]  # fmt: skip
        if column.kind == LEVELS:
            last = max(len(column.labels) - 1, 1)
            cases = [f"WHEN {name} = {self._label(label)} THEN {_number(rank / last * column.factor)}"
                     for rank, label in enumerate(column.labels)]  # fmt: skip
            return [f"CASE {' '.join(cases)} END"]
        reach, gap = self._formula.reach(column), f"{name} IS NULL OR {self._language.is_no_number.format(name)}"
        value = f"CAST({name} AS {self._language.number}) - {_number(column.centre)}"
        if column.kind == CONSTANT:
            return [f"CASE WHEN {gap} THEN NULL WHEN ABS({value}) > {_number(reach)} THEN {factor} ELSE 0e0 END"]
        below = f"{self._language.least}({value}, {_number(reach)})"
        within = f"{self._language.greatest}({below}, {_number(-reach)})"
        return [f"CASE WHEN {gap} THEN NULL ELSE {within} * {factor} END"]

    def _label(self, label: Any) -> str:
        if isinstance(label, bool):
            return "TRUE" if label else "FALSE"
        return _number(float(label)) if isinstance(label, int | float) else self._language.text(str(label))

    def _axes(self) -> Iterator[tuple[str, str]]:
        """Return the coordinates along the axes, the squared length, and whether no feature or category is NULL.

        That is said explicitly: the largest of some numbers and NULL is a number in some databases.
        """
        formula = self._formula
        places = [place for column in self._unlabelled for place in column.places.tolist()]
        for k, scale in enumerate(formula.scales):
            terms = [f"{PREFIX}f{place} * {_number(formula.axes[place, k] * scale)}" for place in places]
            yield f"w{k}", self._sum([*terms, "0e0"])
        if formula.height:
            yield "s", self._sum([*(_squared(f"{PREFIX}f{place}") for place in places), "0e0"])
        is_gap = [f"{self._sum([*(f'{PREFIX}f{place}' for place in places), '0e0'])} IS NULL"]
        is_gap += (f"{name} IS NULL" for name in self._labelled)
        yield "known", f"CASE WHEN {_grouped(is_gap, ' OR '.join, '({})'.format)} THEN 0 ELSE 1 END"
        yield from ((name.removeprefix(PREFIX), name) for name in self._labelled)

    def _looked_up(self, key: str) -> tuple[Iterator[tuple[str, str]], str]:
        """Return the sums with those of the category in the column `key`, and the join that looks them up."""
        column, table = self._labelled[key], f"{PREFIX}of_{key.removeprefix(PREFIX)}"
        *known, unknown = self._added_by(column)
        names = [f"{PREFIX}label", *(f"{PREFIX}{name}_more" for name in self._sums)]
        rows = {self._label(label): [*map(_number, more)] for label, more in zip(column.labels, known, strict=True)}
        first, *others = ([label, *more] for label, more in rows.items())
        named = [f"{value} AS {name}" for value, name in zip(first, names, strict=True)]
        lines = "\nUNION ALL SELECT ".join(", ".join(line) for line in (named, *others))
        sums = zip(self._sums, names[1:], unknown, strict=True)
        level = [(name, f"{PREFIX}{name} + COALESCE({more}, {_number(other)})") for name, more, other in sums]
        level += ((name.removeprefix(PREFIX), name) for name in self._labelled)
        return iter([*level, KNOWN]), f"\nLEFT JOIN (SELECT {lines}) AS {table} ON {key} = {names[0]}"

    def _added_by(self, column: DataColumn) -> Matrix:
        """Return what each category of a column, and last an unknown one, adds to the sums."""
        formula, places = self._formula, column.places
        gaps = np.vstack([column.factor * np.eye(len(places)), np.zeros(len(places))]) - formula.origin[places]
        along = gaps @ (formula.axes[places] * formula.scales)
        return np.column_stack([along, (gaps**2).sum(axis=1)])[:, : len(self._sums)]

    def _height(self) -> Iterator[tuple[str, str]]:
        """Return the distance from the span of the axes."""
        formula = self._formula
        yield from ((f"w{k}", f"{PREFIX}w{k}") for k in range(len(formula.scales)))
        if formula.height:
            inside = [f"{_squared(f'{PREFIX}w{k}')} * {_number(scale**-2)}" for k, scale in enumerate(formula.scales)]
            rest = f"{PREFIX}s - ({self._sum([*inside, '0e0'])})"
            yield "h", f"SQRT({self._language.greatest}({rest}, 0e0)) * {_number(formula.height)}"
        yield KNOWN

    def _terms(self) -> Iterator[tuple[str, str]]:
        """Return the logarithm of the weighted grade in each region."""
        coordinates = [f"w{k}" for k in range(len(self._formula.scales))] + ["h"] * bool(self._formula.height)
        for kind, regions in zip("to", self._formula.kinds_of_regions, strict=False):
            for number, (centre, log_weight) in enumerate(zip(regions.centres, regions.log_weights, strict=True)):
                pairs = zip(coordinates, centre, strict=False)
                square = self._sum([_squared(f"{PREFIX}{name} - {_number(value)}") for name, value in pairs])
                yield f"{kind}{number}", f"{_number(log_weight)} - 0.5e0 * ({square})"
        yield KNOWN

    def _largest(self) -> Iterator[tuple[str, str]]:
        greatest = f"{self._language.greatest}({{}})".format
        for kind, regions in zip("to", self._formula.kinds_of_regions, strict=False):
            terms = [f"{PREFIX}{kind}{number}" for number in range(len(regions.counts))]
            yield from ((f"{kind}{number}", f"{PREFIX}{kind}{number}") for number in range(len(terms)))
            joined = _grouped(terms, lambda part: part[0] if len(part) == 1 else greatest(", ".join(part)), str)
            yield f"{kind}_most", joined
        yield KNOWN

    def _score(self) -> Iterator[tuple[str, str]]:
        score = self._log_sum("t", self._formula.regions)
        if self._formula.outliers is not None:
            odds = f"({self._log_sum('o', self._formula.outliers)} - {_number(self._formula.background)})"
            rest = f"{self._language.greatest}(-ABS({odds}), {_number(LEAST_EXPONENT)})"
            score = f"{score} - {self._language.greatest}({odds}, 0e0) - LN(1e0 + EXP({rest}))"
        yield "score", f"CASE WHEN {KNOWN[1]} = 1 THEN {self._language.least}({score}, 0e0) END"

    def _log_sum(self, kind: str, regions: Ellipsoids) -> str:
        most, terms = f"{PREFIX}{kind}_most", []
        for number in range(len(regions.counts)):
            power = f"{PREFIX}{kind}{number} - {most}, {_number(LEAST_EXPONENT)}"
            terms.append(f"EXP({self._language.greatest}({power}))")
        return f"{most} + LN({self._sum(terms)})"

    def _results(self) -> Iterator[str]:
        score, quantiles, n = f"{PREFIX}score", self._formula.quantiles, len(self._formula.quantiles)
        cases = [f"WHEN {score} >= {_number(quantiles[k])} THEN {_number((k + 2) / (n + 1))}"
                 for k in reversed(range(n))]  # fmt: skip
        yield f"{score} AS score"
        missing = f"WHEN {score} IS NULL THEN NULL"
        yield f"CASE {missing} {' '.join(cases)} ELSE {_number(1 / (n + 1))} END AS p_value"
        yield f"CASE {missing} WHEN {score} >= {_number(self._formula.limit)} THEN 1 ELSE -1 END AS decision"

    def _sum(self, terms: Any) -> str:
        return _grouped(list(terms), lambda part: " + ".join(part), "({})".format)


def _holds_only(kind: type, column: DataColumn) -> bool:
    return all(isinstance(label, kind) for label in column.labels)


def _grouped(terms: list[str], join: Callable[[list[str]], str], wrap: Callable[[str], str]) -> str:
    """Return the terms joined, in groups if they are many."""
    while len(terms) > AT_A_TIME:
        terms = [wrap(join(terms[start : start + AT_A_TIME])) for start in range(0, len(terms), AT_A_TIME)]
    return join(terms)


def _squared(expression: str) -> str:
    """Return a square: DuckDB would take minutes to plan products of an expression with itself."""
    return f"POWER({expression}, 2)"


def _number(value: Any) -> str:
    """Return a number that every database reads as a double; negative ones in brackets."""
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text
