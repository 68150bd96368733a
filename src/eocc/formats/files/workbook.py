"""A program of its own, which prints the rows of a sheet of a workbook as pickles, within limits of memory and time.

A workbook of a few kilobytes can describe a sheet of a billion cells, or the same sheet under a million names. The
system ends this process before such a workbook fills the memory or takes minutes.
"""

import pickle
import sys
from itertools import islice


def main(path: str, wanted: str, limit: str, seconds: str) -> None:
    """Write the names of all sheets, the name of the chosen one, and its rows."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    except ImportError:  # not on this system
        pass
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_path(path)
    names = list(book.sheet_names)
    # The largest sheet: a cover has fewer cells than the data. At most two are in memory.
    sheets = map(book.get_sheet_by_name, [wanted] if wanted in names else names)
    chosen = max(sheets, key=lambda sheet: sheet.total_height * sheet.total_width, default=None)
    out = sys.stdout.buffer
    pickle.dump((names, chosen.name if chosen else ""), out)
    rows = iter(chosen.to_python(skip_empty_area=False) if chosen else ())
    while part := list(islice(rows, 2048)):
        pickle.dump(part, out)
    out.flush()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except MemoryError:
        sys.exit(9)
    except Exception as error:
        sys.exit(str(error)[:200])
