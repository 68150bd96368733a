"""A program of its own, which prints the rows of a sheet of a workbook as pickles, within a memory limit.

A workbook of a few kilobytes can describe a sheet of a billion cells. The system ends this process before such a
sheet fills the memory.
"""

import pickle
import sys
from itertools import islice

# Rows in a pickle.
PART_ROWS = 2048


def main(path: str, wanted: str, limit: str) -> None:
    """Write the names of all sheets, the name of the chosen one, and its rows."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    except ImportError:  # not on this system
        pass
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_path(path)
    names = list(book.sheet_names)
    sheets = {name: book.get_sheet_by_name(name) for name in ([wanted] if wanted in names else names)}
    # A cover has fewer cells than the data.
    chosen = max(sheets, key=lambda name: sheets[name].total_height * sheets[name].total_width) if sheets else ""
    out = sys.stdout.buffer
    pickle.dump((names, chosen), out)
    rows = iter(sheets[chosen].to_python(skip_empty_area=False)) if sheets else iter(())
    while part := list(islice(rows, PART_ROWS)):
        pickle.dump(part, out)
    out.flush()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except MemoryError:
        sys.exit(9)
    except Exception as error:
        sys.exit(str(error)[:200])
