"""The settings of a synthesis."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from eocc.measures.protocol import Measure
from eocc.regions.fuzzy import Fuzzification
from eocc.search.protocol import Search
from eocc.space.prototypes.protocol import Selection
from eocc.synthesis.assessment import Synthesis
from eocc.synthesis.graph_kinds import GraphKind


@dataclass(frozen=True)
class Settings:
    """What the user chose. Without a `search`, p = `weights`."""

    measure: Measure
    prototypes: int | float | None
    selection: Selection
    graph: GraphKind
    precision: str
    synthesis: Synthesis
    fuzzification: Fuzzification
    search: Search | None
    weights: ArrayLike | None
    n_threads: int
