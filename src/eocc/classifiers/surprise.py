"""SurpriseClassifier: how surprising a row is among its nearest normal rows."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from eocc.calibration.conformal import Calibration, rate_for
from eocc.classifiers.base import OneClassClassifier
from eocc.classifiers.labels import outlier_rows
from eocc.classifiers.parameters import SURPRISE_PARAMETERS
from eocc.classifiers.structure import structure_of
from eocc.classifiers.surprise_state import KEYS, restore_surprise
from eocc.explain import Explanation, Rule, explain_by_neighbours, rules_of
from eocc.foundation.arguments import commit_fit, generator, n_threads, unfitted_copy
from eocc.foundation.parameters import checked
from eocc.foundation.threads import threads
from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import counted, format_number
from eocc.measures.base import n_columns_of, pair_bytes_of
from eocc.measures.protocol import Measure
from eocc.regions.memberships import MembershipFunction, resolve_membership_function
from eocc.regions.scores import BOUNDARY, Scores, decision_margin
from eocc.scale.cluster import current, spread_measure
from eocc.scale.memory import MARGIN, OVERHEAD
from eocc.space.prototypes.protocol import Selection
from eocc.space.prototypes.select import count_of
from eocc.space.representation import represent
from eocc.space.weightings import checked_weights
from eocc.surprise.comparison import Comparison
from eocc.surprise.model import SurpriseModel, fit_surprise_model
from eocc.surprise.score import Threshold
from eocc.surprise.state import surprise_state
from eocc.synthesis.model import Model


def _of_structure(path: str, meaning: str) -> Any:
    """Return a property that is computed with the structure of the prototypes when it is first asked for."""
    return property(lambda classifier: attrgetter(path)(classifier.structure_), doc=meaning)


class SurpriseClassifier(OneClassClassifier):
    """Detects rows that are surprising among their nearest normal rows.

    The surprise of a row is a mean of log distances to its nearest 1, 2, 4 and 8 training rows, and of the ratio of
    these distances to those that the neighbours keep among themselves, with the weights as given and with every weight
    variance-equalised. The threshold and the p-values come from the training rows, each left out of its own
    neighbours. There is no search and nothing to tune. The surprise estimates -log density (Kozachenko and Leonenko):
    see `eocc.surprise.score` for the definition and docs/research.md for how it was chosen.

    A training row, or an exact copy of one, scores as that row did when it was left out.

    Parameters
    ----------
    measure : str, Measure or function of two objects, default="auto"
        The dissimilarity: "euclidean" for rows of numbers, "graph-edit" for labelled graphs, or another of
        `eocc.measures`. "auto" decides by the data.
    weights : array-like of shape (n_parameters,), default=None
        The weights of the dissimilarity in [0, 1], one per column for rows of numbers. None means all ones.
    prototypes : int, float in (0, 1] or None, default=None
        Compare rows with this many training rows, or with this share of them. None means all.
    selection : {"random", "farthest-first", "k-medoids", "density-spread"} or Selection, default="random"
        How prototypes are chosen.
    membership_function : {"gaussian", "triangular", "trapezoidal", "bell", "two-sided"} or MembershipFunction, \
            default="gaussian"
        How a ratio becomes a grade of membership in [0, 1]. Decisions do not depend on it.
    false_alarm_rate : float in (0, 1) or None, default=None
        The share of new normal rows that `predict` may reject, on average over training sets. None means 0.05, or
        1 / (n + 1) for fewer than 19 rows.
    max_memory : int, str or None, default=None
        Memory limit in bytes, or "2GiB". A fit that needs more is refused at once. None means 70 % of the free memory.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it. None means 1, -1 all cores.
    random_state : int, Generator, RandomState or None, default=None
        Random seed for the choice of prototypes. With prototypes=None nothing is random.

    Attributes
    ----------
    calibration_ : Calibration
        The margins of the left-out training rows, which `p_values` compares with, and the false-alarm `rate`.
    surprise_model_ : SurpriseModel
        Score and threshold; with labels also the likelihood ratio and the known outliers.
    regions_ : list of Region
        The clusters of the prototypes as regions, computed when first asked for. They do not affect decisions.
    labels_ : array of shape (n_training,)
        The region of each training row, -1 for rows that are not prototypes; computed with `regions_`.
    spanning_tree_, modularity_curve_, entropy_, raw_entropy_, modularity_, fuzzy_model_
        Of the prototypes, computed with `regions_`.
    measure_, resolved_measure_, prototypes_, weights_
        The fitted measure, the measure that "auto" chose, the rows that new rows are compared with, and the weights.
    training_indices_, prototype_indices_ : array
        Which rows of X were trained on (all that are not labelled as outliers), and which of these are the prototypes.
    threshold_, offset_ : float
        decision_function is margins - threshold_, and score_samples - offset_ with the Gaussian membership.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eocc import SurpriseClassifier
    >>> X = load_iris().data
    >>> clf = SurpriseClassifier().fit(X[:40])  # 40 setosas
    >>> clf.predict(X[[40, 75, 149]])
    array([ 1, -1, -1])
    """

    parameters = SURPRISE_PARAMETERS
    state_keys = KEYS
    ratio_name = "surprise (scaled: 1 is the limit)"
    scores_left_out = True
    _restore_own = restore_surprise
    surprise_model_: SurpriseModel

    def __init__(
        self,
        *,
        measure: str | Measure | Callable[[Any, Any], float] = "auto",
        weights: ArrayLike | None = None,
        prototypes: int | float | None = None,
        selection: str | Selection = "random",
        membership_function: str | MembershipFunction = "gaussian",
        false_alarm_rate: float | None = None,
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.measure, self.weights = measure, weights
        self.prototypes, self.selection = prototypes, selection
        self.membership_function, self.false_alarm_rate = membership_function, false_alarm_rate
        self.max_memory, self.n_jobs, self.random_state = max_memory, n_jobs, random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the rows of X.

        Rows with y = -1 (or False) are known outliers: a handful of them makes detection much better. All other rows
        are normal. A fit that fails or is interrupted leaves the estimator as it was.
        """
        checked(self.parameters, self)
        draft = unfitted_copy(self)
        data = draft.read(X, reset=True)
        is_outlier = np.zeros(len(data), bool) if y is None else outlier_rows(y, len(data))
        training, places = np.flatnonzero(~is_outlier), np.flatnonzero(is_outlier)
        patterns, outliers = (data[training], data[places]) if len(places) else (data, None)
        pair_bytes = pair_bytes_of(draft.resolved_measure_, patterns)
        self.check_memory(len(patterns), n_columns_of(patterns), pair_bytes, len(places))
        draft._learn(patterns, outliers, training)
        return commit_fit(self, draft)

    def _learn(self, patterns: Any, outliers: Any, training: Indices) -> None:
        measure, rng = self.resolved_measure_, generator(self.random_state)
        with threads(n_threads(self.n_jobs)):
            if current() is not None:
                measure = spread_measure(measure)
            representation = represent(patterns, measure, self.prototypes, self.selection, rng)
            weights = checked_weights(self.weights, representation.measure.n_parameters)
            self.surprise_model_, self.calibration_ = fit_surprise_model(
                representation, weights, outliers, self.false_alarm_rate
            )
        self.measure_, self.prototypes_, self.weights_ = representation.measure, representation.prototypes, weights
        self.prototype_indices_, self.training_indices_ = representation.prototype_indices, training
        self.membership_function_ = resolve_membership_function(self.membership_function)
        self.threshold_ = 0.0
        self.offset_ = float(Scores.of_ratios(np.array([BOUNDARY]), self.membership_function_).log_memberships[0])

    def score_patterns(self, patterns: Any) -> Scores:
        """Return the scores of patterns as the measure reads them."""
        ratios = self.surprise_model_.threshold.ratios(self.calibration_values(patterns))
        return Scores.of_ratios(ratios, self.membership_function_)

    def stream_rate(self, n_sample: int, n_rows: int) -> float | None:
        """Return the false-alarm rate; all rows of a stream are used for calibration."""
        return rate_for(self.false_alarm_rate, n_sample)

    def calibration_values(self, patterns: Any) -> Matrix:
        """Return the surprise of patterns as the measure reads them."""
        return self.surprise_model_.surprises(Comparison(self.measure_, patterns, self.prototypes_))

    def calibrate(self, values: Matrix, rate: float) -> None:
        """Set the threshold and the p-values from the surprises of normal rows."""
        self.surprise_model_ = replace(self.surprise_model_, threshold=Threshold.fit(values, rate))
        margins = decision_margin(self.surprise_model_.threshold.ratios(values))
        self.calibration_ = Calibration(np.sort(margins), rate)

    def explain_patterns(self, patterns: Any) -> Sequence[Explanation]:
        """Return why each pattern was accepted or rejected, by its nearest training rows."""
        return explain_by_neighbours(self, patterns)

    def rules(self) -> list[Rule]:
        """Return the regions as fuzzy rules for people to read, one per region."""
        return rules_of(self, self._calibrated().rate)

    def memory_needed(self, n: int, n_columns: int, pair_bytes: float = 0.0, n_outliers: int = 0) -> tuple[float, str]:
        """Return the bytes that a fit to n rows needs, and what to do if they are too many."""
        r = count_of(self.prototypes, n)
        rows = 8 * n * (n_columns + 40) + 8 * (r + n_outliers) * (n_columns + 20)
        rows += 16 * n_columns * (n + n_outliers) if n_outliers else 0  # densities along every column
        # Rows of numbers are compared in blocks. Other measures keep all pairs and two matrices of dissimilarities.
        pairs = (pair_bytes + 16) * n * (r + n_outliers) if pair_bytes else n_threads(self.n_jobs) * 2**23
        needed = OVERHEAD + MARGIN * (rows + pairs)
        return needed, f"pass prototypes={max(1, min(1000, r // 4))}, or fewer rows, or raise max_memory"

    def facts(self) -> dict[str, Any]:
        """Return the facts of the fitted model by name."""
        n_outliers, threshold = self.surprise_model_.n_outliers, self.surprise_model_.threshold.value
        labels = {"known outliers": n_outliers} if n_outliers else {}
        rate = self._calibrated().rate
        return {"method": "surprise", **labels, "false-alarm rate": rate, "threshold of the surprise": threshold}

    def describe(self) -> str:
        """Return how the model decides, in two or three sentences."""
        rows = "training rows" if len(self.prototype_indices_) == len(self.training_indices_) else "prototypes"
        n_outliers, rate = self.surprise_model_.n_outliers, format_number(100 * self._calibrated().rate)
        return (
            f"The surprise of a row says how far it lies from its nearest {rows}, "
            "compared with how far training rows lie from theirs. A row is rejected if its surprise is above a limit "
            f"that about {rate}% of new normal rows exceed."
            + (f" Each row is also compared with {counted(n_outliers, 'known outlier')}." if n_outliers else "")
        )

    def nearest_regions(self, rows: Matrix) -> Indices:
        """Return the region of the nearest prototype."""
        return np.asarray(self.labels_[self.prototype_indices_][rows.argmin(axis=1)])

    @property
    def has_regions(self) -> bool:
        """Whether the regions have been computed."""
        return "structure_" in vars(self)

    @property
    def weightings(self) -> dict[str, Matrix]:
        """The weights as given and, if that makes a difference, with every weight variance-equalised."""
        names = ("weight", "variance-equalised")
        return dict(zip(names, (one.weights for one in self.surprise_model_.surprise.weightings), strict=False))

    @property
    def n_compared(self) -> int:
        """The number of rows that a new row is compared with."""
        return len(self.prototypes_) + self.surprise_model_.n_outliers

    @cached_property
    def structure_(self) -> Model:
        """Tree, clusters and regions of the prototypes."""
        with threads(n_threads(self.n_jobs)):
            return structure_of(self)

    regions_ = _of_structure("regions", "The clusters of the prototypes as regions.")
    labels_ = _of_structure("labels", "The region of each training row, -1 for rows that are not prototypes.")
    fuzzy_model_ = _of_structure("fuzzy", "The regions' centres and widths.")
    spanning_tree_ = _of_structure("tree", "The minimum spanning tree of the prototypes.")
    modularity_curve_ = _of_structure("modularity_curve", "The modularity of the partitions into 1, 2, ... clusters.")
    modularity_ = _of_structure("candidate.modularity", "The normalised modularity of the regions.")
    entropy_ = _of_structure("candidate.entropy", "The normalised entropy of the prototypes.")
    raw_entropy_ = _of_structure("raw_entropy", "The Rényi entropy of the prototypes.")

    def _own_state(self) -> dict[str, Any]:
        model, function = self.surprise_model_, self.membership_function_
        return {"surprise": surprise_state(model), "outliers": model.outliers, "membership_function": function}
