"""The parameters of the classifiers: one table for validation, docstrings, command line, PyOD adapter, model file."""

from typing import Any

from eocc.base.checks import ANYTHING, COLUMN_NAMES, MEMORY, THREADS, Parameter, integer, number, optional, prototypes
from eocc.base.registry import choice
from eocc.base.vocabulary import meaning
from eocc.entropic import EXTENTS, LEAST_CLUSTERS, MEMBERSHIP_FUNCTIONS, PERFORMANCES, SEARCHES, TCONORMS
from eocc.measures import MEASURES
from eocc.space.prototypes import SELECTIONS


def _of(owner: str, **checks: Any) -> tuple[Parameter, ...]:
    """Return parameters of a classifier with what they mean, in the order of its constructor."""
    return tuple(Parameter(name, one, meaning(name, owner, "OneClassClassifier")) for name, one in checks.items())


MEASURE, MEMBERSHIP = choice(("auto", *MEASURES), "fit", "__call__"), choice(MEMBERSHIP_FUNCTIONS, "log_grade")
WEIGHTS, RATE = optional(ANYTHING), optional(number("(0, 1)"))

SURPRISE_PARAMETERS = _of(
    "SurpriseClassifier",
    measure=MEASURE,
    weights=WEIGHTS,
    prototypes=optional(prototypes("auto")),
    membership_function=MEMBERSHIP,
    false_alarm_rate=RATE,
    contamination=optional(number("[0, 0.5)")),
    baseline_by=optional(COLUMN_NAMES),
    max_memory=optional(MEMORY),
    n_jobs=optional(THREADS),
)
REGION_PARAMETERS = _of(
    "RegionClassifier",
    measure=MEASURE,
    n_regions=integer(1),
    weights=WEIGHTS,
    false_alarm_rate=RATE,
    baseline_by=optional(COLUMN_NAMES),
    max_memory=optional(MEMORY),
    n_jobs=optional(THREADS),
)
ENTROPIC_PARAMETERS = _of(
    "EntropicOneClassClassifier",
    measure=MEASURE,
    synthesis=choice(("entropy", "validation")),
    prototypes=optional(prototypes()),
    selection=choice(SELECTIONS, "select"),
    first_cut=choice(LEAST_CLUSTERS),
    objective=choice(("normalised", "printed")),
    eta=number("[0, 1]"),
    beta=number("[0, 1]"),
    gamma=number("(0, inf)"),
    performance=choice(PERFORMANCES),
    validation_fraction=number("(0, 1)"),
    extent=choice(EXTENTS, "__call__"),
    membership_function=MEMBERSHIP,
    tconorm=choice(TCONORMS, "__call__"),
    search=optional(choice(SEARCHES, "batches")),
    weights=WEIGHTS,
    false_alarm_rate=RATE,
    max_memory=optional(MEMORY),
    n_jobs=optional(THREADS),
    random_state=optional(ANYTHING),
    verbose=ANYTHING,
)
