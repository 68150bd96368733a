"""CSV, TSV, Parquet and Arrow -> chunks of columns."""

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

from eocc.files.chunk import CHUNK_ROWS, Chunk


def csv_chunks(file: IO[str], where: str) -> Iterator[Chunk]:
    """Yield the rows of a CSV file with a header; cells are text."""
    return _delimited(file, where, ",")


def tsv_chunks(file: IO[str], where: str) -> Iterator[Chunk]:
    """Yield the rows of a file with tabs between its cells."""
    return _delimited(file, where, "\t")


def _delimited(file: IO[str], where: str, delimiter: str) -> Iterator[Chunk]:
    reader = csv.reader(file, delimiter=delimiter)
    try:
        header = next(reader, None)
        _check_header(header, where)
        assert header is not None
        first = 0
        while rows := list(islice(_rows(reader, len(header), where), CHUNK_ROWS)):
            yield Chunk(first, dict(zip(header, map(list, zip(*rows, strict=True)), strict=True)))
            first += len(rows)
    except csv.Error as error:
        raise ValueError(f"{where}, line {reader.line_num}: {error}") from None


def _rows(reader: Any, width: int, where: str) -> Iterator[list[str]]:
    for row in reader:
        if not row:
            continue
        if len(row) != width:
            raise ValueError(f"{where}, line {reader.line_num}: {len(row)} cells; the header has {width}")
        yield row


def _check_header(header: list[str] | None, where: str) -> None:
    if not header:
        raise ValueError(f"{where} is empty; it needs a header and rows")
    twice = {name for name in header if header.count(name) > 1}
    if twice:
        raise ValueError(f"{where}: the column {sorted(twice)[0]!r} occurs twice; rename one")


def parquet_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the rows of a Parquet file; cells are numbers, text, dates or None."""
    arrow, parquet = _pyarrow("parquet")
    with _readable(path, arrow), parquet.ParquetFile(path) as file:
        yield from _batches(file.iter_batches(batch_size=CHUNK_ROWS))


def arrow_chunks(path: Path) -> Iterator[Chunk]:
    """Yield the rows of an Arrow (Feather, IPC) file."""
    arrow, ipc = _pyarrow("ipc")
    with _readable(path, arrow), arrow.memory_map(str(path)) as source:
        try:
            file = ipc.open_file(source)
            batches = (file.get_batch(index) for index in range(file.num_record_batches))
            yield from _batches(batches)
        except arrow.lib.ArrowInvalid:
            source.seek(0)
            yield from _batches(ipc.open_stream(source))


def _batches(batches: Any) -> Iterator[Chunk]:
    first = 0
    for batch in batches:
        for start in range(0, batch.num_rows, CHUNK_ROWS):
            part = batch.slice(start, CHUNK_ROWS)
            columns = {name: _cells(part.column(name)) for name in part.schema.names}
            yield Chunk(first, columns)
            first += part.num_rows


def _cells(column: Any) -> Any:
    """Return plain numbers without gaps as an array, which costs nothing; all else as a list."""
    import pyarrow

    is_number = pyarrow.types.is_integer(column.type) or pyarrow.types.is_floating(column.type)
    if is_number and column.null_count == 0:
        return column.to_numpy(zero_copy_only=False)
    return column.to_pylist()


def _pyarrow(module: str) -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise ModuleNotFoundError("Parquet and Arrow files need pyarrow: pip install 'eocc[tables]'") from None
    return pyarrow, getattr(pyarrow, module)


class _readable:  # noqa: N801  # reads as a statement: with _readable(path, arrow)
    """Turn pyarrow's complaints about a damaged file into one line."""

    def __init__(self, path: Path, arrow: Any) -> None:
        self._path, self._arrow = path, arrow

    def __enter__(self) -> None:
        if not self._path.is_file():
            raise FileNotFoundError(2, "no such file", str(self._path))

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, self._arrow.lib.ArrowException | OSError):
            first = (str(error).splitlines() or [""])[0]
            raise ValueError(f"{self._path} cannot be read: {first}; is it whole, and of the format it is named for?")
