"""The experiments: every system on every data set, by one protocol, next to the published results.

- ``protocol``           a published set or a user's table -> what one run trains, validates and tests on
- ``systems``            the classifiers that are compared
- ``provenance``         what a system computes, as a fingerprint of its results
- ``cells``              one system on one run -> its results
- ``store``              results on disk, written as soon as they are known
- ``pool``               cells on several processes, with time limits
- ``statistics``         results -> means, tests, ranks
- ``published_figures``  the results that the paper prints
- ``tables``             means next to the published ones -> Markdown, CSV
- ``figures``            the paper's pictures, and a picture of the ranks
- ``studies``            data sets and systems of a study, the cells to run
- ``writing``            the files of a study
- ``demo``               a first look at both classifiers
- ``splitting``          the folds as a splitter for scikit-learn's model selection
"""

from eocc.foundation.registry import Registry

__getattr__, __all__ = Registry("eocc", {}).exports("experiments.splitting.OneClassFold")
