"""A fitted classifier as a file, ``*.eocc``: a zip of a JSON manifest and plain arrays.

docs/model_file.md describes the format. Loading runs no code from the file: it holds no pickle, no name to import and
nothing to evaluate. Every file either gives a model or a ``ModelFileError``.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eocc.io.model_file.arrays import array_bytes, array_from_bytes
from eocc.io.model_file.container import AGAIN, FORMAT, ModelFileError, fault, read_container, write_container
from eocc.io.model_file.document import Arrays, NotSaved, Storable, describe, restore

__all__ = ["FORMAT", "MAX_BYTES", "ModelFileError", "NotSaved", "load", "save"]

# Larger files are read only on request, so that a file from elsewhere cannot fill the memory.
MAX_BYTES = 2**30
FAILURES = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
SUFFIX = ".npy"


def save(classifier: Storable, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to `path`, whole or not at all; the same model gives the same bytes.

    A measure, membership function or t-conorm of your own is not written: pass it to `load` again. Other objects of
    your own (a search, a performance, an extent, a random generator) matter only to `fit`: `NotSaved` replaces them.
    """
    manifest, arrays = describe(classifier)
    write_container(path, manifest, {name + SUFFIX: array_bytes(array) for name, array in arrays.items()})


def load(
    path: str | os.PathLike[str],
    classes: Mapping[str, Any],
    *,
    measure: Any = None,
    membership_function: Any = None,
    tconorm: Any = None,
    max_bytes: int = MAX_BYTES,
) -> Any:
    """Return the classifier saved at `path`, one of the `classes`; its scores are the same bit for bit.

    Pass `measure`, `membership_function` or `tconorm` if the model was fitted with one of your own. At most `max_bytes`
    are read. A file that is damaged, of another version or no model raises ModelFileError, a ValueError of one line.
    """
    place = Path(path)
    manifest, members = read_container(place, max_bytes)
    given = {"measure": measure, "membership_function": membership_function, "tconorm": tconorm}
    passed = {name: value for name, value in given.items() if value is not None}
    _check_passed(place, manifest, passed, given)
    arrays = _arrays(place, members)
    try:
        return restore(manifest, arrays, passed, classes)
    except FAILURES as error:
        remedy = f"pass the {' and '.join(passed)} of the fit, or save the model again" if passed else AGAIN
        raise fault(place, f"is no model: {str(error) or type(error).__name__}", remedy) from error


def _check_passed(path: Path, manifest: dict[str, Any], passed: dict[str, Any], given: dict[str, Any]) -> None:
    """Demand that exactly those objects are passed that the file does not hold."""
    wanted = manifest.get("passed_at_load")
    if not isinstance(wanted, dict) or not set(wanted) <= set(given):
        raise fault(path, "does not say which objects must be passed")
    for name, kind in wanted.items():
        if name not in passed:
            what = f"was fitted with a {name} of your own ({str(kind)[:40]}), which a file cannot hold"
            raise fault(path, what, f"pass it again: load(path, {name}=...)")
    for name in passed:
        if name not in wanted:
            raise fault(path, f"holds its own {name}", f"load it without {name}=")


def _arrays(path: Path, members: dict[str, bytes]) -> Arrays:
    arrays = {}
    for name, data in members.items():
        try:
            arrays[name.removesuffix(SUFFIX)] = array_from_bytes(data)
        except ValueError as error:
            raise fault(path, f"member {name[:60]!r} {error}") from None
    if len(arrays) != len(members):
        raise fault(path, "holds two arrays with the same name")
    return arrays
