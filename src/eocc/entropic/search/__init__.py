"""Searches: maximise any function of p in [0, 1]^u, in batches. One row per search here."""

from eocc.base.registry import Registry

SEARCHES = Registry("eocc.entropic.search", {"genetic": "genetic.GeneticSearch"})
__getattr__, __all__ = SEARCHES.exports("genetic.Search", "genetic.resolve_search")
