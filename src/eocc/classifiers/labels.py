"""Which patterns are targets: labels in, +1 and -1 out; and the split of labelled data for validation."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]

NEEDS_OTHERS = (
    "synthesis='validation' needs patterns that are not targets: pass validation=(X_val, y_val), or y with +1 and -1"
)

# Of labels 1 and 0: where 1 is rarer it may well mean an outlier, as in PyOD, whose usual share of these is 0.1.
RARE = 0.2


def signs(y: Any, name: str = "y") -> NDArray[np.int64]:
    """Return +1 for targets and -1 for all else, from +1/-1, 1/0 or booleans.

    >>> signs([True, False]).tolist(), signs([1, 0, 1]).tolist()
    ([1, -1], [1, -1, 1])
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"{name} must be one label per pattern, not of shape {labels.shape}")
    found = set(labels.tolist())
    if {0, -1} <= found:
        raise ValueError(f"{name} mixes 0 and -1; use one of them for all that are not targets")
    if not (found <= {1, -1} or found <= {1, 0}):
        odd = ", ".join(map(repr, sorted(found - {1, -1}, key=str)[:3]))
        raise ValueError(f"{name} must hold +1 for targets and -1 (or 0, or False) for all else; found {odd}")
    return np.where(labels == 1, 1, -1)


def warn_if_rare(y: Any, name: str = "y") -> None:
    """Warn of numbers 1 and 0 of which few are 1: elsewhere that is the outlier, here the target.

    >>> with warnings.catch_warnings(action="always", record=True) as caught:
    ...     warn_if_rare([0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    >>> print(caught[0].message)  # doctest: +ELLIPSIS
    y marks 1 of 10 patterns as targets, with a 1; if 1 is an outlier, as in PyOD, swap 0 and 1; ...
    >>> warn_if_rare([-1, -1, -1, -1, -1, -1, -1, -1, -1, 1])
    """
    labels = np.asarray([] if y is None else y)
    n_targets = int((labels == 1).sum())
    if labels.dtype.kind in "iuf" and (labels == 0).any() and n_targets <= RARE * len(labels):
        found = f"{name} marks {n_targets} of {len(labels)} patterns as targets, with a 1"
        remedy = "if 1 is an outlier, as in PyOD, swap 0 and 1; if not, True and False, or +1 and -1, say so"
        warnings.warn(f"{found}; {remedy}", stacklevel=3)


@dataclass(frozen=True)
class Split:
    """Indices of the patterns that train, and of the targets and others that validate."""

    training: Indices
    targets: Indices
    others: Indices


def split_for_validation(y: NDArray[np.int64], fraction: float, rng: np.random.Generator) -> Split:
    """Hold out a `fraction` of the targets and of the others, one of each at least; the other targets train.

    >>> split = split_for_validation(np.array([1, 1, 1, -1, -1]), 0.5, np.random.default_rng(0))
    >>> len(split.training), len(split.targets), len(split.others)
    (1, 2, 1)
    """
    targets, others = np.flatnonzero(y == 1), np.flatnonzero(y == -1)
    if len(targets) < 2:
        raise ValueError(f"y holds {len(targets)} targets (+1); two are needed, one to train and one to validate")
    n_targets, n_others = (max(1, round(fraction * len(group))) for group in (targets, others))
    shuffled = rng.permutation(targets)
    n_targets = min(n_targets, len(targets) - 1)
    return Split(
        training=np.sort(shuffled[n_targets:]),
        targets=np.sort(shuffled[:n_targets]),
        others=np.sort(rng.permutation(others)[:n_others]),
    )


@dataclass(frozen=True, eq=False)
class Parts:
    """Indices of the patterns to train on, and the patterns to validate with: targets, and others."""

    training: Indices
    targets: Any
    others: Any


def parts_of(data: Any, y: NDArray[np.int64], fraction: float, rng: np.random.Generator) -> Parts:
    """Return the parts of labelled data, a `fraction` of which validates."""
    if not (y == -1).any():
        raise ValueError(NEEDS_OTHERS)
    split = split_for_validation(y, fraction, rng)
    return Parts(split.training, data[split.targets], data[split.others])


def parts_by_kind(data: Any, y: NDArray[np.int64]) -> Parts:
    """Return all targets of labelled data to train on, and all others beside them."""
    if not (y == -1).any():
        raise ValueError(NEEDS_OTHERS)
    if not (y == 1).any():
        raise ValueError("y holds no targets (+1) to train on")
    return Parts(np.flatnonzero(y == 1), data[np.empty(0, np.int64)], data[np.flatnonzero(y == -1)])


def parts_with(y: NDArray[np.int64], X_val: Any, y_val: NDArray[np.int64]) -> Parts:
    """Return all targets of y to train on, and a validation set of both kinds as it was given."""
    check_lengths("X_val", X_val, "y_val", y_val)
    if len(set(y_val.tolist())) < 2:
        kind = "targets" if y_val[0] == 1 else "non-targets"
        raise ValueError(f"y_val holds {kind} only; validation needs both kinds")
    if not (y == 1).any():
        raise ValueError("y holds no targets (+1) to train on")
    return Parts(np.flatnonzero(y == 1), X_val[np.flatnonzero(y_val == 1)], X_val[np.flatnonzero(y_val == -1)])


def as_pair(validation: Any) -> tuple[Any, Any]:
    """Return a validation set as its patterns and labels."""
    if not isinstance(validation, tuple | list) or len(validation) != 2:
        raise ValueError(f"validation must be a pair (X_val, y_val), not {type(validation).__name__}")
    return validation[0], validation[1]


def check_lengths(one_name: str, one: Any, other_name: str, other: Any) -> None:
    """Raise a ValueError unless there is a label for every pattern."""
    if len(one) != len(other):
        raise ValueError(
            f"{one_name} holds {len(one)} patterns, {other_name} {len(other)} labels; they must be as many"
        )
