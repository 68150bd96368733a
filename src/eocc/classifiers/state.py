"""A fitted classifier <-> a model file: what all have in common, as values by name; `own_state` has the rest."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eocc.base.checks import FITTED, LARGEST_INTEGER, agrees, demand, indices, instance, numbers, optional, real, texts
from eocc.base.stored import check_keys, check_values, restored, written
from eocc.calibration.conformal import Calibration, Threshold
from eocc.classifiers import CLASSIFIERS
from eocc.classifiers.answers import Answers, TrainingRows, n_removed
from eocc.classifiers.updating import history_state, restored_history
from eocc.entropic.graph import renyi_order
from eocc.formats import model_file
from eocc.measures.function import OwnFitted
from eocc.measures.protocol import FittedMeasure
from eocc.space.baseline import Baseline
from eocc.tables.reading import Reading
from eocc.tables.windows import Windowing

if TYPE_CHECKING:
    from eocc.classifiers.base import OneClassClassifier

# Sizes: n training rows, r prototypes, u weights.
LAYOUT = {
    "training_indices": indices("n", rising=True),
    "prototype_indices": indices("r", "n", rising=True),
    "weights": numbers("u", "[0, 1]"),
    "threshold": real(FITTED),
    "offset": real(FITTED),
    "row_names": optional(texts("n")),
    "reading": optional(instance(Reading)),
    "baseline": optional(instance(Baseline)),
    "windowing": optional(instance(Windowing)),
}
ATTRIBUTES = {name: f"{name}_" for name in ("resolved_measure", "measure", "prototypes", *LAYOUT)}
ATTRIBUTES |= {"row_names": "_row_names_", "windowing": "_windowing_"}
INDICES = ("training_indices", "prototype_indices")
SHARED = (*ATTRIBUTES, "calibration", "n_features_in", "feature_names_in", "answers", "batches")
# Values that earlier versions stored.
FORMER = ("ignored_columns", "text_format", "neighbour_entropy", "widths")
ANSWERS = {"y": indices("n", least=-1), "names": texts("n"), "limit": numbers("4")}


def shared_state(classifier: Any) -> dict[str, Any]:
    """Return the values that every fitted classifier has."""
    names, answers, reading = classifier._feature_names, classifier.answers_, classifier.reading_
    is_table = reading is not None and not reading.is_numbers  # its reading names the columns
    return {
        **{name: getattr(classifier, attribute) for name, attribute in ATTRIBUTES.items()},
        **{name: np.asarray(getattr(classifier, f"{name}_"), np.int64) for name in INDICES},
        "calibration": written(classifier.calibration_),
        "n_features_in": None if is_table else getattr(classifier, "n_features_in_", None),
        "feature_names_in": None if is_table or names is None else list(names),
        "answers": answers and _answers_state(answers),
        "batches": history_state(classifier.batches_) if classifier.batches_ else None,
    }


def upgraded(classifier: Any, state: dict[str, Any], version: int) -> dict[str, Any]:
    """Return the values of a file of a format or version before this one as this one has them.

    Some files of format 2 lack answers or the order of the Rényi entropy, and have columns and spelling instead of a
    reading; none has a baseline, batches or a windowing.
    """
    known = {name: value for name, value in state.items() if name not in FORMER}
    if "deviations" in classifier._state_keys:
        known = {"deviations": None, "ends": None, **known}
    if version > 2:
        return known
    if type(calibration := state.get("calibration")) is dict:
        known["calibration"] = {"foreign": 0.0, **calibration}
    if "alpha" in classifier._state_keys:
        known = {"alpha": renyi_order(len(state["prototypes"]), classifier.gamma), **known}
    return {**dict.fromkeys(("answers", "reading", "baseline", "batches", "windowing")), **known}


def restore_state(classifier: Any, state: dict[str, Any], version: int) -> None:
    """Make a classifier one fitted as `state` says, after a check of every shape, index and range."""
    state = upgraded(classifier, state, version)
    check_keys("the fitted values", state, (*SHARED, *classifier._state_keys))
    measure, prototypes, answers = state["measure"], state["prototypes"], state["answers"]
    pairs = [(state["resolved_measure"], measure)]
    for whole, fitted in pairs:  # of a composite, all parts
        is_right = whole.fitted_class in (FittedMeasure, OwnFitted, type(fitted))  # those of the user's own may be any
        demand(is_right, f"the measure {whole.called} does not give {fitted.called}")
        parts, fitted_parts = whole.measures or {}, fitted.measures or {}
        demand(list(parts) == list(fitted_parts), "the measure and the fitted measure have different parts")
        pairs += zip(parts.values(), fitted_parts.values(), strict=True)
    measure.check_patterns(prototypes)
    sizes = {"r": len(prototypes), "u": measure.n_parameters}
    check_values(state, LAYOUT, sizes)
    for name, attribute in ATTRIBUTES.items():
        if state[name] is not None:
            setattr(classifier, attribute, state[name])
    calibration = state["calibration"]
    classifier.calibration_ = None if calibration is None else restored(Calibration, calibration, "calibration")
    threshold = 0.0 if calibration is None else classifier.calibration_.threshold
    demand(agrees(state["threshold"], threshold), "threshold is not that of the calibration")
    if "n_rows" in state:  # a classifier that keeps some of its training rows
        demand(calibration is not None, "there must be a calibration")
        demand(sizes["n"] == sizes["r"], "training_indices must be those of prototypes")
        n_rows, least = state["n_rows"], max(len(calibration["margins"]), sizes["r"])
        is_right = type(n_rows) is int and least <= n_rows <= LARGEST_INTEGER
        demand(is_right, f"n_rows must be an integer in [{least}, {LARGEST_INTEGER}], not {n_rows!r:.200}")
        classifier.n_rows_ = n_rows
    _restore_columns(classifier, state)
    if answers is not None:
        classifier.answers_ = _answers(answers, classifier)
    if state["batches"] is not None:
        classifier.batches_ = restored_history(state["batches"], sizes["n"] + n_removed(classifier.answers_))
    offset = classifier._restore_own(state)
    demand(agrees(state["offset"], offset), "offset is not the log-membership at the threshold")


def _restore_columns(classifier: Any, state: dict[str, Any]) -> None:
    """Set the number and the names of the columns; the reading and the baseline must have those of the measure."""
    n_features, names, prototypes = state["n_features_in"], state["feature_names_in"], state["prototypes"]
    if n_features is None:
        has_own_reader = state["resolved_measure"].read is not None
        demand(has_own_reader and names is None, "n_features_in must be a number for a measure of rows of numbers")
    else:
        is_right = isinstance(prototypes, np.ndarray) and prototypes.shape[1:] == (n_features,)
        demand(is_right, "n_features_in is not that of the rows")
        classifier.n_features_in_ = n_features
    if names is not None:
        texts("columns")("feature_names_in", names, {"columns": n_features})
        demand(len(set(names)) == n_features, "feature_names_in must all be different")
        classifier.feature_names_in_ = np.array(names, dtype=object)
    reading, baseline = classifier.reading_, classifier.baseline_
    if reading is None:
        demand(baseline is None, "only a model of tables has a baseline")
        return
    demand(not reading.is_numbers or n_features == len(reading.columns), "reading must have one column per feature")
    names = [one.part_name(part) for one in reading.columns for part in one.parts]
    if baseline is not None:
        is_right = {*baseline.by, *baseline.names} <= {*names}
        demand(is_right, "the baseline must be one of the columns of the reading")
        names += [baseline.relative_name(name) for name in baseline.names]
    is_right = reading.is_numbers or names == list(classifier.measure_.names)
    demand(is_right, "reading must have the columns of the measure")
    classifier._name_features()


def _answers_state(answers: Answers) -> dict[str, Any]:
    calibration, removed = answers.calibration, answers.removed
    return {
        "rows": answers.rows,
        "y": answers.y,
        "names": list(answers.names),
        "removed": removed and removed._asdict(),
        "limit": np.array([answers.threshold.value, answers.threshold.scale, calibration.rate, calibration.foreign]),
        "margins": calibration.margins,
    }


def _answers(state: Any, classifier: Any) -> Answers:
    check_keys("answers", state, (*ANSWERS, "rows", "margins", "removed"))
    rows, y, removed = state["rows"], state["y"], state["removed"]
    classifier.measure_.check_patterns(rows)
    check_values(state, ANSWERS, {"n": len(rows)}, "answers")
    demand((np.abs(y) == 1).all(), "answers.y must be integers, 1 or -1")
    value, scale, rate, foreign = state["limit"].tolist()
    threshold = restored(Threshold, {"value": value, "scale": scale}, "answers.limit")
    demand(classifier.calibration_ is not None, "there must be a calibration")
    before = {"margins": state["margins"], "rate": rate, "foreign": foreign}
    calibration = restored(Calibration, before, "answers.calibration")
    if removed is not None:
        check_keys("answers.removed", removed, TrainingRows._fields)
        classifier.measure_.check_patterns(removed["rows"])
        n = len(removed["rows"])
        sizes = {"n": n, "all": n + len(classifier.training_indices_)}
        removed = restored(TrainingRows, removed, "answers.removed", sizes)
        is_right = (removed.names is None) == (classifier._row_names_ is None)
        demand(is_right, "answers.removed.names must be texts, if the training rows have names")
    return Answers(rows, y, tuple(state["names"]), threshold, calibration, removed)


def save(classifier: "OneClassClassifier", path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to a file, whole or not at all; the same model gives the same bytes.

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
) -> "OneClassClassifier":
    """Return the classifier saved in a file; its scores are the same bit for bit.

    A file that is damaged, of another version or not a model raises ModelFileError, a ValueError of one line. A
    measure, membership function or t-conorm of your own, which a file cannot hold, must be passed again.
    """
    given = {"measure": measure, "membership_function": membership_function, "tconorm": tconorm}
    place = Path(path)
    content = model_file.read_container(place, max_bytes)
    loaded: OneClassClassifier = model_file.assemble(place, *content, CLASSIFIERS, given, max_bytes)
    return loaded
