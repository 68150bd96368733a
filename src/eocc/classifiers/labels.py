"""Labels of rows -> which are normal, which are outliers, and which validate."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.base.printing import quoted, warn_user
from eocc.base.types import Flags, Indices, Matrix
from eocc.scale.passes import Passes


def outlier_rows(y: Any, n: int) -> Flags:
    """Return which of n rows are known outliers: those with y = -1, or False."""
    labels = _checked_labels(y, "y", n)
    is_outlier = ~labels if labels.dtype == bool else labels == -1
    if is_outlier.all():
        raise ValueError("y marks all rows as outliers (-1); normal rows are needed to learn from")
    if labels.dtype == bool and is_outlier.mean() > 0.5:
        warn_user(
            f"y marks {int(is_outlier.sum())} of {n} rows as outliers, with False; if True means an outlier, pass ~y"
        )
    if not is_outlier.any() and len(kinds := sorted({str(one) for one in labels.tolist()})) == 2:
        found = " and ".join(kinds)
        warn_user(
            f"y holds {found} but no -1: all rows are taken as normal; mark outliers with -1 and normal rows with +1"
        )
    return np.asarray(is_outlier)


def signs(y: Any, name: str = "y", n: int | None = None) -> NDArray[np.int64]:
    """Return +1 for normal rows and -1 for all else, from +1/-1, 1/0 or booleans."""
    labels = _checked_labels(y, name, n)
    found = set(labels.tolist())
    if {0, -1} <= found:
        raise ValueError(f"{name} mixes 0 and -1; use one of them for all rows that are not normal")
    if not (found <= {1, -1} or found <= {1, 0}):
        odd = ", ".join(map(repr, sorted(found - {1, -1}, key=str)[:3]))
        raise ValueError(f"{name} must hold +1 for normal rows and -1 (or 0, or False) for all else; found {odd}")
    return np.where(labels == 1, 1, -1)


def warn_if_rare(y: Any, name: str = "y") -> None:
    """Warn of labels 1 and 0 if at most a fifth are 1: here 1 is normal, in PyOD it is an outlier."""
    labels = np.asarray([] if y is None else y)
    n_normal = int((labels == 1).sum())
    if labels.dtype.kind in "iuf" and (labels == 0).any() and 0 < n_normal <= 0.2 * len(labels):
        warn_user(
            f"{name} marks {n_normal} of {len(labels)} rows as normal, with a 1; if 1 means an outlier, as in PyOD, "
            "swap 0 and 1; if not, use +1 and -1"
        )


@dataclass(frozen=True, eq=False)
class ValidationSplit:
    """The indices of the rows to train on, and the patterns that validate: normal ones and outliers."""

    training: Indices
    targets: Any
    outliers: Any


def split_rows(
    data: Any, y: Any, validation: Any, read: Callable[[Any], Any], fraction: float, rng: np.random.Generator
) -> ValidationSplit:
    """Return which rows train and which patterns validate: those of `validation`, or a `fraction` of the rows."""
    warn_if_rare(y)
    labels = np.ones(len(data), np.int64) if y is None else signs(y, "y", len(data))
    if validation is None:
        return split_labelled(data, labels, fraction, rng)
    if not isinstance(validation, tuple | list) or len(validation) != 2:
        raise ValueError(f"validation must be a pair (X_val, y_val), not {type(validation).__name__}")
    warn_if_rare(validation[1], "y_val")
    X_val = read(validation[0])
    y_val = signs(validation[1], "y_val", len(X_val))
    if len(set(y_val.tolist())) < 2:
        kind = "normal rows" if y_val[0] == 1 else "outliers"
        raise ValueError(f"y_val holds {kind} only; validation needs both kinds")
    if not (labels == 1).any():
        raise ValueError("y holds no normal rows (+1) to train on")
    groups = (X_val[np.flatnonzero(y_val == sign)] for sign in (1, -1))
    return ValidationSplit(np.flatnonzero(labels == 1), *groups)


def split_labelled(data: Any, y: NDArray[np.int64], fraction: float, rng: np.random.Generator) -> ValidationSplit:
    """Hold out a `fraction` of the normal rows and of the outliers, at least one each; the other normal rows train."""
    targets, outliers = np.flatnonzero(y == 1), np.flatnonzero(y == -1)
    if len(outliers) == 0:
        needed = "synthesis='validation' needs rows that are not normal"
        raise ValueError(f"{needed}: pass validation=(X_val, y_val), or y with +1 and -1")
    if len(targets) < 2:
        raise ValueError(f"y holds {len(targets)} normal rows (+1); two are needed, one to train and one to validate")
    n_targets, n_outliers = (max(1, round(fraction * len(group))) for group in (targets, outliers))
    n_targets = min(n_targets, len(targets) - 1)
    shuffled = rng.permutation(targets)
    held_out = np.sort(shuffled[:n_targets]), np.sort(rng.permutation(outliers)[:n_outliers])
    return ValidationSplit(np.sort(shuffled[n_targets:]), *(data[places] for places in held_out))


def _checked_labels(y: Any, name: str, n: int | None) -> NDArray[Any]:
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"{name} must be one label per row, not of shape {labels.shape}")
    if n is not None and len(labels) != n:
        rows = name.replace("y", "X")
        raise ValueError(f"{rows} holds {n} rows, {name} {len(labels)} labels; pass one label per row")
    for odd in () if labels.dtype.kind in "biuf" else (one for one in labels.tolist() if isinstance(one, str)):
        raise ValueError(f"{name} must hold +1 for normal rows and -1 (or False) for all else, not {quoted(odd)}")
    return labels


def split_outliers(data: Any, y: Any) -> tuple[Indices, Any, Any]:
    """Return the indices of normal rows, these rows, and the known outliers (None if there are none)."""
    is_outlier = outlier_rows(y, len(data))
    training, places = np.flatnonzero(~is_outlier), np.flatnonzero(is_outlier)
    return (training, data[training], data[places]) if len(places) else (training, data, None)


def dask_rows(passes: Any, y: Any) -> tuple[Passes, Matrix | None]:
    """Return passes over the normal rows of a Dask collection, and the known outliers (None if there are none)."""
    if y is None:
        return passes, None
    is_outlier, outliers = outlier_rows(y, passes.n_rows), None
    if is_outlier.any():
        outliers = passes.some(is_outlier).fold(lambda part: part.values, lambda *two: np.concatenate(two))
    return passes.some(~is_outlier), outliers
