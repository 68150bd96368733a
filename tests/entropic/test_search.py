import time
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from eocc.entropic.search import GeneticSearch, cross, generations, mutate, resolve_search, select


def sphere(batch):
    return -((batch - 0.3) ** 2).sum(axis=1)


def run(search, evaluate=sphere, u=3, seed=0):
    """The generations of a search for the best value of a function."""

    def candidates(batch):
        values = evaluate(batch).tolist()
        return [SimpleNamespace(point=p, objective=value) for p, value in zip(batch, values, strict=True)]

    return list(generations(search, candidates, u, np.random.default_rng(seed)))


@given(st.integers(1, 6), st.integers(0, 1000))
def test_a_search_stays_in_the_cube_and_never_loses_its_best(u, seed):
    asked = []

    def evaluate(batch):
        asked.append(batch)
        return sphere(batch)

    steps = run(GeneticSearch(), evaluate, u, seed)
    batches = np.vstack(asked)
    assert batches.shape[1] == u
    assert batches.min() >= 0
    assert batches.max() <= 1
    best = [step.best.objective for step in steps]
    assert best == sorted(best)
    assert best[-1] == sphere(batches).max() == sphere(steps[-1].best.point[None])[0]
    assert len(batches) == len({p.tobytes() for p in batches})


def test_same_seed_same_search():
    one, two = (run(GeneticSearch(), seed=5) for _ in range(2))
    assert [step.best.objective for step in one] == [step.best.objective for step in two]
    assert_array_equal(one[-1].best.point, two[-1].best.point)


def test_genetic_search_beats_the_same_number_of_random_points():
    asked = []

    def evaluate(batch):
        asked.append(batch)
        return sphere(batch)

    found = run(GeneticSearch(), evaluate, u=10)[-1]
    random = np.random.default_rng(0).random((len(np.vstack(asked)), 10))
    assert found.best.objective > sphere(random).max()


def test_stops_after_patience_or_max_generations():
    flat = run(GeneticSearch(patience=4), lambda batch: np.zeros(len(batch)))
    assert len(flat) == 1 + 4
    assert len(run(GeneticSearch(max_generations=7, patience=100))) == 7


def test_the_papers_settings_are_the_defaults():
    assert GeneticSearch() == GeneticSearch(
        population_size=30, mutation_rate=0.3, max_generations=100, patience=10, max_time=None, first_population="ones"
    )


def test_a_mutant_has_about_two_new_genes():
    children = np.full((2000, 20), 2.0)
    changed = (mutate(children, 1, np.random.default_rng(0)) != children).sum(axis=1)
    assert changed.min() == 1
    assert changed.mean() == pytest.approx(1 + 19 / 20, abs=0.1)


def test_first_individual_is_all_ones():
    first = next(GeneticSearch().batches(4, np.random.default_rng(0)))
    assert first.shape == (30, 4)
    assert_array_equal(first[0], 1)


def test_the_printed_first_population_is_random():
    starts = [GeneticSearch(first_population=name) for name in ("random", "ones")]
    first, ones = (next(start.batches(4, np.random.default_rng(0))) for start in starts)
    assert first.shape == (30, 4)
    assert (first[0] < 1).all()
    assert_array_equal(first[1:], ones[1:])


def test_children_are_two_point_crossovers_of_their_parents():
    mothers, fathers = np.zeros((200, 50)), np.ones((200, 50))
    children = cross(mothers, fathers, np.random.default_rng(0))
    changes = np.abs(np.diff(children, axis=1)).sum(axis=1)
    assert set(changes.tolist()) <= {0, 1, 2}
    assert 0.2 < children.mean() < 0.5  # two uniform cuts keep a third of the genes on average


def test_selection_is_proportional_to_value_minus_minimum():
    rng = np.random.default_rng(0)
    chosen = select(np.array([[0.0], [1.0], [2.0]]), np.array([5.0, 6.0, 8.0]), 4000, rng)
    shares = [(chosen == value).mean() for value in (0, 1, 2)]
    assert shares[0] == 0
    assert shares[1] == pytest.approx(1 / 4, abs=0.03)
    assert shares[2] == pytest.approx(3 / 4, abs=0.03)


def test_the_mutation_rate_is_the_share_of_mutants():
    children, rng = np.full((3000, 8), 2.0), np.random.default_rng(0)
    mutants = (mutate(children, 0.3, rng) != children).any(axis=1)
    assert mutants.mean() == pytest.approx(0.3, abs=0.03)
    assert (mutate(children, 0.3, rng)[mutants] <= 2).all()


def test_the_fittest_is_carried_over():
    batches = GeneticSearch().batches(5, np.random.default_rng(0))
    population = next(batches)
    values = sphere(population)
    assert_array_equal(batches.send(values)[0], population[values.argmax()])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"population_size": 1}, "population_size must be an integer >= 5, not 1"),
        ({"max_generations": 0}, "max_generations must be an integer >= 1, not 0"),
        ({"patience": 0}, "patience must be an integer >= 1, not 0"),
        ({"max_time": 0}, "max_time must be a number > 0 of seconds, or None, not 0"),
        ({"mutation_rate": 1.5}, r"mutation_rate must be a number in \[0, 1\], not 1.5"),
        ({"first_population": "one"}, "unknown first_population 'one'; known: 'ones', 'random'"),
    ],
)
def test_invalid_settings_raise_clear_errors(settings, message):
    with pytest.raises(ValueError, match=message):
        GeneticSearch(**settings)


def test_unknown_search_is_named():
    with pytest.raises(ValueError, match=r"unknown search 'genetics'; known: 'genetic'. Did you mean 'genetic'"):
        resolve_search("genetics")
    with pytest.raises(ValueError, match="or pass an object with a method 'batches'"):
        resolve_search(3)


def test_a_search_stops_on_time():
    search = GeneticSearch(max_time=0.05, max_generations=300, patience=300)

    def slowly(batch):
        time.sleep(0.02)
        return sphere(batch)

    assert 1 <= len(run(search, slowly)) < 300


def test_a_search_starts_from_ones():
    batches = []

    def flat(batch):
        batches.append(batch)
        return np.zeros(len(batch))

    run(GeneticSearch(patience=3, population_size=8), flat)
    assert (batches[0] == 1).all(axis=1).any()


def test_small_differences_around_a_large_mean_do_not_end_a_search():
    search = GeneticSearch(max_generations=25, patience=1000)
    assert len(run(search, lambda batch: 0.7 + 1e-4 * sphere(batch), u=6)) == 25


def test_a_search_beats_its_first_batch():
    steps = run(GeneticSearch(max_generations=25, patience=25), u=4)
    assert steps[-1].best.objective > steps[0].best.objective


def test_a_search_that_is_no_generator_is_named():
    class Listed:
        def batches(self, n_parameters, rng):
            return [rng.random((2, n_parameters))]

    with pytest.raises(TypeError, match="batches of Listed must be a generator"):
        run(Listed())
