"""The parameters of the classifiers: one table for validation, command line, PyOD adapter and model file."""

from eocc.base.checks import integer, number, optional
from eocc.base.parameters import ANYTHING, AUTO, COLUMN_NAMES, THREADS, Parameter, prototypes
from eocc.base.parameters import MEMORY as BYTES
from eocc.base.registry import choice
from eocc.entropic import EXTENTS, LEAST_CLUSTERS, MEMBERSHIP_FUNCTIONS, PERFORMANCES, SEARCHES, TCONORMS
from eocc.measures import MEASURES
from eocc.space.prototypes import SELECTIONS

MEASURE = Parameter(
    "measure", choice((AUTO, *MEASURES), "fit", "__call__"), "How rows are compared; auto looks at the data."
)
PROTOTYPES = Parameter(
    "prototypes", optional(prototypes()), "Compare with this many training rows, or this share of them; none means all."
)
SELECTION = Parameter("selection", choice(SELECTIONS, "select"), "How prototypes are chosen.")
WEIGHTS = Parameter("weights", optional(ANYTHING), "Fixed weights p of the dissimilarity, without a search.")
MEMBERSHIP = Parameter(
    "membership_function", choice(MEMBERSHIP_FUNCTIONS, "log_grade"), "How a distance becomes a grade of membership."
)
RATE = Parameter("false_alarm_rate", optional(number("(0, 1)")), "The share of new normal rows that may be rejected.")
CONTAMINATION = Parameter(
    "contamination", optional(number("[0, 0.5)")), "The share of training rows that may not be normal; moves the limit."
)
BASELINE = Parameter(
    "baseline_by",
    optional(COLUMN_NAMES),
    "Compare numbers relative to the rows that have the same values in these columns.",
)
MEMORY = Parameter(
    "max_memory", optional(BYTES), "Memory limit for the fit, for example 2GiB. Default: 70 % of free memory."
)
JOBS = Parameter("n_jobs", optional(THREADS), "Number of threads; -1 uses all cores. Results do not depend on it.")
SEED = Parameter("random_state", optional(ANYTHING), "Random seed.")

SURPRISE_PARAMETERS = (
    MEASURE,
    WEIGHTS,
    Parameter(
        "prototypes",
        optional(prototypes(allows_auto=True)),
        "Compare with this many training rows, or this share of them; auto limits their number, none means all.",
    ),
    *(MEMBERSHIP, RATE, CONTAMINATION, BASELINE, MEMORY, JOBS),
)
REGION_PARAMETERS = (
    MEASURE,
    Parameter("n_regions", integer(1), "The number of regions, at most one per four different rows."),
    *(WEIGHTS, RATE, BASELINE, MEMORY, JOBS),
)
ENTROPIC_PARAMETERS = (
    MEASURE,
    Parameter("synthesis", choice(("entropy", "validation")), "Learn from normal rows only, or also validate."),
    PROTOTYPES,
    SELECTION,
    Parameter("first_cut", choice(LEAST_CLUSTERS), "Cut the heaviest edge always, or if modularity gains."),
    Parameter(
        "objective", choice(("normalised", "printed")), "The entropy to maximise: in [0, 1], or as the paper prints it."
    ),
    Parameter("eta", number("[0, 1]"), "The weight of entropy in the objective; modularity gets the rest."),
    Parameter("beta", number("[0, 1]"), "The share of validation performance in the objective."),
    Parameter(
        "gamma", number("(0, inf)"), "The exponent of edge lengths in the entropy; less than the number of prototypes."
    ),
    Parameter("performance", choice(PERFORMANCES), "What is measured on the validation rows."),
    Parameter("validation_fraction", number("(0, 1)"), "The share of labelled rows held out for validation."),
    Parameter("extent", choice(EXTENTS, "__call__"), "How the extent of a region is computed."),
    MEMBERSHIP,
    Parameter("tconorm", choice(TCONORMS, "__call__"), "How the grades of several regions are combined."),
    Parameter("search", optional(choice(SEARCHES, "batches")), "How weights are found; none sets all to 1."),
    *(WEIGHTS, RATE, MEMORY, JOBS, SEED),
    Parameter("verbose", ANYTHING, "Show the progress of the search."),
)
