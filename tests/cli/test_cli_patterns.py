"""fit -> score -> explain -> inspect -> plot, for every format of patterns."""

import csv
import datetime
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

from eocc import SurpriseClassifier, load, save
from eocc.cli import main
from eocc.datasets import read_gxl
from eocc.measures import MEASURES, LabelledGraph
from graph_files import gxl, vertex, within_a_minute, write_folder, write_zip

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(24, 3)).round(6)
RECORDS = [
    {
        "load": None if k == 5 else k / 7,
        "state": "ab"[k % 2],
        "on": k % 3 == 0,
        "day": datetime.datetime(2024, 1, 5 * k % 24 + 1),  # dates that do not run on
    }
    for k in range(24)
]
WORDS = ["oak", "oaks", "elm", "elms", "ash tree", "yew", "pine", "é"]
SERIES = [RNG.normal(size=5 + k % 3).round(6).tolist() for k in range(9)]
CHANNELS = [RNG.normal(size=(4 + k % 2, 2)).round(6).tolist() for k in range(9)]
TOKENS = [["a", "b", "c"][: k % 3 + 1] for k in range(9)]
GRAPHS = [
    {
        "nodes": [{"id": i, "s": "CNO"[i % 3]} for i in range(2 + k % 3)],
        "links": [{"source": 0, "target": 1, "v": k % 2}],
    }
    for k in range(9)
]
GXL = {
    f"{k}.gxl": gxl("".join(vertex(f"<int>{i + k}</int>", identity=str(i)) for i in range(2 + k % 3))) for k in range(6)
}


def table(names, rows, delimiter=","):
    return "\n".join(delimiter.join(map(str, row)) for row in [names, *rows])


def cells(record):
    return ["" if value is None else value for value in record.values()]


def lines(values):
    return "\n".join(map(json.dumps, values))


def graph(value):
    vertices = {"s": [node["s"] for node in value["nodes"]]}
    return LabelledGraph(len(value["nodes"]), [[0, 1]], vertices, {"v": [value["links"][0]["v"]]})


def graphs_of(folder):
    return [read_gxl(folder / name) for name in sorted(GXL)]


def case(folder, name):
    """Write a file; return its path, the same patterns in Python, and their measure."""
    path = folder / name
    if name in ("set", "set.zip"):
        write_folder(folder / "set", GXL)
        write_zip(folder / "set.zip", GXL)
        return path, graphs_of(folder / "set"), "graph-edit"
    data, patterns, measure = CASES[name]
    if isinstance(data, str):
        path.write_text(data, encoding="utf-8")
    else:
        data(path)
    return path, patterns, measure


ARROW = pyarrow.Table.from_pylist(RECORDS)
CASES = {
    "numbers.csv": (table("abc", ROWS), ROWS, "euclidean"),
    "mixed.csv": (table(RECORDS[0], map(cells, RECORDS)), RECORDS, "gower"),
    "numbers.tsv": (table("abc", ROWS, "\t"), ROWS, "euclidean"),
    "mixed.parquet": (lambda path: pyarrow.parquet.write_table(ARROW, path, row_group_size=5), RECORDS, "gower"),
    "numbers.npy": (lambda path: np.save(path, ROWS), ROWS, "euclidean"),
    "mixed.arrow": (lambda path: pyarrow.feather.write_feather(ARROW, str(path)), RECORDS, "gower"),
    "words.txt": ("\n".join(WORDS), WORDS, "string-edit"),
    "words.jsonl": (lines(WORDS), WORDS, "string-edit"),
    "series.jsonl": (lines(SERIES), SERIES, "dtw"),
    "channels.json": (json.dumps(CHANNELS, indent=1), CHANNELS, "dtw"),
    "tokens.jsonl": (lines(TOKENS), TOKENS, "jaccard"),
    "graphs.jsonl": (lines(GRAPHS), [graph(value) for value in GRAPHS], "graph-edit"),
    "scalars.jsonl": (lines(ROWS[:, 0].tolist()), ROWS[:, :1], "euclidean"),
}
ALL = [*CASES, "set", "set.zip"]


def run(*arguments):
    return main([str(argument) for argument in arguments])


def nameless(path):
    """The model of a file; without the names of its columns it takes arrays without a warning."""
    classifier = load(path)
    del classifier.feature_names_in_
    return classifier


@pytest.fixture
def model(tmp_path):
    """A model of numbers a, b, c."""
    (tmp_path / "train.csv").write_text(table("abc", ROWS))
    assert run("--quiet", "fit", tmp_path / "train.csv", "-o", tmp_path / "m.eocc") == 0
    return tmp_path / "m.eocc"


@pytest.mark.parametrize("name", ALL)
def test_a_file_is_learned_scored_explained_and_drawn_as_in_python(tmp_path, capsys, name):
    path, patterns, measure = case(tmp_path, name)
    model, output = tmp_path / "m.eocc", tmp_path / "out"
    assert run("fit", path, "-o", model, "--jobs", 1) == 0
    assert type(load(model).resolved_measure_) is MEASURES[measure]
    capsys.readouterr()
    own = SurpriseClassifier(measure=measure).fit(patterns)
    assert run("score", model, path, "--format", "csv", "-o", output) == 0
    rows = list(csv.DictReader(io.StringIO(output.read_text())))
    assert [float(row["score"]) for row in rows] == own.score_samples(patterns).tolist()
    assert [float(row["membership"]) for row in rows] == own.membership(patterns).tolist()
    assert [int(row["decision"]) for row in rows] == own.predict(patterns).tolist()
    assert run("explain", model, path, "--format", "json", "--strangest", 2, "-o", output) == 0
    strangest = [rows[row]["row"] for row in np.argsort(own.score_samples(patterns), kind="stable")[:2]]
    assert [str(json.loads(line)["row"]) for line in output.read_text().splitlines()] == strangest
    assert run("explain", model, path, "--rows", strangest[1]) == 0
    assert capsys.readouterr().out.startswith(f"Row {strangest[1]}: ")
    assert run("inspect", model, "--format", "json", "-o", output) == 0
    assert json.loads(output.read_text())["training rows"] == len(patterns)
    assert run("inspect", model) == run("plot", model, "scores", "--data", path, "-o", tmp_path / "p.svg") == 0
    assert "</svg>" in (tmp_path / "p.svg").read_text()
    assert not [left for left in tmp_path.iterdir() if left.name.startswith(".")]


def test_all_output_formats_hold_the_same_values(tmp_path, model, capsys):
    printed = {}
    for form in ("table", "csv", "json"):
        assert run("score", model, tmp_path / "train.csv", "--format", form) == 0
        printed[form] = capsys.readouterr().out.splitlines()
    rows = [json.loads(line) for line in printed["json"]]
    assert [line.split(",") for line in printed["csv"][1:]] == [[str(value) for value in row.values()] for row in rows]
    assert [line.split()[:2] for line in printed["table"][1:]] == [
        [str(row["row"]), str(row["decision"])] for row in rows
    ]
    assert printed["csv"][0].split(",") == printed["table"][0].split() == list(rows[0])


def test_the_content_of_the_file_is_printed_unless_quiet(tmp_path, model, capsys):
    (tmp_path / "new.csv").write_text("id,c,b,a\nx,1,2,3\n")
    assert run("score", model, tmp_path / "new.csv") == 0
    said = capsys.readouterr().err
    assert "(csv): rows of numbers in 3 columns (a, b, c)" in said
    assert said.endswith("not in the model, ignored: 'id'.\n")
    (tmp_path / "odd.csv").write_text("a\n1\n2\n3\nx\n")
    assert run("fit", tmp_path / "odd.csv", "-o", tmp_path / "odd.eocc") == 0
    printed = capsys.readouterr().err
    assert (
        "Note: column 'a' counts as text because 'x' (line 5) is not a number; correct it, leave it empty, or --drop a."
        in printed
    )
    assert "Note: 4 normal rows may be too few to learn from." in printed
    assert run("--quiet", "score", model, tmp_path / "new.csv") == 0
    assert capsys.readouterr().err == ""


def test_labels_choose_what_is_learned_and_what_a_roc_compares(tmp_path, capsys):
    labelled = [[*row, "good" if k < 18 else "bad"] for k, row in enumerate(ROWS)]
    path, model = tmp_path / "l.csv", tmp_path / "m.eocc"
    path.write_text(table(["a", "b", "c", "y"], labelled))
    targets = ("--label", "y", "--target", "good")
    assert run("fit", path, "-o", model, *targets) == 0
    assert "(csv): 24 rows, 18 with y = 'good': rows of numbers in 3 columns" in capsys.readouterr().err
    own = SurpriseClassifier().fit(ROWS[:18])
    assert nameless(model).score_samples(ROWS).tolist() == own.score_samples(ROWS).tolist()
    assert run("plot", model, "roc", "--data", path, *targets, "-o", tmp_path / "p.png") == 0
    assert run("fit", path, "-o", model, "--method", "eocc-2", "--search", "none", *targets) == 0
    assert run("fit", path, "-o", model, "--drop", "y, c") == 0
    assert load(model).feature_names_in_.tolist() == ["a", "b"]


def test_lists_and_unnamed_models_are_matched_by_position(tmp_path):
    path, model, output = tmp_path / "a.jsonl", tmp_path / "m.eocc", tmp_path / "out"
    path.write_text(lines(ROWS.tolist()))
    (tmp_path / "a.csv").write_text(table(["x", "y", "z"], ROWS))
    assert run("fit", path, "-o", model, "--measure", "euclidean") == 0
    printed = []
    for data in (path, tmp_path / "a.csv"):
        assert run("score", model, data, "-o", output) == 0
        printed.append(output.read_text())
    save(SurpriseClassifier().fit(ROWS), model)
    assert run("score", model, path, "-o", output) == 0
    assert printed == [output.read_text()] * 2


def test_standard_input_is_read_and_written_by_part(tmp_path, model):
    (tmp_path / "out").write_text("old")
    asked = [sys.executable, "-m", "eocc", "score", str(model), "-", "--input-format", "csv", "--format", "csv"]
    data = table("abc", ROWS) + "\n\n"
    answer = subprocess.run(asked, input=data, capture_output=True, text=True, check=True, timeout=120)
    assert run("--quiet", "score", model, tmp_path / "train.csv", "--format", "csv", "-o", tmp_path / "out") == 0
    assert answer.stdout == (tmp_path / "out").read_text()
    assert answer.stderr.startswith("- (csv): rows of numbers")


def test_a_reader_that_stops_early_ends_the_output_without_error(tmp_path, model):
    (tmp_path / "long.csv").write_text("a,b,c\n" + "0.25,0.5,0.75\n" * 20_000)
    asked = [sys.executable, "-m", "eocc", "--quiet", "score", str(model), str(tmp_path / "long.csv")]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline().split()[0] == b"row"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=120) == 0


MEMORY = """
import resource, sys
from eocc.cli import main
folder = sys.argv[1]
for name in ("few", "many"):
    assert main(["score", f"{folder}/m.eocc", f"{folder}/{name}.csv", "--format", "csv", "-o", f"{folder}/out"]) == 0
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no getrusage")
def test_ten_times_the_rows_take_no_more_memory(tmp_path, model):
    for name, count in (("few", 20_000), ("many", 200_000)):
        (tmp_path / f"{name}.csv").write_text("a,b,c\n" + "0.25,0.5,0.75\n" * count)
    asked = [sys.executable, "-c", MEMORY, str(tmp_path)]
    few, many = map(int, subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split())
    assert (tmp_path / "out").read_bytes().count(b"\n") == 200_001
    # A cell of text takes 50 bytes or more: all of them together would be 30 MB. On macOS the unit is a byte.
    assert many - few < 8000 * (1024 if sys.platform == "darwin" else 1)


FAILURES = [
    (["fit", "none.csv"], "no file 'none.csv'"),
    (["fit", "empty.csv"], "empty.csv: is empty"),
    (["fit", "head.csv"], "head.csv: holds no rows"),
    (["fit", "train.csv", "--label", "y", "--target", "1"], "has no column 'y'; it has 'a', 'b', 'c'"),
    (["fit", "train.csv", "--label", "a"], "--label a needs --target"),
    (["fit", "train.csv", "--target", "a"], "--target needs --label"),
    (["fit", "train.csv", "--label", "a", "--target", "x"], "has no row with a = 'x'; its values are '"),
    (["fit", "train.csv", "--drop", "z"], "has no column 'z'"),
    (["fit", "words.txt", "--drop", "z"], "has no columns; leave --drop out"),
    (
        ["fit", "train.csv", "--measure", "dtw"],
        "'dtw' does not compare; use euclidean, ",
    ),
    (["fit", "mixed.csv", "--measure", "string-edit"], "which 'string-edit' does not compare; use gower"),
    (["fit", "train.csv", "--measure", "manhattan"], "unknown measure 'manhattan'"),
    (["fit", "train.csv", "--search", "x"], "unknown search 'x'"),
    (["fit", "train.csv", "--format", "x"], "unknown format 'x'"),
    (["fit", "train.csv", "--input-format", "x"], "unknown format 'x'"),
    (["fit", "train.csv", "--input-format", "parquet"], "cannot be read"),
    (["fit", "-"], "pass --input-format"),
    (["fit", "-", "--input-format", "parquet"], "cannot be read from standard input"),
    (["fit", "folder"], "folder: holds no .gxl file"),
    (["fit", "words.txt", "--label", "class", "--target", "x"], "has no columns; leave --label out"),
    (["score", "m.eocc", "none.csv"], "no file 'none.csv'"),
    (["score", "none.eocc", "train.csv"], "none.eocc"),
    (["score", "train.csv", "train.csv"], "train.csv"),
    (["score", "m.eocc", "head.csv"], "holds no rows"),
    (["score", "m.eocc", "lacks.csv"], "lacks.csv: has no column 'c', which the model needs; it has 'a', 'b'"),
    (["score", "m.eocc", "late.csv", "--strict"], "late.csv:5002: column 'b': 'x' is not a number"),
    (
        ["score", "m.eocc", "words.txt"],
        "words.txt:1: the text 'oak' is not a list of 3 numbers; the model compares rows",
    ),
    (["score", "m.eocc", "train.csv", "--format", "x"], "unknown format 'x'"),
    (["score", "m.eocc", "folder", "--input-format", "csv"], "'folder' is a folder; name a file in it"),
    (["explain", "m.eocc", "train.csv", "--rows", "99"], "has no row '99'; its rows are '0' to '23'"),
    (["explain", "m.eocc", "train.csv", "--format", "x"], "unknown format 'x'"),
    (["explain", "m.eocc", "lacks.csv"], "has no column 'c'"),
    (["inspect", "train.csv"], "train.csv"),
    (["inspect", "m.eocc", "--format", "x"], "unknown format 'x'"),
    (["plot", "m.eocc", "nothing"], "unknown picture 'nothing'"),
    (["plot", "m.eocc", "scores"], "needs rows: pass --data"),
    (["plot", "m.eocc", "roc", "--data", "train.csv"], "pass --label and --target"),
    (["plot", "m.eocc", "modularity", "--data", "train.csv"], "leave --data out"),
    (["plot", "m.eocc", "space", "--label", "a", "--target", "1"], "pass --data"),
    (["plot", "m.eocc", "membership"], "needs two columns of numbers; this model has 3 columns: draw 'space' instead"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), FAILURES, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_failures_are_one_line_and_leave_no_file(tmp_path, model, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    write_folder(tmp_path, {
        "empty.csv": "", "head.csv": "a,b,c\n", "lacks.csv": "a,b\n1,2\n", "words.txt": "oak\nelm\n",
        "mixed.csv": "a,b\n1,x\n2,y\n", "late.csv": "a,b,c\n" + "1,2,3\n" * 5000 + "1,x,3\n",
    })  # fmt: skip
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    with within_a_minute():
        assert run(*arguments, "-o", "new.png") in (1, 2)
    printed = capsys.readouterr()
    (line,) = [line for line in printed.err.splitlines() if "(csv)" not in line]
    assert line.startswith("eocc: ")
    assert message in line
    assert printed.out == ""
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("none/out.png", "no folder"),
        ("folder.png", "is a folder; name a file in it"),
        ("pipe.png", "is not a regular file; name another"),
        ("train.csv", "is also the input; name another file for the output"),
    ],
)
def test_impossible_outputs_are_refused_before_the_work(tmp_path, model, monkeypatch, capsys, output, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.png").mkdir()
    os.mkfifo(tmp_path / "pipe.png")
    commands = [["fit", "train.csv"], ["score", "m.eocc", "train.csv"], ["explain", "m.eocc", "train.csv"]]
    commands += [] if output == "train.csv" else [["inspect", "m.eocc"], ["plot", "m.eocc", "space"]]
    for command in commands:
        with within_a_minute():
            assert run(*command, "-o", output) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert message in line


def test_a_name_that_ends_like_a_folder_is_refused(tmp_path, model, capsys):
    train = tmp_path / "train.csv"
    commands = [["fit", train], ["score", model, train], ["report", model], ["update", model, train]]
    for command in [*([*one, "-o"] for one in commands), ["score", model, train, "--summary"]]:
        assert run(*command, f"{tmp_path}/new/") == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "new/' is a folder; name a file in it" in line
        assert not (tmp_path / "new").exists()


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="has no /dev/null")
def test_a_result_may_be_thrown_away(tmp_path, model, capsys):
    train = tmp_path / "train.csv"
    for command in (["fit", train], ["score", model, train, "--format", "parquet"], ["score", model, train],
                    ["inspect", model]):  # fmt: skip
        assert run("-q", *command, "-o", "/dev/null") == 0
    assert capsys.readouterr().err == ""
    assert Path("/dev/null").is_char_device()


def test_an_output_replaces_the_file_a_link_leads_to_and_keeps_its_mode(tmp_path, model):
    (tmp_path / "old.csv").write_text("old")
    (tmp_path / "old.csv").chmod(0o640)
    (tmp_path / "link.csv").symlink_to(tmp_path / "old.csv")
    assert run("score", model, tmp_path / "train.csv", "-o", tmp_path / "link.csv", "--format", "csv") == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "old.csv").read_text().startswith("row,decision")
    assert (tmp_path / "old.csv").stat().st_mode & 0o777 == 0o640


def test_the_rows_written_to_a_file_are_counted(tmp_path, model, capsys):
    (tmp_path / "new.csv").write_text("a,b,c\n0,0,0\n90,0,0\n")
    for command, how in (("score", " as a table"), ("explain", "")):
        assert run(command, model, tmp_path / "new.csv", "-o", tmp_path / "out") == 0
        assert capsys.readouterr().err.endswith(f"Written: {tmp_path / 'out'}{how} (2 rows, 1 accepted).\n")


def test_rows_are_explained_by_name_and_by_number(tmp_path, capsys):
    path, model = write_folder(tmp_path / "set", GXL), tmp_path / "m.eocc"
    assert run("fit", path, "-o", model) == 0
    capsys.readouterr()
    assert run("explain", model, path, "--rows", "0,2.gxl, 5") == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed if line.startswith("Row")] == [f"Row {k}.gxl" for k in (0, 2, 5)]
    assert run("explain", model, path, "--rows", "6") == 1
    assert "its rows are '0.gxl' to '5.gxl', or '0' to '5'" in capsys.readouterr().err


def test_vertices_are_named_by_an_attribute(tmp_path):
    values = [{"nodes": [{"id": "p", "role": "lead", "town": "Rome"}] * (k % 2), "links": []} for k in range(9)]
    (tmp_path / "a.jsonl").write_text(lines(values))
    assert main(["fit", str(tmp_path / "a.jsonl"), "-o", str(tmp_path / "m.eocc")]) == 0
    assert load(tmp_path / "m.eocc").measure_.vertex.naming == "role"
