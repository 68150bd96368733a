"""A classifier and perhaps new rows -> all that the page shows, computed once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eocc.base.estimator import check_is_fitted
from eocc.base.progress import stage
from eocc.base.types import Flags, Indices, Matrix
from eocc.base.wording import counted
from eocc.calibration.conformal import DEFAULT_FALSE_DISCOVERIES, Discoveries
from eocc.classifiers.base import OneClassClassifier
from eocc.classifiers.labels import signs
from eocc.classifiers.summary import Counting, Summary
from eocc.explain.explanation import Explanation, prototype_labels, training_name
from eocc.explain.facts import with_facts
from eocc.explain.rules import Rule
from eocc.plots.projection import Projection, evenly, points_of, project, shows_regions

# The page holds this many rows, and explains this many of the most unusual in full.
MOST_LISTED = 1000
MOST_EXPLAINED = 200
# Decisions in the order of concern; a discovery may be accepted, if the false-alarm rate is low.
ACCEPTED, REJECTED, DISCOVERY = DECISIONS = ("accepted", "rejected", "discovery")


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """What the model says of each row: `ratios` say how far out, `scores` are log-memberships, `points` (m, 2) places.

    `p_values` are of a calibrated model, `is_normal` the labels, if known. Rows that `are_empty` have no values.
    """

    patterns: Any
    names: Sequence[str]
    ratios: Matrix
    scores: Matrix
    accepted: Flags
    points: Matrix
    p_values: Matrix | None
    summary: Summary
    are_empty: Flags
    is_normal: Flags | None = None

    def __len__(self) -> int:
        return len(self.ratios)

    @property
    def wrong(self) -> Flags:
        """Which decisions contradict the labels; none if there are no labels."""
        return np.zeros(len(self), bool) if self.is_normal is None else self.accepted != self.is_normal


@dataclass(frozen=True, eq=False)
class Study:
    """What the page shows of the model and of `new` rows, if there are any.

    `training` are the prototypes. `listed` are the rows that the page holds, the most unusual first, and `explained`
    the explanations of the first of them. `labels` are the regions of the prototypes; they and the `rules` are None if
    there are too many rows to compute them. `n_unread` further rows could not be read, so they are rejected. Windows
    that `overlap` depend on each other, so they have no discoveries.
    """

    classifier: OneClassClassifier
    plane: Projection
    training: ScoredRows
    new: ScoredRows | None
    listed: Indices
    explained: Sequence[Explanation]
    rules: list[Rule] | None
    labels: Indices | None
    n_unread: int = 0
    overlap: bool = False

    @property
    def subject(self) -> ScoredRows:
        """The rows the page is about: the new ones, or the training rows if there are no new ones."""
        return self.training if self.new is None else self.new

    @property
    def region_order(self) -> list[int]:
        """The regions, the largest first."""
        rules = self.rules or ()
        return sorted(range(len(rules)), key=lambda number: -rules[number].n_members)

    @property
    def kind(self) -> str:
        """The kind of rows that the page is about."""
        return "training" if self.new is None else "new"

    @property
    def row_name(self) -> str:
        """What rows are compared with: training rows, or prototypes if these are fewer."""
        return "prototype" if self.classifier._prototypes_in_words else "training row"

    @property
    def discoveries(self) -> Discoveries | None:
        """The discoveries among the new rows, if the model is calibrated and rows do not overlap."""
        return None if self.new is None or self.overlap else self.new.summary.discoveries

    @cached_property
    def decisions(self) -> Indices:
        """The decision on every row that the page is about, as an index into DECISIONS."""
        rejected = ~self.subject.accepted
        if self.discoveries is None or self.subject.p_values is None:
            return rejected.astype(np.int64)
        return np.where(self.discoveries.among(self.subject.p_values) & ~self.subject.are_empty, 2, rejected)

    @property
    def verdict(self) -> str:
        """The page in one sentence."""
        n, found = len(self.subject), self.discoveries
        if self.new is None:
            return f"The most unusual of {counted(n, self.row_name)}"
        rejected, discoveries = self.new.summary.n_rejected + self.n_unread, found.count if found else 0
        said = f"{f'{rejected:,}' if rejected else 'None'} of {counted(n + self.n_unread, 'row')} "
        said += "looks unusual" if rejected < 2 else "look unusual"
        said += f" ({self.n_unread:,} cannot be read)" if self.n_unread else ""
        if found is None:
            return said
        expected = self.classifier.calibration_.limit * n  # type: ignore[union-attr]
        said += f"; {f'about {expected:,.0f}' if expected >= 1 else 'fewer than 1'} would by chance"
        few = f"{f'{discoveries:,}' if discoveries else 'none'} {'is' if discoveries < 2 else 'are'}"
        if discoveries > rejected:
            few = f"as a set, {discoveries:,} are"
        elif 1 < discoveries == rejected:
            few = "all are"
        return f"{said}; {few} too unusual to be chance" if (rejected or discoveries) and not found.remark else said


def study_of(classifier: OneClassClassifier, X: Any = None, y: Any = None, names: Iterable[Any] | None = None) -> Study:
    """Return the study of a fitted classifier, and of new rows X with labels y (+1, -1) and names, if given."""
    check_is_fitted(classifier)
    new = _new_rows(classifier, X, y, names)
    with stage("computing the report", 3) as report:
        plane = project(classifier)
        rows = [training_name(classifier, index) for index in classifier.prototype_indices_.tolist()]
        training = _scored(classifier, plane, classifier.prototypes_, rows)
        report(1)
        scored = None if new is None else _scored(classifier, plane, *new)
        report(2)
        subject = training if scored is None else scored
        order, half = np.argsort(-subject.ratios, kind="stable"), MOST_LISTED // 2
        # If there are very many rows, the most unusual half, and others spread evenly.
        listed = np.concatenate([order[:half], evenly(order[half:], MOST_LISTED - half)])
        some = subject.patterns[listed[:MOST_EXPLAINED]]
        explained = classifier._explain_patterns(some)
        explained = explained if scored is None else with_facts(classifier, some, explained)
        regions = (classifier.rules(), prototype_labels(classifier)) if shows_regions(classifier) else (None, None)
        return Study(classifier, plane, training, scored, listed, explained, *regions)


def _scored(
    classifier: OneClassClassifier, plane: Projection, patterns: Any, names: list[str], is_normal: Flags | None = None
) -> ScoredRows:
    counting = Counting(classifier)
    found = counting.add(patterns, classifier._score_read(patterns))
    return ScoredRows(
        patterns, names, found["how_far_out"], found["score"], found["decision"] > 0,
        points_of(classifier, plane, patterns), found.get("p_value"), counting.summary(DEFAULT_FALSE_DISCOVERIES),
        counting.are_empty, is_normal,
    )  # fmt: skip


def _new_rows(
    classifier: OneClassClassifier, X: Any, y: Any, names: Iterable[Any] | None
) -> tuple[Any, list[str], Flags | None] | None:
    """Return patterns, names and labels of the new rows, or raise a ValueError if they do not fit together."""
    if X is None:
        if y is not None or names is not None:
            raise ValueError(f"{'names' if y is None else 'y'} needs X, the rows it belongs to: pass both or neither")
        return None
    patterns = classifier._read(X)
    called = [str(name) for name in (range(len(patterns)) if names is None else names)]
    is_normal = None if y is None else np.asarray(signs(y) == 1)
    if is_normal is not None and len(is_normal) != len(patterns):
        raise ValueError(f"X has {len(patterns)} rows and y {len(is_normal)} labels; pass one label per row")
    if len(called) != len(patterns):
        raise ValueError(f"X has {len(patterns)} rows and names {len(called)}; pass one name per row")
    return patterns, called, is_normal
