import re
from pathlib import Path

import pytest

from eocc.datasets.published import ROWS, data_folder
from published_datasets import published_datasets

PAPERS = [row for row in ROWS if row.variant_of is None]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EOCC_DATA", str(tmp_path))
    return tmp_path


def test_catalogue_has_the_sets_and_counts_of_the_paper():
    printed = [(r.dataset, r.table, r.n_targets, r.n_others, r.n_features) for r in published_datasets()]
    tables = {"low": "uci_low", "high": "uci_high", "iam": "iam"}
    assert [(r.name, tables[r.table], r.n_targets, r.n_others, r.n_features) for r in PAPERS] == printed


def test_target_classes_are_those_of_the_paper_except_for_aids():
    printed = {row.dataset: row.target_class for row in published_datasets()}
    assert {row.name for row in PAPERS if row.target_class != printed[row.name]} == {"A"}


def test_names_and_files_are_unique():
    assert len({row.name for row in ROWS}) == len({row.file for row in ROWS}) == len(ROWS) == 24
    assert {row.name: row.variant_of for row in ROWS if row.variant_of} == {
        "BW-raw": "BW",
        "BC-P-raw": "BC-P",
        "C-2000": "C",
        "SP-267": "SP",
    }


def test_file_names_follow_from_the_acronym():
    for row in (row for row in PAPERS if row.kind == "uci"):
        assert row.file == f"uci/{row.name.lower().replace('-', '')}.csv"


def test_checksums_are_well_formed_and_public_files_use_https():
    sums = [row.sha256 for row in ROWS if row.sha256] + [row.public_file.sha256 for row in ROWS if row.public_file]
    assert all(re.fullmatch("[0-9a-f]{64}", each) for each in sums)
    assert len(set(sums)) == len(sums)
    assert all(row.public_file.address.startswith("https://") for row in ROWS if row.public_file)
    assert [row.name for row in ROWS if row.sha256 is None] == ["CO"]


def test_only_graph_sets_have_splits_and_no_number_of_features():
    for row in ROWS:
        assert (row.splits == ()) == (row.kind == "uci") == (row.n_features is not None)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_how_to_get_names_path_format_and_source_in_one_line(row, folder):
    text = row.how_to_get()
    assert text.isprintable()
    assert str(folder / row.file) in text
    assert row.home in text
    assert ("train.cxl" if row.kind == "iam" else f"{row.n_features} columns") in text
    assert ("no download known" in text) == (row.public_file is None)


def test_data_folder_follows_the_environment_variable(monkeypatch):
    monkeypatch.setenv("EOCC_DATA", "~/sets")
    assert data_folder() == Path("~").expanduser() / "sets"
    monkeypatch.setenv("EOCC_DATA", "")
    assert data_folder() == Path("~").expanduser() / ".local" / "share" / "eocc"
