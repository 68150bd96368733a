import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from eocc.entropic.search import SEARCHES, GeneticSearch, generations, resolve_search


def sphere(batch):
    return -((batch - 0.3) ** 2).sum(axis=1)


def run(search, evaluate=sphere, u=3, seed=0):
    return list(generations(search, evaluate, u, np.random.default_rng(seed)))


@pytest.mark.parametrize("name", SEARCHES)
@given(st.integers(1, 6), st.integers(0, 1000))
def test_every_search_stays_in_the_cube_and_never_loses_its_best(name, u, seed):
    asked = []

    def evaluate(batch):
        asked.append(batch)
        return sphere(batch)

    steps = run(resolve_search(name), evaluate, u, seed)
    batches = np.vstack(asked)
    assert batches.shape[1] == u
    assert batches.min() >= 0
    assert batches.max() <= 1
    best = [step.best_value for step in steps]
    assert best == sorted(best)
    assert best[-1] == sphere(batches).max() == sphere(steps[-1].best[None])[0]
    assert steps[-1].n_evaluations == len(batches) == len({p.tobytes() for p in batches})


@pytest.mark.parametrize("name", SEARCHES)
def test_same_seed_same_search(name):
    one, two = (run(resolve_search(name), seed=5) for _ in range(2))
    assert [step.best_value for step in one] == [step.best_value for step in two]
    assert_array_equal(one[-1].best, two[-1].best)


def test_genetic_search_beats_the_same_number_of_random_points():
    found = run(GeneticSearch(), u=10)[-1]
    random = np.random.default_rng(0).random((found.n_evaluations, 10))
    assert found.best_value > sphere(random).max()


def test_stops_after_patience_or_max_generations():
    flat = run(GeneticSearch(patience=4), lambda batch: np.zeros(len(batch)))
    assert len(flat) == 1 + 4
    assert len(run(GeneticSearch(max_generations=7, patience=100))) == 7


def test_the_papers_settings_are_the_defaults():
    assert GeneticSearch() == GeneticSearch(
        population_size=30, mutation_rate=0.3, max_generations=100, patience=10, max_time=None, first_population="ones"
    )


def test_a_mutant_has_about_two_new_genes():
    evolution = GeneticSearch(mutation_rate=1).start(20, np.random.default_rng(0))
    children = np.full((2000, 20), 2.0)
    changed = (evolution._mutate(children) != children).sum(axis=1)
    assert changed.min() == 1
    assert changed.mean() == pytest.approx(1 + 19 / 20, abs=0.1)


def test_first_individual_is_all_ones():
    first = GeneticSearch().start(4, np.random.default_rng(0)).ask()
    assert first.shape == (30, 4)
    assert_array_equal(first[0], 1)


def test_the_printed_first_population_is_random():
    starts = [GeneticSearch(first_population=name) for name in ("random", "ones")]
    first, ones = (start.start(4, np.random.default_rng(0)).ask() for start in starts)
    assert first.shape == (30, 4)
    assert (first[0] < 1).all()
    assert_array_equal(first[1:], ones[1:])


def test_children_are_two_point_crossovers_of_their_parents():
    evolution = GeneticSearch(mutation_rate=0).start(50, np.random.default_rng(0))
    mothers, fathers = np.zeros((200, 50)), np.ones((200, 50))
    children = evolution._cross(mothers, fathers)
    changes = np.abs(np.diff(children, axis=1)).sum(axis=1)
    assert set(changes.tolist()) <= {0, 1, 2}
    assert 0.2 < children.mean() < 0.5  # two uniform cuts keep a third of the genes on average


def test_selection_is_proportional_to_value_minus_minimum():
    evolution = GeneticSearch().start(1, np.random.default_rng(0))
    chosen = evolution._select(np.array([[0.0], [1.0], [2.0]]), np.array([5.0, 6.0, 8.0]), 4000)
    shares = [(chosen == value).mean() for value in (0, 1, 2)]
    assert shares[0] == 0
    assert shares[1] == pytest.approx(1 / 4, abs=0.03)
    assert shares[2] == pytest.approx(3 / 4, abs=0.03)


def test_the_mutation_rate_is_the_share_of_mutants():
    evolution = GeneticSearch(mutation_rate=0.3).start(8, np.random.default_rng(0))
    children = np.full((3000, 8), 2.0)
    mutants = (evolution._mutate(children) != children).any(axis=1)
    assert mutants.mean() == pytest.approx(0.3, abs=0.03)
    assert (evolution._mutate(children)[mutants] <= 2).all()


def test_the_fittest_is_carried_over():
    evolution = GeneticSearch().start(5, np.random.default_rng(0))
    population = evolution.ask().copy()
    values = sphere(population)
    evolution.tell(population, values)
    assert_array_equal(evolution.ask()[0], population[values.argmax()])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"population_size": 1}, "population_size must be an integer >= 5, not 1"),
        ({"max_generations": 0}, "max_generations must be an integer >= 1, not 0"),
        ({"patience": 0}, "patience must be an integer >= 1, not 0"),
        ({"max_time": 0}, "max_time must be a number > 0 of seconds, or None, not 0"),
        ({"mutation_rate": 1.5}, r"mutation_rate must lie in \[0, 1\], not 1.5"),
        ({"first_population": "one"}, "unknown first_population 'one'; known: 'ones', 'random'"),
    ],
)
def test_invalid_settings_raise_clear_errors(settings, message):
    with pytest.raises(ValueError, match=message):
        GeneticSearch(**settings)


def test_unknown_search_is_named():
    with pytest.raises(ValueError, match=r"unknown search 'genetics'; known: .*'genetic'.*Did you mean 'genetic'"):
        resolve_search("genetics")
    with pytest.raises(ValueError, match="or pass an object with a method 'start'"):
        resolve_search(3)


def test_every_search_stops_on_time():
    for name in SEARCHES:
        search = replace(resolve_search(name), max_time=0.05, max_generations=300, patience=300)

        def slowly(batch):
            time.sleep(0.02)
            return sphere(batch)

        steps = run(search, slowly)
        assert 1 <= len(steps) < 300


@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_stops_on_stagnation_and_starts_from_ones(name):
    batches = []

    def flat(batch):
        batches.append(batch)
        return np.zeros(len(batch))

    steps = run(replace(resolve_search(name), patience=3, population_size=8), flat)
    assert len(steps) <= 1 + 3
    assert (batches[0] == 1).all(axis=1).any()


@pytest.mark.parametrize("name", SEARCHES)
def test_small_differences_around_a_large_mean_do_not_end_a_search(name):
    search = replace(resolve_search(name), max_generations=25, patience=1000)
    assert len(run(search, lambda batch: 0.7 + 1e-4 * sphere(batch), u=6)) == 25


@pytest.mark.parametrize("name", SEARCHES)
def test_every_search_beats_its_first_batch(name):
    steps = run(replace(resolve_search(name), max_generations=25, patience=25), u=4)
    assert steps[-1].best_value > steps[0].best_value
