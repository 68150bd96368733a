import importlib.util
from pathlib import Path

import pytest

from graph_files import within_a_minute

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzz_files.py"


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz_files", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_undamaged_files_are_read_and_scored(fuzz, tmp_path):
    files = fuzz.valid()
    fitted = fuzz.models(tmp_path, files)
    for name, data in files.items():
        path = fuzz.write(tmp_path, name, data)
        assert fuzz.outcome(fuzz.learn, path) == fuzz.outcome(fuzz.judge(fitted[name]), path) == "read", name


def test_damaged_files_are_read_or_refused_in_one_line(fuzz):
    counts, bad = fuzz.run(400, seed=1)
    assert bad == []
    assert counts["learn: read"] > 40
    assert counts["learn: ValueError"] > 40


def test_the_fuzzer_reports_what_is_not_permitted(fuzz, tmp_path):
    def fail(error):
        def read(path):
            raise error

        return read

    with within_a_minute():
        assert fuzz.outcome(fail(KeyError("x")), tmp_path) == "BAD KeyError: 'x'"
        assert fuzz.outcome(fail(ValueError("two\nlines")), tmp_path).startswith("BAD message")
        assert fuzz.outcome(fail(ValueError("x" * 2000)), tmp_path).startswith("BAD message")
        assert fuzz.outcome(fail(OSError("a file")), tmp_path) == "OSError"
