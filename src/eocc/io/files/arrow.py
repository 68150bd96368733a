"""Parquet and Arrow -> chunks of typed columns."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eocc.foundation.printing import complaint, quoted
from eocc.io.files.chunk import Chunk, rows_per_chunk
from eocc.io.files.source import regular
from eocc.tables.sources import table_of

# The name that pandas gives to an index without a name.
PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def parquet_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the rows of a Parquet file."""
    arrow = _pyarrow()
    with _readable(path, arrow), arrow.parquet.ParquetFile(
        regular(path), buffer_size=2**16, page_checksum_verification=True, pre_buffer=False
    ) as file:  # fmt: skip
        n_rows = rows_per_chunk(len(file.schema_arrow.names))
        yield from _chunks(file.iter_batches(batch_size=n_rows), str(path), arrow)


def parquet_rows(path: Path) -> int:
    """Return the number of rows, which a Parquet file stores."""
    arrow = _pyarrow()
    with _readable(path, arrow):
        return int(arrow.parquet.read_metadata(regular(path)).num_rows)


def arrow_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the rows of an Arrow (Feather, IPC) file or stream."""
    arrow = _pyarrow()
    with _readable(path, arrow), arrow.memory_map(str(regular(path))) as source:
        yield from _chunks(_batches(source, arrow), str(path), arrow)


def _batches(source: Any, arrow: Any) -> Iterator[Any]:
    try:
        file = arrow.ipc.open_file(source)
    except arrow.lib.ArrowInvalid:
        source.seek(0)
        yield from arrow.ipc.open_stream(source)
        return
    for index in range(file.num_record_batches):
        yield file.get_batch(index)


def _chunks(batches: Iterator[Any], where: str, arrow: Any) -> Iterator[Chunk]:
    first = 0
    for batch in batches:
        batch.validate(full=True)  # damaged offsets could point anywhere
        names = _names(batch, where)
        step = rows_per_chunk(len(names))
        for start in range(0, batch.num_rows, step):
            part = batch.slice(start, step)
            table = arrow.table({name: _cells(part.column(k), name, where, arrow) for k, name in names.items()})
            yield Chunk(where, first, table_of(table))
            first += part.num_rows


def _names(batch: Any, where: str) -> dict[int, str]:
    names = {k: name for k, name in enumerate(batch.schema.names) if not PANDAS_INDEX.fullmatch(name)}
    if not names:
        raise complaint(where, None, "has no columns; at least 1 is required")
    ((twice, count),) = Counter(names.values()).most_common(1)
    if count > 1:
        raise complaint(where, None, f"the column {quoted(twice)} occurs twice; rename one")
    return names


def _cells(column: Any, name: str, where: str, arrow: Any) -> Any:
    """Return a column with types that Python knows: dates and times have microseconds, decimals are floats."""
    try:
        if arrow.types.is_decimal(column.type):
            return column.cast(arrow.float64(), safe=False)
        return _in_microseconds(column, arrow)
    except (ValueError, OverflowError, TypeError, KeyError) as error:
        message = (str(error).splitlines() or [""])[0]
        kind = column.type
        raise complaint(where, None, f"column {quoted(name)} of type {kind}: {message}; convert or drop it") from None


def _in_microseconds(column: Any, arrow: Any) -> Any:
    """Return a column of times in microseconds, the precision of Python's dates, times and durations."""
    kind = column.type
    is_fine = getattr(kind, "unit", "") == "ns"  # what is finer is cut, what does not fit is refused
    if arrow.types.is_timestamp(kind):
        return column.cast(arrow.timestamp("us", kind.tz), safe=not is_fine)
    if is_fine:
        return column.cast(arrow.time64("us") if arrow.types.is_time64(kind) else arrow.duration("us"), safe=False)
    return column


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise ModuleNotFoundError("Parquet and Arrow files need pyarrow: pip install pyarrow") from None
    return pyarrow


@contextmanager
def _readable(path: Path, arrow: Any) -> Iterator[None]:
    regular(path)
    try:
        yield
    except (arrow.lib.ArrowException, OSError, MemoryError, UnicodeDecodeError, EOFError) as error:
        message = (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")
        hint = "is the file complete, and does its name match its format?"
        raise complaint(str(path), None, f"cannot be read: {message}; {hint}") from None
