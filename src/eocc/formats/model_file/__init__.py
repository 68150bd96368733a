"""A fitted classifier as a file, ``*.eocc``: a zip of a JSON manifest and plain arrays.

docs/reference/model_file.md describes the format. Loading runs no code from the file: it holds no pickle, no name to
import and nothing to evaluate. Every file either gives a model or a ``ModelFileError``.
"""

from eocc.formats.model_file.container import FORMAT, ModelFileError, read_container
from eocc.formats.model_file.document import MAX_BYTES, NotSaved, assemble, identity, save, version_of

__all__ = [
    "FORMAT", "MAX_BYTES", "ModelFileError", "NotSaved", "assemble", "identity", "read_container", "save", "version_of",
]  # fmt: skip
