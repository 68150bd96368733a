import itertools
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from doubles import plain
from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.measures import Composite, GraphEdit, LabelledGraph
from eocc.report import write_report
from eocc.report.charts import histogram, linear, logarithmic
from eocc.report.map import MOST_DRAWN, drawn_rows
from eocc.report.markup import escaped, tag
from eocc.report.page import policy
from eocc.report.pictures import pictures_of
from eocc.report.sections import percentage
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


CLASSIFIERS = {"surprise": SurpriseClassifier(), "entropic": EntropicOneClassClassifier(search=None)}


@pytest.fixture(scope="module", params=CLASSIFIERS)
def flowers(iris, request):
    X, y = iris
    return clone(CLASSIFIERS[request.param]).fit(X[:40]), X[40:], y[40:]


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


def test_the_summary_has_counts_false_alarms_and_auc(flowers, page):
    clf, X, y = flowers
    accepted = clf.predict(X) == 1
    alarms = int((~accepted & (y == 1)).sum())
    assert clf.describe() in page.text
    assert f"Of 110 new rows it accepts {accepted.sum()} " in page.text
    assert f"False alarms: {alarms} of 10 rows labelled normal ({10 * alarms}%) are rejected." in page.text
    assert f"AUC {roc_auc_score(y, clf.score_samples(X)):.3f}" in page.text


def test_every_row_is_on_the_map_where_the_projection_puts_it(flowers, page):
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


def test_the_ten_most_unusual_rows_are_explained_on_the_page_in_order(flowers, page):
    clf, X, _ = flowers
    order = np.argsort(clf.decision_function(X), kind="stable")
    shown = [one["id"] for one in page.all("article") if "id" in one][:10]
    assert shown == [f"explained-n{row}" for row in order[:10]]
    assert "petal length" not in page.text  # these columns have no names
    assert "What makes the difference" in page.text


def test_the_limit_is_stated(flowers, page, iris, tmp_path):
    assert f"They are ordered by {flowers[0].ratio_name}; rows up to 1 are accepted." in page.text
    clf = EntropicOneClassClassifier(search=None, false_alarm_rate=0.1, random_state=0).fit(iris[0][:40])
    text = read(write_report(clf, tmp_path / "page.html")).text
    reach = (1 - 2 * clf.threshold_) ** 0.5
    assert f"rows up to {reach:.4g} are accepted." in text
    assert f"A row is accepted if it lies within {reach:.4g} extents of a region." in text


def test_the_study_holds_the_scores_of_the_classifier(flowers):
    clf, X, _ = flowers
    study = study_of(clf, X)
    assert_array_equal(study.new.ratios, clf.score_all(X).ratios)
    assert_array_equal(study.new.scores, clf.score_samples(X))
    assert_array_equal(study.new.accepted, clf.predict(X) == 1)
    assert_array_equal(study.new.nearest, clf.nearest_regions(clf.transform(X)))
    assert study.explained[0] == clf.explain(X[:1])[0]


def test_regions_are_not_computed_for_many_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("eocc.plots.projection.MOST_PROTOTYPES", 50)
    X = np.random.default_rng(0).normal(size=(60, 2))
    clf = SurpriseClassifier().fit(X)
    found = read(write_report(clf, tmp_path / "page.html", X[:5] + 9, [1, 1, -1, -1, 1]))
    assert not clf.has_regions
    assert "This page does not show them" in found.text
    assert "Regions are not shown for 60 training rows." in found.text
    assert "nearest region" not in found.text
    assert len([mark for mark in found.all("g") if "data-key" in mark]) == 65
    clf.regions_  # noqa: B018  # now they are there
    assert "Most typical:" in read(write_report(clf, tmp_path / "page.html")).text


def test_fewer_prototypes_than_training_rows_are_said(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    for clf in (SurpriseClassifier(prototypes=20), plain(prototypes=20, random_state=0, false_alarm_rate=0.1)):
        text = read(write_report(clf.fit(X), tmp_path / "page.html", X[:5] + 9)).text
        assert "It keeps 20 of 60 training rows as prototypes" in text
        assert "It was set on 60 training rows" in text


def test_the_legend_counts_the_regions_in_order(tmp_path):
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(size, 2)) * 0.1 + 10 * k for k, size in enumerate((3, 9, 5, 7))])
    clf = EntropicOneClassClassifier(search=None).fit(X)
    sizes = [len(region.members) for region in clf.regions_]
    assert sizes != sorted(sizes, reverse=True)
    text = read(write_report(clf, tmp_path / "page.html")).text
    assert [int(number) for number in re.findall(r"region (\d+): \d+ rows?", text)] == list(range(len(sizes)))


def test_a_page_for_a_folder_that_is_not_there_names_the_folder(flowers, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder '.*none' to write 'page.html' in"):
        write_report(flowers[0], tmp_path / "none" / "page.html")


@pytest.mark.parametrize("name", [*MAKERS, "precomputed"])
def test_every_measure_has_its_report(name, tmp_path):
    training, new = samples(name)
    for unfitted in CLASSIFIERS.values():
        clf = clone(unfitted).set_params(measure=name).fit(training)
        found = read(write_report(clf, tmp_path / "page.html", new, [1, 1, -1, -1, 1]))
        assert len([mark for mark in found.all("g") if "data-key" in mark]) == 25
        assert "AUC" in found.text
        pictures = [drawing for drawing in found.all("svg") if "Picture of" in (drawing.get("aria-label") or "")]
        assert bool(pictures) == (name in ("graph-edit", "dtw"))
        assert read(write_report(clf, tmp_path / "alone.html")).text.count("No new rows were given") == 1


def test_composites_and_functions_have_their_report(tmp_path):
    records = [{"size": float(k % 5), "name": "oak" * (k % 3 + 1)} for k in range(20)]
    measure = Composite({"size": "euclidean", "name": "string-edit"})
    for unfitted in CLASSIFIERS.values():
        clf = clone(unfitted).set_params(measure=measure, membership_function="two-sided").fit(records)
        new = [{"size": 9.0, "name": "elm"}, *records[:4]]
        assert "its own dissimilarity" in read(write_report(clf, tmp_path / "a.html", new)).text
        own = clone(unfitted).set_params(measure=lambda a, b: abs(a - b)).fit([0.1, 0.2, 0.5, 3.0])
        text = read(write_report(own, tmp_path / "b.html", [9.0])).text
        assert re.search("the measure gives (only )?this number", text)


def test_search_and_calibration_are_shown(setosa, tmp_path):
    clf = EntropicOneClassClassifier(search="random", false_alarm_rate=0.1, random_state=0).fit(setosa)
    text = read(write_report(clf, tmp_path / "page.html", setosa + 0.5)).text
    assert "The false-alarm rate is 0.1: about 10% of new normal rows are rejected." in text
    assert "share with p-value up to a" in text
    assert re.search(r"Search: \d+ generations?; the best objective", text)


def test_the_model_section_shows_the_facts_and_all_weightings(setosa, tmp_path):
    surprise = SurpriseClassifier().fit(setosa * np.array([1.0, 50.0, 1.0, 1.0]))
    text = read(write_report(surprise, tmp_path / "page.html")).text
    assert "variance-equalised" in text
    assert f"{surprise.weightings['variance-equalised'][0]:.3g}" in text
    assert f"threshold of the surprise {surprise.surprise_model_.threshold.value:.3g}" in text
    assert "Search:" not in text
    plain = EntropicOneClassClassifier(search=None).fit(setosa)
    text = read(write_report(plain, tmp_path / "page.html", setosa)).text
    assert f"modularity {plain.modularity_:.3g}" in text
    assert "The model is not calibrated." in text
    assert "of them equal a training row" in text


def test_known_outliers_are_in_the_report(iris, tmp_path):
    X, y = iris
    clf = SurpriseClassifier(false_alarm_rate=0.1).fit(X[::2], y[::2])
    text = read(write_report(clf, tmp_path / "page.html", X[1::2], y[1::2])).text
    assert "Each row is also compared with 50 known outliers." in text
    assert "from the comparison with 50 known outliers" in text


def test_labels_of_one_kind_leave_out_the_roc_curve(flowers, tmp_path):
    clf, X, _ = flowers
    text = read(write_report(clf, tmp_path / "page.html", X, np.ones(len(X)))).text
    assert "All labels are the same" in text
    assert "AUC" not in text


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [[1.0, 2.0]] * 5, [[0.0, 0.0], [1.0, 0.0]]])
def test_few_rows_and_copies_have_their_report(X, tmp_path):
    for unfitted in CLASSIFIERS.values():
        text = read(write_report(clone(unfitted).fit(X), tmp_path / "page.html", [[1.0, 2.0], [30.0, 4.0]])).text
        assert re.search("[12] of 2 are rejected", text)


def test_strings_of_the_user_are_always_text(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["size", HOSTILE[:60]])
    vectors = SurpriseClassifier().fit(frame)
    words = SurpriseClassifier(measure="string-edit").fit([HOSTILE, "oak", HOSTILE + "s", "elm"])
    graph = LabelledGraph(2, [[0, 1]], {"<b>": ["<i>", "&"]}, {HOSTILE: [HOSTILE]})
    graphs = EntropicOneClassClassifier(measure="graph-edit", search=None).fit([graph, graph, LabelledGraph(1)])
    for clf, X in ((vectors, frame[:3]), (words, [HOSTILE, "x"]), (graphs, [graph])):
        found = read(write_report(clf, tmp_path / "page.html", X, names=[HOSTILE] * len(X), title=HOSTILE))
        assert len(found.all("script")) == 1
        assert found.all("img") == []
        assert found.all("b") in ([], [{}] * len(clf.regions_))
        assert "</script><script>alert('x')</script>" in found.text
        assert not set("\0\ud800\u202e") & set(found.text)


def test_many_rows_are_thinned_but_prototypes_and_the_most_unusual_stay():
    rng = np.random.default_rng(0)
    clf = EntropicOneClassClassifier(search=None).fit(rng.normal(size=(300, 2)))
    study = study_of(clf, rng.normal(size=(3 * MOST_DRAWN, 2)) * 2)
    training, new = drawn_rows(study)
    assert len(training) == 300
    assert len(new) == MOST_DRAWN - 300
    assert set(study.explained) <= set(new.tolist())
    assert set(study.regions.prototypes.values()) <= set(training.tolist())


def test_a_thousand_rows_make_less_than_three_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    clf = EntropicOneClassClassifier(search=None).fit(rng.normal(size=(200, 10)))
    path = write_report(clf, tmp_path / "page.html", rng.normal(size=(800, 10)), [1, -1] * 400)
    assert path.stat().st_size < 3e6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [1, -1]}, "y needs X"),
        ({"names": ["a"]}, "names needs X"),
        ({"X": [[0.0] * 4] * 3, "y": [1, -1]}, "X has 3 rows and y 2 labels"),
        ({"X": [[0.0] * 4] * 3, "y": [1, 2, 3]}, "y must hold"),
        ({"X": [[0.0] * 4] * 3, "names": ["a"]}, "X has 3 rows and names 1"),
        ({"X": [[0.0] * 3]}, "3 features"),
        ({"X": [[np.inf] * 4]}, "infinity"),
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


def test_shares_near_0_and_100_percent_have_a_decimal():
    assert [percentage(1, 3), percentage(1, 200), percentage(0, 5), percentage(199, 200)] == [
        "33%",
        "0.5%",
        "0%",
        "99.5%",
    ]


def test_ticks_are_round_and_inside():
    assert linear("", 0.13, 0.61).ticks == [0.2, 0.3, 0.4, 0.5, 0.6]
    assert linear("", 2.0, 2.0).ticks == [1.6, 1.8, 2.0, 2.2, 2.4]
    assert linear("", 0, 1).place(0.25, 10, 50) == 20
    assert linear("", 0.0, 1.0).ticks == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert logarithmic("", 1, 500).ticks == [1, 10, 100]
    assert logarithmic("", 1, 100).place(10, 0, 8) == pytest.approx(4)


def test_a_histogram_counts_values_beyond_the_end_in_the_last_bin():
    drawn = Reader(histogram([("some", np.array([0.1, 0.2, 9.0]), 0)], np.array([0.0, 1.0, 2.0]), "", "", 1.0))
    heights = [float(bar["height"]) for bar in drawn.all("rect") if bar.get("class") == "bar look-0"][:2]
    assert heights[0] == pytest.approx(2 * heights[1], abs=0.2)


def test_graphs_are_drawn_by_their_own_coordinates_or_by_steps():
    square = LabelledGraph(4, [[0, 1], [1, 2], [2, 3], [3, 0]], {"x": [0, 1, 1, 0], "y": [0, 0, 1, 1]})
    clf = SurpriseClassifier().fit([square, square, LabelledGraph(1)])
    [picture] = pictures_of(clf, [square], ["a square"])
    places = [(float(dot["cx"]), float(dot["cy"])) for dot in Reader(picture).all("circle")]
    assert places == [(14, 136), (136, 136), (136, 14), (14, 14)]
    by_pos = LabelledGraph(
        4, square.edges, {f"pos[{k}]": square.vertex_attributes[name] for k, name in enumerate("xy")}
    )
    assert pictures_of(clf, [by_pos], ["a square"]) == [picture]
    [chain] = pictures_of(clf, [LabelledGraph(3, [[0, 1], [1, 2]])], ["a chain"])
    across = sorted(float(dot["cx"]) for dot in Reader(chain).all("circle"))
    assert across == pytest.approx([14, 75, 136])


def test_a_picture_of_a_graph_shows_the_attribute_that_names_a_vertex():
    values = {"flag": ["y", "n"], "symbol": ["C", "O"], "note": ["hydroxyl", "oxygen"]}
    graph = LabelledGraph(2, [[0, 1]], values, vertex_names=["left", "right"])
    [picture] = pictures_of(SurpriseClassifier().fit([graph] * 3), [graph], ["a graph"])
    assert ">C</text>" in picture
    assert ">O</text>" in picture
    assert "<title>left (C)</title>" in picture
    by_note = SurpriseClassifier(measure=GraphEdit(vertex_name="note")).fit([graph] * 3)
    [picture] = pictures_of(by_note, [graph], ["a graph"])
    assert "</text>" not in picture
    assert "<title>right (oxygen)</title>" in picture


def test_markup_escapes_all_but_itself():
    assert tag("p", "a", class_="note", aria_label=None, hidden=True) == '<p class="note" hidden>a</p>'
    assert tag("p", "<", tag("i", "&"), title='"') == '<p title="&quot;">&lt;<i>&amp;</i></p>'
    assert escaped("a\0b\udc80") == "a\ufffdb\ufffd"


def test_pages_of_both_classifiers_have_no_replacement_characters(tmp_path, iris, setosa):
    for clf in (SurpriseClassifier(), EntropicOneClassClassifier(search=None)):
        page = tmp_path / "page.html"
        write_report(clf.fit(setosa), page, iris[0][40:60])
        assert "\ufffd" not in page.read_text()
        assert "\0" not in page.read_text()
