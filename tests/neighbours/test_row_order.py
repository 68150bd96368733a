"""Samples do not depend on the order of the rows, so sorted and periodic data are treated as all others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from doubles import plain
from eocc.measures import Composite, FunctionMeasure, resolve_measure
from eocc.space.prototypes.selections import dissimilarities
from eocc.space.representation import Representation, fit_weightings, represent


def periodic_words(n):
    """Every third word differs from others like it by letters, the others by their lengths."""
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(list("abcd"), 6)) if i % 3 == 0 else "e" * rng.integers(1, 12) for i in range(n)]


def test_equalised_weights_come_from_all_kinds_of_objects(monkeypatch):
    measure = resolve_measure("string-edit")
    patterns = measure.read(periodic_words(900))
    representation = Representation(measure.fit(patterns), patterns, patterns, np.arange(900), is_whole=True)
    sampled = fit_weightings(representation, np.ones(3))[0]
    monkeypatch.setattr("eocc.space.representation.SAMPLE", 900)
    assert_allclose(sampled, fit_weightings(representation, np.ones(3))[0], rtol=0.05)


@pytest.mark.parametrize("period", [2, 3, 5])
def test_prototypes_are_chosen_by_the_scale_of_all_kinds_of_rows(period):
    rng = np.random.default_rng(0)
    usual = np.arange(1200) % period == 0
    sizes, heights = (np.where(usual, 0.0, scale * rng.random(1200)) for scale in (1e-6, 1e3))
    composite = Composite({"size": "euclidean", "height": FunctionMeasure(lambda a, b: abs(a - b))})
    seen = []

    class Looking:
        def select(self, measure, patterns, count, rng):
            for part, fitted in measure.measures.items():
                seen.append(dissimilarities(fitted, patterns.parts[part], patterns.parts[part]).max())
            return np.arange(count)

    records = composite.read([{"size": size, "height": height} for size, height in zip(sizes, heights, strict=True)])
    represent(records, composite, 4, Looking(), rng)
    assert len(seen) == 2
    assert all(1 <= largest <= 2 for largest in seen)


def test_a_function_is_checked_on_all_kinds_of_objects():
    def one_sided(a, b):
        return abs(a - b) * (2 if a % 10 > 0 and b > a else 1)

    with pytest.raises(ValueError, match="the measure is not symmetric"):
        plain(measure=one_sided).fit(list(range(100)))
