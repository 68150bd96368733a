"""What every explanation of a decision offers."""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any

from eocc.explain.regions import TrainingRow
from eocc.foundation.wording import format_number
from eocc.measures.difference import Difference


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


def exemplars_in_words(exemplars: tuple[TrainingRow, ...]) -> str:
    """Return the numbers of training rows and their dissimilarities.

    >>> exemplars_in_words((TrainingRow(18, 18, 18, 1.3), TrainingRow(44, 44, 44, 1.31)))
    '18, 44 (dissimilarity 1.3, 1.31)'
    """
    rows = ", ".join(str(one.row) for one in exemplars)
    return f"{rows} (dissimilarity {', '.join(format_number(one.dissimilarity) for one in exemplars)})"
