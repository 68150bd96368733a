"""The parameters of the classifiers: one table for validation, command line, PyOD adapter and model file."""

from eocc.foundation.parameters import (
    AUTO,
    Anything,
    Choice,
    ColumnNames,
    Count,
    Memory,
    Number,
    Optional,
    Parameter,
    Prototypes,
    Threads,
)
from eocc.measures import MEASURES
from eocc.partition import LEAST_CLUSTERS
from eocc.regions import EXTENTS, MEMBERSHIP_FUNCTIONS, REPRESENTATIVES, TCONORMS
from eocc.search import SEARCHES
from eocc.space.prototypes import SELECTIONS
from eocc.synthesis import GRAPHS

MEASURE = Parameter(
    "measure", Choice((AUTO, *MEASURES), ("fit", "__call__")), "How rows are compared; auto looks at the data."
)
PROTOTYPES = Parameter(
    "prototypes", Optional(Prototypes()), "Compare with this many training rows, or this share of them; none means all."
)
SELECTION = Parameter("selection", Choice(tuple(SELECTIONS), ("select",)), "How prototypes are chosen.")
WEIGHTS = Parameter("weights", Optional(Anything()), "Fixed weights p of the dissimilarity, without a search.")
MEMBERSHIP = Parameter(
    "membership_function",
    Choice(tuple(MEMBERSHIP_FUNCTIONS), ("log_grade",)),
    "How a distance becomes a grade of membership.",
)
RATE = Parameter("false_alarm_rate", Optional(Number("(0, 1)")), "The share of new normal rows that may be rejected.")
CONTAMINATION = Parameter(
    "contamination", Optional(Number("[0, 0.5)")), "The share of training rows that may not be normal; moves the limit."
)
BASELINE = Parameter(
    "baseline_by",
    Optional(ColumnNames()),
    "Compare numbers relative to the rows that have the same values in these columns.",
)
MEMORY = Parameter(
    "max_memory", Optional(Memory()), "Memory limit for the fit, for example 2GiB. Default: 70 % of free memory."
)
JOBS = Parameter("n_jobs", Optional(Threads()), "Number of threads; -1 uses all cores. Results do not depend on it.")
SEED = Parameter("random_state", Optional(Anything()), "Random seed.")

SURPRISE_PARAMETERS = (
    MEASURE,
    WEIGHTS,
    Parameter(
        "prototypes",
        Optional(Prototypes(allows_auto=True)),
        "Compare with this many training rows, or this share of them; auto limits their number, none means all.",
    ),
    *(MEMBERSHIP, RATE, CONTAMINATION, BASELINE, MEMORY, JOBS),
)
REGION_PARAMETERS = (
    MEASURE,
    Parameter("n_regions", Count(), "The number of regions, at most one per four different rows."),
    *(WEIGHTS, RATE, BASELINE, MEMORY, JOBS),
)
ENTROPIC_PARAMETERS = (
    MEASURE,
    Parameter("synthesis", Choice(("entropy", "validation")), "Learn from normal rows only, or also validate."),
    PROTOTYPES,
    SELECTION,
    Parameter("graph", Choice((AUTO, *GRAPHS), ("build",)), "Connect all pairs of rows, or nearest neighbours only."),
    Parameter("first_cut", Choice(tuple(LEAST_CLUSTERS)), "Cut the heaviest edge always, or if modularity gains."),
    Parameter(
        "objective", Choice(("normalised", "printed")), "The entropy to maximise: in [0, 1], or as the paper prints it."
    ),
    Parameter("eta", Number("[0, 1]"), "The weight of entropy in the objective; modularity gets the rest."),
    Parameter("beta", Number("[0, 1]"), "The share of validation performance in the objective."),
    Parameter(
        "gamma", Number("(0, inf)"), "The exponent of edge lengths in the entropy; less than the number of prototypes."
    ),
    Parameter("performance", Anything(), "What is measured on the validation rows: accuracy, f1, auc or a scorer."),
    Parameter("validation_fraction", Number("(0, 1)"), "The share of labelled rows held out for validation."),
    Parameter("extent", Choice(tuple(EXTENTS), ("__call__",)), "How the extent of a region is computed."),
    Parameter("representative", Choice(tuple(REPRESENTATIVES), ("centre",)), "The centre of a region."),
    MEMBERSHIP,
    Parameter("tconorm", Choice(tuple(TCONORMS), ("__call__",)), "How the grades of several regions are combined."),
    Parameter("search", Optional(Choice(tuple(SEARCHES), ("start",))), "How weights are found; none sets all to 1."),
    Parameter("precision", Choice(("double", "single")), "The precision of distances inside the search."),
    *(WEIGHTS, RATE, MEMORY, JOBS, SEED),
    Parameter("verbose", Anything(), "Show the progress of the search."),
)
