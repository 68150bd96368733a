"""What is known about a row beside its score: values that no training row has, gaps, copies, repeated names, groups."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eocc.base.markup import Shown
from eocc.base.printing import printable
from eocc.base.types import Flags
from eocc.base.wording import format_value
from eocc.explain.explanation import Explanation, number_columns, training_name
from eocc.explain.reasons import Reason, range_reason
from eocc.kernels.content import row_hashes
from eocc.space.baseline import Baseline, group_keys
from eocc.space.prototypes.content import words_of
from eocc.tables.judge import MOMENT
from eocc.tables.reading import ReadColumn
from eocc.tables.table import RELATIVE, TEXT, Column, Table, columns_of

# If more than this share of rows equal a training row, the model may have been trained on them.
MANY_KNOWN = 0.2


def are_copies(patterns: Any, known: Any) -> Flags:
    """Return which patterns equal one of the known ones."""
    return np.isin(row_hashes(words_of(patterns)), row_hashes(words_of(known)))


class Facts:
    """Facts about rows that a fitted classifier scores, part by part."""

    def __init__(self, classifier: Any) -> None:
        self._classifier, self._names = classifier, set[Hashable]()
        hashes = row_hashes(words_of(classifier.prototypes_)).tolist()
        self._training = dict(zip(reversed(hashes), reversed(range(len(hashes))), strict=True))

    def of(self, patterns: Any, names: Sequence[Any] | None = None) -> list[str]:
        """Return the facts about each row, "" if there are none; `names` that occurred before are repeated ids."""
        found: list[list[str]] = [[] for _ in range(len(patterns))]
        for name, column, is_new, what in _unseen(self._classifier.reading_, patterns):
            for row in np.flatnonzero(is_new).tolist():
                found[row].append(f"{name} is {format_value(column.cell(row))}, {what}")
        gaps = list(gaps_by_column(self._classifier, patterns).values())
        counts, hashes = np.sum(gaps, axis=0, dtype=int).tolist(), row_hashes(words_of(patterns)).tolist()
        for row, facts in enumerate(found):
            if gaps and counts[row]:
                facts.append(f"{counts[row]} of {len(gaps)} values missing")
            if hashes[row] in self._training:
                index = self._classifier.prototype_indices_[self._training[hashes[row]]]
                facts.append(f"copy of training row {training_name(self._classifier, index)}")
            if names and names[row] in self._names:
                facts.append(f"repeated id {names[row]}")
            self._names.update([names[row]] if names else [])
        return ["; ".join(facts) for facts in found]


def _unseen(reading: Any, patterns: Any) -> Iterator[tuple[Hashable, Column, Flags, str]]:
    """Yield which rows have a category that no training row has, or a value beyond all training values, by column."""
    for known, column, is_new in new_labels(reading, patterns):
        yield known.name, column, is_new[column.codes], "which no training row has"
    for known, column in known_columns(reading, patterns):
        if known.low is not None and known.high is not None and column.labels is None:
            low, high = (format_value(column.given(end)) for end in (known.low, known.high))
            yield known.name, column, column.values < known.low, f"below all training values ({low} and more)"
            yield known.name, column, column.values > known.high, f"above all training values (up to {high})"


def with_facts(classifier: Any, patterns: Any, explanations: Sequence[Explanation]) -> list[Explanation]:
    """Return the explanations of patterns with the facts about each."""
    facts = Facts(classifier).of(patterns)
    return Shown(replace(one, facts=said) for one, said in zip(explanations, facts, strict=True))


def given_columns(classifier: Any, patterns: Any) -> dict[Hashable, int]:
    """Return the columns of the data by name, with the place of each in the patterns; none for data without columns.

    A date is one column, whatever parts of it are compared.
    """
    if isinstance(patterns, np.ndarray):
        return {name: k for k, name in enumerate(number_columns(classifier) or range(patterns.shape[1]))}
    if not isinstance(patterns, Table):
        return {}
    read = () if classifier.reading_ is None else classifier.reading_.columns
    owners, found = {one.part_name(part): one.name for one in read for part in one.parts}, dict[Hashable, int]()
    for place, column in enumerate(patterns.columns):
        if column.declared != RELATIVE:
            found.setdefault(owners.get(column.name, column.name), place)
    return found


def gaps_by_column(classifier: Any, patterns: Any) -> dict[Hashable, Flags]:
    """Return which rows lack a value in each column of the data."""
    is_array = isinstance(patterns, np.ndarray)
    return {
        name: np.isnan(patterns[:, place] if is_array else patterns.columns[place].values)
        for name, place in given_columns(classifier, patterns).items()
    }


def new_labels(reading: Any, patterns: Any) -> Iterator[tuple[ReadColumn, Column, Flags]]:
    """Yield the columns of labels, and which labels no training row has; False at the end is for missing values."""
    for known, column in known_columns(reading, patterns):
        if column.labels is not None:
            seen = known.labels if known.kind == TEXT else ("False", "True")
            yield known, column, np.array([*(str(label) not in seen for label in column.labels), False])


def known_columns(reading: Any, patterns: Any) -> Iterator[tuple[ReadColumn, Column]]:
    """Yield what the model knows of each column of its training rows, and the column of the patterns."""
    if reading is None or patterns is None:
        return
    found = {column.name: column for column in columns_of(patterns, reading.names)}
    yield from ((known, found[known.name]) for known in reading.columns if MOMENT in known.parts)


def in_groups(classifier: Any, patterns: Any, explanations: Sequence[Explanation]) -> Sequence[Explanation]:
    """Return explanations that speak of a value and its group: "volume is 12; machine A7 usually has 55 to 71"."""
    baseline: Baseline | None = classifier.baseline_
    if baseline is None:
        return explanations
    places = {baseline.relative_name(name): k for k, name in enumerate(baseline.names)}
    keys, codes, found = group_keys(patterns, baseline.by), baseline.codes(patterns), []
    for row, one in enumerate(explanations):
        group = ", ".join(f"{by} {label}" for by, label in zip(baseline.by, keys[row], strict=True))
        who = f"{group} usually has" if codes[row] >= 0 else f"{group} is new: all groups together usually have"
        reasons = [
            _in_group(baseline, places[reason.name], patterns[row : row + 1], printable(who), reason)
            if reason.name in places
            else reason
            for reason in one.reasons
        ]
        reasons.sort(key=lambda reason: not reason.stands_out)  # what is usual in the group comes last
        found.append(replace(one, reasons=tuple(reasons)))
    return found


def _in_group(baseline: Baseline, k: int, row: Table, who: str, reason: Reason) -> Reason:
    name, value = str(baseline.names[k]), row.column(baseline.names[k])[0]
    low, high = (float(end[0]) for end in baseline.usual(k, row))
    if value is None:
        return replace(reason, name=name, text=f"{name} is missing", said="missing")
    stands_out = not low <= value <= high
    if high - low <= 1e-6 * abs(low):  # constant in the group
        value, low, high = (float(f"{one:.7g}") for one in (value, low, high))
    return range_reason(name, value, low, high, reason.share, f"{who} {{}}", stands_out)
