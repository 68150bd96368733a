"""Patterns in files: tables, lines of JSON or text, and collections of graphs, read a chunk at a time.

printing  text of a file -> what a terminal may see
source    a path or standard input -> lines of text
chunk     a part of a file, and where in the file it is
cells     a cell of a table -> what it holds, and its value
tables    CSV and TSV -> chunks of columns
arrow     Parquet and Arrow -> chunks of columns
arrays    NumPy's .npy -> chunks of columns without names
graphs    GXL files, folders, zips and indices of them -> chunks of graphs
lines     JSON lines, JSON and plain text -> chunks of objects or columns
formats   a path -> the format of the file, and its chunks
schema    a chunk -> patterns that a measure takes
guess     the chunks of a file -> their schema
models    a fitted model -> its schema
"""

from eocc.io.files.chunk import Chunk
from eocc.io.files.formats import FORMATS, UnknownFormatError, count_rows, guess_format, open_chunks
from eocc.io.files.guess import guess_schema
from eocc.io.files.models import schema_of_model
from eocc.io.files.schema import GapError, Schema, ignored_columns

__all__ = [
    "FORMATS",
    "Chunk",
    "GapError",
    "Schema",
    "UnknownFormatError",
    "count_rows",
    "guess_format",
    "guess_schema",
    "ignored_columns",
    "open_chunks",
    "schema_of_model",
]
