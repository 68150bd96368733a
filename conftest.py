"""Examples in documents and docstrings run in an empty folder, where they may write files."""

import pytest
from _pytest.doctest import DoctestItem


@pytest.fixture(autouse=True)
def examples_write_into_a_folder_of_their_own(request, monkeypatch, tmp_path):
    """Leave no files of examples in the folder the tests are started from."""
    if isinstance(request.node, DoctestItem):
        monkeypatch.chdir(tmp_path)
