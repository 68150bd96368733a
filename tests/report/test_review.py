"""Rows that a person is asked about, and the commands review, teach and answers."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from browsing import HOSTILE
from eocc import SurpriseClassifier, load
from eocc.cli import main
from eocc.cli.update import read_answers
from eocc.report import write_review
from eocc.report.review import HEAD, digests_of, in_words


def data_in(path):
    return json.loads(re.search('id="page-data">(.*?)</script>', Path(path).read_text())[1])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with normal.csv, new.csv and a model; rows 40 to 49 of new.csv are outliers of two kinds."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    good, odd = rng.normal(size=(140, 3)), rng.normal(size=(10, 3)) * 0.3
    odd[:5, 0] += 7
    odd[5:, 1] -= 7
    for name, rows in (("normal.csv", good[:100]), ("new.csv", np.vstack([good[100:], odd]))):
        lines = [f"pump-{k}," + ",".join(f"{x:.4f}" for x in row) for k, row in enumerate(rows)]
        Path(name).write_text("machine,load,heat,noise\n" + "\n".join(lines) + "\n")
    assert main(["-q", "fit", "normal.csv", "--id", "machine", "-o", "model.eocc"]) == 0
    return tmp_path


def answer(words, name="answers.csv", n=10):
    """Save the file that the page saves, with these answers to its first rows; None leaves a row out."""
    assert main(["-q", "review", "model.eocc", "new.csv", "--id", "machine", "-n", str(n), "-o", "page.html"]) == 0
    shown = data_in("page.html")
    rows = [row for row, word in zip(shown["rows"], words, strict=False) if word]
    lines = [{**row, "row": row["name"], "answer": word, "data": shown["data"]}
             for row, word in zip(rows, filter(None, words), strict=True)]  # fmt: skip
    with Path(name).open("w", newline="") as file:
        writer = csv.DictWriter(file, HEAD, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(lines)
    return [row["name"] for row in rows]


def run(capsys, *arguments, code=0):
    assert main(list(map(str, arguments))) == code
    return capsys.readouterr()


def decisions(model, capsys, data="new.csv"):
    found = json.loads(f"[{run(capsys, '-q', 'score', model, data, '--id', 'machine', '--format', 'json').out}]"
                       .replace("}\n{", "},{"))  # fmt: skip
    return {row["row"]: row["decision"] for row in found}


# ---- digests and questions


def test_a_digest_is_that_of_the_content_alone_and_never_changes():
    assert digests_of(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])) == [
        "r3bff51d09d2b1759", "r15d135c2e59cc121", "r3bff51d09d2b1759",
    ]  # fmt: skip
    assert digests_of(["oak", "elm"])[::-1] == digests_of(["elm", "oak"])


def test_the_page_asks_about_the_rows_that_the_model_asks_about(iris, tmp_path):
    X, _ = iris
    clf = SurpriseClassifier().fit(X[:40])
    names = [f"flower {k}" for k in range(40, 150)]
    asked = clf.queries(X[40:], 6)
    for row, query in zip(
        data_in(write_review(clf, tmp_path / "a.html", X[40:], 6, names))["rows"], asked, strict=True
    ):
        assert (row["name"], row["reason"]) == (names[query.index], query.reason)
        assert [row["digest"]] == digests_of(X[40:][[query.index]])
    rows = data_in(write_review(clf, tmp_path / "b.html", X[40:], 2))["rows"]
    assert [row["name"] for row in rows] == [str(query.index) for query in asked[:2]]


def test_a_page_with_nothing_to_ask_is_refused(iris, tmp_path):
    X, y = iris
    clf = SurpriseClassifier().fit(X[:40])
    first = [query.index for query in clf.queries(X[40:], 3)]
    taught = clf.teach(X[40:][first], y[40:][first])
    second = [query.index for query in taught.queries(X[40:], 3)]
    assert len(second) == 3
    assert not {*first} & {*second}
    with pytest.raises(ValueError, match="there is nothing to ask"):
        write_review(taught, tmp_path / "page.html", X[40:][first], 3)


def test_answers_are_counted_in_words():
    assert in_words(["normal"]) == "1 answer: 1 normal, 0 not normal"


# ---- the page


def test_the_page_holds_what_it_shows_and_escapes_it(iris, tmp_path):
    X, _ = iris
    clf = SurpriseClassifier().fit(X[:40])
    path = write_review(clf, tmp_path / "page.html", X[40:], 4, [HOSTILE] * 110, HOSTILE, HOSTILE)
    text = path.read_text()
    assert "<img" not in text
    assert text.count("<script") == 2
    assert "default-src 'none'" in text
    rows = data_in(path)["rows"]
    assert {row["name"] for row in rows} == {HOSTILE}
    for row, query in zip(rows, clf.queries(X[40:], 4), strict=True):
        pattern = X[40:][[query.index]]
        (one,) = clf.explain(pattern)
        assert one.sentence.partition(": ")[2].lower() in row["say"].lower()
        assert row["decision"] == (clf.predict(pattern)[0] == -1)
        assert list(map(float, row["values"])) == pattern[0].tolist()


def test_the_key_of_the_page_is_that_of_its_rows(iris, tmp_path):
    X, _ = iris
    clf = SurpriseClassifier().fit(X[:40])
    keys = [data_in(write_review(clf, tmp_path / "page.html", rows, 3))["key"] for rows in (X[40:], X[40:], X[60:])]
    assert keys[0] == keys[1] != keys[2]


# ---- teach


def test_teach_learns_what_the_page_saved_and_says_what_changes(folder, capsys):
    before = decisions("model.eocc", capsys)
    named = answer(["not normal", "not normal", "normal", None, "not normal"])
    printed = run(capsys, "teach", "model.eocc", "answers.csv", "-o", "better.eocc", "--id", "machine")
    assert "Learned 4 answers: 1 normal, 3 not normal.\n" in printed.out
    after = decisions("better.eocc", capsys)
    more = [name for name in before if before[name] > after[name]]
    fewer = [name for name in before if before[name] < after[name]]
    assert f"new.csv: {len(more)} more row" in printed.out
    assert f", {len(fewer)} fewer" in printed.out
    assert f"now {list(after.values()).count(-1)} of 50 are rejected" in printed.out
    assert all(name in printed.out for name in (more + fewer)[:3])
    for name, sign in zip(named, (-1, -1, 1, -1), strict=True):
        note = f"Note: row {name} is still {'rejected' if sign == 1 else 'accepted'}"
        assert (note in printed.err) == (after[name] != sign)
    assert load("better.eocc").answers_.y.tolist() == [-1, -1, 1, -1]


def test_teach_finds_rows_in_a_file_that_has_grown_and_was_sorted(folder, capsys):
    answer(["not normal", "normal"])
    run(capsys, "teach", "model.eocc", "answers.csv", "-o", "one.eocc")
    head, *lines = Path("new.csv").read_text().splitlines()
    more = ["pump-x,9.5,9.5,9.5"]
    Path("moved.csv").write_text("\n".join([head, *more, *sorted(lines)[::-1]]) + "\n")
    Path("new.csv").unlink()
    assert "no file 'new.csv', which answers.csv is about; pass --data" in run(
        capsys, "teach", "model.eocc", "answers.csv", code=1).err  # fmt: skip
    run(capsys, "teach", "model.eocc", "answers.csv", "--data", "moved.csv", "-o", "two.eocc")
    one, two = (load(name).answers_ for name in ("one.eocc", "two.eocc"))
    assert (one.rows.tolist(), one.y.tolist()) == (two.rows.tolist(), two.y.tolist())


def test_teach_refuses_answers_about_another_file_and_writes_nothing(folder, capsys):
    named = answer(["not normal", "normal", "normal"])
    text = Path("new.csv").read_text()
    changed = re.sub(rf"{named[1]},.", f"{named[1]},5", text, count=1)
    Path("new.csv").write_text(changed)
    printed = run(capsys, "teach", "model.eocc", "answers.csv", code=1)
    assert f"1 of 3 answered rows are not in new.csv, first row '{named[1]}'; pass --data with the file" in printed.err
    assert not Path("taught.eocc").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("row,answer\n3,normal\n", "answers.csv holds no answers of eocc review: it has no column 'reason'"),
        (",".join(HEAD) + "\n", "answers.csv holds no answers; answer at least one row"),
        (",".join(HEAD) + "\n3,maybe,x,new.csv,r1\n", "answers.csv:2: 'maybe' is not an answer; write 'normal' or"),
        (",".join(HEAD) + "\n3,normal,x,new.csv,r1\n4,not normal,x,new.csv,r1\n",
         "answers.csv:3: row '4' is answered twice, differently; remove one of the lines"),
        (",".join(HEAD) + "\n3,normal,x,new.csv,r1\n4,normal,x,old.csv,r2\n",
         "answers.csv:3: 'old.csv' is another data file than in line 2; divide the answers"),
    ],
)  # fmt: skip
def test_a_wrong_file_of_answers_is_refused_in_one_line(folder, capsys, text, message):
    Path("answers.csv").write_text(text)
    printed = run(capsys, "teach", "model.eocc", "answers.csv", code=1).err
    assert message in printed
    assert len(printed.splitlines()) == 1


def test_answers_that_a_spreadsheet_saved_again_are_read(folder):
    answer(["not normal", "normal"])
    plain = read_answers(Path("answers.csv"))
    text = Path("answers.csv").read_text()
    Path("sheet.csv").write_text("\ufeff" + text.replace(",", ";"), newline="\r\n")
    assert read_answers(Path("sheet.csv")) == plain


# ---- answers in the model


def listed(printed):
    return [(one["id"], one["answer"], one["values"], one["row"]) for one in map(json.loads, printed.out.splitlines())]


def test_answers_are_listed_and_withdrawn(folder, capsys):
    named = answer(["not normal", "normal", "not normal"])
    assert run(capsys, "answers", "model.eocc").err == "This model has learned no answers.\n"
    run(capsys, "teach", "model.eocc", "answers.csv", "-o", "better.eocc")
    known = listed(run(capsys, "answers", "better.eocc", "--format", "json"))
    assert [(one, word) for one, word, *_ in known] == [(0, "not normal"), (1, "normal"), (2, "not normal")]
    cells = dict(line.split(",", 1) for line in Path("new.csv").read_text().splitlines())
    for name, (_, _, words, row) in zip(named, known, strict=True):
        assert row == name
        values = [float(part.split(" = ")[1]) for part in words.split(", ")]
        assert values == pytest.approx([float(cell) for cell in cells[name].split(",")], rel=1e-3)

    left = listed(run(capsys, "answers", "better.eocc", "--withdraw", "0,2", "-o", "c.eocc", "--format", "json"))
    assert left == [(0, *known[1][1:])]
    assert listed(run(capsys, "answers", "better.eocc", "--format", "json")) == known  # it stays as it was
    run(capsys, "answers", "c.eocc", "--withdraw", "0", "-o", "d.eocc")
    assert decisions("d.eocc", capsys) == decisions("model.eocc", capsys)
    run(capsys, "answers", "better.eocc", "--withdraw", "0,2", "-o", "better.eocc")
    assert listed(run(capsys, "answers", "better.eocc", "--format", "json")) == left


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["answers", "m.eocc", "--withdraw", "0"], "pass --output, the model file to write as well", 2),
        (["answers", "m.eocc", "-o", "b.eocc"], "pass --withdraw as well", 2),
        (["review", "m.eocc", "-"], "they must be in a file: pass its path", 2),
        (["review", "m.eocc", "new.csv", "-n", "0"], "0 is not in the range x>=1", 2),
        (["answers", "model.eocc", "--withdraw", "0", "-o", "b.eocc"], "no answer '0'; it has no answers", 1),
        (["answers", "model.eocc", "--withdraw", "x", "-o", "b.eocc"], "no answer 'x'; it has no answers", 1),
    ],
)
def test_mistakes_are_one_line(folder, capsys, arguments, message, code):
    printed = run(capsys, *arguments, code=code)
    assert message in printed.err
    assert len(printed.err.splitlines()) == 1


def test_a_model_that_cannot_be_taught_is_not_reviewed(folder, capsys):
    run(capsys, "-q", "fit", "normal.csv", "--id", "machine", "--method", "eocc-1", "--seed", 0, "-o", "paper.eocc")
    printed = run(capsys, "review", "paper.eocc", "new.csv", code=1)
    remedy = "fit a SurpriseClassifier, in the command line --method surprise"
    assert printed.err == f"eocc: EntropicOneClassClassifier cannot be taught; {remedy}\n"
