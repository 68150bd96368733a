"""Labels of rows -> which are normal, which are outliers, and which validate."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.types import Flags, Indices

NEEDS_OUTLIERS = (
    "synthesis='validation' needs rows that are not normal: pass validation=(X_val, y_val), or y with +1 and -1"
)
# Among labels 1 and 0, a 1 as rare as this may mean an outlier, as in PyOD.
RARE = 0.2


def outlier_rows(y: Any, n: int) -> Flags:
    """Return which of n rows are known outliers: those with y = -1, or False.

    >>> outlier_rows([1, -1, 1], 3).tolist(), outlier_rows(None, 2).tolist()
    ([False, True, False], [False, False])
    """
    if y is None:
        return np.zeros(n, bool)
    labels = _checked_labels(y, "y", n)
    is_outlier = ~labels if labels.dtype == bool else labels == -1
    if is_outlier.all():
        raise ValueError("y marks all rows as outliers (-1); normal rows are needed to learn from")
    kinds = np.unique(labels) if labels.dtype.kind in "biuf" else np.array(sorted({str(one) for one in labels}))
    if not is_outlier.any() and len(kinds) == 2:
        found = " and ".join(str(kind) for kind in kinds.tolist())
        warnings.warn(
            f"y holds {found} but no -1: all rows are taken as normal; mark outliers with -1 and normal rows with +1",
            stacklevel=3,
        )
    return np.asarray(is_outlier)


def signs(y: Any, name: str = "y") -> NDArray[np.int64]:
    """Return +1 for normal rows and -1 for all else, from +1/-1, 1/0 or booleans.

    >>> signs([True, False]).tolist(), signs([1, 0, 1]).tolist()
    ([1, -1], [1, -1, 1])
    """
    labels = _checked_labels(y, name)
    found = set(labels.tolist())
    if {0, -1} <= found:
        raise ValueError(f"{name} mixes 0 and -1; use one of them for all rows that are not normal")
    if not (found <= {1, -1} or found <= {1, 0}):
        odd = ", ".join(map(repr, sorted(found - {1, -1}, key=str)[:3]))
        raise ValueError(f"{name} must hold +1 for normal rows and -1 (or 0, or False) for all else; found {odd}")
    return np.where(labels == 1, 1, -1)


def warn_if_rare(y: Any, name: str = "y") -> None:
    """Warn of labels 1 and 0 with few 1: here 1 is normal, in PyOD it is an outlier.

    >>> with warnings.catch_warnings(action="always", record=True) as caught:
    ...     warn_if_rare([0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    >>> print(caught[0].message)
    y marks 1 of 10 rows as normal, with a 1; if 1 means an outlier, as in PyOD, swap 0 and 1; if not, use +1 and -1
    """
    labels = np.asarray([] if y is None else y)
    n_normal = int((labels == 1).sum())
    if labels.dtype.kind in "iuf" and (labels == 0).any() and 0 < n_normal <= RARE * len(labels):
        warnings.warn(
            f"{name} marks {n_normal} of {len(labels)} rows as normal, with a 1; if 1 means an outlier, as in PyOD, "
            "swap 0 and 1; if not, use +1 and -1",
            stacklevel=3,
        )


@dataclass(frozen=True, eq=False)
class ValidationSplit:
    """The indices of the rows to train on, and the patterns that validate: normal ones and outliers."""

    training: Indices
    targets: Any
    outliers: Any


def split_labelled(data: Any, y: NDArray[np.int64], fraction: float, rng: np.random.Generator) -> ValidationSplit:
    """Hold out a `fraction` of the normal rows and of the outliers, at least one each; the other normal rows train.

    >>> split = split_labelled(np.arange(5), np.array([1, 1, 1, -1, -1]), 0.5, np.random.default_rng(0))
    >>> len(split.training), len(split.targets), len(split.outliers)
    (1, 2, 1)
    """
    targets, outliers = np.flatnonzero(y == 1), np.flatnonzero(y == -1)
    if len(outliers) == 0:
        raise ValueError(NEEDS_OUTLIERS)
    if len(targets) < 2:
        raise ValueError(f"y holds {len(targets)} normal rows (+1); two are needed, one to train and one to validate")
    n_targets, n_outliers = (max(1, round(fraction * len(group))) for group in (targets, outliers))
    n_targets = min(n_targets, len(targets) - 1)
    shuffled = rng.permutation(targets)
    return ValidationSplit(
        training=np.sort(shuffled[n_targets:]),
        targets=data[np.sort(shuffled[:n_targets])],
        outliers=data[np.sort(rng.permutation(outliers)[:n_outliers])],
    )


def split_with_validation(y: NDArray[np.int64], X_val: Any, y_val: NDArray[np.int64]) -> ValidationSplit:
    """Train on all normal rows of y, and validate on X_val, which holds both kinds."""
    check_lengths("X_val", X_val, "y_val", y_val)
    if len(set(y_val.tolist())) < 2:
        kind = "normal rows" if y_val[0] == 1 else "outliers"
        raise ValueError(f"y_val holds {kind} only; validation needs both kinds")
    if not (y == 1).any():
        raise ValueError("y holds no normal rows (+1) to train on")
    return ValidationSplit(
        np.flatnonzero(y == 1), X_val[np.flatnonzero(y_val == 1)], X_val[np.flatnonzero(y_val == -1)]
    )


def as_pair(validation: Any) -> tuple[Any, Any]:
    """Return a validation set as its rows and labels."""
    if not isinstance(validation, tuple | list) or len(validation) != 2:
        raise ValueError(f"validation must be a pair (X_val, y_val), not {type(validation).__name__}")
    return validation[0], validation[1]


def check_lengths(one_name: str, one: Any, other_name: str, other: Any) -> None:
    """Raise a ValueError unless there is one label per row."""
    if len(one) != len(other):
        raise ValueError(f"{one_name} holds {len(one)} rows, {other_name} {len(other)} labels; pass one label per row")


def _checked_labels(y: Any, name: str, n: int | None = None) -> NDArray[Any]:
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"{name} must be one label per row, not of shape {labels.shape}")
    if n is not None and len(labels) != n:
        raise ValueError(f"X holds {n} rows, {name} {len(labels)} labels; pass one label per row")
    return labels
