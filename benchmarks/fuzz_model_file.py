"""Alter model files at random, then load and use them. Each must give an error of one line, or a model that works.

``python benchmarks/fuzz_model_file.py [cases] [seed]`` runs 10,000 cases over the models of all classifiers, of all
measures, with and without labels and answers. Some cases damage the bytes of a file. Most edit its decoded content
(numbers, names, arrays, lists), with the right checksums and the derived numbers computed again, as a hostile writer
would. What loads is used: rows are scored and explained, the model is described, its memory planned. Of about one in
100 models a report is written.

Cases run in child processes, with limits of time and memory for each case. The script prints the number of every case
that ends otherwise, and then exits with status 1. The same seed gives the same cases.
"""

import contextlib
import faulthandler
import json
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from altered_models import DAMAGES, models

from eocc import load
from eocc.cli.show import facts_of
from eocc.formats.model_file import ModelFileError, NotSaved
from eocc.report import write_report

LONGEST = 30  # seconds of processor time for one case; most take milliseconds
LONGEST_WAIT = 600  # seconds for one case, also on a busy machine: finds a case that waits for itself
MOST_MEMORY = 2**29  # bytes that a case may add; the files take some kilobytes
PER_CHILD = 500  # cases in one process
REPORTED = 100  # one of so many models that load gets a report: its pictures take longer than all else
# Errors of a model whose own rows have no scores or no regions: its numbers were altered.
OVERFLOWS = ("no finite score", "training dissimilarities must lie in [0, 1]", "NaN or infinity")
# Events that no reader of plain data has a reason to cause.
FORBIDDEN = (
    "compile", "exec", "pickle.find_class", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn",
    "subprocess.Popen", "socket.connect", "ctypes.dlopen",
)  # fmt: skip


def outcome(path, new, rng):
    """Return what became of a damaged file; raise what should not happen."""
    try:
        model = load(path)
    except ModelFileError as error:
        if not (".eocc: " in str(error) and str(error).isprintable()):
            raise AssertionError(f"not one line that names the file: {error!r}") from error
        return "refused"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            use(model)
            if rng.randrange(REPORTED) == 0:
                write_report(model, path.with_suffix(".html"))
            fate = "works"
            try:
                use_on(model, new)
            except ValueError as error:
                check_line(error)
                fate = "refuses the new patterns"  # the altered model has other columns
        except ValueError as error:
            if not any(words in str(error) for words in OVERFLOWS):
                raise
            return "says that its numbers overflow"
    return fate


def use(model):
    """Describe the model, and explain its own rows."""
    repr(model)
    model._describe(), facts_of(model)
    if not any(isinstance(value, NotSaved) for value in model.get_params(deep=False).values()):
        model._plan_fit(10**6, 10, 0.0)  # of another fit, which needs all arguments
    own = model.prototypes_[np.arange(min(2, len(model.prototypes_)))]
    scores = model._score_patterns(own)
    assert np.isfinite(scores.log_memberships).all()
    assert np.isfinite(scores.margins - model.threshold_).all()
    for explanation in model._explain_patterns(own):
        str(explanation), json.dumps(explanation.to_dict(), default=str)
    list(map(str, model.rules()))
    if hasattr(model, "to_sql"):
        with contextlib.suppress(ValueError):  # strings and the like have no formula
            model.to_sql(["rows"]), model.to_python(), json.loads(model.to_json())


def use_on(model, new):
    """Score, decide on and explain new rows."""
    assert np.isfinite(model.decision_function(new)).all()
    assert set(model.predict(new).tolist()) <= {1, -1}
    if model.calibration_ is not None:
        p_values = model.p_values(new)
        assert ((p_values >= 0) & (p_values <= 1)).all()
    list(map(str, model.explain(new)))


def check_line(error):
    """Raise unless the error is one line that a user understands: not the bare words of Python or numpy."""
    text = str(error)
    bare = ("domain error", "broadcast", "invalid literal", "unpack", "ambiguous", "not supported between")
    if not text.isprintable() or len(text) < 20 or any(words in text for words in bare):
        raise AssertionError(f"not one clear line: {error!r}") from error


def _is_numba(frame):
    """Say whether numba causes an event: it keeps the library's own kernels in a cache of its own."""
    while frame is not None and f"{os.sep}numba{os.sep}" not in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None


class Watch:
    """Counts forbidden events inside a `with` block. An audit hook cannot be removed."""

    def __init__(self):
        self.seen, self.listens = Counter(), False
        sys.addaudithook(self.note)

    def note(self, event, args):
        if self.listens and event in FORBIDDEN and not _is_numba(sys._getframe()):
            self.seen[event] += 1

    def __enter__(self):
        self.listens = True

    def __exit__(self, *error):
        self.listens = False


def run_case(case, seed, made, folder, watch=contextlib.nullcontext()):  # noqa: B008  (it has no state)
    """Return the damage, the fate, and the error of a case that failed."""
    rng, path = random.Random(seed * 10**9 + case), Path(folder) / "damaged.eocc"
    name = list(made)[case % len(made)]
    damage = rng.choice(DAMAGES)
    data, new = made[name]
    try:
        path.write_bytes(damage(data, rng))
        with watch:
            return damage.__name__, outcome(path, new, rng), ""
    except ModelFileError:  # the edited content gives no model
        return damage.__name__, "refused", ""
    except Exception as error:
        return damage.__name__, "failed", f"{name}: {type(error).__name__}: {str(error)[:300]}"


def fuzz(n_cases, seed, folder, report=print):
    """Return the outcomes of the cases, counted, and the cases that failed; all in this process."""
    made, fates, failures = models(folder), Counter(), []
    for case in range(n_cases):
        damage, fate, error = run_case(case, seed, made, folder)
        fates[damage, fate] += 1
        if error:
            failures.append((case, damage, error))
            report(*failures[-1])
    return fates, failures


def limit_memory():
    """Limit what this process may add to the memory that it has."""
    import resource

    with Path("/proc/self/statm").open() as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MOST_MEMORY, now + MOST_MEMORY))


def child(first, stop, seed, made, folder, pipe):
    """Run some cases, one line of JSON each, and exit."""
    limit_memory()
    watch = Watch()
    with os.fdopen(pipe, "w") as file:
        for case in range(first, stop):
            signal.setitimer(signal.ITIMER_PROF, LONGEST)  # ends the process
            signal.alarm(LONGEST_WAIT)
            result = [case, *run_case(case, seed, made, folder, watch)]
            if watch.seen:
                result[2:], watch.seen = ["failed", f"ran code: {dict(watch.seen)}"], Counter()
            file.write(json.dumps(result) + "\n")
            file.flush()
    os._exit(0)


def in_children(n_cases, seed, folder):
    """Yield (case, damage, fate, error) of all cases; a case that ends its process fails, and the next one begins."""
    made, case = models(folder), 0
    for k, name in enumerate(made):  # imports and compiles, which takes longer than a case may
        write_report(load(Path(folder) / f"{name}.eocc"), Path(folder) / "damaged.html")
        for number in range(4):
            run_case(k + number * len(made), seed + 1, made, folder)
    while case < n_cases:
        mine, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(mine)
            child(case, min(case + PER_CHILD, n_cases), seed, made, folder, theirs)
        os.close(theirs)
        with os.fdopen(mine) as file:
            for line in file:
                yield json.loads(line)
                case += 1
        _, status = os.waitpid(pid, 0)
        if status:
            is_late = os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGPROF)
            what = "took too long" if is_late else f"ended with status {status}"
            yield case, "unknown", "failed", f"{list(made)[case % len(made)]}: the process {what}"
            case += 1


def main():
    words = sys.argv[1:]
    n_cases = int(words[0]) if words else 10_000
    seed = int(words[1]) if len(words) > 1 else 0
    faulthandler.enable()
    started, fates, n_failed = time.perf_counter(), Counter(), 0
    with contextlib.suppress(KeyboardInterrupt), tempfile.TemporaryDirectory() as folder:
        for case, damage, fate, error in in_children(n_cases, seed, folder):
            fates[damage, fate] += 1
            n_failed += bool(error)
            if error:
                print(f"case {case}, {damage}, {error}", flush=True)
            if (case + 1) % 1000 == 0:
                print(f"{case + 1} cases, {time.perf_counter() - started:.0f} s, {n_failed} failed", flush=True)
    for (damage, fate), count in sorted(fates.items()):
        print(f"{damage:16} {fate:34} {count}")
    print(f"{sum(fates.values())} cases in {time.perf_counter() - started:.0f} s, {n_failed} failed")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
