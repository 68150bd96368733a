"""EntropicOneClassClassifier: validate, delegate, expose."""

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, OutlierMixin, TransformerMixin

from eocc.calibration.conformal import check_rate, cross_calibrate
from eocc.classifiers.base import Scoring
from eocc.classifiers.fitting import MULTI, Task, check_memory, plan_within_memory, settings_of, task_of
from eocc.classifiers.labels import warn_if_rare
from eocc.foundation.arguments import commit_fit, generator, n_threads, unfitted_copy
from eocc.foundation.threads import threads
from eocc.measures.composite import knows_training_only
from eocc.measures.precomputed import Precomputed
from eocc.measures.protocol import Measure
from eocc.regions.extents import Extent
from eocc.regions.memberships import MembershipFunction
from eocc.regions.representatives import Representative
from eocc.regions.tconorms import TConorm
from eocc.scale.cluster import materialised
from eocc.search.protocol import Search
from eocc.space.prototypes.protocol import Selection
from eocc.surprise.model import KnownOthers, learn_decision
from eocc.synthesis.graph_kinds import GraphKind
from eocc.synthesis.progress import reporting
from eocc.synthesis.synthesis import Model, Settings, synthesise

Matrix = NDArray[np.float64]


class EntropicOneClassClassifier(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    OutlierMixin,  # type: ignore[misc]
    Scoring,
    BaseEstimator,  # type: ignore[misc]
):
    """Entropic one-class classifier (Livi, Sadeghian, Pedrycz): learns what is normal from examples of it.

    Patterns become vectors of dissimilarities to the training patterns. The minimum spanning tree over these
    gives the data's entropy and, cut at its longest edges while modularity rises, clusters; each
    cluster becomes a fuzzy decision region. Decisions look at several resolutions at once, from the nearest training
    pattern to the nearest eight; resolution="single" decides by the regions alone, after a search of the
    dissimilarity's weights p, as the paper does.

    Parameters
    ----------
    measure : str, Measure or function of two objects, default="euclidean"
        The dissimilarity d(x, y; p): "euclidean" for rows of numbers, "graph-edit" for labelled graphs, "precomputed",
        or another of `eocc.measures`. X is a sequence of what the measure compares.
    synthesis : {"entropy", "validation"}, default="entropy"
        What is learnt from: targets alone, or also a validation set of both kinds, see `fit`. With resolution="single"
        "entropy" is the paper's EOCC-1, which maximises eta * entropy + (1 - eta) * modularity, and "validation" its
        EOCC-2, which also looks at every partition's performance on the validation set. With resolution="multi" the
        labels weigh what the decision looks at.
    resolution : {"multi", "single"}, default="multi"
        How it is decided: by neighbourhoods of several sizes among the training patterns, which follow the data's
        shape, or by one region a cluster, as in the paper.
    prototypes : int, float in (0, 1] or None, default=None
        How many training patterns, or which share of them, all others are compared with: None means all. Memory and
        time to score grow with their number.
    selection : {"random", "farthest-first", "k-medoids", "density-spread"} or Selection, default="random"
        How prototypes are chosen.
    graph : {"auto", "complete", "knn"} or NeighbourGraph, default="auto"
        The graph behind tree, entropy and regions: of all pairs, or of nearest neighbours, which takes n k memory
        instead of n^2. A search then looks at 1000 patterns. "auto" is "complete" for up to 5000 patterns, where that
        fits in memory, else "knn".
    max_memory : int, str or None, default=None
        The memory that a fit may add: bytes, or "2GiB", "500MB". None is 70 % of what is free. See docs/scale.md.
    plan : {"refuse", "auto"}, default="refuse"
        What becomes of a fit that would take more: an error at once that names settings that fit, or these settings,
        fewer prototypes say, and a warning.
    eta : float in [0, 1], default=0.5
        The share of entropy against modularity.
    beta : float in [0, 1], default=0.5
        The share of performance against entropy and modularity in the paper's "validation".
    gamma : float in (0, 1), default=0.02
        The exponent of the tree's edge lengths in the entropy.
    performance : str or scikit-learn scorer, default="accuracy"
        What the paper's "validation" measures: "accuracy", "balanced_accuracy", "f1", "auc" or any scorer's name.
    validation_fraction : float in (0, 1), default=0.1
        The share of targets, and of others, that `fit(X, y)` holds out for the paper's "validation".
    extent : {"mean", "std", "median", "max", "quantile"} or callable, default="mean"
        The extent of a region, from the distances inside its cluster.
    representative : {"medoid", "centroid"} or Representative, default="medoid"
        The point from which a region's distances are measured.
    membership_function : {"gaussian", "triangular", "trapezoidal", "bell", "two-sided"} or MembershipFunction, \
            default="gaussian"
        The grade of a pattern, from its distance to a representative in extents, or from what stands for that.
    tconorm : {"max", "probabilistic", "lukasiewicz", "einstein"} or callable, default="max"
        How grades in several regions become one, with resolution="single".
    search : {"auto", "genetic", "cma-es", "differential-evolution", "random"}, Search or None, default="auto"
        How p is found; None takes p = `weights`. "auto" is "genetic" with resolution="single" and None with "multi". To
        set its size, patience or time, pass an object of `eocc.search`, `GeneticSearch(max_time=60)` say.
    precision : {"double", "single"}, default="double"
        That of the distances in a search over all pairs. "single" takes half the time for n = 2000; the best p is then
        judged in double.
    weights : array-like of shape (n_parameters,), default=None
        p when there is no search; None means all ones.
    false_alarm_rate : float in (0, 1) or None, default=None
        The share of new targets that `predict` may reject, on the average over training sets. None is 0.05 with
        resolution="multi", or 1 / (n + 1) for n < 19 targets: left-out training targets set the threshold. With
        "single" None keeps the paper's rule, a region's extent; a rate is kept by cross-conformal calibration, which
        costs ten fits more.
    n_jobs : int or None, default=None
        Threads for fits and scores, which do not depend on it. None means 1, -1 all cores.
    random_state : int, Generator, RandomState or None, default=None
        The seed of the search, of the choice of prototypes, and of the split that `fit(X, y)` makes for the paper's
        "validation". The default model draws nothing.
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
        Of p* on the validation set; only with the paper's "validation".
    history_ : structured array
        Per generation: `best`, `mean` objective; `entropy`, `modularity` (and `performance`) of the best. With
        graph="knn" and more than 1000 patterns these are of the search's sample, `objective_` of all patterns.
    training_indices_ : array of shape (n_training,)
        The rows of X that were trained on; `labels_`, `regions_` and `spanning_tree_` count along these.
    threshold_ : float
        The margin at which the decision is made: 0, a region's boundary, unless calibrated.
    offset_ : float
        The log-membership there. With the Gaussian and "max", decision_function is score_samples - offset_.
    calibration_ : Calibration
        What `p_values` compares with; with resolution="single" only after a fit with a false_alarm_rate.
    neighbour_entropy_ : float
        The Rényi entropy estimated from nearest neighbours; only with graph="knn".
    prototype_indices_ : array of shape (n_prototypes,)
        Which of the training patterns are the prototypes.
    plan_ : Plan
        The graph, prototypes and threads taken, and the memory and time expected. Not saved in model files.
    measure_, prototypes_, fuzzy_model_, surprise_model_
        What scoring needs: the measure with its scale fixed, the prototypes, the regions' centres and widths, and with
        resolution="multi" what is known of all neighbourhoods.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eocc import EntropicOneClassClassifier
    >>> X = load_iris().data
    >>> clf = EntropicOneClassClassifier().fit(X[:40])  # of setosa
    >>> clf.predict(X[[40, 75, 149]])
    array([ 1, -1, -1])
    """

    def __init__(
        self,
        *,
        measure: str | Measure | Callable[[Any, Any], float] = "euclidean",
        synthesis: str = "entropy",
        resolution: str = "multi",
        prototypes: int | float | None = None,
        selection: str | Selection = "random",
        graph: str | GraphKind = "auto",
        max_memory: int | str | None = None,
        plan: str = "refuse",
        eta: float = 0.5,
        beta: float = 0.5,
        gamma: float = 0.02,
        performance: Any = "accuracy",
        validation_fraction: float = 0.1,
        extent: str | Extent = "mean",
        representative: str | Representative = "medoid",
        membership_function: str | MembershipFunction = "gaussian",
        tconorm: str | TConorm = "max",
        search: str | Search | None = "auto",
        precision: str = "double",
        weights: ArrayLike | None = None,
        false_alarm_rate: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.measure = measure
        self.synthesis = synthesis
        self.resolution = resolution
        self.prototypes = prototypes
        self.selection = selection
        self.graph = graph
        self.max_memory = max_memory
        self.plan = plan
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
        self.precision = precision
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
        pass validation=(X_val, y_val), of both kinds, beside targets X; or both kinds in X and y. Then all targets
        train, and all non-targets are what they are told from; with resolution="single" `validation_fraction` of
        either kind validates, the other targets train, and the other non-targets are left out. In a pipeline, a
        validation set passed to this step is not transformed by those before it.

        Labels are +1 for targets and -1 (or 0, or False) for all else: the reverse of PyOD, where 1 is an outlier. Of
        labels 1 and 0 with few 1 a warning says so; True and False, or +1 and -1, leave no doubt.

        One pattern is enough to fit, but says little: n targets give p-values in steps of 1 / (n + 1).

        A fit that fails or is interrupted leaves the estimator as it was.
        """
        draft = unfitted_copy(self)
        data = draft._read(materialised(X, partial(check_memory, self)), reset=True)
        rng = generator(self.random_state)
        task = task_of(draft, data, y, validation, rng)
        if self.synthesis == "validation":
            warn_if_rare(y)
            warn_if_rare(None if validation is None else validation[1], "y_val")
        if self.false_alarm_rate is not None:
            check_rate(self.false_alarm_rate, len(task.training))  # before the search, which may take long
        patterns = data if len(task.training) == len(data) else data[task.training]
        draft.plan_ = plan_within_memory(self, patterns, task)
        settings = settings_of(self, task.synthesis, draft.plan_)
        with reporting(self.verbose, getattr(settings.search, "max_generations", None)) as report:
            model = synthesise(patterns, settings, rng, report)
        draft._take(model, task.training)
        if self.resolution == MULTI:
            draft._learn_surprise(model, task, is_apart=validation is not None)
        elif self.false_alarm_rate is not None:
            draft._calibrate(patterns, settings, rng, self.false_alarm_rate)
        return commit_fit(self, draft)

    def _learn_surprise(self, model: Model, task: Task, *, is_apart: bool) -> None:
        """Learn the decision by neighbourhoods; a validation set that `is_apart` may have no dissimilarities to it."""
        known = None
        if task.beside is not None:
            are_comparable = not (is_apart and knows_training_only(model.representation.measure))
            known = KnownOthers(task.beside.others, task.beside.targets, are_comparable)
        with threads(n_threads(self.n_jobs)):
            self.surprise_model_, self.calibration_ = learn_decision(
                model.representation, self.weights_, known, self.false_alarm_rate
            )

    def _calibrate(self, patterns: Any, settings: Settings, rng: np.random.Generator, rate: float) -> None:
        """Calibrate on models of the same settings that leave a part of the patterns out."""

        def margins_without(kept: Any, held_out: Any, rng: np.random.Generator) -> Matrix:
            fold = unfitted_copy(self)
            fold._take(synthesise(kept, settings, rng, lambda generation, best: None), np.arange(len(kept)))
            with threads(settings.n_threads):
                margins: Matrix = fold._verdicts(held_out).margins
            return margins

        self.calibration_ = cross_calibrate(patterns, margins_without, rate, rng)
        self.threshold_ = self.calibration_.threshold
        self.offset_ += self.threshold_

    def _take(self, model: Model, training: NDArray[np.int64]) -> None:
        self.measure_ = model.representation.measure
        self.prototypes_ = model.representation.prototypes
        self.prototype_indices_ = model.representation.prototype_indices
        self.training_indices_ = training
        self.weights_ = model.candidate.weights
        self.entropy_ = model.candidate.entropy
        self.raw_entropy_ = model.raw_entropy
        if model.neighbour_entropy is not None:
            self.neighbour_entropy_ = model.neighbour_entropy
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
