"""SMILES and RDKit molecules: in Python, in files, and from a model file without RDKit."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from rdkit import Chem

from eocc import EntropicOneClassClassifier, SurpriseClassifier, load
from eocc.cli import main
from eocc.datasets import molecules
from eocc.formats.files.formats import open_files
from graph_files import message_of

ALCOHOLS = ["CCO", "CCCO", "CC(C)O", "CCCCO", "CCC(C)O", "CC(C)CO", "CCCCCO", "OCCO", "CC(O)CO", "CO"]
VALENCE = "Explicit valence for atom # 1 N, 5, is greater than permitted"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "alcohols.eocc"
    SurpriseClassifier().fit(molecules(ALCOHOLS)).save(path)
    return path


def smi(tmp_path, text, name="a.smi"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_atoms_and_bonds_become_vertices_and_edges():
    (acetate,) = molecules([" CC(=O)[O-] "])
    assert acetate.vertex_attributes == {"symbol": ["C", "C", "O", "O"], "charge": [0, 0, 0, -1]}
    assert acetate.edges.tolist() == [[0, 1], [1, 2], [1, 3]]
    assert acetate.edge_attributes == {"bond": ["single", "double", "single"]}
    (benzene,) = molecules(["c1ccccc1"])
    assert set(benzene.edge_attributes["bond"]) == {"aromatic"}


def test_rdkit_molecules_go_straight_into_fit_and_equal_their_smiles():
    made = [Chem.MolFromSmiles(text) for text in ALCOHOLS]
    clf, same = SurpriseClassifier().fit(made), SurpriseClassifier().fit(molecules(ALCOHOLS))
    new = [Chem.MolFromSmiles("c1ccccc1")]
    assert_array_equal(clf.score_samples(new), same.score_samples(molecules(["c1ccccc1"])))
    assert_array_equal(clf.predict(new), [-1])
    assert_array_equal(clf.score_samples(pd.Series(made)), same.score_samples(molecules(ALCOHOLS)))


def test_a_molecule_that_rdkit_refused_is_named_by_its_row():
    row = [Chem.MolFromSmiles("CCO"), None]
    assert message_of(SurpriseClassifier().fit, row) == (
        "X[1]: graphs must be networkx graphs, RDKit molecules or LabelledGraph, not None; RDKit gives None for a "
        "SMILES that it refuses: correct it, or leave it out"
    )
    assert "X is one graph; pass a list" in message_of(SurpriseClassifier().fit, Chem.MolFromSmiles("CCO"))


@pytest.mark.parametrize(
    ("odd", "message"),
    [
        ("C1CC", "X[1]: RDKit refuses 'C1CC': it is not a valid SMILES; correct it, or leave it out"),
        ("CN(C)(C)(C)C", f"X[1]: RDKit refuses 'CN(C)(C)(C)C': {VALENCE}; correct it, or leave it out"),
        ("c1cccc1", "X[1]: RDKit refuses 'c1cccc1': Can't kekulize mol"),
        (" ", "X[1]: ' ' is not a SMILES; leave it out"),
        ("C" * 20_001, "X[1]: a SMILES of 20,001 characters, and at most 20,000 are read; leave it out"),
        (None, "X[1]: None is not a SMILES; leave it out"),
        (np.nan, "X[1]: nan is not a SMILES; leave it out"),
    ],
)
def test_a_bad_smiles_is_one_line_and_nothing_is_printed(odd, message, capfd):
    assert message_of(molecules, ["CCO", odd]).startswith(message)
    assert capfd.readouterr() == ("", "")


def test_smiles_as_graphs_without_the_conversion():
    assert message_of(molecules, "CCO") == "X must be a sequence of SMILES, not str"
    said = message_of(EntropicOneClassClassifier(measure="graph-edit").fit, ALCOHOLS)
    assert said.endswith("not str; for SMILES pass eocc.datasets.molecules(X)")


def test_a_file_of_smiles_has_names_and_lines(tmp_path):
    (chunk,) = open_files([smi(tmp_path, "smiles\tname\nCCO\tethyl alcohol\n\n[Na+].[Cl-]\n")])
    assert list(chunk.names) == ["ethyl alcohol", "[Na+].[Cl-]"]
    assert list(chunk.lines) == [2, 4]
    assert [graph.n_vertices for graph in chunk.objects] == [3, 2]
    (chunk,) = open_files([smi(tmp_path, "CCO\n", "a.SMILES")])
    assert list(chunk.names) == ["CCO"]


def test_a_bad_line_of_a_file_is_named(tmp_path):
    path = smi(tmp_path, "CCO\nCN(C)(C)(C)C x\n")
    assert message_of(lambda: list(open_files([path]))) == (
        f"{path}:2: RDKit refuses 'CN(C)(C)(C)C': {VALENCE}; correct it, or leave it out"
    )


def test_from_a_file_of_smiles_to_explanations(tmp_path, capsys):
    training, new = smi(tmp_path, "\n".join(ALCOHOLS)), smi(tmp_path, "CCCCCCO hexanol\nc1ccccc1 benzene\n", "new.smi")
    path = tmp_path / "m.eocc"
    assert main(["fit", str(training), "-o", str(path)]) == 0
    assert "a.smi (smiles): 10 rows: graphs." in capsys.readouterr().err
    assert_array_equal(load(path).prototypes_[0].edges, [[0, 1], [1, 2]])
    assert main(["explain", str(path), str(new), "--strangest", "1"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Row benzene: Rejected")
    assert "0-1 (C-C, aromatic)" in " ".join(said.split())
    assert main(["report", str(path), "--data", str(new), "-o", str(tmp_path / "r.html")]) == 0
    assert "title>5 (C)" in (tmp_path / "r.html").read_text()


def test_a_model_of_molecules_loads_without_rdkit(model, tmp_path):
    code = f"""
import sys
sys.modules["rdkit"] = None
from eocc import load
from eocc.datasets import molecules
clf = load({str(model)!r})
print(clf.predict(clf.prototypes_).tolist())
try:
    molecules(["CCO"])
except ModuleNotFoundError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    decisions, error = run.stdout.splitlines()
    assert decisions == str(load(model).predict(molecules(ALCOHOLS)).tolist())
    assert error == "SMILES need RDKit: pip install rdkit"
