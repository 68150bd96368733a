"""What every explanation of a decision offers, what makes two rows differ, and what training rows are called."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from eocc.base.estimator import check_is_fitted
from eocc.base.markup import joined, table, tag
from eocc.base.printing import on_one_line
from eocc.base.registry import FEW, needed
from eocc.base.types import Indices, Matrix
from eocc.base.wording import all_finite, format_number, share, wrapped
from eocc.entropic.rules import BOUNDARY, Scores
from eocc.explain.reasons import EDITS, LEAST_SHOWN, Reason
from eocc.measures.auto import is_pairwise
from eocc.measures.difference import Difference, Pair


@dataclass(frozen=True)
class TrainingRow:
    """A training row that is a prototype: its `row` in the X of the fit, and its `dissimilarity` from an explained row.

    `name` is its id, if the model keeps ids, or else its number `row`. `index` counts along `training_indices_`, as
    `regions_` does, `column` along `prototypes_`. Row, index and column are equal unless some rows of X were outliers
    or held out, or there are fewer prototypes than training rows.
    """

    row: int
    index: int
    column: int
    dissimilarity: float
    name: str


@dataclass(frozen=True, repr=False)
class Explanation(ABC):
    """Why a row was accepted or rejected; `str` gives the sentence and a table of the reasons, `detail` the rest.

    `reasons` say what makes the row strange, the main one first; those that compare it with one normal row are
    introduced by `lead`. `how_far_out` says how far out the row lies: the limit is 1, or that of the RegionClassifier
    or the calibration. `difference` is what makes the row differ from the training row that it is compared with; its
    contributions add up to the dissimilarity. `exemplars` are the training rows most like this one. `p_value` is that
    of the row among `n_left_out` normal rows, of `n_training`; None if the model is not calibrated. `facts` are known
    without the score: values that no training row has, gaps, copies.
    """

    is_target: bool
    membership: float
    how_far_out: float
    comparison: Pair = field(compare=False)
    exemplars: tuple[TrainingRow, ...]
    reasons: tuple[Reason, ...]
    lead: str
    p_value: float | None = field(default=None, kw_only=True)
    n_left_out: int = field(default=0, kw_only=True)
    n_training: int = field(default=0, kw_only=True)
    facts: str = field(default="", kw_only=True)

    @property
    def difference(self) -> Difference:
        """What makes the row differ from the training row that it is compared with."""
        return self.comparison.difference

    @property
    def sentence(self) -> str:
        """The decision, how sure it is, and the one to three main reasons."""
        decision = "Accepted" if self.is_target else "Rejected"
        return " ".join(part for part in (f"{decision}: {self.certainty}.", self._why()) if part)

    @property
    def certainty(self) -> str:
        """How unusual the row is, in words, without a full stop."""
        assert self.p_value is not None
        return rarity_in_words(self.p_value, self.n_training, self.n_left_out)

    @property
    def detail(self) -> str:
        """All of it in words: the most similar rows, the difference from one of them, and how the decision was made."""
        p_value = "" if self.p_value is None else f", p-value {format_number(self.p_value)}"
        said = f"{self.decision.capitalize()}. Membership {format_number(self.membership)}{p_value}."
        lines = wrapped(said, 0)
        if self.exemplars:
            rows = ", ".join(one.name for one in self.exemplars)
            dissimilarities = ", ".join(format_number(one.dissimilarity) for one in self.exemplars)
            lines += wrapped(f"{self.exemplars_heading} {rows} (dissimilarity {dissimilarities}).", 2)
        found = self.difference
        heading = f"Dissimilarity {format_number(found.dissimilarity)} from the {self.compared_with[0]}"
        lines += [f"  {line}" for line in found.lines(heading)]
        return "\n".join([*lines, *(line for note in self.notes() for line in wrapped(note, 2))])

    def _why(self) -> str:
        if not self.reasons:
            return self.lead
        first, *others = self.reasons[:FEW]
        named = [first, *(one for one in others if one.stands_out and one.share >= first.share / 4)]
        if self.lead.startswith(EDITS):  # without its smallest edit the one would not become the other
            n_more = len(self.reasons) - FEW
            texts = [one.text for one in (first, *others)] + [f"and {n_more} more"] * (n_more > 0)
            return f"{self.lead} {'; '.join(texts)}."
        if self.lead:
            return f"{self.lead} {'; '.join(one.text for one in named)}."
        if not first.stands_out:
            return f"No single value stands out{'' if self.is_target else '; their combination is unusual'}."
        if self.is_target:
            return f"Its least usual value: {first.text}."
        more = ", and ".join(one.short for one in named[1:])
        return f"{first.text}.{f' Also {more}.' if more else ''}"

    @property
    def main_column(self) -> str | None:
        """The column, or the part of a record, that stands out most; None if none does."""
        return None if self.lead or not self.reasons or not self.reasons[0].stands_out else self.reasons[0].name

    @property
    def main_reason(self) -> str:
        """The main reason in a few words, for a line of a list."""
        if not self.reasons:
            return self.lead
        return self.reasons[0].text if self.lead or self.main_column else "no single value stands out"

    def text(self, opening: str = "") -> str:
        """Return the sentence, after an opening, and the table of the reasons."""
        notes = wrapped(f"Notes: {self.facts}.", 2) if self.facts else []
        lines, cells = wrapped(f"{opening}{self.sentence}", 0), self._cells()
        if self.lead:
            return "\n".join([*lines, *(f"  {part}  {text}" for text, part in cells[1:]), *notes])
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for line in cells if self.reasons else []:
            padded = (on_one_line(cell).ljust(width) for cell, width in zip(line, widths, strict=True))
            lines.append("  ".join(["", *padded]).rstrip())
        return "\n".join([*lines, *notes])

    __str__ = text

    def _cells(self) -> list[tuple[str, ...]]:
        """Return the table of the reasons with its head: values and ranges, or one text each."""
        if self.lead:
            return [("reason", "share"), *((one.text, share(one.share, 1)) for one in self.reasons)]
        cells = [(one.name, one.said, one.normal, share(one.share, 1)) for one in self.reasons]
        rest = 1 - sum(one.share for one in self.reasons)
        cells += [("other columns", "", "", share(rest, 1))] if cells and rest >= LEAST_SHOWN else []
        return [("column", "value", "normal rows near it", "share"), *cells]

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        notes = [tag("p", f"Notes: {self.facts}.")] if self.facts else []
        return joined([tag("p", self.sentence), *([table(head, rows)] if rows else []), *notes])

    @property
    @abstractmethod
    def decision(self) -> str:
        """The decision in words, without a full stop."""

    @property
    @abstractmethod
    def compared_with(self) -> tuple[str, TrainingRow]:
        """What the row is compared with in words, without the article, and the training row."""

    @property
    @abstractmethod
    def exemplars_heading(self) -> str:
        """The heading of the exemplars."""

    @abstractmethod
    def notes(self) -> list[str]:
        """Return how the decision was made, one paragraph per item."""

    def __repr__(self) -> str:
        return f"<{self.sentence}>"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers, for JSON."""
        return {"sentence": self.sentence, **to_plain(self)}

    def to_record(self) -> dict[str, Any]:
        """Return the main facts as one row of a table: the decision, the training row compared with, the reasons.

        The three main reasons are in words, each with its share of what makes the row strange.
        """
        reasons: dict[str, Any] = {}
        for number in range(FEW):
            one = self.reasons[number] if number < len(self.reasons) else None
            reasons[f"reason_{number + 1}"] = None if one is None else one.text
            reasons[f"share_{number + 1}"] = math.nan if one is None else one.share
        return {
            "decision": 1 if self.is_target else -1, "sentence": self.sentence, "membership": self.membership,
            "how_far_out": self.how_far_out, "p_value": self.p_value,
            "training_row": self.compared_with[1].name, "dissimilarity": self.difference.dissimilarity,
            **reasons, "notes": self.facts,
        }  # fmt: skip


def scored(classifier: Any, scores: Scores) -> Iterator[dict[str, Any]]:
    """Yield the fields of each explanation that the score of its row says."""
    calibration, margins = classifier.calibration_, scores.margins
    p_values = [None] * len(margins) if calibration is None else calibration.p_values(margins).tolist()
    n_left_out = 0 if calibration is None else len(calibration.margins)
    known = (margins >= classifier.threshold_, np.exp(scores.log_memberships), all_finite(scores.ratios))
    for is_target, membership, ratio, p_value in zip(*(one.tolist() for one in known), p_values, strict=True):
        yield {
            "is_target": is_target, "membership": membership, "how_far_out": ratio, "p_value": p_value,
            "n_left_out": n_left_out, "n_training": classifier._n_training,
        }  # fmt: skip


def to_plain(value: Any) -> Any:
    """Return a field of an explanation as plain data; differences take the place of the pairs that they are of."""
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    if not is_dataclass(value):
        return value
    found = {one.name: to_plain(getattr(value, one.name)) for one in fields(value) if one.compare}
    comparison = getattr(value, "comparison", None)
    return found if comparison is None else {**found, "difference": comparison.difference.to_dict()}


def rarity_in_words(p_value: float, n_training: int, n_left_out: int) -> str:
    """Return how many normal rows look as unusual, given (1 + their number among those left out) / (1 + n_left_out).

    >>> rarity_in_words(3 / 101, 100, 100), rarity_in_words(1 / 201, 200, 200)
    ('1 in 50 normal rows look this unusual', 'more unusual than all 200 normal rows')
    >>> rarity_in_words(61 / 101, 100, 100), rarity_in_words(0.01, 10000, 99)
    ('60% of normal rows look at least this unusual', 'at most 1 in 99 normal rows look this unusual')
    """
    n_more = round(p_value * (n_left_out + 1)) - 1
    if n_more == 0 and n_left_out >= n_training:
        return f"more unusual than {f'all {n_training:,} normal rows' if n_training > 1 else 'the one normal row'}"
    if n_more == 0:
        return f"at most 1 in {n_left_out:,} normal rows look this unusual"
    if n_more == n_left_out:
        return "every normal row looks at least this unusual"
    one_in = float(f"{n_left_out / n_more:.2g}")
    if one_in < 3:
        return f"{n_more / n_left_out:.0%} of normal rows look at least this unusual"
    return f"1 in {one_in:,.0f} normal rows look this unusual"


def explanations_frame(explanations: Sequence[Explanation], X: Any = None) -> Any:
    """Return a frame with one row per explanation, see `Explanation.to_record`: polars if X is, else pandas."""
    records, is_polars = [one.to_record() for one in explanations], type(X).__module__.startswith("polars")
    remedy = "pip install pandas; or call to_record of each explanation"
    library = needed("polars" if is_polars else "pandas", f"a frame needs pandas: {remedy}")
    if is_polars:
        return library.DataFrame(records, infer_schema_length=None)
    return library.DataFrame(records, index=X.index if hasattr(X, "iloc") else None)


def differences(classifier: Any, X: Any, Y: Any) -> list[Difference]:
    """Return what makes each row of X differ from the row of Y at the same place, at the fitted weights."""
    check_is_fitted(classifier)
    if is_pairwise(classifier.measure):
        raise ValueError("precomputed dissimilarities are known to training rows only; use explain")
    one, other = classifier._read(X), classifier._read(Y)
    if len(one) != len(other):
        raise ValueError(f"X has {len(one)} rows and Y {len(other)}; rows are compared in pairs, so pass as many")
    measure, weights, names = classifier.measure_, classifier.weights_, classifier._feature_names
    return [Pair(measure, one[i : i + 1], other[i : i + 1], weights, names).difference for i in range(len(one))]


def training_row(classifier: Any, row: Matrix, column: int) -> TrainingRow:
    """Return the prototype of this column, given the dissimilarities of a row to all prototypes."""
    index = int(classifier.prototype_indices_[column])
    number, name = int(classifier.training_indices_[index]), training_name(classifier, index)
    return TrainingRow(number, index, column, float(row[column]), name)


def training_name(classifier: Any, index: int) -> str:
    """Return the id of a training row, or its number in the X of the fit; `index` counts along `training_indices_`."""
    names = classifier._row_names_
    return str(int(classifier.training_indices_[index])) if names is None else str(names[index])


def exemplars_of(classifier: Any, rows: Matrix) -> list[tuple[TrainingRow, ...]]:
    """Return the least dissimilar prototypes of each row, given the dissimilarities (m, n); of equal ones, the first.

    Those at infinity do not count.
    """
    found = []
    for row in rows:
        near = np.flatnonzero(row <= np.partition(row, FEW - 1)[FEW - 1]) if len(row) > FEW else np.arange(len(row))
        order = near[np.argsort(row[near], kind="stable")[:FEW]].tolist()
        found.append(tuple(training_row(classifier, row, k) for k in order if row[k] < np.inf))
    return found


def prototype_labels(classifier: Any) -> Indices:
    """Return the region of every prototype."""
    return np.asarray(classifier.labels_[classifier.prototype_indices_])


def reach_of(threshold: float) -> float:
    """Return the largest accepted ratio, given the threshold of the margin (1 - ratio^2) / 2."""
    return 1.0 if threshold == 0 else float(np.sqrt(max(BOUNDARY**2 - 2 * threshold, 0.0)))


def described(classifier: Any, patterns: Any, index: int) -> str:
    """Return one pattern in a few words; "" if the measure has none."""
    return str(classifier.measure_.describe(patterns[index : index + 1], classifier._feature_names))


def weight_names(classifier: Any) -> list[str]:
    """Return what each weight of the dissimilarity belongs to: a column, a kind of edit, or just a number."""
    return list(classifier.measure_.weight_names(classifier._feature_names))
