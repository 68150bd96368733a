"""Fit and score data larger than memory: fit rows chosen by content, calibrate on all rows, keep no others.

source    a path, an array or chunks of rows -> rows, one part at a time, as often as needed
passes    a source -> passes over its rows, which must not change in between
fit       the rows chosen -> a model; all rows -> its threshold, p-values and statistics
score     rows -> a file of decisions and scores
"""

from eocc.classifiers.summary import Summary
from eocc.foundation.vocabulary import completed
from eocc.streaming.fit import fit_stream
from eocc.streaming.passes import ColumnStatistics
from eocc.streaming.score import score_stream, writing_parquet
from eocc.streaming.source import files_of

__all__ = ["ColumnStatistics", "Summary", "files_of", "fit_stream", "score_stream", "writing_parquet"]
for _name in __all__:
    completed(globals()[_name])
