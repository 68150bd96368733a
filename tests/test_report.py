import itertools
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import eocc.cli.report  # noqa: F401  # adds its command
from eocc import EntropicOneClassClassifier
from eocc.cli import main
from eocc.io.model_file import save
from eocc.measures import Composite, LabelledGraph
from eocc.report import write_report
from eocc.report.charts import histogram, linear, logarithmic
from eocc.report.map import MOST_DRAWN, drawn_patterns
from eocc.report.markup import escaped, tag
from eocc.report.page import policy
from eocc.report.pictures import graph_pictures
from eocc.report.study import study_of
from samples import MAKERS, samples

HOSTILE = "</script><script>alert('x')</script><img src=x onerror=alert(1)>\"'&\0\ud800\u202e"
VOID = {"meta", "input"}


class Reader(HTMLParser):
    """The page as a reader sees it: its elements, whether they are closed in order, and its text."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.open, self.words = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, words):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(words)

    def all(self, name):
        return [attributes for found, attributes in self.elements if found == name]

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def read(path):
    reader = Reader(path.read_text(encoding="utf-8"))
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def flowers(iris):
    X, y = iris
    clf = EntropicOneClassClassifier(search=None).fit(X[:40])
    return clf, X[40:], y[40:]


@pytest.fixture(scope="module")
def page(flowers, tmp_path_factory):
    clf, X, y = flowers
    return read(write_report(clf, tmp_path_factory.mktemp("report") / "page.html", X, y, title="Irises"))


def test_the_page_names_itself_and_its_language(page):
    assert page.all("html") == [{"lang": "en"}]
    assert page.text.startswith("Irises")
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all("meta")


def test_headings_come_in_order_and_links_lead_somewhere(page):
    levels = [int(name[1]) for name, _ in page.elements if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    known = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    links = [link["href"] for link in page.all("a")]
    assert len(links) == 8
    assert {link[1:] for link in links} <= known


def test_no_identity_occurs_twice(page):
    identities = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(identities) == len(set(identities))


def test_every_table_has_heads_with_a_scope_and_every_drawing_has_words_or_is_hidden(page):
    assert page.all("table")
    assert {head["scope"] for head in page.all("th")} == {"col", "row"}
    for drawing in page.all("svg"):
        assert drawing.get("aria-label") or drawing.get("aria-hidden") == "true"


def test_the_page_asks_for_nothing_outside_itself(page):
    for _, attributes in page.elements:
        assert not {"src", "srcset", "action", "style", "onclick", "onload"} & set(attributes)
        assert attributes.get("href", "#").startswith("#")


def test_the_policy_allows_this_style_and_this_script_alone(flowers, tmp_path):
    text = write_report(flowers[0], tmp_path / "page.html").read_text(encoding="utf-8")
    style, script = (re.search(f"<{name}>(.*?)</{name}>", text, re.DOTALL)[1] for name in ("style", "script"))
    stated = re.search('http-equiv="Content-Security-Policy" content="(.*?)"', text)[1]
    assert stated == policy(style, script)
    assert "default-src 'none'" in stated
    assert "unsafe" not in stated
    assert "http" not in stated


def test_the_summary_tells_counts_false_alarms_and_auc(flowers, page):
    clf, X, y = flowers
    accepted = clf.predict(X) == 1
    alarms = int((~accepted & (y == 1)).sum())
    assert f"Of 110 new patterns it accepts {accepted.sum()} " in page.text
    assert f"{alarms} of 10 targets ({10 * alarms}%) are wrongly rejected" in page.text
    assert f"AUC {roc_auc_score(y, clf.score_samples(X)):.3f}" in page.text


def test_every_pattern_is_on_the_map_where_the_projection_puts_it(flowers, page):
    marks = [mark for mark in page.all("g") if "data-key" in mark]
    assert {mark["data-key"] for mark in marks} == {f"t{i}" for i in range(40)} | {f"n{i}" for i in range(110)}
    clf, X, _ = flowers
    study = study_of(clf, X)
    expected = np.concatenate([study.training.points, study.new.points])
    at = {mark["data-key"]: re.findall(r"-?[\d.]+", mark["transform"]) for mark in marks}
    found = np.array([at[key] for key in [f"t{i}" for i in range(40)] + [f"n{i}" for i in range(110)]], float)
    for axis, sign in ((0, 1), (1, -1)):
        assert np.corrcoef(found[:, axis], sign * expected[:, axis])[0, 1] > 0.9999


def test_marks_carry_the_decision_and_say_when_it_is_wrong(flowers, page):
    clf, X, y = flowers
    decisions = clf.predict(X)
    for mark in page.all("g"):
        if mark.get("data-key", "").startswith("n"):
            row = int(mark["data-key"][1:])
            assert ("accepted" in mark["class"]) == (decisions[row] == 1)
            assert ("(wrong)" in mark["aria-label"]) == (decisions[row] != y[row])


def test_the_ten_strangest_are_explained_on_the_page_in_order(flowers, page):
    clf, X, _ = flowers
    order = np.argsort(clf.decision_function(X), kind="stable")
    shown = [one["id"] for one in page.all("article") if "id" in one][:10]
    assert shown == [f"explained-n{row}" for row in order[:10]]
    assert "petal length" not in page.text  # these features have no names
    assert "What makes the difference" in page.text


def test_accepted_patterns_are_not_called_abnormal(flowers, tmp_path):
    _, X, _ = flowers
    clf = EntropicOneClassClassifier(resolution="single", search=None).fit(X[:10])
    normal = X[:10][clf.predict(X[:10]) == 1]
    text = read(write_report(clf, tmp_path / "page.html", normal)).text
    assert "Farthest from any region" in text
    assert f"the farthest first; 0 of {len(normal)} are rejected. A pattern is accepted up to 1 extent" in text
    assert "abnormal" not in text


def test_the_legend_counts_the_regions_in_order(tmp_path):
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(size, 2)) * 0.1 + 10 * k for k, size in enumerate((3, 9, 5, 7))])
    clf = EntropicOneClassClassifier(search=None).fit(X)
    sizes = [len(region.members) for region in clf.regions_]
    assert sizes != sorted(sizes, reverse=True)
    text = read(write_report(clf, tmp_path / "page.html")).text
    assert [int(number) for number in re.findall(r"region (\d+): \d+ patterns?", text)] == list(range(len(sizes)))


def test_a_page_for_a_folder_that_is_not_there_names_the_folder(flowers, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder '.*none' to write 'page.html' in"):
        write_report(flowers[0], tmp_path / "none" / "page.html")


@pytest.mark.parametrize("name", [*MAKERS, "precomputed"])
def test_every_measure_has_its_report(name, tmp_path):
    training, new = samples(name)
    clf = EntropicOneClassClassifier(measure=name, search=None).fit(training)
    found = read(write_report(clf, tmp_path / "page.html", new, [1, 1, -1, -1, 1]))
    assert len([mark for mark in found.all("g") if "data-key" in mark]) == 25
    assert "AUC" in found.text
    assert read(write_report(clf, tmp_path / "alone.html")).text.count("No new patterns were given") == 1


def test_composites_functions_and_other_regions_have_their_report(tmp_path):
    records = [{"size": float(k % 5), "name": "oak" * (k % 3 + 1)} for k in range(20)]
    measure = Composite({"size": "euclidean", "name": "string-edit"})
    for resolution in ("single", "multi"):
        composite = EntropicOneClassClassifier(
            measure=measure, resolution=resolution, search=None, membership_function="two-sided"
        ).fit(records)
        new = [{"size": 9.0, "name": "elm"}, *records[:4]]
        assert "its own dissimilarity" in read(write_report(composite, tmp_path / "a.html", new)).text
    own = EntropicOneClassClassifier(measure=lambda a, b: abs(a - b), search=None, representative="centroid").fit(
        [0.1, 0.2, 0.5, 3.0]
    )
    assert "the measure gives this number alone" in read(write_report(own, tmp_path / "b.html", [9.0])).text


def test_searches_and_calibration_are_told(setosa, tmp_path):
    clf = EntropicOneClassClassifier(
        resolution="single", search="random", false_alarm_rate=0.1, random_state=0
    ).fit(setosa)  # fmt: skip
    text = read(write_report(clf, tmp_path / "page.html", setosa + 0.5)).text
    assert "calibrated to a false alarm rate of 0.1 on 50 targets" in text
    assert "share with p-value up to a" in text
    reach = re.search(r"\(accepted up to ([\d.]+)\)", text)[1]
    assert f"A pattern is accepted up to {reach} extents: the border of a region is at 1, and calibration" in text
    assert re.search(r"Search: \d+ generations?; the best objective", text)


def test_labels_of_one_kind_leave_out_the_roc_curve(flowers, tmp_path):
    clf, X, _ = flowers
    text = read(write_report(clf, tmp_path / "page.html", X, np.ones(len(X)))).text
    assert "The labels are of one kind only" in text
    assert "AUC" not in text


def test_one_training_pattern_is_enough(tmp_path):
    clf = EntropicOneClassClassifier(search=None).fit([[1.0, 2.0]])
    assert "1 training pattern" in read(write_report(clf, tmp_path / "page.html", [[1.0, 2.0], [3.0, 4.0]])).text


def test_strings_of_the_user_are_text_wherever_they_occur(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["size", HOSTILE[:60]])
    vectors = EntropicOneClassClassifier(search=None).fit(frame)
    words = EntropicOneClassClassifier(measure="string-edit", search=None).fit([HOSTILE, "oak", HOSTILE + "s", "elm"])
    graph = LabelledGraph(2, [[0, 1]], {"<b>": ["<i>", "&"]}, {HOSTILE: [HOSTILE]})
    graphs = EntropicOneClassClassifier(measure="graph-edit", search=None).fit([graph, graph, LabelledGraph(1)])
    for clf, X in ((vectors, frame[:3]), (words, [HOSTILE, "x"]), (graphs, [graph])):
        found = read(write_report(clf, tmp_path / "page.html", X, names=[HOSTILE] * len(X), title=HOSTILE))
        assert len(found.all("script")) == 1
        assert found.all("img") == []
        assert found.all("b") in ([], [{}] * len(clf.regions_))
        assert "</script><script>alert('x')</script>" in found.text
        assert not set("\0\ud800\u202e") & set(found.text)


def test_many_patterns_are_thinned_but_prototypes_and_the_strangest_stay():
    rng = np.random.default_rng(0)
    clf = EntropicOneClassClassifier(search=None).fit(rng.normal(size=(300, 2)))
    study = study_of(clf, rng.normal(size=(3 * MOST_DRAWN, 2)) * 2)
    drawn = drawn_patterns(study)
    assert len(drawn.training) == 300
    assert len(drawn.new) == MOST_DRAWN - 300
    assert set(study.explained) <= set(drawn.new.tolist())
    assert {prototype.column for prototype in study.prototypes.values()} <= set(drawn.training.tolist())


def test_a_thousand_patterns_make_less_than_three_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    clf = EntropicOneClassClassifier(search=None).fit(rng.normal(size=(200, 10)))
    path = write_report(clf, tmp_path / "page.html", rng.normal(size=(800, 10)), [1, -1] * 400)
    assert path.stat().st_size < 3e6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [1, -1]}, "y needs X"),
        ({"names": ["a"]}, "names needs X"),
        ({"X": [[0.0] * 4] * 3, "y": [1, -1]}, "X holds 3 patterns, y 2 labels"),
        ({"X": [[0.0] * 4] * 3, "y": [1, 2, 3]}, "y must hold"),
        ({"X": [[0.0] * 4] * 3, "names": ["a"]}, "X holds 3 patterns, names 1"),
        ({"X": [[0.0] * 3]}, "3 features"),
        ({"X": [[np.nan] * 4]}, "NaN"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(flowers, tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        write_report(flowers[0], tmp_path / "page.html", **arguments)
    assert list(tmp_path.iterdir()) == []


def test_an_unfitted_classifier_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        write_report(EntropicOneClassClassifier(), tmp_path / "page.html")


def test_a_failed_write_leaves_the_old_page_and_no_draft(flowers, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def full(self, *arguments, **others):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_text", full)
    with pytest.raises(OSError, match="No space left"):
        write_report(flowers[0], path)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("page.html", "old")]


def test_the_command_writes_the_page(flowers, tmp_path, capsys):
    _, X, y = flowers
    names = ["a", "b", "c", "d"]
    clf = EntropicOneClassClassifier(search=None).fit(pd.DataFrame(X[:30], columns=names))
    save(clf, tmp_path / "model.eocc")
    rows = [f"{','.join(map(str, row))},{label}" for row, label in zip(X, y, strict=True)]
    (tmp_path / "new.csv").write_text("\n".join(["a,b,c,d,kind", *rows]))
    asked = ["report", str(tmp_path / "model.eocc"), "--data", str(tmp_path / "new.csv"), "--label", "kind"]
    page = tmp_path / "page.html"
    assert main([*asked, "--target", "1", "--title", "Flowers", "-o", str(page)]) == 0
    assert "110 new patterns" in read(page).text
    assert "Written" in capsys.readouterr().err
    assert main([*asked, "--target", "1", "-o", str(page)]) == 0
    assert read(page).text.startswith("One-class report: new.csv")
    assert main(["report", str(tmp_path / "model.eocc"), "-o", str(page)]) == 0
    assert read(page).text.startswith("One-class report: model.eocc")
    capsys.readouterr()
    assert main(["report", str(tmp_path / "model.eocc"), "--label", "kind"]) == 2
    assert "pass --data" in capsys.readouterr().err


def test_ticks_are_round_and_inside():
    assert linear("", 0.13, 0.61).ticks == [0.2, 0.3, 0.4, 0.5, 0.6]
    assert linear("", 2.0, 2.0).ticks == [1.6, 1.8, 2.0, 2.2, 2.4]
    assert linear("", 0, 1).place(0.25, 10, 50) == 20
    assert logarithmic("", 1, 100).place(10, 0, 8) == pytest.approx(4)


def test_a_histogram_counts_what_lies_beyond_in_the_last_bin():
    drawn = Reader(histogram([("some", np.array([0.1, 0.2, 9.0]), 0)], np.array([0.0, 1.0, 2.0]), "", "", ("b", 1.0)))
    heights = [float(bar["height"]) for bar in drawn.all("rect") if bar.get("class") == "bar look-0"][:2]
    assert heights[0] == pytest.approx(2 * heights[1], abs=0.2)


def test_graphs_are_drawn_by_their_own_coordinates_or_by_steps():
    square = LabelledGraph(4, [[0, 1], [1, 2], [2, 3], [3, 0]], {"x": [0, 1, 1, 0], "y": [0, 0, 1, 1]})
    [picture] = graph_pictures([square], ["a square"])
    places = [(float(dot["cx"]), float(dot["cy"])) for dot in Reader(picture).all("circle")]
    assert places == [(14, 136), (136, 136), (136, 14), (14, 14)]
    [chain] = graph_pictures([LabelledGraph(3, [[0, 1], [1, 2]])], ["a chain"])
    across = sorted(float(dot["cx"]) for dot in Reader(chain).all("circle"))
    assert across == pytest.approx([14, 75, 136])


def test_markup_escapes_all_but_itself():
    assert tag("p", "<", tag("i", "&"), title='"') == '<p title="&quot;">&lt;<i>&amp;</i></p>'
    assert escaped("a\0b\udc80") == "a\ufffdb\ufffd"
