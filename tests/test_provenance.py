"""A cell on disk knows the code that made it."""

import subprocess
import sys
from pathlib import Path

import pytest

import eocc
from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.experiments import provenance
from eocc.experiments.provenance import code_digest, sources
from eocc.rivals import Gauss, NearestNeighbour
from eocc.search import GeneticSearch


def rooms(estimator, measure="euclidean"):
    parameters = estimator.get_params(deep=False)
    roots = {type(value).__module__ for value in (estimator, *parameters.values())}
    names = frozenset({measure, *(value for value in parameters.values() if isinstance(value, str))})
    return {module.removeprefix("eocc.") for module in sources(roots, names)}


def test_a_rival_depends_on_its_own_file_and_its_base_and_on_no_classifier():
    found = rooms(NearestNeighbour())
    assert {"rivals.nearest_neighbour", "rivals.k_nearest_neighbours", "rivals.base", "measures.auto"} <= found
    assert not {name for name in found if name.startswith(("surprise", "synthesis", "classifiers", "experiments"))}
    assert "rivals.gauss" not in found


def test_the_classifiers_depend_on_their_own_rooms_alone():
    paper, surprise = rooms(EntropicOneClassClassifier(search=GeneticSearch())), rooms(SurpriseClassifier())
    assert {"synthesis.assessment", "kernels.modularity", "search.genetic", "space.prototypes.random"} <= paper
    assert "surprise.score" in surprise
    assert not {name for name in paper if name.startswith(("surprise", "explain", "io", "rivals"))}


def test_named_choices_count_if_they_are_chosen():
    paper = EntropicOneClassClassifier(extent="max", search=None)
    assert "measures.sets" not in rooms(paper)
    assert "measures.sets" in rooms(paper, "jaccard")


def test_parameters_change_the_digest():
    digests = [code_digest(Gauss(rejection_rate=rate), "euclidean") for rate in (0.05, 0.05, 0.1)]
    assert digests[0] == digests[1] != digests[2]


COPY = """
import sys
sys.path.insert(0, sys.argv[1])
from eocc.experiments.provenance import code_digest
from eocc.rivals import Gauss
print(code_digest(Gauss(), "euclidean"))
"""


@pytest.mark.parametrize(
    ("file", "before", "after", "is_same"),
    [
        ("rivals/gauss.py", '"""', '"""Other words. ', True),
        ("rivals/k_means.py", "import numpy as np", "import numpy as np\n\nOTHER = 1", True),
        ("measures/euclidean.py", "import numpy as np", "import numpy as np\n\nOTHER = 1", True),
        ("rivals/base.py", "LARGEST = 1e100", "LARGEST = 1e99", False),
        ("experiments/protocol.py", "NOISE = 0.1", "NOISE = 0.2", False),
    ],
)
def test_a_change_of_code_changes_the_digest_and_a_change_of_words_does_not(tmp_path, file, before, after, is_same):
    own = Path(eocc.__file__).parent
    copy = tmp_path / "eocc"
    subprocess.run(["cp", "-r", str(own), str(copy)], check=True)
    text = (copy / file).read_text()
    assert before in text
    (copy / file).write_text(text.replace(before, after, 1))
    answer = subprocess.run([sys.executable, "-c", COPY, str(tmp_path)], capture_output=True, text=True, check=True)
    assert (answer.stdout.strip() == provenance.code_digest(Gauss(), "euclidean")) is is_same
