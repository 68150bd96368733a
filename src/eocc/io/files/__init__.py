"""Tables, lines of JSON or text, and collections of graphs in files, read one chunk at a time.

`formats` finds the format of a file and opens its chunks, `guess` finds the schema of a training file, and `schema`
turns chunks into what a measure takes.
"""

from typing import TYPE_CHECKING

from eocc.foundation.registry import Registry

if TYPE_CHECKING:
    from eocc.io.files.chunk import Chunk
    from eocc.io.files.formats import UnknownFormatError, count_rows, guess_format, open_chunks
    from eocc.io.files.guess import guess_schema
    from eocc.io.files.schema import GapError, Schema, schema_of_model

__all__ = [
    "Chunk", "GapError", "Schema", "UnknownFormatError", "count_rows", "guess_format", "guess_schema", "open_chunks",
    "schema_of_model",
]  # fmt: skip

# Imported when first used: the command line lists formats without loading what reads them.
__getattr__, _ = Registry("eocc.io.files", {}).exports(
    "chunk.Chunk", "formats.UnknownFormatError", "formats.count_rows", "formats.guess_format", "formats.open_chunks",
    "guess.guess_schema", "schema.GapError", "schema.Schema", "schema.schema_of_model",
)  # fmt: skip
