"""A fitted classifier as a file, ``*.eocc``: a zip of a JSON manifest and plain arrays.

docs/reference/model_file.md describes the format. Loading runs no code from the file: it holds no pickle, no name to
import and nothing to evaluate. Every file either gives a model or a ``ModelFileError``.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eocc.base.printing import quoted
from eocc.formats.model_file.arrays import array_bytes, array_from_bytes
from eocc.formats.model_file.codec import Decoder, TooLargeError
from eocc.formats.model_file.container import (
    AGAIN,
    FORMAT,
    TRUSTED,
    ModelFileError,
    fault,
    read_container,
    write_container,
)
from eocc.formats.model_file.document import NotSaved, describe, restore
from eocc.formats.model_file.plain import UnwritableError

__all__ = ["FORMAT", "MAX_BYTES", "ModelFileError", "NotSaved", "identity", "load", "save", "version_of"]

# Larger files are read only on request, so that a file from elsewhere cannot fill the memory.
MAX_BYTES = 2**30
FAILURES = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
SUFFIX = ".npy"


def save(classifier: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to `path`, whole or not at all; the same model gives the same bytes."""
    manifest, arrays = describe(classifier)
    write_container(path, manifest, {name + SUFFIX: array_bytes(array) for name, array in arrays.items()})


def identity(classifier: Any) -> str | None:
    """Return 16 hexadecimal digits that only models with the same fitted values share; None if it cannot be saved."""
    try:
        manifest, arrays = describe(classifier)
    except UnwritableError:
        return None
    fitted = json.dumps([manifest["estimator"], manifest["fitted"]], allow_nan=False)
    digest = hashlib.sha256(fitted.encode())
    for name in sorted(arrays):
        digest.update(name.encode() + array_bytes(arrays[name]))
    return digest.hexdigest()[:16]


def version_of(path: str | os.PathLike[str]) -> str:
    """Return the version of eocc that wrote a model file."""
    return str(read_container(Path(path), MAX_BYTES)[0]["library_version"])


def load(path: str | os.PathLike[str], classes: Mapping[str, Any], given: Mapping[str, Any], max_bytes: int) -> Any:
    """Return the classifier saved at `path`, one of the `classes`, or raise a ModelFileError.

    `given` holds the measure, membership function and t-conorm of the user's own, None where the file holds it.
    """
    place, arrays = Path(path), {}
    manifest, members = read_container(place, max_bytes)
    for name, data in members.items():
        try:
            arrays[name.removesuffix(SUFFIX)] = array_from_bytes(data)
        except ValueError as error:
            raise fault(place, f"member {quoted(name)} {error}") from None
    return assemble(place, manifest, arrays, classes, given, max_bytes)


def assemble(path: Path, manifest: Any, arrays: Any, classes: Any, given: Mapping[str, Any], max_bytes: int) -> Any:
    """Return the classifier that the content of the file at `path` describes, or raise a ModelFileError."""
    passed = {name: value for name, value in given.items() if value is not None}
    _check_passed(path, manifest["passed_at_load"], passed, given)
    try:
        return restore(manifest, Decoder(arrays, max_bytes), passed, classes)
    except TooLargeError as error:
        raise fault(path, str(error), TRUSTED) from None
    except FAILURES as error:
        remedy = f"pass the {' and '.join(passed)} of the fit, or save the model again" if passed else AGAIN
        raise fault(path, f"is no model: {str(error) or type(error).__name__}", remedy) from error


def _check_passed(path: Path, wanted: Any, passed: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Demand that exactly those objects are passed that the file does not hold."""
    if not isinstance(wanted, dict) or not set(wanted) <= set(given):
        raise fault(path, "does not say which objects must be passed")
    for name in wanted.keys() - passed.keys():
        what = f"was fitted with a {name} of your own ({str(wanted[name])[:40]}), which a file cannot hold"
        raise fault(path, what, f"pass it again: load(path, {name}=...)")
    for name in passed.keys() - wanted.keys():
        raise fault(path, f"holds its own {name}", f"load it without {name}=")
