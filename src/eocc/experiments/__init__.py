"""The experiments: every system on every data set, by one protocol, next to the published results.

- ``protocol``   a published set or a user's table -> what one run trains, validates and tests on
- ``provenance`` what a system computes, as a fingerprint of its results
- ``cells``      the classifiers that are compared; one of them on one run -> its results
- ``store``      cells on several processes, with time limits; results on disk, written as soon as they are known
- ``tables``     means, tests, ranks; means next to those that the paper prints -> Markdown, CSV
- ``figures``    the paper's pictures, and a picture of the ranks
- ``studies``    data sets and systems of a study, the cells to run
- ``writing``    the files of a study
- ``demo``       a first look at both classifiers
- ``splitting``  the folds as a splitter for scikit-learn's model selection
"""

from eocc.base.registry import Registry

__getattr__, __all__ = Registry("eocc", {}).exports("experiments.splitting.OneClassFold")
