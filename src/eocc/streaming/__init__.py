"""Fit and score data larger than memory: fit rows chosen by content, calibrate on all rows, keep no others.

fit       a path, an array or chunks of rows -> passes over the rows, a model of some, and its threshold and p-values
score     rows -> a file of decisions and scores
"""

from eocc.base.vocabulary import completed
from eocc.classifiers.summary import Summary
from eocc.streaming.fit import files_of, fit_stream
from eocc.streaming.score import score_stream, writing_parquet

__all__ = ["Summary", "files_of", "fit_stream", "score_stream", "writing_parquet"]
for _name in __all__:
    completed(globals()[_name])
