"""What is known about a row beside its score: values that no training row has, gaps, copies, repeated names, groups."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eocc.base.markup import Shown
from eocc.base.printing import printable
from eocc.base.types import Flags, Matrix
from eocc.base.wording import format_value
from eocc.explain.explanation import Explanation, training_name, weight_names
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
        unseen, beyond = list[tuple[Column, Flags, str]](), list[tuple[Column, Flags, str]]()
        for known, column, is_new in known_columns(self._classifier.reading_, patterns):
            if is_new is not None:
                unseen.append((column, is_new[column.codes], "which no training row has"))
            elif known.low is not None and known.high is not None:
                for end, is_odd, what in (
                    (known.low, column.values < known.low, "below all training values ({} and more)"),
                    (known.high, column.values > known.high, "above all training values (up to {})"),
                ):
                    if is_odd.any():
                        beyond.append((column, is_odd, what.format(format_value(column.given(end)))))
        for column, is_odd, what in unseen + beyond:  # of a row, new values come first
            for row in np.flatnonzero(is_odd).tolist():
                found[row].append(f"{column.name} is {format_value(column.cell(row))}, {what}")
        gaps = [np.isnan(values) for _, values in given_columns(self._classifier, patterns).values()]
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


def with_facts(classifier: Any, patterns: Any, explanations: Sequence[Explanation]) -> list[Explanation]:
    """Return the explanations of patterns with the facts about each."""
    facts = Facts(classifier).of(patterns)
    return Shown(replace(one, facts=said) for one, said in zip(explanations, facts, strict=True))


def number_columns(classifier: Any) -> list[str]:
    """Return the names of the columns of a table of numbers, each of which has its weight; [] for other data."""
    are_numbers = classifier.measure_.kind_of_data(classifier.prototypes_) == "numbers"
    is_weighted = are_numbers and len(classifier.weights_) == classifier.prototypes_.shape[1]
    return weight_names(classifier) if is_weighted else []


def given_columns(classifier: Any, patterns: Any) -> dict[Hashable, tuple[int, Matrix]]:
    """Return the place and the values of each column of the data by name; none for data without columns.

    A date is one column, whatever parts of it are compared.
    """
    if isinstance(patterns, np.ndarray):
        names = number_columns(classifier) or range(patterns.shape[1])
        return {name: (k, patterns[:, k]) for k, name in enumerate(names)}
    found = dict[Hashable, tuple[int, Matrix]]()
    read = () if classifier.reading_ is None else classifier.reading_.columns
    owners = {one.part_name(part): one.name for one in read for part in one.parts}
    for place, column in enumerate(patterns.columns if isinstance(patterns, Table) else ()):
        if column.declared != RELATIVE:
            found.setdefault(owners.get(column.name, column.name), (place, column.values))
    return found


def known_columns(reading: Any, patterns: Any) -> Iterator[tuple[ReadColumn, Column, Flags | None]]:
    """Yield what the model knows of each column of its training rows, the column of the patterns, and its new labels.

    These are the labels that no training row has; False at the end is for missing values. Without labels it is None.
    """
    if reading is None or patterns is None:
        return
    found = {column.name: column for column in columns_of(patterns, reading.names)}
    for known in (one for one in reading.columns if MOMENT in one.parts):
        column, seen = found[known.name], known.labels if known.kind == TEXT else ("False", "True")
        labels = column.labels
        is_new = None if labels is None else np.array([*(str(label) not in seen for label in labels), False])
        yield known, column, is_new


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
