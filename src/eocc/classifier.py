"""EntropicOneClassClassifier: validate, delegate, expose."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, OutlierMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from eocc.arguments import adopt, check_number, draft_of, generator, n_threads, saying_remedy
from eocc.calibration import Calibration, check_rate, cross_calibrate
from eocc.explanations import Explanation, Rule, explain, rules
from eocc.extents import Extent, resolve_extent
from eocc.labels import as_pair, check_lengths, parts_of, parts_with, signs
from eocc.measures import Measure, Precomputed, resolve_measure
from eocc.memberships import MembershipFunction, resolve_membership_function
from eocc.performance import resolve_performance
from eocc.progress import reporting
from eocc.regions import Fuzzification
from eocc.registry import choose
from eocc.representatives import Representative, resolve_representative
from eocc.search import Search, resolve_search
from eocc.synthesis import EntropySynthesis, Model, Settings, Synthesis, ValidationSynthesis, synthesise
from eocc.tconorms import TConorm, resolve_tconorm
from eocc.threads import threads

Matrix = NDArray[np.float64]

# Rows are scored in blocks of about this many dissimilarities, 32 MiB, whatever the batch.
BLOCK = 2**22


class EntropicOneClassClassifier(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    OutlierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Entropic one-class classifier (Livi, Sadeghian, Pedrycz): learns what is normal from examples of it.

    Patterns become vectors of dissimilarities to the training patterns. The minimum spanning tree over these
    gives the data's entropy and, cut at its longest edges while modularity rises, clusters; each
    cluster becomes a fuzzy decision region. A search tunes the dissimilarity's weights p.

    Parameters
    ----------
    measure : str, Measure or function of two objects, default="euclidean"
        The dissimilarity d(x, y; p): "euclidean" for rows of numbers, "graph-edit" for labelled graphs, "precomputed",
        or another of `eocc.measures`. X is a sequence of what the measure compares.
    synthesis : {"entropy", "validation"}, default="entropy"
        What the search maximises. "entropy" is the paper's EOCC-1: eta * entropy + (1 - eta) * modularity, from
        targets alone. "validation" is its EOCC-2, which also looks at every partition's performance on a validation
        set of both kinds: see `fit`.
    eta : float in [0, 1], default=0.5
        The share of entropy against modularity.
    beta : float in [0, 1], default=0.5
        The share of performance against entropy and modularity, with synthesis="validation".
    gamma : float in (0, 1), default=0.02
        The exponent of the tree's edge lengths in the entropy.
    performance : str or scikit-learn scorer, default="accuracy"
        What "validation" measures: "accuracy", "balanced_accuracy", "f1", "auc" or any scorer's name.
    validation_fraction : float in (0, 1), default=0.1
        The share of targets, and of others, that `fit(X, y)` holds out to validate.
    extent : {"mean", "std", "median", "max", "quantile"} or callable, default="mean"
        The extent of a region, from the distances inside its cluster.
    representative : {"medoid", "centroid"} or Representative, default="medoid"
        The point from which a region's distances are measured.
    membership_function : {"gaussian", "triangular", "trapezoidal", "bell", "two-sided"} or MembershipFunction, \
            default="gaussian"
        The grade of a pattern in a region, from its distance to the representative.
    tconorm : {"max", "probabilistic", "lukasiewicz", "einstein"} or callable, default="max"
        How grades in several regions become one.
    search : {"genetic", "cma-es", "differential-evolution", "random"}, Search or None, default="genetic"
        How p is found; None takes p = `weights`. To set its size, patience or time, pass an object of `eocc.search`,
        `GeneticSearch(max_generations=20, max_time=60)` say.
    weights : array-like of shape (n_parameters,), default=None
        p when there is no search; None means all ones.
    false_alarm_rate : float in (0, 1) or None, default=None
        The share of new targets that `predict` may reject, on the average over training sets: the threshold is then
        set by cross-conformal calibration on the training targets, which costs ten fits more. None keeps the paper's
        rule, a region's extent.
    n_jobs : int or None, default=None
        Threads for the search; the model does not depend on it. None means 1, -1 all cores.
    random_state : int, Generator, RandomState or None, default=None
        The seed of the search, and of the split that `fit(X, y)` makes for "validation".
    verbose : bool, default=False
        Show the search's progress on standard error: a bar on a terminal that has rich, else a line a generation.

    Attributes
    ----------
    weights_ : array of shape (n_parameters,)
        p*, the weights found.
    regions_ : list of Region
        The decision regions: `members`, `representative` (indices of training patterns) and `extent`.
    labels_ : array of shape (n_samples,)
        The region of each training pattern.
    spanning_tree_ : SpanningTree
        `edges` and `lengths`, heaviest first.
    entropy_, raw_entropy_, modularity_, objective_ : float
        Of p*: normalised entropy, Rényi entropy, normalised modularity, and what was maximised.
    modularity_curve_ : array of shape (n_samples,)
        Q of the partitions into 1, ..., n clusters.
    performance_ : float
        Of p* on the validation set; only with synthesis="validation".
    history_ : structured array
        Per generation: `best`, `mean` objective; `entropy`, `modularity` (and `performance`) of the best.
    training_indices_ : array of shape (n_training,)
        The rows of X that were trained on; `labels_`, `regions_` and `spanning_tree_` count along these.
    threshold_ : float
        The margin at which the decision is made: 0, a region's boundary, unless calibrated.
    offset_ : float
        The log-membership there. With the Gaussian and "max", decision_function is score_samples - offset_.
    calibration_ : Calibration
        What `p_values` compares with; only with a false_alarm_rate.
    measure_, prototypes_, fuzzy_model_
        What scoring needs: the measure with its scale fixed, the training patterns, the regions' centres and widths.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eocc import EntropicOneClassClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = EntropicOneClassClassifier(search=None).fit(X[y == 0])
    >>> clf.predict(X[[0, 75, 149]])
    array([ 1, -1, -1])
    """

    def __init__(
        self,
        *,
        measure: str | Measure | Callable[[Any, Any], float] = "euclidean",
        synthesis: str = "entropy",
        eta: float = 0.5,
        beta: float = 0.5,
        gamma: float = 0.02,
        performance: Any = "accuracy",
        validation_fraction: float = 0.1,
        extent: str | Extent = "mean",
        representative: str | Representative = "medoid",
        membership_function: str | MembershipFunction = "gaussian",
        tconorm: str | TConorm = "max",
        search: str | Search | None = "genetic",
        weights: ArrayLike | None = None,
        false_alarm_rate: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.measure = measure
        self.synthesis = synthesis
        self.eta = eta
        self.beta = beta
        self.gamma = gamma
        self.performance = performance
        self.validation_fraction = validation_fraction
        self.extent = extent
        self.representative = representative
        self.membership_function = membership_function
        self.tconorm = tconorm
        self.search = search
        self.weights = weights
        self.false_alarm_rate = false_alarm_rate
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.measure == "precomputed" or isinstance(self.measure, Precomputed)
        return tags

    def fit(self, X: Any, y: Any = None, *, validation: tuple[Any, Any] | None = None) -> Self:
        """Learn from X of shape (n_samples, n_features).

        With synthesis="entropy" all rows of X are targets, and y is ignored. With synthesis="validation" either
        pass validation=(X_val, y_val), of both kinds, beside targets X; or both kinds in X and y: then
        `validation_fraction` of either kind validates, the other targets train, and the other non-targets are left
        out. Labels are +1 for targets and -1 (or 0, or False) for all else. In a pipeline, a validation set passed
        to this step is not transformed by those before it.

        A fit that fails or is interrupted leaves the estimator as it was.
        """
        draft = draft_of(self)
        data = draft._read(X, reset=True)
        rng = generator(self.random_state)
        training, synthesis = draft._plan(data, y, validation, rng)
        if self.false_alarm_rate is not None:
            check_rate(self.false_alarm_rate, len(training))  # before the search, which may take long
        patterns = data if len(training) == len(data) else data[training]
        settings = self._settings(synthesis)
        with reporting(self.verbose, getattr(settings.search, "max_generations", None)) as report:
            model = synthesise(patterns, settings, rng, report)
        draft._take(model, patterns, training)
        if self.false_alarm_rate is not None:
            draft._calibrate(patterns, settings, rng, self.false_alarm_rate)
        return adopt(self, draft)

    def membership(self, X: Any) -> Matrix:
        """Return the soft decision: grades of membership in the target class, in [0, 1]."""
        return np.exp(self.score_samples(X))

    def score_samples(self, X: Any) -> Matrix:
        """Return the logarithm of the membership: finite, higher = more normal.

        It ranks patterns also where the membership itself is too small to be told from 0.
        """
        return self._by_block(X, self._score_rows)

    def decision_function(self, X: Any) -> Matrix:
        """Return (1 - (d / tau)^2) / 2 in the best region: >= 0 inside it, < 0 outside.

        With the Gaussian and the maximum that is score_samples less offset_. With a `false_alarm_rate` its threshold
        is taken off: >= 0 for what is accepted.
        """
        return self._margins(X) - self.threshold_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the hard decision: +1 for targets, -1 for all else."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def p_values(self, X: Any) -> Matrix:
        """Return, for each pattern, the share of held-out targets that were no more normal than it.

        Of new targets at most about a share of a has a p-value of a or less. Needs a fit with a `false_alarm_rate`.
        """
        return self._calibration().p_values(self._margins(X))

    def predict_with_reject(self, X: Any, unsure_rate: float | None = None) -> NDArray[np.int64]:
        """Return +1 for targets, -1 for what is rejected, and 0 for what is unsure.

        -1 where the p-value is at most `false_alarm_rate`, 0 where it is at most `unsure_rate` (by default four times
        that, at most 1), +1 above: of new targets at most about those shares are rejected, or not accepted.
        """
        calibration = self._calibration()
        alarm = calibration.rate
        unsure = min(1.0, 4 * alarm) if unsure_rate is None else unsure_rate
        check_number("unsure_rate", unsure, f"in [{alarm:g}, 1], false_alarm_rate or more", lambda r: alarm <= r <= 1)
        p = calibration.p_values(self._margins(X))
        return np.where(p <= alarm, -1, np.where(p <= unsure, 0, 1))

    def explain(self, X: Any) -> list[Explanation]:
        """Return, for each pattern, why it is a target or not: its region, exemplars, and what makes the difference.

        `str()` of one is the explanation in words, `to_dict()` the same as plain data: see docs/explanations.md.
        """
        check_is_fitted(self)
        return explain(self, X)

    def rules(self) -> list[Rule]:
        """Return the model as fuzzy rules, one a region, for people to read."""
        check_is_fitted(self)
        return rules(self)

    def transform(self, X: Any) -> Matrix:
        """Return X in the dissimilarity space: row i = dissimilarities of pattern i to every training pattern."""
        return self._by_block(X, lambda rows: rows)

    @property
    def _n_features_out(self) -> int:
        return len(self.prototypes_)

    def _score_rows(self, rows: Matrix) -> Matrix:
        return self.fuzzy_model_.log_membership(rows)

    def _decide_rows(self, rows: Matrix) -> Matrix:
        return self.fuzzy_model_.decision(rows)

    def _margins(self, X: Any) -> Matrix:
        return self._by_block(X, self._decide_rows)

    def _calibration(self) -> Calibration:
        check_is_fitted(self)
        if not hasattr(self, "calibration_"):
            raise ValueError("this model is not calibrated: fit it with a false_alarm_rate, 0.05 say")
        return self.calibration_

    def _calibrate(self, patterns: Any, settings: Settings, rng: np.random.Generator, rate: float) -> None:
        """Calibrate on models of the same settings that leave a part of the patterns out."""

        def margins_without(kept: Any, held_out: Any, rng: np.random.Generator) -> Matrix:
            fold = draft_of(self)
            fold._take(synthesise(kept, settings, rng, lambda generation, best: None), kept, np.arange(len(kept)))
            with threads(settings.n_threads):
                margins: Matrix = fold._decide_rows(fold._embed(held_out))
            return margins

        self.calibration_ = cross_calibrate(patterns, margins_without, rate, rng)
        self.threshold_ = self.calibration_.threshold
        self.offset_ += self.threshold_

    def _by_block(self, X: Any, function: Callable[[Matrix], Matrix]) -> Matrix:
        """Apply `function` to X in the dissimilarity space, a block of rows at a time."""
        check_is_fitted(self)
        patterns = self._read(X, reset=False)
        step = max(1, BLOCK // len(self.prototypes_))
        blocks = [patterns[start : start + step] for start in range(0, len(patterns), step)]
        with threads(n_threads(self.n_jobs)):
            return np.concatenate([function(self._embed(block)) for block in blocks])

    def _read(self, X: Any, *, reset: bool) -> Any:
        """Return X as patterns: rows of numbers, or whatever the measure reads."""
        measure = resolve_measure(self.measure)
        if hasattr(measure, "read"):
            return measure.read(X)
        with saying_remedy():
            return validate_data(self, X, dtype=np.float64, order="C", copy=reset, reset=reset)

    def _embed(self, patterns: Any) -> Matrix:
        prepared = self.measure_.prepare(patterns, self.prototypes_)
        return prepared.evaluate(self.weights_)

    def _take(self, model: Model, patterns: Any, training: NDArray[np.int64]) -> None:
        self.measure_ = model.measure
        self.prototypes_ = patterns
        self.training_indices_ = training
        self.weights_ = model.candidate.weights
        self.entropy_ = model.candidate.entropy
        self.raw_entropy_ = model.raw_entropy
        self.modularity_ = model.candidate.modularity
        self.objective_ = model.candidate.objective
        if not np.isnan(model.candidate.performance):
            self.performance_ = model.candidate.performance
        self.modularity_curve_ = model.modularity_curve
        self.spanning_tree_ = model.tree
        self.labels_ = model.labels
        self.regions_ = model.regions
        self.fuzzy_model_ = model.fuzzy
        self.threshold_ = 0.0
        self.offset_ = model.fuzzy.threshold
        self.history_ = model.history

    def _plan(
        self, data: Any, y: Any, validation: tuple[Any, Any] | None, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], Synthesis]:
        """Return the rows of `data` to train on, and the synthesis with all it needs."""
        for name in ("eta", "beta"):
            check_number(name, getattr(self, name), "in [0, 1]", lambda value: 0 <= value <= 1)
        for name in ("gamma", "validation_fraction"):
            check_number(name, getattr(self, name), "in (0, 1)", lambda value: 0 < value < 1)
        if self.false_alarm_rate is not None:
            wanted = "in (0, 1), or None"
            check_number("false_alarm_rate", self.false_alarm_rate, wanted, lambda value: 0 < value < 1)
        plan = choose("synthesis", {"entropy": self._plan_entropy, "validation": self._plan_validation}, self.synthesis)
        return plan(data, y, validation, rng)

    def _plan_entropy(
        self, data: Any, y: Any, validation: tuple[Any, Any] | None, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], Synthesis]:
        if validation is not None:
            raise ValueError("validation is for synthesis='validation'; synthesis='entropy' would ignore it")
        return np.arange(len(data)), EntropySynthesis(self.eta, self.gamma)

    def _plan_validation(
        self, data: Any, y: Any, validation: tuple[Any, Any] | None, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], Synthesis]:
        signed = np.ones(len(data), np.int64) if y is None else signs(y)
        check_lengths("X", data, "y", signed)
        if validation is None:
            parts = parts_of(data, signed, self.validation_fraction, rng)
        else:
            X_val, y_val = as_pair(validation)
            parts = parts_with(signed, self._read(X_val, reset=False), signs(y_val, "y_val"))
        synthesis = ValidationSynthesis(
            self.eta, self.beta, self.gamma, resolve_performance(self.performance), self._fuzzification(),
            parts.targets, parts.others,
        )  # fmt: skip
        return parts.training, synthesis

    def _fuzzification(self) -> Fuzzification:
        return Fuzzification(
            extent=resolve_extent(self.extent),
            representative=resolve_representative(self.representative),
            membership_function=resolve_membership_function(self.membership_function),
            tconorm=resolve_tconorm(self.tconorm),
        )

    def _settings(self, synthesis: Synthesis) -> Settings:
        return Settings(
            measure=resolve_measure(self.measure),
            synthesis=synthesis,
            fuzzification=self._fuzzification(),
            search=None if self.search is None else resolve_search(self.search),
            weights=self.weights,
            n_threads=n_threads(self.n_jobs),
        )
