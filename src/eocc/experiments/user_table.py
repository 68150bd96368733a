"""A user's CSV file as a source of a comparison."""

import csv
import math
from pathlib import Path

from eocc.experiments.sources import TableSource


def read_table_source(path: Path, target_column: str, target: str) -> TableSource:
    """Return the rows of a CSV file: the numbers, and which rows have `target` in the target column."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = csv.reader(file)
        header = next(lines, None)
        if not header:
            raise ValueError(f"{path} is empty; it needs a header and rows")
        if target_column not in header:
            raise ValueError(f"{path} has no column {target_column!r}; its columns are {', '.join(header)}")
        place = header.index(target_column)
        rows, is_target = [], []
        for line in lines:
            if line:
                rows.append(_numbers(path, lines.line_num, header, line, place))
                is_target.append(line[place] == target)
    if not any(is_target):
        raise ValueError(f"{path} has no row with {target_column} = {target!r}; look for blanks or another spelling")
    if len(header) < 2:
        raise ValueError(f"{path} has no column beside {target_column!r}; a comparison needs features")
    return TableSource(path.stem, tuple(rows), tuple(is_target))


def _numbers(path: Path, number: int, header: list[str], line: list[str], place: int) -> tuple[float, ...]:
    if len(line) != len(header):
        raise ValueError(f"{path}, line {number} has {len(line)} cells; the header has {len(header)}")
    values = []
    for name, cell in zip(header, line, strict=True):
        if name == header[place]:
            continue
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(
                f"{path}, line {number}, column {name!r}: {cell!r} is not a number; drop the column or impute it"
            )
        values.append(value)
    return tuple(values)
