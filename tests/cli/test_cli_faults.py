"""Commands that cannot write or read, or are interrupted: one line of error, and the right exit code."""

import errno
import signal
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.cli import main
from eocc.entropic.search import GeneticSearch

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shells and limits of POSIX")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    rows = np.random.default_rng(0).normal(size=(40, 3))
    np.savetxt(folder / "rows.csv", rows, delimiter=",", header="a,b,c", comments="")
    assert main(["fit", str(folder / "rows.csv"), "-o", str(folder / "model.eocc"), "-q"]) == 0
    return folder


def shell(folder, line, **settings):
    command = line.replace("eocc", f"{sys.executable} -m eocc", 1)
    return subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, **settings)


CLOSED, FULL = (
    "eocc: standard output is closed; open it, or pass --output\n",
    "eocc: standard output: No space left on device\n",
)


@pytest.mark.parametrize(("redirected", "message"), [(">&-", CLOSED), ("> /dev/full", FULL)])
def test_an_output_that_cannot_be_written_is_one_line(redirected, message, folder):
    done = shell(folder, f"eocc --version -q {redirected}")
    assert (done.stderr, done.returncode) == (message, 1)


def test_a_file_whose_reading_fails_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr("eocc.classifiers.state.load", mock.Mock(side_effect=OSError(errno.EIO, "Input/output error")))
    assert main(["inspect", "model.eocc"]) == 1
    assert capsys.readouterr().err == "eocc: a file: Input/output error\n"


@pytest.mark.parametrize("line", ["score model.eocc rows.csv", "inspect model.eocc"])
def test_rows_that_cannot_be_written_are_one_line(line, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    with Path("/dev/full").open("w") as full:
        for output, message in ((None, CLOSED), (full, FULL)):
            monkeypatch.setattr(sys, "stdout", output)
            assert main([*line.split(), "-q"]) == 1
            assert capsys.readouterr().err == message


@pytest.mark.filterwarnings("ignore:unclosed file")  # what takes the place of a closed stream stays open
def test_other_closed_streams_do_no_harm(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert main(["score", "model.eocc", "rows.csv"]) == 0
    done = shell(folder, "eocc score model.eocc rows.csv 2>&-")
    assert (done.stdout, done.returncode) == (capsys.readouterr().out, 0)
    for stream, asked, code in (
        ("stderr", ["missing.csv"], 1),
        ("stdin", ["-", "--input-format", "csv"], 1),
        ("stdout", ["rows.csv", "-o", "scores.csv", "-q"], 0),
    ):
        with monkeypatch.context() as closed:
            closed.setattr(sys, stream, None)
            assert main(["score", "model.eocc", *asked]) == code
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "eocc: standard input: is empty; it needs a header and rows\n")
    assert (folder / "scores.csv").stat().st_size > 100


LIMITED = """
import resource, sys
from eocc.cli import main
lines = [line.split() for line in sys.argv[1:]]
assert [main(line[:-1] + ["/dev/null"]) for line in lines] == [0, 0, 0]  # compiled code is kept in files, too
resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
sys.exit(sum(main(line) == 1 for line in lines))
"""


def test_a_file_that_becomes_too_large_for_the_disk_is_one_line_and_leaves_nothing(tmp_path, folder):
    asked = {"scores.csv": "score model.eocc rows.csv", "other.eocc": "fit rows.csv", "page.html": "report model.eocc"}
    for output in asked:
        (tmp_path / output).write_text("before")
    lines = [f"{line} -q -o {tmp_path / output}" for output, line in asked.items()]
    done = subprocess.run([sys.executable, "-c", LIMITED, *lines], cwd=folder, capture_output=True, text=True)
    assert done.stderr == "".join(f"eocc: {tmp_path / output}: File too large\n" for output in asked)
    assert done.returncode == 3
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(asked, "before")


def test_a_folder_that_refuses_writes_is_named(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert main(["score", "model.eocc", "rows.csv", "-q", "-o", "/sys/scores.csv"]) == 1
    assert capsys.readouterr().err in (
        "eocc: /sys/scores.csv: Permission denied\n",  # root may write everywhere but here
        "eocc: the folder '/sys' cannot be written to; name another for 'scores.csv'\n",
    )


def test_a_graph_that_vanishes_while_a_folder_is_read_is_named(tmp_path, capsys, monkeypatch):
    from eocc.formats.archive import Collection

    (tmp_path / "graphs").mkdir()
    for name in ("a", "b"):
        text = f'<gxl><graph id="{name}"><node id="x"/><node id="y"/></graph></gxl>'
        (tmp_path / "graphs" / f"{name}.gxl").write_text(text)
    opened = Collection._open_file

    def vanish(self, name):
        (self.path / "b.gxl").unlink(missing_ok=True)
        return opened(self, name)

    monkeypatch.setattr(Collection, "_open_file", vanish)
    assert main(["fit", str(tmp_path / "graphs"), "-o", str(tmp_path / "m.eocc")]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("eocc: ")
    assert "b.gxl" in error


BLOCKED = """
import sys, threading
import numpy as np
from eocc.measures import euclidean

def endless(*arguments):
    print("begun", flush=True)
    while True:
        try:
            threading.Event().wait()
        except KeyboardInterrupt:  # compiled code in the main thread does not stop either
            pass
"""
SCRIPT = """
euclidean.distances_from_gram = endless
from eocc import EntropicOneClassClassifier
EntropicOneClassClassifier(search=None).fit(np.random.default_rng(0).normal(size=(20, 3)))
"""
WIDE = """
euclidean.cross_distances_by_columns = endless
from eocc import EntropicOneClassClassifier
EntropicOneClassClassifier(search=None).fit(np.random.default_rng(0).normal(size=(400, 1000)))
"""
COMMAND = """
euclidean.distances_from_gram = endless
from eocc.cli import main
sys.argv[1:] = ["fit", "rows.csv", "-o", "never.eocc", "-q", "--method", "eocc-1"]
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("ending", "code"),
    [(SCRIPT, -signal.SIGINT), (WIDE, -signal.SIGINT), (COMMAND, 130)],
    ids=["product", "differences", "command"],
)
def test_ctrl_c_ends_the_process_in_the_middle_of_a_kernel(ending, code, folder):
    process = subprocess.Popen([sys.executable, "-c", BLOCKED + ending], cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    try:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)  # the kernel itself never ends
    finally:
        process.kill()
    assert process.returncode == code
    assert error.splitlines()[-1] in ("KeyboardInterrupt", "eocc: interrupted")
    assert not (folder / "never.eocc").exists()


def kinds_of_models():
    """Models that differ in what their files hold, by name."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(30, 2)), np.repeat([1, -1], [24, 6])
    short = GeneticSearch(max_generations=2, population_size=5)

    class Own(GeneticSearch):
        pass

    def entropic(search, labels=None, **settings):
        return EntropicOneClassClassifier(search=search, random_state=0, **settings).fit(rows, labels)

    return {
        "own search": lambda folder: entropic(Own(max_generations=2)),
        "no search": lambda folder: entropic(None, weights=[0.5, 1.0]),
        "own functions": lambda folder: entropic(None, extent=lambda x: float(np.median(x))),
        "validated": lambda folder: entropic(short, y, synthesis="validation", performance="f1"),
        "prototypes": lambda folder: entropic(None, prototypes=10, selection="farthest-first"),
        "calibrated": lambda folder: entropic(None, false_alarm_rate=0.2),
        "surprise": lambda folder: SurpriseClassifier(prototypes=12).fit(rows),
        "labelled": lambda folder: SurpriseClassifier(false_alarm_rate=0.2).fit(rows, y),
        "one row": lambda folder: SurpriseClassifier().fit(rows[:1]),
    }


COMMANDS = (
    "inspect {}", "inspect {} --format json", "score {} rows.csv", "explain {} rows.csv", "report {} -o page.html",
    "report {} --data rows.csv -o page.html", "plot {} space -o space.png", "plot {} membership -o surface.png",
    "plot {} modularity -o curve.png", "plot {} scores --data rows.csv -o scores.png",
    "answers {}",
)  # fmt: skip
# The others cannot be taught, and are refused in one line.
TEACHABLE = ("labelled", "one row")


@pytest.mark.parametrize("name", kinds_of_models())
def test_every_command_works_on_every_kind_of_saved_model(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.savetxt("rows.csv", np.random.default_rng(1).normal(size=(9, 2)), delimiter=",", header="a,b", comments="")
    kinds_of_models()[name](tmp_path).save("model.eocc")
    for line in COMMANDS:
        assert main(line.format("model.eocc").split()) == 0, capsys.readouterr().err
    code = main(["review", "model.eocc", "rows.csv", "-n", "2", "-o", "page.html"])
    assert code == (0 if name in TEACHABLE else 1)
    assert ("cannot be taught; fit" in capsys.readouterr().err) == (name not in TEACHABLE)
