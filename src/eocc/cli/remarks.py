"""What a user should know about patterns that were read: odd columns, and patterns that the model has learnt from."""

import shlex
from itertools import compress

import numpy as np

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.cli.app import say
from eocc.cli.reading import Read, without_names
from eocc.foundation.printing import quoted
from eocc.foundation.registry import listed
from eocc.report.judgement import MANY_KNOWN

# So many patterns tell whether a model was trained on them.
MOST_TRIED = 1000


def say_odd_columns(read: Read) -> None:
    """Say aloud which columns of numbers never vary, or count the rows."""
    if read.schema.kind != "numbers" or len(read.patterns) < 2:
        return
    for name in compress(read.schema.names, (np.diff(read.patterns, axis=0) == 1).all(axis=0)):
        say(f"Note: column {quoted(name)} counts the rows; if it only names them, --drop {shlex.quote(name)}.")
    targets = read.patterns[read.is_target]
    constant = list(compress(read.schema.names, (targets == targets[0]).all(axis=0)))
    if constant and len(targets) > 1:
        vary = f"column {quoted(constant[0])} never varies" if len(constant) == 1 else (
            f"columns {listed(map(quoted, constant))} never vary"
        )  # fmt: skip
        say(f"Note: {vary}, so that new values there count in their own units; --drop leaves columns out, and for "
            "--measure gower any new value there is strange.")  # fmt: skip


def say_if_learnt(classifier: EntropicOneClassClassifier, read: Read) -> None:
    """Say aloud that patterns are those the model was trained on, where many of them are."""
    some = np.unique(np.linspace(0, len(read.names) - 1, MOST_TRIED).astype(int))
    with without_names():
        share = float(np.mean(classifier.transform(read.some(some.tolist())).min(axis=1) == 0))
    if share > MANY_KNOWN:
        say(f"Note: {share:.0%} of the patterns do not differ from one that the model knows; if it was trained on "
            "them, figures flatter it: hold some out.")  # fmt: skip
