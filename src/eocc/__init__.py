"""Entropic one-class classification: learn what is normal from examples of it.

The pipeline, in the order of the files:

1. ``measures``   a pair of patterns -> a parametric dissimilarity
2. ``space``      dissimilarities to prototypes -> dissimilarity space
3. ``graph``      space -> Euclidean distances, minimum spanning tree
4. ``entropy``    spanning tree -> Rényi entropy
5. ``partition``  spanning tree + distances -> clusters, modularity
6. ``regions``    clusters -> fuzzy decision regions -> membership, score, decision
7. ``search``     maximise any function of the dissimilarity's parameters p
8. ``synthesis``  p + data -> model
9. ``classifier`` all of it behind scikit-learn's interface
"""

from importlib.metadata import version

from eocc.classifier import EntropicOneClassClassifier
from eocc.model_file import load, save

__all__ = ["EntropicOneClassClassifier", "__version__", "load", "save"]

__version__ = version("eocc")
