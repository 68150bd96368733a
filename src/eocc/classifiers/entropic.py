"""EntropicOneClassClassifier: the method of the paper."""

from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eocc.base.arguments import fitting, generator, unfitted_copy
from eocc.base.progress import shown
from eocc.base.registry import resolve
from eocc.base.threads import n_threads, threads
from eocc.base.types import Indices, Matrix
from eocc.base.wording import counted
from eocc.calibration.conformal import Calibration, cross_calibrate, rank_of, ranks_of
from eocc.classifiers.base import OneClassClassifier
from eocc.classifiers.labels import ValidationSplit, split_rows
from eocc.classifiers.own_state import ENTROPIC_KEYS, entropic_state, restore_entropic
from eocc.classifiers.parameters import ENTROPIC_PARAMETERS
from eocc.entropic import EXTENTS, PERFORMANCES, TCONORMS, rules
from eocc.entropic.graph import renyi_order
from eocc.entropic.regions import normal_regions
from eocc.entropic.rules import Extent, MembershipFunction, Scores, TConorm, limit_grade, log_grades
from eocc.entropic.search import GeneticSearch, Search, resolve_search
from eocc.entropic.synthesis import EntropySynthesis, Model, Settings, Synthesis, ValidationSynthesis, synthesise
from eocc.explain.by_regions import explain_by_regions
from eocc.explain.explanation import reach_of
from eocc.explain.rules import Rule, rules_of
from eocc.measures.base import n_columns_of
from eocc.measures.protocol import Measure
from eocc.scale.memory import MARGIN, OVERHEAD
from eocc.scale.passes import Passes
from eocc.space.prototypes.content import choose_rows, take_census
from eocc.space.prototypes.selections import Selection, count_of, resolve_selection

# Rows of a stream that are fitted to if the user gives no number.
STREAM_SAMPLE = 5000

# What differs from the defaults in the settings that the paper prints, and the reading of what it leaves open
# (docs/research/departures.md).
PRINTED: dict[str, Any] = {
    "search": GeneticSearch(
        population_size=30, max_generations=100, patience=10, mutation_rate=0.3, first_population="random"
    )
}


def settings_of(classifier: Any, targets: Any = None, outliers: Any = None) -> Settings:
    """Return the settings of a fit; `targets` and `outliers` are the patterns that validate."""
    extent = resolve("extent", EXTENTS, classifier.extent, "__call__")
    shared = {"eta": classifier.eta, "gamma": classifier.gamma, "objective": classifier.objective}
    synthesis: Synthesis = EntropySynthesis(**shared, first_cut=classifier.first_cut)
    if classifier.synthesis == "validation":
        performance = PERFORMANCES[classifier.performance]
        synthesis = ValidationSynthesis(
            **shared, beta=classifier.beta, performance=performance, extent=extent, targets=targets, outliers=outliers
        )
    is_searched = classifier.weights is None and classifier.search is not None
    return Settings(
        measure=classifier.resolved_measure_,
        prototypes=classifier.prototypes,
        selection=resolve_selection(classifier.selection),
        synthesis=synthesis,
        extent=extent,
        membership_function=rules.resolve_membership_function(classifier.membership_function),
        tconorm=resolve("tconorm", TCONORMS, classifier.tconorm, "__call__"),
        search=resolve_search(classifier.search) if is_searched else None,
        weights=classifier.weights,
        n_threads=n_threads(classifier.n_jobs),
        verbose=bool(classifier.verbose),
    )


class EntropicOneClassClassifier(OneClassClassifier):
    """Entropic one-class classifier: EOCC-1 and EOCC-2 (Livi, Sadeghian, Pedrycz 2015).

    Patterns become vectors of dissimilarities to the training patterns. The minimum spanning tree over these vectors
    gives the Rényi entropy of the data. Its longest edges are cut while modularity rises, which gives clusters. Each
    cluster becomes a fuzzy decision region. A search finds the weights p of the dissimilarity.

    Attributes
    ----------
    weights_ : array of shape (n_parameters,)
        p*, the weights found.
    regions_ : list of Region
        The decision regions: `members`, `representative` (indices of training patterns) and `extent`.
    labels_, training_indices_ : arrays of shape (n_training,)
        The region of each training pattern, and its row in X. Indices in regions and tree refer to training patterns.
    spanning_tree_ : SpanningTree
        `edges` and `lengths`, heaviest first.
    entropy_, raw_entropy_, modularity_, objective_ : float
        Of p*: normalised entropy, Rényi entropy, normalised modularity, and the value that was maximised.
    alpha_ : float
        The order of the Rényi entropy.
    modularity_curve_ : array of shape (n_training,)
        Q of the partitions into 1, ..., n clusters.
    performance_ : float or None
        The performance of p* on the validation set, None without one.
    history_ : structured array
        Per generation: `best`, `mean` objective; `entropy`, `modularity` (and `performance`) of the best.
    prototype_indices_ : array of shape (n_prototypes,)
        Which of the training patterns are the prototypes.
    threshold_, offset_ : float
        The margin at which the decision is made, 0 (a region's boundary) unless calibrated, and the log-membership
        there. With the Gaussian and "max", decision_function is score_samples - offset_.
    calibration_ : Calibration or None
        The held-out margins that `p_values` compares with, after a fit with a false_alarm_rate.
    measure_, resolved_measure_, prototypes_, fuzzy_model_
        What scoring needs: the fitted measure, the measure that "auto" chose, the prototypes, the regions.
    n_features_in_, feature_names_in_, reading_
        As for SurpriseClassifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eocc import EntropicOneClassClassifier
    >>> X = load_iris().data
    >>> clf = EntropicOneClassClassifier(random_state=0).fit(X[:40])  # 40 setosas
    >>> clf.predict(X[[40, 75, 149]])
    array([ 1, -1, -1])
    """

    _parameters = ENTROPIC_PARAMETERS
    baseline_by = None  # a parameter of the other classifiers only
    _state_keys = ENTROPIC_KEYS
    _how_far_out_name = "distance to the nearest region, in its extents"
    _scores_left_out = False
    _own_state, _restore_own = entropic_state, restore_entropic
    _explain_rows = explain_by_regions

    def __init__(
        self,
        *,
        measure: str | Measure | Callable[[Any, Any], float] = "auto",
        synthesis: str = "entropy",
        prototypes: int | float | None = None,
        selection: str | Selection = "random",
        first_cut: str = "always",
        objective: str = "normalised",
        eta: float = 0.5,
        beta: float = 0.5,
        gamma: float = 0.02,
        performance: str = "accuracy",
        validation_fraction: float = 0.1,
        extent: str | Extent = "mean",
        membership_function: str | MembershipFunction = "gaussian",
        tconorm: str | TConorm = "max",
        search: str | Search | None = "genetic",
        weights: ArrayLike | None = None,
        false_alarm_rate: float | None = None,
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.measure, self.synthesis, self.prototypes, self.selection = measure, synthesis, prototypes, selection
        self.first_cut, self.objective, self.eta, self.beta, self.gamma = first_cut, objective, eta, beta, gamma
        self.performance, self.validation_fraction = performance, validation_fraction
        self.extent, self.membership_function, self.tconorm = extent, membership_function, tconorm
        self.search, self.weights, self.false_alarm_rate = search, weights, false_alarm_rate
        self.max_memory, self.n_jobs = max_memory, n_jobs
        self.random_state, self.verbose = random_state, verbose

    @classmethod
    def as_printed(cls, synthesis: str = "entropy", **changes: Any) -> Self:
        """Return EOCC-1 ("entropy") or EOCC-2 ("validation") with every setting as the paper prints it, but `changes`.

        It differs from the default of the class in the first population of the search, which is all random here and
        has one individual of all ones there.
        Every table and figure of the documentation that says EOCC-1 or EOCC-2 uses it.
        """
        return cls(**{**PRINTED, "synthesis": synthesis, **changes})

    def fit(self, X: Any, y: Any = None, *, validation: tuple[Any, Any] | None = None) -> Self:
        """Learn from X.

        With synthesis="entropy" all rows of X are targets, and y is ignored. With synthesis="validation" pass either
        targets X and validation=(X_val, y_val) with both kinds, or both kinds in X and y: then `validation_fraction`
        of each kind validates, the other targets train, and the other outliers are left out. In a pipeline, a
        validation set passed to this step is not transformed by the steps before it.

        Labels are +1 for targets and -1 (or 0, or False) for all else: the reverse of PyOD, where 1 is an outlier.

        A fit that fails or is interrupted leaves the estimator as it was.
        """
        if validation is not None and self.synthesis == "entropy":
            raise ValueError("validation is for synthesis='validation'; synthesis='entropy' would ignore it")
        with fitting(self) as draft:
            draft._fit_patterns(draft._read(X, reset=True), y, validation)
        return self

    def _fit_patterns(self, data: Any, y: Any, validation: tuple[Any, Any] | None) -> None:
        rng, rate = generator(self.random_state), self.false_alarm_rate
        split = ValidationSplit(np.arange(len(data)), None, None)
        if self.synthesis == "validation":
            split = split_rows(data, y, validation, self._read, self.validation_fraction, rng)
        patterns = data if len(split.training) == len(data) else data[split.training]
        self._having_seen(patterns)
        renyi_order(count_of(self.prototypes, len(patterns)), self.gamma)  # before the search, which may take long
        if rate is not None:
            rank_of(rate, len(patterns))  # raises an error if they are too few
        self._check_memory(len(patterns), n_columns_of(patterns), self.resolved_measure_.pair_bytes(patterns))
        settings = settings_of(self, split.targets, split.outliers)
        with shown() if self.verbose else nullcontext():
            self._take(synthesise(patterns, settings, rng), split.training)
        if rate is not None:
            self._calibrate(patterns, replace(settings, verbose=False), rng, rate)

    def _take(self, model: Model, training: Indices) -> None:
        """Keep what the synthesis found."""
        representation, candidate = model.representation, model.candidate
        self.measure_, self.prototypes_ = representation.measure, representation.prototypes
        self.prototype_indices_, self.training_indices_ = representation.prototype_indices, training
        self.weights_, self.objective_ = candidate.weights, candidate.objective
        self.entropy_, self.modularity_ = candidate.entropy, candidate.modularity
        self.raw_entropy_ = model.raw_entropy
        self.alpha_ = renyi_order(len(self.prototype_indices_), self.gamma)
        self.performance_ = None if np.isnan(candidate.performance) else candidate.performance
        self.spanning_tree_, self.modularity_curve_, self.labels_ = model.tree, model.modularity_curve, model.labels
        self.regions_, self.fuzzy_model_, self.history_ = model.regions, model.fuzzy, model.history
        self.calibration_, self.threshold_ = None, 0.0
        self.offset_ = limit_grade(model.fuzzy.membership_function)

    def _calibrate(self, patterns: Any, settings: Settings, rng: np.random.Generator, rate: float) -> None:
        """Calibrate by models of the same settings, each of which leaves a part of the patterns out."""

        def margins_without(kept: Any, held_out: Any, rng: np.random.Generator) -> Matrix:
            fold = unfitted_copy(self)
            fold._take(synthesise(kept, settings, rng), np.arange(len(kept)))
            with threads(settings.n_threads):
                return np.asarray(fold._score_patterns(held_out).margins)

        self._set_calibration(cross_calibrate(patterns, margins_without, rate, rng))

    def _set_calibration(self, calibration: Calibration) -> None:
        self.calibration_, self.threshold_ = calibration, calibration.threshold
        self.offset_ += self.threshold_

    def _fit_passes(self, passes: Passes, sample: int | None, outliers: Matrix | None) -> None:
        """Learn from `sample` rows, chosen by content, and calibrate on the others if they are as many or more."""
        if outliers is not None:
            raise ValueError("outliers is for SurpriseClassifier; leave it out")
        sample = STREAM_SAMPLE if sample is None else sample
        if self.synthesis != "entropy":
            raise ValueError("a stream holds normal rows only; use synthesis='entropy', or fit(X, y) on a sample")
        if self.false_alarm_rate is not None:
            rank_of(self.false_alarm_rate, sample)
        census = take_census(passes)
        assert passes.n_columns is not None
        self._check_memory(min(sample, census.n_rows), passes.n_columns)
        kept = choose_rows(passes, census, sample)
        rate, n = self.false_alarm_rate, len(kept.numbers)
        if rate is None or census.n_rows < 2 * n:
            self.fit(kept.values)
        else:
            self.false_alarm_rate = None
            self.fit(kept.values).false_alarm_rate = rate
            tally = self._tally_others(passes, kept.numbers, lambda block: -self._score_patterns(block).margins)
            self._set_calibration(Calibration(-tally.largest(ranks_of(n, tally.total, rate)), rate))
        self.training_indices_ = kept.numbers

    def _score_patterns(self, patterns: Any) -> Scores:
        """Return the scores of patterns as the measure reads them: d / tau in the best region, and the membership."""
        rows = self._embed(patterns)
        return Scores(self.fuzzy_model_.ratios(rows).min(axis=1), self.fuzzy_model_.log_membership(rows))

    def region_memberships(self, X: Any) -> Matrix:
        """Return the membership of each row of X in each decision region: (n_rows, n_regions), in [0, 1].

        `membership(X)` combines them by the t-conorm.
        """
        ratios = self.fuzzy_model_.ratios(self.transform(X))
        return np.asarray(np.exp(log_grades(self.fuzzy_model_.membership_function, ratios)))

    def _without_small_regions(self, share: float) -> Self:
        """Return a copy that scores without the regions that may be clusters of outliers: see `normal_regions`."""
        kept, scorer, fuzzy = normal_regions(self.regions_, share), copy(self), self.fuzzy_model_
        scorer.regions_ = [self.regions_[k] for k in kept]
        scorer.fuzzy_model_ = replace(fuzzy, centres=fuzzy.centres[kept], extents=fuzzy.extents[kept])
        return scorer

    def rules(self) -> list[Rule]:
        """Return the model as fuzzy rules for people to read, one per region."""
        return rules_of(self)

    def _plan_fit(self, n: int, n_columns: int, pair_bytes: float = 0.0, n_outliers: int = 0) -> tuple[float, str, int]:
        # Every thread has a matrix of n x r dissimilarities and one of n x n distances. Extents may copy half of these.
        r = count_of(self.prototypes, n)
        fixed = 8 * n * n_columns + pair_bytes * n * r + 4 * n * n
        needed = OVERHEAD + MARGIN * (fixed + n_threads(self.n_jobs) * 8 * (n * r + n * n))
        fewer = f"prototypes={max(1, r // 4)}, " if 4 * r > n else ""  # else all pairs of rows take most of the memory
        return needed, f"use RegionClassifier, or pass fewer rows, {fewer}fewer threads, or raise max_memory", r

    def _facts(self) -> dict[str, Any]:
        return {
            "method": "eocc-1" if self.synthesis == "entropy" else "eocc-2",
            "entropy": self.entropy_,
            "Rényi entropy": self.raw_entropy_,
            "order of the Rényi entropy": self.alpha_,
            "modularity": self.modularity_,
            "objective": self.objective_,
            "performance": self.performance_,
            "false-alarm rate": None if self.calibration_ is None else self.calibration_.rate,
        }

    def _describe(self) -> str:
        reach = reach_of(self.threshold_)
        return (
            f"The model describes normal rows by {counted(len(self.regions_), 'region')}, one per cluster of training "
            f"rows. A row is accepted if it lies within {'one extent' if reach == 1 else f'{reach:.4g} extents'} of a "
            "region. The extent of a region measures how far apart the rows of its cluster are."
        )

    @property
    def _search_history(self) -> NDArray[Any] | None:  # type: ignore[override]
        """The search, one record per generation; None if the weights were given or all 1."""
        return None if self.weights is not None or self.search is None else self.history_
