"""A cluster of two workers compared with one, the constants of the cost model, and its forecast for larger clusters.

python benchmarks/cluster.py               two workers / one, 200,000 graph pairs; about 2 minutes
python benchmarks/cluster.py --constants   the constants, measured on two workers of this machine
python benchmarks/cluster.py --simulate    the tables of docs/results/scale.md, from the constants written below
"""

import argparse
import heapq
import os
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
from distributed import Client, LocalCluster
from graph_edit import random_graph
from timing import seconds, table

from eocc import EntropicOneClassClassifier
from eocc.entropic.synthesis import EntropySynthesis, Evaluator
from eocc.measures import GraphEdit
from eocc.measures.euclidean import Euclidean
from eocc.measures.objects import Objects
from eocc.measures.protocol import prepare
from eocc.scale import cluster
from eocc.scale.cluster import DaskCluster
from eocc.space.representation import Representation

N_GRAPHS = 447  # 200,000 pairs
N_VERTICES = 30
PROTOTYPES = 256
SEARCHED = 2000
BATCH = 30
GENERATIONS = 100
WORKERS = (1, 10, 100, 1000)


@dataclass(frozen=True)
class Constants:
    """Seconds, and bytes a second."""

    pair: float  # of two graphs of 30 vertices
    candidate: float  # 2,000 patterns, 256 prototypes
    row: float  # to score, 256 prototypes, 10 features
    task: float  # of the scheduler's time
    wait: float  # from a task sent to its result, when nothing else is done
    bandwidth: float  # from a worker to the client


# As --constants printed them, on two cores that others used too.
MEASURED = Constants(pair=1.6e-5, candidate=0.17, row=8e-6, task=3e-3, wait=0.02, bandwidth=7e8)


@contextmanager
def workers(count):
    made = LocalCluster(n_workers=count, threads_per_worker=1, processes=True, dashboard_address=":0")
    with made, Client(made) as client:
        client.run(warm)
        yield client


def warm():
    """Compile before the clock runs."""
    EntropicOneClassClassifier().fit(np.random.default_rng(0).normal(size=(50, 3)))


def fit_graphs(client, graphs, generations):
    clf = EntropicOneClassClassifier(
        measure="graph-edit",
        search=RandomSearch(BATCH, generations),
        random_state=0,
    )
    with cluster.on(client):
        clf.fit(graphs)


def prepare_graphs(client, graphs):
    patterns = Objects(graphs)
    measure = GraphEdit().fit(patterns)
    with cluster.on(client):
        prepare(measure, patterns)


@dataclass(frozen=True)
class RandomSearch:
    """Uniform random points, all of them different."""

    population_size: int
    max_generations: int

    def batches(self, n_parameters, rng):
        for _ in range(self.max_generations):
            yield rng.random((self.population_size, n_parameters))


@dataclass(frozen=True)
class Afresh:
    """The graph measure as it would be if its pairs depended on p: every candidate compares them all anew."""

    patterns: Objects = None
    fitted: object = None
    n_parameters: int = 3

    def fit(self, training):
        return Afresh(training, GraphEdit().fit(training))

    def prepare(self, patterns, prototypes=None):
        return self

    def evaluate(self, p, out=None):
        return self.fitted.prepare(self.patterns).evaluate(p, out)


def evaluate_only(client, graphs):
    """A generation of candidates and nothing else: a fit also evaluates two of them locally."""
    patterns = Objects(graphs)
    prepared, n = Afresh().fit(patterns), len(graphs)
    evaluator = Evaluator(prepared, EntropySynthesis(0.5, 0.02).assessor(None), n, n)
    DaskCluster(client).evaluator(evaluator)(list(np.random.default_rng(0).random((BATCH, 3))))


def bare_ratio(graphs, rounds=3, pairs_again=4):
    """How much two processes get done in the time of one, without a cluster: the machine's own limit."""
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(compare_all, [(graphs, 1)] * 2))
        times = [[seconds(lambda count=count: list(pool.map(compare_all, [(graphs, pairs_again)] * count)))
                  for count in (1, 2)] for _ in range(rounds)]  # fmt: skip
    alone, both = np.min(times, axis=0)
    return 2 * alone / both


def compare_all(task):
    graphs, times = task
    patterns = Objects(graphs)
    measure = GraphEdit().fit(patterns)
    for _ in range(times):
        measure.prepare(patterns)


def processor_seconds():
    times = os.times()
    return times.user + times.system


def timed(work, client):
    """Return how long the work takes, and the processor's seconds of the busiest worker."""
    before = client.run(processor_seconds)
    duration = seconds(partial(work, client))
    after = client.run(processor_seconds)
    return duration, max(after[worker] - before[worker] for worker in after)


def two_against_one(rounds=2):
    """The least of some rounds on each cluster, taken in turns.

    Where others use the machine too, two workers have no two cores: the processor's seconds of the busiest worker then
    say more than the clock, but nothing of the time that workers wait.
    """
    graphs = [random_graph(N_VERTICES, seed) for seed in range(N_GRAPHS)]
    works = {
        "blocks of pairs": partial(prepare_graphs, graphs=graphs),
        "pairs once, then 300 candidates": partial(fit_graphs, graphs=graphs, generations=10),
        "30 candidates, each with all pairs": partial(evaluate_only, graphs=graphs),
    }
    with workers(1) as one, workers(2) as two:
        for name, work in works.items():
            prepare_graphs(one, graphs[:100]), prepare_graphs(two, graphs[:100])  # both are awake
            times = np.array([[timed(work, client) for client in (one, two)] for _ in range(rounds)])
            (single, busy), (double, half) = times.min(axis=0)
            yield name, single, double, single / double, busy / half


def compare():
    rows = [["200,000 graph pairs", "1 worker", "2 workers", "ratio (must 1.7, aim 1.9)", "ratio by processor"]]
    for name, single, double, ratio, by_processor in two_against_one():
        rows.append([name, f"{single:.2f} s", f"{double:.2f} s", f"{ratio:.2f}", f"{by_processor:.2f}"])
    print(table(rows))
    graphs = [random_graph(N_VERTICES, seed) for seed in range(N_GRAPHS)]
    print(f"\nTwo processes of this machine, without a cluster, do {bare_ratio(graphs):.2f} times the work of one.")


def constants():
    rng = np.random.default_rng(0)
    graphs = Objects([random_graph(N_VERTICES, seed) for seed in range(120)])
    measure = GraphEdit().fit(graphs)
    measure.prepare(graphs[:2], graphs[:2])
    pair = least(lambda: measure.prepare(graphs[:60], graphs[60:])) / 3600
    rows = rng.normal(size=(SEARCHED, 10))
    fitted = Euclidean().fit(rows)
    shown = Representation(fitted, rows, rows[:PROTOTYPES], np.arange(PROTOTYPES), is_whole=False)
    evaluator = Evaluator(shown.prepared, EntropySynthesis(0.5, 0.02).assessor(shown), SEARCHED, PROTOTYPES)
    room = evaluator.workspace()
    candidate = least(lambda: evaluator(rng.random(10), room))
    clf = EntropicOneClassClassifier(prototypes=PROTOTYPES, search=None, random_state=0).fit(rows)
    many = rng.normal(size=(20_000, 10))
    row = least(lambda: clf.score_samples(many)) / len(many)
    with workers(2) as client:
        wait = least(lambda: client.submit(int, 1, pure=False).result(), 20)
        task = least(lambda: client.gather(client.map(int, range(1000), pure=False))) / 1000
        block = client.submit(np.ones, 2**23, pure=False)
        block.result()
        bandwidth = 2**26 / least(lambda: client.submit(np.add, block, 1.0, pure=False).result())
    return Constants(pair, candidate, row, task, wait, bandwidth)


def least(work, rounds=3):
    work()
    return min(seconds(work) for _ in range(rounds))


def simulated(n_tasks, task_seconds, result_bytes, n_workers, constants, rng):
    """Return when the last result is here.

    The scheduler sends one task after the other, each to the worker that is free first. Tasks vary: one worker is up to
    a fifth slower than another, and a task up to a tenth than the next. Results come one after the other.
    """
    slowness = 1 + 0.2 * rng.random(n_workers)
    free = [(0.0, worker) for worker in range(n_workers)]
    scheduler = arrival = 0.0
    ends = []
    for length in task_seconds * (1 + 0.1 * rng.random(n_tasks)):
        at, worker = heapq.heappop(free)
        scheduler += constants.task
        end = max(at, scheduler) + length * slowness[worker]
        heapq.heappush(free, (end, worker))
        ends.append(end)
    for end in sorted(ends):
        arrival = max(arrival, end) + result_bytes / constants.bandwidth
    return arrival + constants.wait


def score_time(n, n_workers, constants, rng):
    """Partitions lie where workers read them; a score of 8 bytes a row comes back."""
    size = int(np.clip(n / (4 * n_workers), 1000, 100_000))
    return simulated(-(-n // size), size * constants.row, 8 * size, n_workers, constants, rng)


def pairs_time(n, n_workers, constants, rng):
    """n graphs against 256 prototypes; three numbers a pair come back."""
    size = max(16, -(-n // (4 * n_workers)))
    n_pairs = size * PROTOTYPES
    return simulated(-(-n // size), n_pairs * constants.pair, 24 * n_pairs, n_workers, constants, rng)


def search_time(n_workers, constants, rng):
    """Generation after generation: each waits for its last candidate."""
    n_tasks = min(BATCH, 2 * n_workers)
    one = simulated(n_tasks, BATCH / n_tasks * constants.candidate, 100, n_workers, constants, rng)
    return GENERATIONS * one


def simulate(constants):
    rng = np.random.default_rng(0)
    head = ["work", *(f"{count:,} worker{'s' if count > 1 else ''}" for count in WORKERS)]
    rows = [head]
    for n in (10**4, 10**6, 10**8):
        rows.append([f"score {n:,} rows", *(shown(score_time(n, w, constants, rng)) for w in WORKERS)])
    for n in (10**4, 10**5, 10**6):
        rows.append([f"pairs of {n:,} graphs with 256", *(shown(pairs_time(n, w, constants, rng)) for w in WORKERS)])
    rows.append(["search, 100 generations of 30", *(shown(search_time(w, constants, rng)) for w in WORKERS)])
    print(table(rows))


def shown(duration):
    if duration < 120:
        return f"{duration:.3g} s"
    return f"{duration / 60:.3g} min" if duration < 7200 else f"{duration / 3600:.3g} h"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--constants", action="store_true", help="measure the constants of the cost model")
    parser.add_argument("--simulate", action="store_true", help="play larger clusters through")
    wanted = parser.parse_args()
    started = time.perf_counter()
    if wanted.simulate:
        simulate(MEASURED)
    elif wanted.constants:
        print(constants())
    else:
        compare()
    print(f"\n{time.perf_counter() - started:.0f} s.")


if __name__ == "__main__":
    main()
