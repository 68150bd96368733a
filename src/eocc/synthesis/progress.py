"""What a search says of its generations if the user asks for it."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from eocc.foundation.progress import shown
from eocc.search.run import Generation
from eocc.synthesis.assessment import Candidate

GenerationReport = Callable[[Generation, Candidate], None]


@contextmanager
def reporting(verbose: bool, max_generations: int | None) -> Iterator[GenerationReport]:
    """Yield a function to call after every generation; it writes to standard error if `verbose`."""
    if not verbose:
        yield lambda generation, best: None
        return
    most = "" if max_generations is None else f" of at most {max_generations}"
    with shown() as watch:
        yield lambda generation, best: watch.note(f"generation {generation.number + 1}{most}, {describe_scores(best)}")


def describe_scores(best: Candidate) -> str:
    """Return the scores of the best candidate as text."""
    performance = "" if math.isnan(best.performance) else f", performance {best.performance:.4f}"
    return (
        f"objective {best.objective:.4f}, entropy {best.entropy:.4f}, modularity {best.modularity:.4f}"
        f"{performance}, {best.n_clusters} regions"
    )
