"""Kill processes with SIGKILL while they write. Afterwards every file must be whole, and the work must continue.

``python benchmarks/kill.py [kills] [seed] [job ...]`` kills 100 processes by default, spread over the jobs: a model
that is saved again and again, ``eocc teach`` and ``eocc answers``, ``eocc update``, ``eocc score`` and ``eocc report``,
``eocc compare`` and ``eocc reproduce``. Most kills at random moments would miss the writes, which take milliseconds. So
half of the processes are killed at a random moment after a random write, rename or removal of a file in the job's
folder, half at any moment. After every kill the folder is checked. Now and then the job is finished, and must give what
it gives without interruption. The script exits with status 1 if anything is lost.
"""

import contextlib
import csv
import io
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from eocc import SurpriseClassifier, load
from eocc.cli import main as eocc
from eocc.report.review import HEAD, digests_of

EVENTS = ("open", "os.rename", "os.remove", "os.truncate")
ROWS = np.random.default_rng(0).normal(size=(60, 3))
TIMES = ("fit_seconds", "score_seconds")


class Saving:
    """A model file that is replaced by another, and back."""

    share, seconds = 0.4, 0.4
    models = tuple(SurpriseClassifier().fit(rows) for rows in (ROWS, 2 * ROWS))

    def run(self, folder):
        for k in range(100):
            self.models[k % 2].save(folder / "model.eocc")

    def check(self, folder):
        if (folder / "model.eocc").exists():
            assert any((load(folder / "model.eocc").prototypes_ == one.prototypes_).all() for one in self.models)

    def finish(self, folder):
        self.models[0].save(folder / "model.eocc")
        return (folder / "model.eocc").read_bytes()


class Teaching:
    """A model that learns answers and forgets one, by the command line; both write model files."""

    share, seconds = 0.2, 0.4

    def run(self, folder):
        os.chdir(folder)
        Path("rows.csv").write_text(
            "a,b,c\n" + "\n".join(f"{a!r},{b!r},{c!r}" for a, b, c in (3 * ROWS).tolist()) + "\n"
        )
        model = SurpriseClassifier().fit(ROWS)
        model.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
        model.save("model.eocc")
        lines = [
            f"{k},{'normal' if k % 2 else 'not normal'},,rows.csv,{digest}" for k, digest in enumerate(self.digests)
        ]
        Path("answers.csv").write_text(",".join(HEAD) + "\n" + "\n".join(lines) + "\n")
        with contextlib.redirect_stdout(io.StringIO()):
            assert eocc(["teach", "model.eocc", "answers.csv", "-o", "taught.eocc", "-q"]) == 0
            assert eocc(["answers", "taught.eocc", "--withdraw", "0", "-o", "fewer.eocc", "-q"]) == 0

    def check(self, folder):
        for name, n in (("model.eocc", 0), ("taught.eocc", 8), ("fewer.eocc", 7)):
            if (folder / name).exists():
                known = load(folder / name).answers_
                assert (0 if known is None else len(known)) == n

    def finish(self, folder):
        self.run(folder)
        return (folder / "taught.eocc").read_bytes() + (folder / "fewer.eocc").read_bytes()

    digests = tuple(digests_of(3 * ROWS)[:8])


class Writing:
    """A model that learns more rows, then a table of scores, a summary and a page, by the command line."""

    share, seconds = 0.2, 1.0
    ends = (("scores.csv", "\n"), ("summary.json", "}\n"), ("page.html", "</html>\n"))

    def run(self, folder):
        os.chdir(folder)
        np.savetxt("rows.csv", 3 * ROWS, delimiter=",", header="a,b,c", comments="")
        with contextlib.redirect_stdout(io.StringIO()):
            if not Path("model.eocc").exists():
                assert eocc(["fit", "rows.csv", "-o", "model.eocc", "-q"]) == 0
            update = ["update", "model.eocc", "rows.csv", "-o", "model.eocc", "-q"]
            assert eocc([*update, "--accept-drift", "--accept-discoveries"]) == 0
            score = ["score", "model.eocc", "rows.csv", "-o", "scores.csv", "--summary", "summary.json", "-q"]
            assert eocc(score) == 0
            assert eocc(["report", "model.eocc", "--data", "rows.csv", "-o", "page.html", "-q"]) == 0

    def check(self, folder):
        if (folder / "model.eocc").exists():
            assert load(folder / "model.eocc").n_rows_ % len(ROWS) == 0
        for name, end in self.ends:
            if (folder / name).exists():
                assert (folder / name).read_text(encoding="utf-8").endswith(end), name

    def finish(self, folder):
        (folder / "model.eocc").unlink(missing_ok=True)  # it may have learned the rows often
        self.run(folder)
        return load(folder / "model.eocc").calibration_.margins.tobytes() + (folder / "scores.csv").read_bytes()


class Comparing:
    """A comparison of two systems on a table."""

    share, seconds = 0.1, 2.0
    words = ("compare", "rows.csv", "--label", "state", "--target", "good")

    def run(self, folder):
        os.chdir(folder)
        lines = [f"{a},{b},{c},{'good' if k % 4 else 'bad'}" for k, (a, b, c) in enumerate(ROWS.tolist())]
        Path("rows.csv").write_text("a,b,c,state\n" + "\n".join(lines) + "\n")
        with contextlib.redirect_stdout(io.StringIO()):
            assert eocc([*self.words, "--systems", "1-NN,Gauss", "--repetitions", "1", "-o", "results", "-q"]) == 0

    def check(self, folder):
        for path in (folder / "results" / "cells").glob("[!.]*.csv"):  # the last line may be torn: it is run again
            for line in path.read_text().split("\n")[1:-1]:
                assert len(next(csv.reader([line]))) == len(path.read_text().split("\n", 1)[0].split(",")), line

    def finish(self, folder):
        self.run(folder)
        found = {}
        for path in sorted((folder / "results" / "cells").glob("*.csv")):
            for entry in csv.DictReader(io.StringIO(path.read_text())):
                figures = {name: value for name, value in entry.items() if name not in TIMES}
                found[json.dumps([entry[name] for name in ("dataset", "normalisation", "system", "run")])] = figures
        return json.dumps(found, sort_keys=True)


class Reproducing(Comparing):
    """A part of the paper's comparison, on Iris, which comes with scikit-learn."""

    words = ("reproduce", "uci-low", "--datasets", "I")


JOBS = (Saving, Teaching, Writing, Comparing, Reproducing)


def kill_at(event, delay, folder):
    """Kill this process `delay` seconds after a number of events on files in the folder; 0 means at any moment."""
    seen, here = 0, str(folder)

    def die():
        time.sleep(delay)
        os.kill(os.getpid(), signal.SIGKILL)

    def note(name, arguments):
        nonlocal seen
        if name in EVENTS and arguments and str(arguments[0]).startswith(here):
            seen += 1
            if seen == event:
                threading.Thread(target=die, daemon=True).start() if delay else die()

    if event:
        sys.addaudithook(note)
    else:
        threading.Thread(target=die, daemon=True).start()


def one_kill(job, folder, rng):
    """Run the job in a child that is killed; return whether it was, and not done before."""
    by_event = rng.random() < 0.5
    event = rng.choice([1, 2, 3, 4, 5, 6, 8, 12, 20]) if by_event else 0
    delay = rng.choice([0.0, rng.uniform(0, 0.004)]) if by_event else rng.uniform(0, job.seconds)
    pid = os.fork()
    if pid == 0:
        kill_at(event, delay, folder)
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said):
                job.run(folder)
        except BaseException as error:
            print(f"{type(job).__name__}: {error!r} {said.getvalue()}", flush=True)
            os._exit(1)
        os._exit(0)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFSIGNALED(status) or status == 0, "the job failed after a kill"
    return os.WIFSIGNALED(status)


def attack(job, n_kills, rng, report):
    """Return the number of kills, after all of which the job gave what it gives without interruption."""
    with tempfile.TemporaryDirectory() as home:
        expected, killed, tries = in_child(job, Path(home)), 0, 0
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home).resolve()
        while killed < n_kills and tries < 5 * n_kills:
            tries += 1
            was_killed = one_kill(job, folder, rng)
            killed += was_killed
            job.check(folder)
            if not was_killed or rng.random() < 0.1 or killed == n_kills:
                for path in folder.rglob("*.tmp*"):  # as if the kills were long ago: the next write removes the drafts
                    os.utime(path, (0, 0))
                assert in_child(job, folder) == expected, "another result"
                drafts = [path.name for path in folder.rglob("*.tmp*")]
                # A study adds to its files; drafts stay until such a file is written anew.
                assert not drafts or isinstance(job, Comparing), f"drafts are left: {drafts}"
                for path in sorted(folder.rglob("*"), reverse=True):
                    path.rmdir() if path.is_dir() else path.unlink()
    report(f"{type(job).__name__}: {killed} kills in {tries} runs")
    return killed


def in_child(job, folder):
    """Return what the finished job gives, computed in a process of its own."""
    mine, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        result = job.finish(folder)
        with os.fdopen(theirs, "wb") as file:
            file.write(result if isinstance(result, bytes) else result.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(mine, "rb") as file:
        result = file.read()
    assert os.waitpid(pid, 0)[1] == 0, "the job could not be finished"
    return result


def main():
    n_kills, started = int(sys.argv[1]) if len(sys.argv) > 1 else 100, time.perf_counter()
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    kinds = [kind for kind in JOBS if kind.__name__ in sys.argv[3:] or len(sys.argv) < 4]
    counts = [attack(kind(), max(1, round(kind.share * n_kills)), rng, print) for kind in kinds]
    print(f"{sum(counts)} processes killed in {time.perf_counter() - started:.0f} s, nothing lost")


if __name__ == "__main__":
    main()
