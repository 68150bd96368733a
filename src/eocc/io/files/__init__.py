"""Tables, lines of JSON or text, and collections of graphs in files, read one chunk at a time.

`formats` finds the format of a file and opens its chunks: raw tables, or objects.
"""

from typing import TYPE_CHECKING

from eocc.foundation.registry import Registry

if TYPE_CHECKING:
    from eocc.io.files.chunk import Chunk
    from eocc.io.files.formats import UnknownFormatError, count_rows, guess_format, open_chunks

__all__ = ["Chunk", "UnknownFormatError", "count_rows", "guess_format", "open_chunks"]

# Imported when first used: the command line lists formats without loading what reads them.
__getattr__, _ = Registry("eocc.io.files", {}).exports(
    "chunk.Chunk", "formats.UnknownFormatError", "formats.count_rows", "formats.guess_format", "formats.open_chunks",
)  # fmt: skip
