"""The model of surprise <-> arrays by name."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.checks import array_of
from eocc.io.model_file.checks import demand, indices, vector
from eocc.surprise.likelihood_ratio import Contrast, Densities
from eocc.surprise.model import SurpriseModel
from eocc.surprise.score import Border, Surprise, Surroundings, Terms, rungs

Arrays = dict[str, NDArray[Any]]

KEYS = ("views", "extents", "typical", "usual", "ratio", "centre", "spread", "border", "left_out")
CONTRAST_KEYS = ("weights", "widths", "centre", "spread", "coefficients")


def describe_surprise(model: SurpriseModel) -> dict[str, Any]:
    """Return all but the known non-targets, as arrays by name."""
    views, terms, contrast = model.surprise.views, model.surprise.terms, model.contrast
    return {
        "views": np.array([view.weights for view in views]),
        "extents": np.array([view.extents for view in views]),
        "typical": np.array([view.typical for view in views]),
        "usual": np.array([view.usual for view in views]),
        "ratio": np.array([view.ratio for view in views]),
        "centre": terms.centre,
        "spread": terms.spread,
        "border": np.array([model.border.at, model.border.width]),
        "left_out": model.left_out,
        "contrast": None if contrast is None else _describe_contrast(contrast),
    }


def _describe_contrast(contrast: Contrast) -> Arrays:
    return {
        "weights": contrast.densities.weights,
        "widths": contrast.densities.widths,
        "centre": contrast.units.centre,
        "spread": contrast.units.spread,
        "coefficients": contrast.coefficients,
    }


def restore_surprise(values: Any, n: int, n_prototypes: int, n_parameters: int, others: Any) -> SurpriseModel:
    """Return the model of surprise that the arrays describe, or say in a ValueError what is wrong with them."""
    demand(type(values) is dict and set(values) == {*KEYS, "contrast"}, f"surprise must hold {', '.join(KEYS)}")
    v = _check_views(values, n_prototypes, n_parameters)
    views = tuple(
        Surroundings(*values_of) for values_of in zip(
            values["views"], values["extents"], values["typical"].tolist(), values["usual"], values["ratio"].tolist(),
            strict=True,
        )
    )  # fmt: skip
    vector("surprise.centre", values["centre"], 2 * v)
    _positive("surprise.spread", values["spread"], 2 * v)
    vector("surprise.border", values["border"], 2)
    at, width = values["border"].tolist()
    demand(width > 0, "the border of surprise must have a width")
    vector("surprise.left_out", values["left_out"], n)
    surprise = Surprise(views, Terms(values["centre"], values["spread"]))
    contrast = None
    if values["contrast"] is not None:
        contrast = _restore_contrast(values["contrast"], v, n_parameters, knows_others=others is not None)
    demand(contrast is not None or others is None, "it has known non-targets but nothing learnt from them")
    return SurpriseModel(surprise, Border(at, width), values["left_out"], contrast, others)


def _check_views(values: dict[str, Any], n_prototypes: int, n_parameters: int) -> int:
    """Demand arrays of one to two views; return how many there are."""
    weights, extents, usual = values["views"], values["extents"], values["usual"]
    is_right = array_of(np.float64, 2)(weights) and 0 < len(weights) <= 2 and weights.shape[1] == n_parameters
    demand(is_right and (weights >= 0).all() and (weights <= 1).all(), "surprise.views must be one or two weights p")
    v = len(weights)
    demand(
        array_of(np.float64, 2)(extents) and extents.shape == (v, n_prototypes), "surprise.extents has another shape"
    )
    demand((extents > 0).all(), "surprise.extents must be positive")
    n_rungs = len(rungs(n_prototypes - 1))
    demand(array_of(np.float64, 2)(usual) and usual.shape == (v, n_rungs), "surprise.usual has another shape")
    _positive("surprise.typical", values["typical"], v)
    _positive("surprise.ratio", values["ratio"], v)
    return v


def _restore_contrast(values: Any, v: int, n_parameters: int, *, knows_others: bool) -> Contrast:
    demand(type(values) is dict and set(values) == set(CONTRAST_KEYS), f"contrast must hold {', '.join(CONTRAST_KEYS)}")
    weights, widths = values["weights"], values["widths"]
    n_single = len(weights) if type(weights) is np.ndarray and weights.ndim == 1 else 0
    indices("contrast.weights", weights, (n_single,), n_parameters)
    demand(n_single == 0 or (np.diff(weights) > 0).all(), "contrast.weights must rise")
    is_right = array_of(np.float64, 2)(widths) and widths.shape == (2, n_single)
    demand(is_right and (widths > 0).all(), "contrast.widths must be two positive numbers for each weight")
    demand(knows_others or n_single == 0, "it has densities of non-targets but no non-targets")
    n_columns = 2 * v + (v if knows_others else 0) + (n_single + 1 if n_single else 0)
    vector("contrast.centre", values["centre"], n_columns)
    _positive("contrast.spread", values["spread"], n_columns)
    vector("contrast.coefficients", values["coefficients"], n_columns, 0)
    return Contrast(Densities(weights, widths), Terms(values["centre"], values["spread"]), values["coefficients"])


def _positive(name: str, value: Any, length: int) -> None:
    vector(name, value, length, 0)
    demand((value > 0).all(), f"{name} must be positive")
