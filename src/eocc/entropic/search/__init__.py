"""Searches: maximise any function of p in [0, 1]^u, in batches. One row per search here."""

from eocc.base.registry import Registry

SEARCHES = Registry("eocc.entropic.search", {"genetic": "genetic.GeneticSearch", "random": "base.RandomSearch"})
__getattr__, __all__ = SEARCHES.exports(
    "base.Generation", "base.Search", "base.SearchRun", "base.generations", "base.resolve_search"
)
