import itertools
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from doubles import plain
from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.base.markup import escaped, tag
from eocc.base.registry import MANY
from eocc.calibration.conformal import DiscoveryCounts
from eocc.explain import differences
from eocc.measures import Composite, LabelledGraph
from eocc.plots.projection import LogFrame
from eocc.report import write_report
from eocc.report.columns import FARTHEST, MOST_LABELS
from eocc.report.page import as_json, policy
from eocc.report.pictures import chart, picture_of
from eocc.report.study import MOST_EXPLAINED, MOST_LISTED, study_of
from pages import Reader, read
from samples import MAKERS, samples

HOSTILE = "</script><script>alert('x')</script><img src=x onerror=alert(1)>\"'&\0\ud800\u202e"


def discovered(clf, X):
    p_values = clf.p_values(X)
    return DiscoveryCounts(clf.calibration_).add(p_values).result().among(p_values)


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
    verdict, about = page.text.split(" Skip to ")[0].rsplit(" (", 1)
    assert about == "Irises)"
    assert f"Irises {verdict} Model: " in page.text
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all("meta")


def test_headings_come_in_order_and_links_lead_somewhere(page):
    levels = [int(name[1]) for name, _ in page.elements if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    known = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    links = [link["href"] for link in page.all("a")]
    assert {link[1:] for link in links if not link.startswith("#row=")} <= known
    names = {row["name"] for row in page.data["rows"] if row["decision"] == 2}
    assert {link.removeprefix("#row=") for link in links if link.startswith("#row=")} <= names


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
    alarms, n_rejected = int((~accepted & (y == 1)).sum()), int((~accepted).sum())
    assert clf._describe() in page.text
    assert page.text.startswith(f"{n_rejected} of 110 rows look unusual")
    assert f"False alarms: {alarms} of 10 rows labelled normal ({10 * alarms}.0%) are rejected." in page.text
    assert f"AUC {roc_auc_score(y, clf.score_samples(X)):.3f}" in page.text


def test_every_row_is_on_the_map_where_the_projection_puts_it(flowers, page):
    clf, X, _ = flowers
    study = study_of(clf, X)
    frame = LogFrame.around(study.training.points)
    assert_allclose([one["at"] for one in page.data["training"]], frame.place(study.training.points), atol=1e-3)
    at = {row["name"]: row["at"] for row in page.data["rows"]}
    assert_allclose([at[str(k)] for k in range(110)], frame.place(study.new.points), atol=1e-3)


def test_rows_carry_decision_p_value_label_and_reason(flowers, page):
    clf, X, y = flowers
    decisions, rows = clf.predict(X), {int(row["name"]): row for row in page.data["rows"]}
    assert sorted(rows) == list(range(110))
    assert {k for k, row in rows.items() if row["decision"]} == set(np.flatnonzero(decisions == -1).tolist())
    assert [rows[k]["label"] for k in range(110)] == (y == 1).tolist()
    assert page.data["has_p"] == (clf.calibration_ is not None)
    if clf.calibration_ is not None:
        assert [rows[k]["decision"] == 2 for k in range(110)] == discovered(clf, X).tolist()
        assert_allclose([float(rows[k]["p"]) for k in range(110)], clf.p_values(X), rtol=0.01)
    assert all(row["why"] and row["say"] for row in rows.values())


def test_the_list_begins_with_the_most_unusual_row(flowers, page):
    clf, X, _ = flowers
    order = np.argsort(clf.decision_function(X), kind="stable")
    assert [int(row["name"]) for row in page.data["rows"][:10]] == order[:10].tolist()
    assert "petal length" not in page.text  # these columns have no names


@pytest.mark.filterwarnings("ignore:.* is always")
def test_columns_have_their_normal_range_and_histogram(tmp_path):
    X = np.column_stack([0.1 * np.arange(1000), np.full(1000, 3.0)])
    page = read(write_report(SurpriseClassifier().fit(pd.DataFrame(X, columns=["a", "b"])), tmp_path / "p.html"))
    first, second = page.data["columns"]
    assert (first["name"], first["usual"]) == ("a", "2.4 to 97.5")
    assert first["band"] == pytest.approx([24 / 999, 975 / 999], abs=1e-3)
    assert sum(first["counts"]) == 1000
    assert "log" not in first
    assert (second["band"], sum(second["counts"])) == ([0.5, 0.5], 1000)
    assert {tuple(row["places"]) for row in page.data["rows"][:1]} <= {(0.0, 0.5), (1.0, 0.5)}


def test_amounts_have_a_logarithmic_axis_and_counts_stay_whole(tmp_path):
    rng = np.random.default_rng(0)
    money, items = np.round(np.exp(rng.normal(5, 1.2, 400)), 2), rng.poisson(3, 400)
    frame = pd.DataFrame({"money": money, "items": items.astype(float), "score": rng.normal(size=400)})
    new = pd.DataFrame({"money": [123456.75, -4.0], "items": [40.0, 2.0], "score": [0.0, 0.5]})
    page = read(write_report(SurpriseClassifier().fit(frame), tmp_path / "p.html", new))
    columns = {column["name"]: column for column in page.data["columns"]}
    assert [columns[name].get("log") for name in ("money", "items", "score")] == [True, None, None]
    assert re.fullmatch(r"\d+ to \d+", columns["items"]["usual"])
    rows = {row["name"]: row for row in page.data["rows"]}
    assert rows["0"]["values"][:2] == ["123456.75", "40"]  # not rounded to five digits
    logs = np.log(money)
    assert rows["0"]["places"][0] == pytest.approx((np.log(123456.75) - logs.min()) / np.ptp(logs), abs=1e-3)
    assert rows["1"]["places"][0] == -FARTHEST  # no logarithm, so left of everything


def test_categories_have_bars_and_new_ones_none(tmp_path):
    kinds = [f"kind {k:02}" for k in range(MOST_LABELS + 4)]
    frame = pd.DataFrame({"kind": [kind for k, kind in enumerate(kinds) for _ in range(40 - k)]})
    frame["size"] = np.random.default_rng(0).normal(size=len(frame))
    new = pd.DataFrame({"kind": [kinds[1], kinds[-1], "boat", None], "size": [0.0, 0.1, 0.2, 0.3]})
    page = read(write_report(SurpriseClassifier().fit(frame), tmp_path / "p.html", new))
    column = page.data["columns"][0]
    assert [label for label, _ in column["shares"]] == [*kinds[:MOST_LABELS], "4 others"]
    assert sum(share for _, share in column["shares"]) == pytest.approx(1, abs=1e-3)
    places = {row["name"]: row["places"][0] for row in page.data["rows"]}
    assert places == {"0": 1, "1": MOST_LABELS, "2": -1, "3": None}


def test_what_is_new_or_not_compared_is_said_at_the_top(tmp_path):
    rng = np.random.default_rng(0)
    training = pd.DataFrame({"load": rng.normal(size=30), "kind": ["pump", "fan", None] * 10})
    training["machine"] = [f"m-{k}" for k in range(30)]
    new = pd.DataFrame({"load": [0.1, 99.0, np.nan], "kind": ["pump", "boat", "fan"], "machine": ["a", "b", "c"]})
    with pytest.warns(UserWarning, match="not compared"):
        clf = SurpriseClassifier().fit(training)
    page = read(write_report(clf, tmp_path / "page.html", new, notes=["Row 7 cannot be read."]))
    top = page.text[: page.text.index("The most unusual first")]
    for said in ("Row 7 cannot be read.", "machine", "kind (boat)", "load (1)", "1 of 3 new rows"):
        assert said in top
    assert "Gaps in 10 of 30 training rows: kind (10)." in page.text.removeprefix(top)
    assert page.data["columns"][1]["shares"] == [["fan", 0.5], ["pump", 0.5]]
    assert {row["name"]: row["values"] for row in page.data["rows"]} == {
        "0": ["0.1", "pump"], "1": ["99", "boat"], "2": [None, "fan"],
    }  # fmt: skip
    clean = SurpriseClassifier().fit(training[["load"]])
    text = read(write_report(clean, tmp_path / "page.html", training[["load"]][:5])).text
    assert "Nothing: every column was compared" in text


def test_the_verdict_counts_rows_chance_and_discoveries(tmp_path):
    rng = np.random.default_rng(0)
    clf, new = SurpriseClassifier().fit(rng.normal(size=(300, 2))), rng.normal(size=(60, 2))
    new[:4] += 40
    n_rejected, n_found = int((clf.predict(new) == -1).sum()), int(discovered(clf, new).sum())
    assert (n_found, n_rejected > 4) == (4, True)
    study = study_of(clf, new)
    assert [int(one) for one in re.findall(r"\d+", study.verdict)] == [n_rejected, 60, 3, 4]
    assert (study.new.summary.n_rejected, study.discoveries.count) == (n_rejected, 4)
    calm = study_of(clf, np.zeros((5, 2)))
    assert [int(one) for one in re.findall(r"\d+", calm.verdict)] == [5, 1]  # none of 5; fewer than 1
    assert re.findall(r"\d+", study_of(clf).verdict) == ["300"]


@pytest.mark.filterwarnings("ignore:.*too few to find")
def test_discoveries_are_those_of_the_classifier_though_fewer_rows_are_rejected():
    rng = np.random.default_rng(0)
    clf = SurpriseClassifier(false_alarm_rate=0.01).fit(rng.normal(size=(1000, 3)))
    new = rng.normal(size=(300, 3))
    new[:120] *= 3.2 / np.linalg.norm(new[:120], axis=1)[:, None]
    study, found = study_of(clf, new), clf.discoveries(new)
    n_rejected = int((clf.predict(new) < 0).sum())
    assert (found & (clf.predict(new) > 0)).any()
    assert_array_equal(study.decisions == 2, found)
    assert (study.new.summary.n_rejected, study.discoveries.count) == (n_rejected, found.sum())


def test_a_page_that_is_called_something_else_is_refused(flowers, tmp_path):
    with pytest.raises(ValueError, match=r"the page is HTML: call it 'r.html', not 'r.pdf'; print it"):
        write_report(flowers[0], tmp_path / "r.pdf")
    assert write_report(flowers[0], tmp_path / "R.HTM").exists()


def test_of_very_many_columns_the_page_shows_those_that_are_named_as_reasons(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"c{k}" for k in range(MANY + 30)]
    training, new = (pd.DataFrame(rng.normal(size=(n, len(names))), columns=names) for n in (80, 4))
    new.loc[:, "c80"] += 30
    page = read(write_report(SurpriseClassifier().fit(training), tmp_path / "page.html", new))
    kept = [column["name"] for column in page.data["columns"]]
    assert len(kept) == MANY
    assert "c80" in kept
    assert kept == sorted(kept, key=names.index)
    values = {row["name"]: row["values"] for row in page.data["rows"]}
    assert_allclose(list(map(float, values["2"])), new.loc[2, kept], rtol=1e-3)


def test_the_limit_is_stated(flowers, page, iris, tmp_path):
    assert f"How far out: {flowers[0]._how_far_out_name}; rows up to 1 are accepted" in page.text
    clf = EntropicOneClassClassifier(search=None, false_alarm_rate=0.1, random_state=0).fit(iris[0][:40])
    text = read(write_report(clf, tmp_path / "page.html")).text
    reach = (1 - 2 * clf.threshold_) ** 0.5
    assert f"rows up to {reach:.4g} are accepted." in text
    assert f"A row is accepted if it lies within {reach:.4g} extents of a region." in text


def test_the_study_holds_the_scores_of_the_classifier(flowers):
    clf, X, _ = flowers
    study = study_of(clf, X)
    assert_array_equal(study.new.ratios, clf._score_all(X).ratios)
    assert_array_equal(study.new.scores, clf.score_samples(X))
    assert_array_equal(study.new.accepted, clf.predict(X) == 1)
    assert_array_equal(study.labels, clf.labels_[clf.prototype_indices_])
    assert study.explained[3] == clf.explain(X[study.listed[3:4]])[0]


def test_regions_are_not_computed_for_many_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("eocc.plots.projection.MOST_PROTOTYPES", 50)
    X = np.random.default_rng(0).normal(size=(60, 2))
    clf = SurpriseClassifier().fit(X)
    found = read(write_report(clf, tmp_path / "page.html", X[:5] + 9, [1, 1, -1, -1, 1]))
    assert not clf._has_regions
    assert "Regions are not shown for 60 training rows." in found.text
    assert (len(found.data["training"]), len(found.data["rows"]), found.data["tree"]) == (60, 5, [])
    assert not any("region" in one for one in found.data["training"] + found.data["rows"])
    clf.regions_  # noqa: B018  # now they are there
    assert "as rules" in read(write_report(clf, tmp_path / "page.html")).text


def test_fewer_prototypes_than_training_rows_are_said(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    for clf in (SurpriseClassifier(prototypes=20), plain(prototypes=20, random_state=0, false_alarm_rate=0.1)):
        text = read(write_report(clf.fit(X), tmp_path / "page.html", X[:5] + 9)).text
        assert "20 of 60 training rows as prototypes" in text
        assert "It was set on 60 training rows" in text


def test_the_legend_counts_the_regions_in_order(tmp_path):
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(size, 2)) * 0.1 + 10 * k for k, size in enumerate((3, 9, 5, 7))])
    clf = EntropicOneClassClassifier(search=None).fit(X)
    sizes = [len(region.members) for region in clf.regions_]
    assert sizes != sorted(sizes, reverse=True)
    text = read(write_report(clf, tmp_path / "page.html")).text
    assert [int(number) for number in re.findall(r"region (\d+): \d+ training rows?", text)] == list(range(len(sizes)))


def test_a_page_for_a_folder_that_is_not_there_names_the_folder(flowers, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder '.*none' to write 'page.html' in"):
        write_report(flowers[0], tmp_path / "none" / "page.html")


@pytest.mark.parametrize("name", [*MAKERS, "precomputed"])
def test_every_measure_has_its_report(name, tmp_path):
    training, new = samples(name)
    for unfitted in CLASSIFIERS.values():
        clf = clone(unfitted).set_params(measure=name).fit(training)
        found = read(write_report(clf, tmp_path / "page.html", new, [1, 1, -1, -1, 1]))
        assert (len(found.data["training"]), len(found.data["rows"])) == (20, 5)
        assert "AUC" in found.text
        assert all(row["near"] or clf._is_whole for row in found.data["rows"])
        drawn = {bool(row.get("picture")) for row in found.data["rows"]}
        assert drawn == {name in ("graph-edit", "twec", "dtw", "string-edit")}
        assert bool(found.data["columns"]) == (name in ("euclidean", "standardised", "gower"))
        assert read(write_report(clf, tmp_path / "alone.html")).text.count("No new rows were given") == 1


def test_composites_and_functions_have_their_report(tmp_path):
    records = [{"size": float(k % 5), "name": "oak" * (k % 3 + 1)} for k in range(20)]
    measure = Composite({"size": "euclidean", "name": "string-edit"})
    for unfitted in CLASSIFIERS.values():
        clf = clone(unfitted).set_params(measure=measure).fit(records)
        new = [{"size": 9.0, "name": "elm"}, *records[:4]]
        rows = read(write_report(clf, tmp_path / "a.html", new)).data["rows"]
        assert any(part[0].startswith("of this: ") for part in rows[0]["parts"])
        own = clone(unfitted).set_params(measure=lambda a, b: abs(a - b)).fit([0.1, 0.2, 0.5, 3.0])
        [row] = read(write_report(own, tmp_path / "b.html", [9.0])).data["rows"]
        assert re.search("the measure gives (only )?this number", row["meaning"])


def test_search_and_calibration_are_shown(setosa, tmp_path):
    clf = EntropicOneClassClassifier(search="genetic", false_alarm_rate=0.1, random_state=0).fit(setosa)
    text = read(write_report(clf, tmp_path / "page.html", setosa + 0.5)).text
    assert "The false-alarm rate is 0.1: about 10% of new normal rows are rejected." in text
    assert "share of rows with p-value up to a" in text
    assert re.search(r"Search: \d+ generations?; the best objective", text)


def test_the_model_section_shows_the_facts_and_all_weightings(setosa, tmp_path):
    surprise = SurpriseClassifier().fit(setosa * np.array([1.0, 50.0, 1.0, 1.0]))
    text = read(write_report(surprise, tmp_path / "page.html")).text
    assert "variance-equalised" in text
    assert f"{surprise._weightings['variance-equalised'][0]:.3g}" in text
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
    page = read(write_report(clf, tmp_path / "page.html", X[1::2], y[1::2]))
    assert "Each row is also compared with 50 known outliers." in page.text
    assert "The comparison with 50 known outliers" in " ".join(page.data["rows"][0]["notes"])


def test_labels_of_one_kind_leave_out_the_roc_curve(flowers, tmp_path):
    clf, X, _ = flowers
    text = read(write_report(clf, tmp_path / "page.html", X, np.ones(len(X)))).text
    assert "All labels are the same" in text
    assert "AUC" not in text


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [[1.0, 2.0]] * 5, [[0.0, 0.0], [1.0, 0.0]]])
def test_few_rows_and_copies_have_their_report(X, tmp_path):
    for unfitted in CLASSIFIERS.values():
        text = read(write_report(clone(unfitted).fit(X), tmp_path / "page.html", [[1.0, 2.0], [30.0, 4.0]])).text
        assert re.match("[12] of 2 rows looks? unusual", text)


def test_strings_of_the_user_are_always_text(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["size", HOSTILE[:60]])
    vectors = SurpriseClassifier().fit(frame)
    words = SurpriseClassifier(measure="string-edit").fit([HOSTILE, "oak", HOSTILE + "s", "elm"])
    graph = LabelledGraph(2, [[0, 1]], {"<b>": ["<i>", "&"]}, {HOSTILE: [HOSTILE]})
    graphs = EntropicOneClassClassifier(measure="graph-edit", search=None).fit([graph, graph, LabelledGraph(1)])
    for clf, X in ((vectors, frame[:3]), (words, [HOSTILE, "x"]), (graphs, [graph])):
        found = read(write_report(clf, tmp_path / "page.html", X, names=[HOSTILE] * len(X), title=HOSTILE))
        assert len(found.all("script")) == 2
        assert found.all("img") == []
        assert "</script><script>alert('x')</script>" in found.text
        assert "</script><script>alert('x')</script>" in found.data["rows"][0]["name"]
        assert not set("\0\ud800\u202e") & set(found.text + "".join(found.scripts))
        for picture in filter(None, (row.get("picture") for row in found.data["rows"])):
            assert not Reader(picture).all("img")


def test_of_many_rows_the_page_holds_the_most_unusual_and_some_of_the_others(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3 * MOST_LISTED, 2)) * 2
    clf = EntropicOneClassClassifier(search=None).fit(rng.normal(size=(300, 2)))
    page = read(write_report(clf, tmp_path / "page.html", X))
    order = np.argsort(-clf._score_all(X).ratios, kind="stable")
    rows = page.data["rows"]
    assert [int(row["name"]) for row in rows] == [*order[:500].tolist(), *order[500::5].tolist()]
    assert ["say" in row for row in rows] == [True] * MOST_EXPLAINED + [False] * (MOST_LISTED - MOST_EXPLAINED)
    assert "The page holds 1,000 of 3,000 rows: the 500 most unusual, and an even selection of the others." in page.text


def one_line(axes):
    axes.plot([0, 1], [0, 1], color="#1f5fa8", label="AUC 0.957")
    axes.legend()
    return axes


def test_a_chart_takes_the_colours_of_the_page_and_has_no_styles():
    drawn = Reader(chart("name", "the words", one_line))
    assert drawn.open == []
    assert any(path.get("stroke") == "var(--good)" for path in drawn.all("path"))
    assert "AUC 0.957" in drawn.text
    assert not any("style" in attributes for _, attributes in drawn.elements)
    assert "the words" in drawn.text


def test_without_matplotlib_the_charts_are_words_and_say_what_to_install(flowers, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    clf, X, y = flowers
    text = read(write_report(clf, tmp_path / "page.html", X, y)).text
    assert "This chart needs matplotlib: pip install matplotlib." in text
    assert "Rows up to 1 are accepted; the last bar includes all that lie farther out." in text
    with pytest.raises(ModuleNotFoundError, match=r"pictures need matplotlib: pip install matplotlib"):
        clf.plot(X)


def test_no_text_of_the_data_ends_the_script_or_turns_the_line():
    written = as_json({"a": HOSTILE, "none": None, "list": [None, 1.5]})
    assert "<" not in written
    assert json.loads(written) == {
        "a": HOSTILE.translate({0: 0xFFFD, 0xD800: 0xFFFD, 0x202E: 0xFFFD}),
        "list": [None, 1.5],
    }


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


def compared(clf, one, other):
    """The picture of a row next to a training row."""
    difference = differences(clf, [one], [other])[0]
    return Reader(picture_of(clf, [one, other], difference, ["a", "b"]))


def test_graphs_are_drawn_by_their_own_coordinates_or_by_steps():
    square = LabelledGraph(4, [[0, 1], [1, 2], [2, 3], [3, 0]], {"x": [0, 1, 1, 0], "y": [0, 0, 1, 1]})
    clf = SurpriseClassifier().fit([square, square, LabelledGraph(1)])
    drawn = compared(clf, square, square)
    places = [(float(dot["cx"]), float(dot["cy"])) for dot in drawn.all("circle")]
    assert places == 2 * [(14, 136), (136, 136), (136, 14), (14, 14)]
    by_pos = {f"pos[{k}]": square.vertex_attributes[name] for k, name in enumerate("xy")}
    turned = LabelledGraph(4, square.edges, by_pos)
    again = compared(SurpriseClassifier().fit([turned] * 3), turned, turned)
    assert [(float(dot["cx"]), float(dot["cy"])) for dot in again.all("circle")] == places
    line = LabelledGraph(3, [[0, 1], [1, 2]])
    chain = compared(SurpriseClassifier(measure="graph-edit").fit([line] * 3), line, line)
    assert sorted(float(dot["cx"]) for dot in chain.all("circle"))[::2] == pytest.approx([14, 75, 136])


def test_what_is_edited_in_a_graph_is_marked():
    names = ["left", "middle", "right"]
    one = LabelledGraph(3, [[0, 1], [1, 2]], {"symbol": ["C", "C", "O"]}, vertex_names=names)
    other = LabelledGraph(3, [[0, 1], [1, 2]], {"symbol": ["C", "C", "N"]}, vertex_names=names)
    drawn = compared(SurpriseClassifier().fit([one, other, one]), one, other)
    assert [dot.get("class") for dot in drawn.all("circle")] == 2 * [None, None, "edited"]
    assert not any(line.get("class") for line in drawn.all("line"))
    assert "right (O)" in drawn.text
    assert "right (N)" in drawn.text
    assert "C C O" in drawn.text
    fewer = LabelledGraph(2, [[0, 1]], {"symbol": ["C", "C"]}, vertex_names=names[:2])
    drawn = compared(SurpriseClassifier().fit([one, fewer, one]), one, fewer)
    assert [dot.get("class") for dot in drawn.all("circle")] == [None, None, "edited", None, None]
    assert [line.get("class") for line in drawn.all("line")] == [None, "edited", None]


def test_strings_are_aligned_and_edits_marked():
    clf = SurpriseClassifier(measure="string-edit").fit(["abcd", "abxd", "ab"])
    picture = str(picture_of(clf, ["abcde", "bxd"], differences(clf, ["abcde"], ["bxd"])[0], ["one", "two"]))
    above, below = picture.split("</pre>")[0].split(">", 1)[1].split("\n")
    assert above == "<mark>a</mark>b<mark>c</mark>d<mark>e</mark>"
    assert below == "<mark>\N{MIDDLE DOT}</mark>b<mark>x</mark>d<mark>\N{MIDDLE DOT}</mark>"


def test_series_are_drawn_together_with_the_stretch_that_differs():
    flat = np.zeros(20)
    bumped = flat.copy()
    bumped[8:12] = 5.0
    clf = SurpriseClassifier(measure="dtw").fit([flat, flat + 0.1, flat - 0.1])
    drawn = compared(clf, bumped[:, None], flat[:, None])
    assert [path["class"] for path in drawn.all("path")] == ["other", "row"]
    [band] = drawn.all("rect")
    left, wide = (440 - 28) / 19, float(band["width"])
    assert float(band["x"]) == pytest.approx(14 + 8 * left - 2, abs=0.1)
    assert wide == pytest.approx(3 * left + 4, abs=0.1)
    assert "shaded: steps 8 to 11, which differ most" in drawn.text


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
