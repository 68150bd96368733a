"""What every classifier inherits: scikit-learn's classes, or in the command line a stand-in.

Importing scikit-learn takes a second. The command line uses only the parameters of what it gives, so a command that did
not import it for another reason goes without.
"""

import sys
from inspect import signature
from typing import Any, Self

_is_command_line = False


def start_command_line() -> None:
    """Say that this process is one command of the command line; call it before the classifiers are imported."""
    global _is_command_line
    _is_command_line = True


def estimator_class() -> type[Any]:
    """Return the class that classifiers inherit from."""
    if _is_command_line and "sklearn" not in sys.modules:
        return Detector
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, OutlierMixin, TransformerMixin

    return type("Estimator", (ClassNamePrefixFeaturesOutMixin, TransformerMixin, OutlierMixin, BaseEstimator), {})


class Detector:
    """An outlier detector with parameters, as scikit-learn knows them, that does not need scikit-learn."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, which are the arguments of the constructor."""
        return {name: getattr(self, name) for name in sorted(signature(type(self)).parameters)}

    def set_params(self, **values: Any) -> Self:
        """Set some parameters."""
        for name, value in values.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type="outlier_detector", target_tags=TargetTags(required=False))


def check_is_fitted(estimator: Any) -> None:
    """Raise scikit-learn's NotFittedError unless the estimator has been fitted."""
    if not any(name.endswith("_") and not name.startswith("__") for name in vars(estimator)):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {type(estimator).__name__} is not fitted yet; call fit first")
