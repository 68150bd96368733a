"""The stopping rules of all searches."""

import time
from dataclasses import dataclass, field
from numbers import Real

import numpy as np

from eocc.foundation.arguments import check_count
from eocc.foundation.types import Matrix


@dataclass(frozen=True)
class Stopping:
    """The settings all searches share.

    A generation has `population_size` candidates. The search stops after `max_generations`, when the best value has
    not improved for `patience` generations, or at the end of a generation when `max_time` seconds have passed.
    """

    population_size: int = 30
    max_generations: int = 100
    patience: int = 10
    max_time: float | None = None

    def __post_init__(self) -> None:
        for name, least in (("population_size", 5), ("max_generations", 1), ("patience", 1)):
            check_count(name, getattr(self, name), least)
        if self.max_time is not None and not (isinstance(self.max_time, Real) and self.max_time > 0):
            raise ValueError(f"max_time must be a positive number of seconds or None, not {self.max_time!r}")


@dataclass
class Run:
    """A running search that counts its generations and applies the stopping rules."""

    rules: Stopping
    generations: int = field(default=0, init=False)
    stagnation: int = field(default=0, init=False)
    best_value: float = field(default=-np.inf, init=False)
    started: float = field(default_factory=time.monotonic, init=False)

    def tell(self, candidates: Matrix, values: Matrix) -> None:
        """Record the best value of a generation."""
        value = float(values.max())
        self.generations += 1
        self.stagnation = 0 if value > self.best_value else self.stagnation + 1
        self.best_value = max(self.best_value, value)

    def should_stop(self) -> bool:
        """Return whether a limit of generations, patience or time is reached."""
        late = self.rules.max_time is not None and time.monotonic() - self.started >= self.rules.max_time
        return late or self.generations >= self.rules.max_generations or self.stagnation >= self.rules.patience
