"""Any source of rows -> one `Table` of typed columns, by one set of rules.

`sources` makes a raw table of frames, records and arrays, as the formats of files do. `Reading` judges the columns of
a training table, remembers how it was written, and reads every later table in the same way.
"""

# What comes first in dates such as 3/4/2031. Here, so that the command line lists them without loading numpy.
DAY_FIRST, MONTH_FIRST = "day-first", "month-first"
