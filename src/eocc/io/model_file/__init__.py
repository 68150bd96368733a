"""A fitted classifier in a file of its own, ``*.eocc``: a zip of a JSON manifest and plain arrays.

``docs/model_file.md`` describes the format. Loading runs no code from the file: there is no pickle in it, no name to
import and nothing to evaluate. Whatever a file holds, it is a model or a ``ModelFileError``.
"""

import os
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.io.model_file.archive import AGAIN, FORMAT, ModelFileError, fault, read_archive, write_archive
from eocc.io.model_file.arrays import array_bytes, array_from_bytes
from eocc.io.model_file.catalogue import NotSaved
from eocc.io.model_file.document import CALLED, Arrays, describe, restore

__all__ = ["FORMAT", "MAX_BYTES", "ModelFileError", "NotSaved", "load", "save"]

# More than this is not read unless asked for: a file from elsewhere must not fill the memory.
MAX_BYTES = 2**30
FAILURES = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
SUFFIX = ".npy"


def save(classifier: EntropicOneClassClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to `path`, whole or not at all; the same model gives the same bytes.

    A measure, membership function or t-conorm of the user's own is not written, and must be passed to `load` again.
    Other arguments of the user's own (a search, a performance, an extent, a representative, a random generator) matter
    to `fit` alone: a `NotSaved` takes their place.

    >>> import numpy as np, tempfile
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> clf = EntropicOneClassClassifier(search=None).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(clf, folder + "/model.eocc")
    ...     again = load(folder + "/model.eocc")
    >>> bool((again.score_samples(X) == clf.score_samples(X)).all())
    True
    """
    if type(classifier) is not EntropicOneClassClassifier:
        raise ValueError(f"only an EntropicOneClassClassifier can be saved, not {type(classifier).__name__}")
    check_is_fitted(classifier)
    manifest, arrays = describe(classifier)
    write_archive(path, manifest, {name + SUFFIX: array_bytes(array) for name, array in arrays.items()})


def load(
    path: str | os.PathLike[str],
    *,
    measure: Any = None,
    membership_function: Any = None,
    tconorm: Any = None,
    max_bytes: int = MAX_BYTES,
) -> EntropicOneClassClassifier:
    """Return the classifier saved at `path`; it scores bit for bit as it did.

    `measure`, `membership_function` and `tconorm` are for a model that was fitted with one of the user's own, which
    must be passed again. No more than `max_bytes` are read. A file that is damaged, from a later version or no model
    at all raises ModelFileError, a ValueError of one line.
    """
    place = Path(path)
    manifest, members = read_archive(place, max_bytes)
    given = {"measure": measure, "membership_function": membership_function, "tconorm": tconorm}
    passed = _passed(place, manifest, {name: value for name, value in given.items() if value is not None})
    arrays = _arrays(place, members)
    try:
        return restore(manifest, arrays, passed, max_bytes)
    except FAILURES as error:
        remedy = f"pass the {' and '.join(passed)} it was fitted with, or save the model again" if passed else AGAIN
        raise fault(place, f"is no model: {str(error) or type(error).__name__}", remedy) from error


def _passed(path: Path, manifest: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return what was passed, if it is exactly what the file lacks."""
    lacks = manifest.get("passed_at_load")
    if not isinstance(lacks, dict) or not set(lacks) <= set(CALLED):
        raise fault(path, "does not say what must be passed")
    for name, kind in lacks.items():
        if name not in given:
            what = f"was fitted with a {name} of your own ({str(kind)[:40]}), which a file cannot hold"
            raise fault(path, what, f"pass it again: load(path, {name}=...)")
    for name in given:
        if name not in lacks:
            raise fault(path, f"holds its {name} itself", f"load it without {name}=")
    return given


def _arrays(path: Path, members: dict[str, bytes]) -> Arrays:
    arrays = {}
    for name, data in members.items():
        try:
            arrays[name.removesuffix(SUFFIX)] = array_from_bytes(data)
        except ValueError as error:
            raise fault(path, f"member {name[:60]!r} {error}") from None
    if len(arrays) != len(members):
        raise fault(path, "holds two arrays of one name")
    return arrays
