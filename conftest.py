"""Examples run in an empty folder, where they may write files, and no test leaves pictures open."""

import sys

import pytest
from _pytest.doctest import DoctestItem


@pytest.fixture(autouse=True)
def examples_write_into_a_folder_of_their_own(request, monkeypatch, tmp_path):
    """Leave no files of examples in the folder the tests are started from."""
    if isinstance(request.node, DoctestItem):
        monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def pictures_are_closed():
    """Close what a test drew: matplotlib warns at 20 open pictures, in whichever test happens to draw the next."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
