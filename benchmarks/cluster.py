"""A cluster of two workers against one, the constants of the cost model, and what it says of larger clusters.

python benchmarks/cluster.py               two workers / one, 200,000 graph pairs; about 2 minutes
python benchmarks/cluster.py --constants   the constants, measured on two workers of this machine
python benchmarks/cluster.py --simulate    the tables of docs/cluster.md, from the constants written below
"""

import heapq
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
from distributed import Client, LocalCluster
from graph_edit import random_graph
from timing import seconds, table

from eocc import EntropicOneClassClassifier, cluster
from eocc.measures import GraphEdit
from eocc.measures.euclidean import Euclidean
from eocc.measures.objects import Objects
from eocc.representation import Representation
from eocc.search import RandomSearch
from eocc.synthesis import CompleteGraph, EntropySynthesis, Trial

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
MEASURED = Constants(pair=1e-5, candidate=0.3, row=2e-6, task=1e-3, wait=0.01, bandwidth=5e8)


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
        resolution="single",
        search=RandomSearch(population_size=BATCH, max_generations=generations, patience=generations),
        random_state=0,
    )
    with cluster.on(client):
        clf.fit(graphs)


def prepare_graphs(client, graphs):
    patterns = Objects(graphs)
    measure = GraphEdit().freeze(patterns)
    with cluster.on(client):
        cluster.prepare(measure, patterns)


def two_against_one(rounds=3):
    """The least time of some rounds on each cluster, taken in turns."""
    graphs = [random_graph(N_VERTICES, seed) for seed in range(N_GRAPHS)]
    works = {
        "blocks of pairs": partial(prepare_graphs, graphs=graphs),
        "pairs, then 300 candidates": partial(fit_graphs, graphs=graphs, generations=10),
    }
    rows = [["200,000 graph pairs", "1 worker", "2 workers", "ratio (must 1.7, aim 1.9)"]]
    with workers(1) as one, workers(2) as two:
        for name, work in works.items():
            for client in (one, two):
                work(client)
            times = [[seconds(partial(work, client)) for client in (one, two)] for _ in range(rounds)]
            single, double = (min(column) for column in zip(*times, strict=True))
            rows.append([name, f"{single:.2f} s", f"{double:.2f} s", f"{single / double:.2f}"])
    print(table(rows))


def constants():
    rng = np.random.default_rng(0)
    graphs = Objects([random_graph(N_VERTICES, seed) for seed in range(120)])
    measure = GraphEdit().freeze(graphs)
    measure.prepare(graphs[:2], graphs[:2])
    pair = least(lambda: measure.prepare(graphs[:60], graphs[60:])) / 3600
    rows = rng.normal(size=(SEARCHED, 10))
    frozen = Euclidean().freeze(rows)
    shown = Representation(frozen, rows, rows[:PROTOTYPES], np.arange(PROTOTYPES))
    kind = CompleteGraph()
    trial = Trial(shown.prepared, kind, EntropySynthesis(0.5, 0.02).assessor(shown, kind), SEARCHED, PROTOTYPES)
    room = trial.workspace()
    candidate = least(lambda: trial(rng.random(10), room))
    clf = EntropicOneClassClassifier(prototypes=PROTOTYPES, graph="knn", random_state=0).fit(rows)
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
    size = max(16, -(-n // (16 * n_workers)))
    n_pairs = size * PROTOTYPES
    return simulated(-(-n // size), n_pairs * constants.pair, 24 * n_pairs, n_workers, constants, rng)


def search_time(n_workers, constants, rng):
    """Generation after generation: each waits for its last candidate."""
    step = max(1, BATCH // (4 * n_workers))
    one = simulated(-(-BATCH // step), step * constants.candidate, 100 * step, n_workers, constants, rng)
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
    started = time.perf_counter()
    if "--simulate" in sys.argv:
        simulate(MEASURED)
    elif "--constants" in sys.argv:
        print(constants())
    else:
        two_against_one()
    print(f"\n{time.perf_counter() - started:.0f} s.")


if __name__ == "__main__":
    main()
