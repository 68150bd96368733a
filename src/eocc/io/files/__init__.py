"""Tables, lines of JSON or text, and collections of graphs in files, read one chunk at a time.

- ``formats``     a path -> the format of the file, and its chunks
- ``source``      a path or standard input -> lines of text
- ``chunk``       a part of a file, and where in the file it is
- ``tables``      CSV and TSV -> chunks of columns
- ``arrow``       Parquet and Arrow -> chunks of columns
- ``arrays``      NumPy's .npy -> chunks of columns without names
- ``lines``       JSON lines, JSON and plain text -> chunks of columns or objects
- ``graphs``      GXL files, folders, zips and indices of them -> chunks of graphs
- ``cells``       a cell of a table -> its kind and its value
- ``guess``       the chunks of a training file -> their schema
- ``schema``      a chunk -> rows, records or objects that a measure takes
"""

from typing import TYPE_CHECKING

from eocc.foundation.registry import Registry

if TYPE_CHECKING:
    from eocc.io.files.chunk import Chunk as Chunk
    from eocc.io.files.formats import FORMATS as FORMATS
    from eocc.io.files.formats import UnknownFormatError as UnknownFormatError
    from eocc.io.files.formats import count_rows as count_rows
    from eocc.io.files.formats import guess_format as guess_format
    from eocc.io.files.formats import open_chunks as open_chunks
    from eocc.io.files.guess import guess_schema as guess_schema
    from eocc.io.files.schema import GapError as GapError
    from eocc.io.files.schema import Schema as Schema
    from eocc.io.files.schema import schema_of_model as schema_of_model

# Imported when first used: the command line lists formats without loading what reads them.
__getattr__, __all__ = Registry("eocc.io.files", {}).exports(
    "chunk.Chunk",
    "formats.FORMATS",
    "formats.UnknownFormatError",
    "formats.count_rows",
    "formats.guess_format",
    "formats.open_chunks",
    "guess.guess_schema",
    "schema.GapError",
    "schema.Schema",
    "schema.schema_of_model",
)
