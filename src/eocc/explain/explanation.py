"""What every explanation of a decision offers."""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any

from eocc.explain.regions import TrainingPattern
from eocc.foundation.wording import format_number
from eocc.measures.difference import Difference


@dataclass(frozen=True, repr=False)
class Explanation(ABC):
    """Why a row was accepted or rejected; `str` gives the text, `repr` its first line.

    `difference` is what makes the row differ from the training row that it is compared with, in the language of the
    data; its contributions add up to the dissimilarity.
    """

    is_target: bool
    membership: float
    difference: Difference

    @property
    @abstractmethod
    def ratio(self) -> float:
        """How far out the row lies: accepted rows have 1 or less, unless the model is calibrated to another limit."""

    @property
    @abstractmethod
    def decision(self) -> str:
        """The decision in words, without a full stop."""

    @property
    @abstractmethod
    def compared_with(self) -> tuple[str, TrainingPattern]:
        """What the row is compared with: the role of that training row, and the row."""

    @property
    @abstractmethod
    def exemplars(self) -> tuple[TrainingPattern, ...]:
        """The training rows most like this one."""

    @property
    @abstractmethod
    def exemplars_heading(self) -> str:
        """The heading of the exemplars."""

    @abstractmethod
    def notes(self) -> list[str]:
        """Return how the decision was made, one paragraph per item."""

    @abstractmethod
    def lines(self) -> list[str]:
        """Return the text line by line."""

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return f"<{self.headline} print() shows all>"

    @property
    def headline(self) -> str:
        """The first line of the text."""
        return f"{self.decision[0].upper()}{self.decision[1:]}. Membership {format_number(self.membership)}."

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers, for JSON."""
        return asdict(self)


def difference_lines(difference: Difference, compared_with: str) -> list[str]:
    """Return the contributions to the dissimilarity, indented under their heading."""
    heading = f"Dissimilarity {format_number(difference.dissimilarity)} from {compared_with}"
    return [f"  {line}" for line in difference.lines(heading)]


def exemplars_in_words(exemplars: tuple[TrainingPattern, ...]) -> str:
    """Return the numbers of training rows and their dissimilarities.

    >>> exemplars_in_words((TrainingPattern(18, 18, 18, 1.3), TrainingPattern(44, 44, 44, 1.31)))
    'training rows 18, 44 (dissimilarity 1.3, 1.31)'
    """
    rows = ", ".join(str(one.row) for one in exemplars)
    apart = ", ".join(format_number(one.dissimilarity) for one in exemplars)
    return f"training row{'' if len(exemplars) == 1 else 's'} {rows} (dissimilarity {apart})"
