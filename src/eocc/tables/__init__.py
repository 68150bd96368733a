"""Any source of rows -> one `Table` of typed columns, by one set of rules.

`sources` makes a raw table of frames, records and arrays, as the formats of files do. `Reading` judges the columns of
a training table, remembers how it was written, and reads every later table in the same way.
"""


class TableWarning(UserWarning):
    """What the user should know about a training table; `on_command_line` is the same in terms of options."""

    def __init__(self, text: str, on_command_line: str = "") -> None:
        super().__init__(text)
        self.on_command_line = on_command_line or text


class TableError(ValueError):
    """A table or a file that cannot be used; `on_command_line` says it in terms of files and options."""

    def __init__(self, text: str, on_command_line: str) -> None:
        super().__init__(text)
        self.on_command_line = on_command_line


# What comes first in dates such as 3/4/2031. Here, so that the command line lists them without loading numpy.
DAY_FIRST, MONTH_FIRST = "day-first", "month-first"
