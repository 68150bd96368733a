"""The command line by resolution: what is fitted by default, and what score and inspect then say."""

import csv
import io
import json

import numpy as np
import pytest

from eocc import EntropicOneClassClassifier
from eocc.cli import main
from eocc.io.model_file import load

ROWS = np.random.default_rng(3).normal(size=(30, 2)).round(6)


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("files")
    np.savetxt(made / "a.csv", ROWS, delimiter=",", header="load,heat", comments="", fmt="%.6f")
    lines = [f"{x},{y},good" for x, y in ROWS] + [f"{x + 5},{y - 5},bad" for x, y in ROWS[:12]]
    (made / "labelled.csv").write_text("\n".join(["load,heat,state", *lines]))
    (made / "new.csv").write_text("load,heat\n0,0\n30,0\n")
    for name, options in (("multi", ()), ("single", ("--resolution", "single", "--search", "none"))):
        assert run("-q", "fit", made / "a.csv", "-o", made / f"{name}.eocc", *options) == 0
    return made


def facts(model, capsys):
    assert run("inspect", model, "--format", "json") == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("options", "resolution", "is_searched"),
    [
        ((), "multi", False),
        (("--resolution", "multi", "--search", "random"), "multi", True),
        (("--resolution", "single"), "single", True),
        (("--resolution", "single", "--search", "none"), "single", False),
    ],
)
def test_a_search_is_made_when_asked_for_or_with_single(folder, tmp_path, capsys, options, resolution, is_searched):
    assert run("fit", folder / "a.csv", "-o", tmp_path / "m.eocc", *options) == 0
    assert "search" not in capsys.readouterr().err.replace(str(tmp_path), "")
    found = load(tmp_path / "m.eocc")
    assert found.resolution == resolution
    assert (len(found.history_) > 1) == is_searched


def test_the_default_is_the_classifiers_own(folder):
    found = load(folder / "multi.eocc")
    own = EntropicOneClassClassifier(measure="standardised").fit(ROWS)
    del found.feature_names_in_
    assert found.judge(ROWS).ratios.tolist() == own.judge(ROWS).ratios.tolist()


def test_scores_have_p_values_where_the_model_is_calibrated(folder, capsys):
    told = {}
    for name in ("multi", "single"):
        assert run("-q", "score", folder / f"{name}.eocc", folder / "new.csv", "--format", "csv") == 0
        told[name] = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(told["multi"][0]) == [*told["single"][0], "p_value"]
    inside, outside = told["multi"]
    assert (inside["decision"], outside["decision"]) == ("1", "-1")
    assert float(inside["distance"]) < 1 < float(outside["distance"])
    assert float(outside["p_value"]) == pytest.approx(1 / 31)


def test_inspect_tells_resolution_border_and_rate(folder, capsys):
    multi, single = (facts(folder / f"{name}.eocc", capsys) for name in ("multi", "single"))
    assert (multi["resolution"], single["resolution"]) == ("multi", "single")
    border = load(folder / "multi.eocc").surprise_model_.border
    assert multi["border in surprise"] == round(border.at, 6)
    assert multi["false alarm rate"] == 0.05
    assert single["border in extents"] == 1
    assert "false alarm rate" not in single


def test_a_rate_asked_for_is_told(folder, tmp_path, capsys):
    for resolution in ("multi", "single"):
        asked = ("--resolution", resolution, "--search", "none", "--false-alarm-rate", 0.25)
        assert run("-q", "fit", folder / "a.csv", "-o", tmp_path / "m.eocc", *asked) == 0
        capsys.readouterr()
        assert facts(tmp_path / "m.eocc", capsys)["false alarm rate"] == 0.25


@pytest.mark.parametrize("resolution", ["multi", "single"])
def test_labelled_others_are_learned_from(folder, tmp_path, capsys, resolution):
    labels = ("--label", "state", "--target", "good", "--synthesis", "validation")
    asked = (*labels, "--resolution", resolution, "--search", "none")
    assert run("-q", "fit", folder / "labelled.csv", "-o", tmp_path / "m.eocc", *asked) == 0
    found = load(tmp_path / "m.eocc")
    assert len(found.prototypes_) == (30 if resolution == "multi" else 27)
    capsys.readouterr()
    assert run("-q", "explain", tmp_path / "m.eocc", folder / "new.csv", "--patterns", "1") == 0
    assert capsys.readouterr().out.startswith("Pattern 1: Not a target")


def test_an_explanation_is_its_text(folder, capsys):
    assert run("-q", "explain", folder / "multi.eocc", folder / "new.csv", "--patterns", "1") == 0
    clf = load(folder / "multi.eocc")
    del clf.feature_names_in_
    told = capsys.readouterr().out
    assert clf.explain([[30.0, 0.0]])[0].decision in " ".join(told.split()).lower()
    assert run("-q", "explain", folder / "multi.eocc", folder / "new.csv", "--format", "json") == 0
    for line in capsys.readouterr().out.splitlines():
        assert json.loads(line)["profile"] is None


@pytest.mark.parametrize("kind", ["space", "membership", "modularity", "history", "weights", "regions"])
def test_a_model_of_all_resolutions_is_drawn(folder, tmp_path, kind):
    assert run("-q", "plot", folder / "multi.eocc", kind, "-o", tmp_path / "p.png") == 0
    assert (tmp_path / "p.png").stat().st_size > 3000
