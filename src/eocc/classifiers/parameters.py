"""The parameters of the classifiers: one table for validation, docstrings, command line, PyOD adapter, model file."""

from eocc.base.checks import ANYTHING, AUTO, COLUMN_NAMES, THREADS, Parameter, integer, number, optional, prototypes
from eocc.base.checks import MEMORY as BYTES
from eocc.base.registry import choice
from eocc.entropic import EXTENTS, LEAST_CLUSTERS, MEMBERSHIP_FUNCTIONS, PERFORMANCES, SEARCHES, TCONORMS
from eocc.measures import MEASURES
from eocc.space.prototypes import SELECTIONS

MEASURE = Parameter(
    "measure",
    choice((AUTO, *MEASURES), "fit", "__call__"),
    "How rows are compared: euclidean for numbers, graph-edit for labelled graphs, or another measure; auto looks at "
    "the data.",
)
WEIGHTS = Parameter(
    "weights",
    optional(ANYTHING),
    "Weights of the dissimilarity in [0, 1], one per column of numbers. None means those of the search, if there is "
    "one, else all ones.",
)
MEMBERSHIP = Parameter(
    "membership_function",
    choice(MEMBERSHIP_FUNCTIONS, "log_grade"),
    "How a distance becomes a grade of membership in [0, 1].",
)
RATE = Parameter(
    "false_alarm_rate",
    optional(number("(0, 1)")),
    "The share of new normal rows that may be rejected, on average over training sets. Default: 0.05, or 1 / (n + 1) "
    "for fewer than 19 rows.",
)
BASELINE = Parameter(
    "baseline_by",
    optional(COLUMN_NAMES),
    "Compare numbers relative to the level and the spread of the rows that have the same values in these columns, for "
    "example machine.",
)
MEMORY = Parameter(
    "max_memory",
    optional(BYTES),
    "Memory limit for the fit, for example 2GiB; one that needs more is refused at once. Default: 70 % of free memory.",
)
JOBS = Parameter(
    "n_jobs", optional(THREADS), "Number of threads; none means 1, -1 all cores. Results do not depend on it."
)

SURPRISE_PARAMETERS = (
    MEASURE,
    WEIGHTS,
    Parameter(
        "prototypes",
        optional(prototypes(allows_auto=True)),
        "Compare with this many training rows, or this share of them, chosen by their content; auto limits their "
        "number, none means all. All rows count for the threshold and the p-values.",
    ),
    MEMBERSHIP,
    RATE,
    Parameter(
        "contamination",
        optional(number("[0, 0.5)")),
        "The share of training rows that may not be normal, if you know it roughly. Half of it is added to the share "
        "of training rows that the limit rejects; nothing else changes.",
    ),
    *(BASELINE, MEMORY, JOBS),
)
REGION_PARAMETERS = (
    MEASURE,
    Parameter("n_regions", integer(1), "The number of regions, at most one per four different rows."),
    *(WEIGHTS, RATE, BASELINE, MEMORY, JOBS),
)
ENTROPIC_PARAMETERS = (
    MEASURE,
    Parameter(
        "synthesis",
        choice(("entropy", "validation")),
        "Learn from normal rows only: EOCC-1, which maximises eta * entropy + (1 - eta) * modularity. Or also "
        "validate: EOCC-2, which maximises the performance on a validation set of both kinds, too.",
    ),
    Parameter(
        "prototypes",
        optional(prototypes()),
        "Compare with this many training rows, or this share of them; none means all.",
    ),
    Parameter("selection", choice(SELECTIONS, "select"), "How prototypes are chosen."),
    Parameter(
        "first_cut",
        choice(LEAST_CLUSTERS),
        "In EOCC-1, cut the heaviest edge of the tree always, as in the paper's pseudo-code, or only if the modularity "
        "does not fall, as in its text. EOCC-2 always begins with two clusters.",
    ),
    Parameter(
        "objective",
        choice(("normalised", "printed")),
        "The entropy to maximise: in [0, 1], or the Rényi entropy as printed, whose size drowns the modularity.",
    ),
    Parameter("eta", number("[0, 1]"), "The weight of entropy in the objective; modularity gets the rest."),
    Parameter("beta", number("[0, 1]"), "The share of the performance in the objective of EOCC-2."),
    Parameter(
        "gamma",
        number("(0, inf)"),
        "The exponent of edge lengths in the entropy, less than the number d of prototypes. The order of the Rényi "
        "entropy is (d - gamma) / d.",
    ),
    Parameter("performance", choice(PERFORMANCES), "What is measured on the validation rows."),
    Parameter("validation_fraction", number("(0, 1)"), "The share of targets and of outliers held out for validation."),
    Parameter(
        "extent",
        choice(EXTENTS, "__call__"),
        "How the extent of a region is computed from the distances inside its cluster.",
    ),
    MEMBERSHIP,
    Parameter("tconorm", choice(TCONORMS, "__call__"), "How the grades in several regions become one."),
    Parameter(
        "search",
        optional(choice(SEARCHES, "batches")),
        "How weights are found; none sets all to 1. In Python, objects of eocc.entropic.search have settings: "
        "GeneticSearch(max_time=60).",
    ),
    WEIGHTS,
    Parameter(
        "false_alarm_rate",
        RATE.kind,
        "The share of new targets that may be rejected, kept by cross-conformal calibration, which costs ten more "
        "fits. None keeps the paper's rule: a target lies within one extent of a region.",
    ),
    *(MEMORY, JOBS),
    Parameter(
        "random_state",
        optional(ANYTHING),
        "Random seed for the search, the choice of prototypes and the validation split.",
    ),
    Parameter("verbose", ANYTHING, "Show the progress of the search on standard error."),
)
