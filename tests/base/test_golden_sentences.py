"""What users read, one file per surface: explanations, errors, and notes of the command line.

Written again with `python tests/base/test_golden_sentences.py`, in the commit that changes sentences on purpose.
"""

import re
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from eocc import EntropicOneClassClassifier, RegionClassifier, SurpriseClassifier
from eocc.cli import main
from samples import samples

FOLDER = Path(__file__).parents[1] / "golden_sentences"
MAKE = {
    "surprise": SurpriseClassifier,
    "regions": RegionClassifier,
    "entropic": lambda: EntropicOneClassClassifier(search=None, random_state=0),
    "calibrated": lambda: EntropicOneClassClassifier(search=None, false_alarm_rate=0.1, random_state=0),
    "prototypes": lambda: EntropicOneClassClassifier(search=None, prototypes=6, random_state=0),
}
EXPLAINED = [f"{name} {measure}" for name in MAKE for measure in ("euclidean", "gower", "string-edit", "dtw")]
ERRORS = [
    "", "fit absent.csv", "fit rows.csv --method surprize", "fit rows.csv --label colour",
    "fit rows.csv --outliers red", "fit rows.csv --delimiter abc", "fit rows.csv --kind colour=word",
    "fit rows.csv --step 3", "fit rows.csv -o folder/", "fit rows.csv --jobs 0", "fit rows.csv --prototypes x",
    "fit rows.csv --method eocc-2", "fit rows.csv --drop-copies --stream", "score model.eocc absent.csv",
    "score absent.eocc rows.csv", "score rows.csv rows.csv", "score model.eocc rows.csv --fdr 3",
    "score model.eocc rows.csv --fail-on all", "score model.eocc rows.csv -o scores.xlsx",
    "explain model.eocc rows.csv --rows 99", "answers model.eocc --withdraw 3 -o new.eocc",
    "answers model.eocc -o a.eocc", "plot model.eocc roc --data rows.csv", "plot model.eocc rows",
    "plot model.eocc modularity --data rows.csv", "export model.eocc --to sql", "export model.eocc --to python",
    "report model.eocc -o page.pdf", "teach model.eocc rows.csv", "compare rows.csv",
    "update model.eocc rows.csv -o model.eocc --date x",
]  # fmt: skip
NOTES = [
    "fit rows.csv -o again.eocc",
    "fit few.csv -o few.eocc",
    "score model.eocc odd.csv",
    "update model.eocc rows.csv -o new.eocc",
    "explain model.eocc odd.csv -o explained.csv",
    "fit rows.csv --window 5 -o windows.eocc",
]


def explanations(case):
    """All that a classifier says about the strangest new row, and a rule."""
    name, measure = case.split()
    X, new = samples(measure, n=40)
    clf = MAKE[name]().set_params(measure=measure).fit(X)
    strangest = int(np.argmin(clf.score_samples(new)))
    (one,) = clf.explain(new[strangest : strangest + 1])
    return "\n\n".join(map(str, [one, one.detail, clf.rules()[0]]))


def table(n, rng):
    lines = [
        f"{k},{rng.lognormal(4, 1):.2f},{rng.normal(10, 2):.1f},{rng.choice(['red', 'blue'])},2026-0{1 + k % 9}-11,7"
        for k in range(n)
    ]
    return "\n".join(["number,price,size,colour,day,same", *lines, ""])


@pytest.fixture(scope="module", name="files")
def _files(tmp_path_factory):
    return made(tmp_path_factory.mktemp("files"))


def made(folder):
    """Write the files of the commands, and the model."""
    rng = np.random.default_rng(0)
    (folder / "rows.csv").write_text(table(60, rng))
    (folder / "few.csv").write_text(table(6, rng))
    odd = table(4, rng).replace(",7\n", ",8\n", 1).replace("red", "green", 1) + "4,-5,,blue,1999-01-01,x\n"
    (folder / "odd.csv").write_text(odd)
    said(f"fit {folder / 'rows.csv'} -o {folder / 'model.eocc'}")
    return folder


def said(command):
    """What a command prints on standard error, without the progress."""
    printed = StringIO()
    with redirect_stdout(StringIO()), redirect_stderr(printed):
        main(command.split())
    return printed.getvalue()


def lines_of(command, folder):
    """The lines on standard error, without what differs from machine to machine."""
    known = [path for path in ("rows.csv", "few.csv", "odd.csv", "model.eocc") if (folder / path).exists()]
    for path in known:
        command = re.sub(rf"(?<=\s){path}", str(folder / path), command)
    command = re.sub(r"(?<=-o )(?!/)", f"{folder}/", command)
    lines = said(command).replace(f"{folder}/", "").replace(f"{datetime.now(UTC):%Y-%m-%d}", "TODAY").splitlines()
    return "\n".join(line for line in lines if "compiling" not in line)


def golden(surface):
    cases = re.split(r"^## (.*)\n", (FOLDER / f"{surface}.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.rstrip("\n") for name, text in zip(cases[1::2], cases[2::2], strict=True)}


@pytest.mark.parametrize("case", EXPLAINED)
def test_explanations_are_worded_as_they_were(case):
    assert explanations(case) == golden("explanations")[case]


@pytest.mark.parametrize("command", ERRORS)
def test_errors_are_worded_as_they_were(command, files):
    found = lines_of(command, files)
    assert found.splitlines()[-1].startswith("eocc: ")
    assert found == golden("errors")[f"eocc {command}".strip()]


@pytest.mark.parametrize("command", NOTES)
def test_notes_are_worded_as_they_were(command, files):
    assert lines_of(command, files) == golden("notes")[f"eocc {command}"]


def write(surface, texts):
    text = "\n\n".join(f"## {name}\n{text}" for name, text in texts.items())
    (FOLDER / f"{surface}.txt").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    write("explanations", {case: explanations(case) for case in EXPLAINED})
    with TemporaryDirectory() as made_here:
        folder = made(Path(made_here))
        write("errors", {f"eocc {command}".strip(): lines_of(command, folder) for command in ERRORS})
        write("notes", {f"eocc {command}": lines_of(command, folder) for command in NOTES})
