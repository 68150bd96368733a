"""Fits and scores from data larger than memory: a sample is learnt from, all rows set the border, and none are kept.

arrays    arrays and chunks of rows -> rows of numbers, by the names or numbers of their columns
source    a path, an array on disk or chunks of rows -> rows, a part at a time, as often as wanted
sample    rows -> some of them, all equally likely, or by strata
tally     numbers, one a row -> their order statistics, in little memory
fit       the sample -> a model; all rows once more -> its border, p-values and counts
score     rows -> a file of decisions and scores
"""

from eocc.streaming.fit import ColumnStatistics, fit_stream
from eocc.streaming.score import Scored, figures_of, judging, score_stream, writing_parquet
from eocc.streaming.source import files_of, matrix_of

__all__ = [
    "ColumnStatistics",
    "Scored",
    "figures_of",
    "files_of",
    "fit_stream",
    "judging",
    "matrix_of",
    "score_stream",
    "writing_parquet",
]
