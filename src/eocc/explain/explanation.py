"""What every explanation of a decision offers, and what makes two rows differ."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eocc.explain.fitted import TrainingRow
from eocc.foundation.wording import format_number, wrapped
from eocc.measures.difference import Difference, difference_of, ranked_contributions

# A row of a table of explanations has this many reasons.
N_REASONS = 3


@dataclass(frozen=True, repr=False)
class Explanation(ABC):
    """Why a row was accepted or rejected; `str` gives the text, `repr` its first line.

    `ratio` says how far out the row lies: 1 is the limit, unless the model is calibrated to another one. `difference`
    is what makes the row differ from the training row that it is compared with, in the language of the data; its
    contributions add up to the dissimilarity. `exemplars` are the training rows most like this one.
    """

    is_target: bool
    membership: float
    ratio: float
    difference: Difference
    exemplars: tuple[TrainingRow, ...]

    @property
    @abstractmethod
    def decision(self) -> str:
        """The decision in words, without a full stop."""

    @property
    @abstractmethod
    def compared_with(self) -> tuple[str, TrainingRow]:
        """What the row is compared with: the role of that training row, and the row."""

    @property
    @abstractmethod
    def exemplars_heading(self) -> str:
        """The heading of the exemplars."""

    @abstractmethod
    def notes(self) -> list[str]:
        """Return how the decision was made, one paragraph per item."""

    def __repr__(self) -> str:
        return f"<{self.headline} print() shows all>"

    @property
    def headline(self) -> str:
        """The first line of the text."""
        return f"{self.decision[0].upper()}{self.decision[1:]}. Membership {format_number(self.membership)}."

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers, for JSON."""
        return asdict(self)

    def to_record(self) -> dict[str, Any]:
        """Return the main facts as one row of a table: the decision, the training row compared with, the reasons.

        The reasons are the largest contributions to the dissimilarity in words, each with its share of it.
        """
        total, ranked = self.difference.dissimilarity, ranked_contributions(self.difference.contributions)
        reasons: dict[str, Any] = {}
        for number in range(N_REASONS):
            one = ranked[number] if number < len(ranked) else None
            reasons[f"reason_{number + 1}"] = None if one is None else one.text
            reasons[f"share_{number + 1}"] = math.nan if one is None else one.amount / total
        return {
            "decision": 1 if self.is_target else -1,
            "membership": self.membership,
            "distance": self.ratio,
            **self._more_facts(),
            "training_row": self.compared_with[1].name,
            "dissimilarity": total,
            **reasons,
        }

    def _more_facts(self) -> dict[str, Any]:
        """Return what `to_record` holds for this kind of explanation only."""
        return {}

    def _text(self, before: Sequence[str], compared_with: str, after: Sequence[str]) -> str:
        """Return the headline, and the difference between other paragraphs."""
        heading = f"Dissimilarity {format_number(self.difference.dissimilarity)} from {compared_with}"
        difference = [f"  {line}" for line in self.difference.lines(heading)]
        above, below = ([line for text in texts for line in wrapped(text, 2)] for texts in (before, after))
        return "\n".join([*wrapped(self.headline, 0), *above, *difference, *below])

    def _exemplars_in_words(self) -> str:
        rows = ", ".join(one.name for one in self.exemplars)
        dissimilarities = ", ".join(format_number(one.dissimilarity) for one in self.exemplars)
        return f"{self.exemplars_heading} {rows} (dissimilarity {dissimilarities})."


def explanations_frame(explanations: Sequence[Explanation], index: Any = None) -> Any:
    """Return a pandas frame with one row per explanation: see `Explanation.to_record`."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        remedy = "pip install 'eocc[tables]'; or call to_record of each explanation"
        raise ModuleNotFoundError(f"a frame needs pandas: {remedy}") from None
    return pd.DataFrame([one.to_record() for one in explanations], index=index)


def differences(classifier: Any, X: Any, Y: Any) -> list[Difference]:
    """Return what makes each row of X differ from the row of Y at the same place, at the fitted weights."""
    check_is_fitted(classifier)
    if get_tags(classifier).input_tags.pairwise:
        raise ValueError("precomputed dissimilarities are known to training rows only; use explain")
    one, other = classifier.read(X), classifier.read(Y)
    if len(one) != len(other):
        raise ValueError(f"X has {len(one)} rows and Y {len(other)}; rows are compared in pairs, so pass as many")
    measure, weights, names = classifier.measure_, classifier.weights_, classifier.feature_names
    return [difference_of(measure, one[i : i + 1], other[i : i + 1], weights, names) for i in range(len(one))]
