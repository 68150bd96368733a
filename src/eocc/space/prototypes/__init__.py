"""Selections: which training patterns become prototypes. One file per selection, one row here."""

from eocc.foundation.registry import Registry

SELECTIONS = Registry(
    "eocc.space.prototypes",
    {
        "content": "by_content.ByContent",
        "farthest-first": "farthest_first.FarthestFirst",
        "random": "random.RandomSelection",
    },
)
__getattr__, __all__ = SELECTIONS.exports(
    "protocol.Selection", "select.count_of", "select.resolve_selection", "select.select_prototypes"
)
