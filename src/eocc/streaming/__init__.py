"""Fit and score data larger than memory: fit a sample, calibrate on all rows, keep none of them.

source    a path, an array or chunks of rows -> rows, one part at a time, as often as needed
sample    rows -> a random sample, also stratified
tally     one number per row -> order statistics, in little memory
fit       the sample -> a model; all rows -> its threshold, p-values and statistics
score     rows -> a file of decisions and scores
"""

from eocc.streaming.fit import ColumnStatistics, fit_stream
from eocc.streaming.score import Scored, figures_of, score_stream, writing_parquet
from eocc.streaming.source import files_of

__all__ = ["ColumnStatistics", "Scored", "figures_of", "files_of", "fit_stream", "score_stream", "writing_parquet"]
