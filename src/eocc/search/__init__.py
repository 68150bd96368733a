"""Searches: maximise any function of p in [0, 1]^u, in batches. One file per search, one row here."""

from eocc.foundation.registry import Registry

SEARCHES = Registry(
    "eocc.search",
    {
        "cma-es": "cma_es.CMAESSearch",
        "differential-evolution": "differential_evolution.DifferentialEvolutionSearch",
        "genetic": "genetic.GeneticSearch",
        "random": "random.RandomSearch",
    },
)
__getattr__, __all__ = SEARCHES.exports(
    "protocol.Search", "protocol.SearchRun",
    "run.Generation", "run.generations", "run.resolve_search",
)  # fmt: skip
