"""SurpriseClassifier: how surprising a row is among its nearest normal rows."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eocc.base.checks import demand
from eocc.base.threads import n_threads, threads
from eocc.base.types import Flags, Indices, Matrix
from eocc.base.wording import counted, format_number
from eocc.calibration.conformal import MOST_BINS, Calibration, Tally, Threshold, rank_of, ranks_of, rate_for
from eocc.classifiers.answers import known_outliers
from eocc.classifiers.base import BLOCK_SIZE
from eocc.classifiers.learning import LearnsRows
from eocc.classifiers.parameters import SURPRISE_PARAMETERS
from eocc.classifiers.updating import Batch, history_of, kept_rows
from eocc.entropic.rules import (
    MembershipFunction,
    Scores,
    decision_margin,
    limit_grade,
    log_grades,
    resolve_membership_function,
)
from eocc.explain.explanation import Explanation
from eocc.measures.function import OwnFitted
from eocc.measures.protocol import Measure
from eocc.scale.memory import MARGIN, OVERHEAD
from eocc.space.prototypes.selections import count_of
from eocc.space.representation import Representation, check_measure, fit_weightings
from eocc.surprise.comparison import Reference
from eocc.surprise.model import SurpriseModel, fit_surprise, surprise_from_state, surprise_state

if TYPE_CHECKING:  # slow to import
    from eocc.entropic.synthesis import Model
    from eocc.explain.rules import Rule

# The limit rejects this share of the training rows that may not be normal: with 5 % and 10 % foreign rows in 25 public
# sets, false alarms stay at 0.043 and 0.055 for a rate of 0.05; with all of them they are 0.068 and 0.098.
FOREIGN_SHARE = 0.5
# Comparisons of all rows of numbers with those that are kept by default: about half a minute on two cores. Rows of more
# columns than FEW_COLUMNS take longer in proportion. At least FEWEST_ROWS are kept, however many there are.
MOST_COMPARISONS, FEW_COLUMNS, FEWEST_ROWS = 5 * 10**10, 20, 5_000
# Memory for all pairs of other patterns, and for three matrices of their dissimilarities.
PAIR_MEMORY = 2**31
# The complete graph of this many prototypes takes some seconds.
MOST_PROTOTYPES = 5000
SURPRISE_KEYS = ("surprise", "outliers", "membership_function", "n_rows")
VIEWS_IN_WORDS = {
    "neighbours": "how far it lies from its nearest training rows, compared with how far these lie from theirs",
    "far": "whether its only near rows are a clump of near copies",
    "covariance": "whether its values go together",
    "cell": "how strange its strangest value is",
}


def _of_structure(path: str, meaning: str) -> Any:
    """Return a property that is computed with the structure of the prototypes when it is first asked for."""
    return property(lambda classifier: attrgetter(path)(classifier._structure_), doc=meaning)


class SurpriseClassifier(LearnsRows):
    """Detects rows that are surprising among their nearest normal rows.

    The surprise of a row is the largest of a few views. The first compares its distances to the nearest training rows
    with theirs; it estimates -log density (Kozachenko and Leonenko). The others see one impossible value or a block of
    gaps, values that do not go together, and a clump of near copies among the training rows. The threshold and the
    p-values come from the training rows; each is scored as if it were not in the training set. There is no search and
    nothing to tune. docs/research/score.md has the definition and says how it was chosen.

    A training row, or an exact copy of one, keeps the score that it had when it was left out.

    With `prototypes="auto"` all rows of numbers are compared, up to 223,000. Of more rows it keeps 50 billion / n, at
    least 5,000, so that a fit takes about half a minute on two cores. With d > 20 columns it keeps 1,000 billion / (n
    d). For other data it means as many rows as can be compared with each other in 2 GiB. Decisions do not depend on the
    membership function. docs/guides/groups.md and docs/guides/dirty_training_data.md show `baseline_by` and
    `contamination`.

    Attributes
    ----------
    calibration_ : Calibration
        The margins of the left-out training rows, which `p_values` compares with, and the false-alarm `rate`.
    answers_ : Answers or None
        The rows that `teach` was given, as the measure reads them, the answers `y`, +1 or -1, and `names` of the rows.
    surprise_model_ : SurpriseModel
        Score and threshold; with labels also the likelihood ratio and the known outliers.
    regions_ : list of Region
        The clusters of the prototypes as regions, computed when first asked for. They do not affect decisions.
    labels_ : array of shape (n_training,)
        The region of each row in `training_indices_`; computed with `regions_`.
    spanning_tree_, modularity_curve_, entropy_, raw_entropy_, modularity_, fuzzy_model_
        Of the prototypes, computed with `regions_`.
    measure_, resolved_measure_, prototypes_, weights_
        The fitted measure, the measure that "auto" chose, the rows that new rows are compared with, and the weights.
    n_rows_ : int
        The number of training rows.
    training_indices_, prototype_indices_ : array
        The rows of X that new rows are compared with, and 0, 1, 2, ... for each of them.
    training_p_values_ : array of shape (n_training,)
        The p-values of the rows in `training_indices_`, each left out of the training rows: those of `p_values`.
        Computed when asked for.
    threshold_, offset_ : float
        decision_function is margins - threshold_, and score_samples - offset_ with the Gaussian membership.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    reading_ : Reading or None
        How tables are read: the columns, what each holds, how text is written, and what is left out and why.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eocc import SurpriseClassifier
    >>> X = load_iris().data
    >>> clf = SurpriseClassifier().fit(X[:40])  # 40 setosas
    >>> clf.predict(X[[40, 75, 149]])
    array([ 1, -1, -1])
    """

    _parameters = SURPRISE_PARAMETERS
    _state_keys = SURPRISE_KEYS
    _how_far_out_name = "surprise (scaled: 1 is the limit)"
    _scores_left_out = True
    surprise_model_: SurpriseModel

    def __init__(
        self,
        *,
        measure: str | Measure | Callable[[Any, Any], float] = "auto",
        weights: ArrayLike | None = None,
        prototypes: int | float | str | None = "auto",
        membership_function: str | MembershipFunction = "gaussian",
        false_alarm_rate: float | None = None,
        contamination: float | None = None,
        baseline_by: str | Sequence[str] | None = None,
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.contamination, self.baseline_by = contamination, baseline_by
        self.measure, self.weights, self.prototypes = measure, weights, prototypes
        self.membership_function, self.false_alarm_rate = membership_function, false_alarm_rate
        self.max_memory, self.n_jobs = max_memory, n_jobs

    def _calibrate_on(self, tally: Tally) -> None:
        n, foreign = min(tally.total, MOST_BINS), FOREIGN_SHARE * (self.contamination or 0.0)
        rate = rate_for(self.false_alarm_rate, n)
        if rate + foreign >= 1:
            given = f"a false_alarm_rate of {rate:g} and a contamination of {self.contamination:g}"
            raise ValueError(f"{given} leave no row to accept; lower one of them")
        self._calibrate(tally.largest(ranks_of(n, tally.total, rate + foreign)), rate, foreign)

    def _learn(self, patterns: Any, places: Indices, outliers: Any, confirmed: Any = None) -> Matrix:
        """Learn from the patterns that new rows are compared with, the rows `places` of X.

        Return their surprises, each as if it were new. `confirmed` rows are normal by an answer.
        """
        with threads(self.n_jobs):
            # The surprise does not depend on the scale of the dissimilarity.
            fitted = self.resolved_measure_.fit_roughly(patterns)
            weights = self._weights_of(fitted)
            whole = Representation(fitted, patterns, patterns, np.arange(len(patterns)), is_whole=True)
            prepared = None if fitted.coordinates is not None else whole.prepared
            if prepared is not None and isinstance(fitted, OwnFitted):
                check_measure(fitted, prepared, np.empty((len(patterns), len(patterns))))
            weightings, left_out = fit_weightings(whole, weights)
            reference = Reference(fitted, patterns, weightings, prepared)
            if hasattr(self, "surprise_model_"):  # of the model that is updated or taught
                reference.searched = self.surprise_model_.normal.searched
            self.surprise_model_, surprises = fit_surprise(reference, outliers, left_out, confirmed)
        self.measure_, self.prototypes_, self.weights_ = fitted, patterns, weights
        self.prototype_indices_, self.training_indices_ = np.arange(len(patterns)), places
        self.membership_function_ = resolve_membership_function(self.membership_function)
        self.threshold_ = 0.0
        self.offset_ = limit_grade(self.membership_function_)
        return surprises

    def _kept_rows(self, forget: Any, day: Any, first: Any = None) -> tuple[tuple[Batch, ...], Flags]:
        if kept := self._prototypes_in_words:
            remedy = "fit it again with prototypes=None (--prototypes none), which keeps all"
            raise ValueError(f"the model keeps only {kept}, so it cannot be updated; {remedy}")
        history = history_of(self, first)
        return history, kept_rows(history, forget, day)

    def _score_patterns(self, patterns: Any) -> Scores:
        ratios = self.surprise_model_.threshold.ratios(self.surprise_model_.surprises(patterns))
        return Scores(ratios, log_grades(self.membership_function_, ratios))

    def _calibration_values(self, patterns: Any) -> Matrix:
        return self.surprise_model_.surprises(patterns)

    def _calibrate(self, values: Matrix, rate: float, foreign: float = 0.0) -> None:
        """Set the threshold and the p-values from the surprises of training rows, a share `foreign` not normal."""
        threshold = Threshold.fit(values, rate + foreign)
        self.surprise_model_ = replace(self.surprise_model_, threshold=threshold)
        margins = np.sort(decision_margin(threshold.ratios(values)))
        # The limit may lie beyond the training row that sets it, by rounding. It counts as that row's margin: the
        # p-value of an accepted row exceeds the rate.
        rank = rank_of(rate + foreign, len(margins))
        margins[:rank] = np.minimum(margins[:rank], 0.0)
        self.calibration_ = Calibration(margins, rate, foreign)

    @property
    def training_p_values_(self) -> Matrix:
        """The p-values of the rows in `training_indices_`, each left out of the training rows."""
        return self._calibrated().p_values(self._score_read(self.prototypes_).margins)

    def _explain_rows(self, patterns: Any) -> Sequence[Explanation]:
        from eocc.explain.by_neighbours import explain_by_neighbours

        return explain_by_neighbours(self, patterns)

    def rules(self) -> "list[Rule]":
        """Return the regions as fuzzy rules for people to read, one per region."""
        from eocc.explain.rules import rules_of

        return rules_of(self, self._calibrated().rate)

    def _plan_fit(self, n: int, n_columns: int, pair_bytes: float = 0.0, n_outliers: int = 0) -> tuple[float, str, int]:
        if self.prototypes != "auto":
            r = count_of(self.prototypes, n)  # type: ignore[arg-type]
        elif pair_bytes:
            r = min(n, int((PAIR_MEMORY / (pair_bytes + 3 * 8)) ** 0.5))
        else:
            r = min(n, max(FEWEST_ROWS, MOST_COMPARISONS * FEW_COLUMNS // (n * max(FEW_COLUMNS, n_columns))))
        # The other rows are scored in blocks.
        if pair_bytes:  # all pairs, and three matrices of dissimilarities
            pairs = (pair_bytes + 24) * r * (r + n_outliers)
            block = (pair_bytes + 16) * min((n - r) * r, BLOCK_SIZE)
        else:  # an index, and the columns that labels need if there are outliers
            pairs = 8 * (r + n_outliers) * ((13 if n_outliers else 11) * n_columns + 60)
            block = n_threads(self.n_jobs) * 2**23 if r < n else 0
        needed = OVERHEAD + MARGIN * (8 * n * n_columns + pairs + block)
        return needed, f"pass prototypes={max(1, min(1000, r // 4))}, or fewer rows, or raise max_memory", r

    def _facts(self) -> dict[str, Any]:
        model, calibration = self.surprise_model_, self._calibrated()
        facts: dict[str, Any] = {"method": "surprise", "views": ", ".join(model.names)}
        if model.n_outliers:
            facts["known outliers"] = model.n_outliers
        if calibration.foreign:
            facts["contamination"] = calibration.foreign / FOREIGN_SHARE
        return {**facts, "false-alarm rate": calibration.rate, "threshold of the surprise": model.threshold.value}

    def _describe(self) -> str:
        n_outliers, rate = self.surprise_model_.n_outliers, format_number(100 * self._calibrated().rate)
        views = "; ".join(VIEWS_IN_WORDS[name] for name in self.surprise_model_.names)
        return (
            f"The surprise of a row is the largest of its views: {views}. A row is rejected if its surprise is above a "
            f"limit that about {rate}% of new normal rows exceed."
            + (f" Each row is also compared with {counted(n_outliers, 'known outlier')}." if n_outliers else "")
        )

    @property
    def _weightings(self) -> dict[str, Matrix]:
        """The weights as given and, if that makes a difference, with every weight variance-equalised."""
        return dict(zip(("weight", "variance-equalised"), self.surprise_model_.normal.weightings, strict=False))

    def _own_state(self) -> dict[str, Any]:
        values = surprise_state(self.surprise_model_), self.outliers_, self.membership_function_, self.n_rows_
        return dict(zip(SURPRISE_KEYS, values, strict=True))

    @property
    def _has_regions(self) -> bool:  # type: ignore[override]
        return "_structure_" in vars(self)

    @cached_property
    def _structure_(self) -> "Model":
        """The paper's stages on the prototypes at the weights of the model, with the paper's defaults.

        The time grows with the cube of the number of prototypes, so more than MOST_PROTOTYPES are refused.
        """
        from eocc.classifiers.entropic import EntropicOneClassClassifier, settings_of
        from eocc.entropic.synthesis import best_model

        n = len(self.prototypes_)
        if n > MOST_PROTOTYPES:
            remedy = f"fit with prototypes={MOST_PROTOTYPES} or fewer"
            raise ValueError(f"regions of {n} rows would take very long; {remedy}")
        whole = Representation(self.measure_, self.prototypes_, self.prototypes_, np.arange(n), is_whole=True)
        paper = EntropicOneClassClassifier(weights=self.weights_, membership_function=self.membership_function_)
        paper.resolved_measure_ = self.resolved_measure_
        with threads(self.n_jobs):
            return best_model(whole, settings_of(paper), np.random.default_rng(0))

    regions_ = _of_structure("regions", "The clusters of the prototypes as regions.")
    labels_ = _of_structure("labels", "The region of each prototype.")
    fuzzy_model_ = _of_structure("fuzzy", "The regions' centres and widths.")
    spanning_tree_ = _of_structure("tree", "The minimum spanning tree of the prototypes.")
    modularity_curve_ = _of_structure("modularity_curve", "The modularity of the partitions into 1, 2, ... clusters.")
    modularity_ = _of_structure("candidate.modularity", "The normalised modularity of the regions.")
    entropy_ = _of_structure("candidate.entropy", "The normalised entropy of the prototypes.")
    raw_entropy_ = _of_structure("raw_entropy", "The Rényi entropy of the prototypes.")

    def _restore_own(self, state: dict[str, Any]) -> float:
        if state["outliers"] is not None:
            self.measure_.check_patterns(state["outliers"])
        outliers, answers = state["outliers"], self.answers_
        known, answered = known_outliers(outliers, answers), None if answers is None else answers.rows
        model = surprise_from_state(state["surprise"], self.measure_, self.prototypes_, known, answered)
        is_right = (model.neighbours.weightings[0].weights == self.weights_).all()
        demand(is_right, "weightings must start with weights")
        demand(not isinstance(state["membership_function"], str), "membership_function must be an object")
        self.membership_function_ = resolve_membership_function(state["membership_function"])
        self.surprise_model_, self.outliers_ = model, outliers
        return limit_grade(self.membership_function_)
