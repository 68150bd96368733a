"""Save a classifier to a model file and load it again."""

import os
from typing import Any

from eocc.classifiers import CLASSIFIERS
from eocc.classifiers.base import OneClassClassifier
from eocc.formats import model_file


def save(classifier: OneClassClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to a file, whole or not at all; the same model gives the same bytes.

    Parameters
    ----------
    classifier : SurpriseClassifier or EntropicOneClassClassifier
        The fitted classifier.
    path : str or path
        The file, usually ``*.eocc``.

    Notes
    -----
    A measure, membership function or t-conorm of your own is not written: pass it to `load` again. Other objects of
    your own (a search, an extent, a random generator) matter only to `fit` and are left out.
    """
    name = type(classifier).__name__
    if name not in CLASSIFIERS or type(classifier) is not CLASSIFIERS[name]:
        raise ValueError(f"only {' and '.join(CLASSIFIERS)} can be saved, not {name}")
    model_file.save(classifier, path)


def load(
    path: str | os.PathLike[str],
    *,
    measure: Any = None,
    membership_function: Any = None,
    tconorm: Any = None,
    max_bytes: int = model_file.MAX_BYTES,
) -> OneClassClassifier:
    """Return the classifier saved in a file; its scores are the same bit for bit.

    A file that is damaged, of another version or not a model raises ModelFileError, a ValueError of one line.

    Parameters
    ----------
    path : str or path
        The model file.
    measure, membership_function, tconorm : object or function, default=None
        Needed if the model was fitted with one of your own, which a file cannot hold.
    max_bytes : int, default=2**30
        Read at most this many bytes; a larger file is refused.
    """
    given = {"measure": measure, "membership_function": membership_function, "tconorm": tconorm}
    loaded: OneClassClassifier = model_file.load(path, CLASSIFIERS, given, max_bytes)
    return loaded
