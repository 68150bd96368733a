"""Patterns in files: tables, lines of JSON or text, and collections of graphs, read a chunk at a time.

formats   a path -> the format of the file
tables    CSV, TSV, Parquet, Arrow -> chunks of columns
lines     JSON lines and plain text -> chunks of objects
graphs    folders, zips and indices of GXL -> chunks of graphs
schema    chunks -> what they hold, and patterns a measure takes
"""

from eocc.files.formats import FORMATS, open_chunks
from eocc.files.schema import Schema, guess_schema, schema_of_model

__all__ = ["FORMATS", "Schema", "guess_schema", "open_chunks", "schema_of_model"]
