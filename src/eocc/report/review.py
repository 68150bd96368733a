"""Rows that a person should decide on -> one HTML page that asks about them and saves the answers."""

import hashlib
import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eocc.base.markup import Markup, joined, tag
from eocc.base.wording import counted
from eocc.classifiers.answers import FIND, check_teachable
from eocc.classifiers.base import OneClassClassifier
from eocc.explain.facts import with_facts
from eocc.kernels.content import row_hashes
from eocc.report.columns import columns_of
from eocc.report.page import as_json, checked_page, contents, explained, filled, write_page
from eocc.space.prototypes.content import words_of

NORMAL, NOT_NORMAL, SKIP = "normal", "not normal", "skip"
# The columns of a file of answers. A row is found again by its digest, whatever its place in the data.
HEAD = ("row", "answer", "reason", "data", "digest")
# The keys of the page and of the terminal.
KEYS = {"n": NORMAL, "x": NOT_NORMAL, "s": SKIP}


def digests_of(patterns: Any) -> list[str]:
    """Return a digest of the content of each pattern; the letter keeps spreadsheets from reading it as a number."""
    return [f"r{number:016x}" for number in row_hashes(words_of(patterns)).tolist()]


def write_review(
    classifier: OneClassClassifier, path: str | os.PathLike[str], X: Any, n: int = 10,
    names: Iterable[Any] | None = None, data: str = "", model: str = "model.eocc", id_column: str = "",
    goal: str = "learn", notes: Sequence[str] = (),
) -> Path:  # fmt: skip
    """Write one HTML page that asks a person about n rows of X, and return its path.

    The page saves the answers as a CSV file for ``eocc teach``. It needs no network.
    """
    checked_page(path)
    check_teachable(classifier)
    asked, patterns = classifier.queries(X, n, goal), classifier._read(X)
    if not asked:
        raise ValueError("there is nothing to ask: the model has an answer to every row that it would ask about")
    some, called = patterns[np.array([query.index for query in asked])], None if names is None else list(names)
    explanations = with_facts(classifier, some, classifier._explain_patterns(some))
    columns, rows = columns_of(classifier, some, explanations), list[dict[str, Any]]()
    for k, (query, digest, one) in enumerate(zip(asked, digests_of(some), explanations, strict=True)):
        name = str(query.index if called is None else called[query.index])
        rows.append({
            "name": name, "reason": query.reason, "digest": digest, "decision": int(not one.is_target),
            **contents(classifier, columns, some, k, is_new=True),
            **explained(classifier, columns, some[k], name, one),
        })  # fmt: skip
    shown: dict[str, Any] = {"columns": columns.normal, "rows": rows, "called": columns.row_name, "data": data}
    shown |= {"head": list(HEAD), "keys": KEYS, "key": hashlib.sha256(as_json(shown).encode()).hexdigest()[:16]}
    many = "Is this row normal?" if len(rows) == 1 else f"Are these {len(rows)} rows normal?"
    header = [f"Review of {Path(data).name}" if data else "Review", many, ""]
    styles, scripts = ["style.css", "review.css"], ["row.js", "review.js"]
    body = _body(len(rows), data, teaching(model, "answers.csv", id_column), goal, notes)
    return write_page(path, header, styles, scripts, shown, body)


def teaching(model: str, answers: str, id_column: str) -> str:
    """Return the command that teaches the answers.

    >>> teaching("model.eocc", "answers.csv", "machine id")
    "eocc teach model.eocc answers.csv --id 'machine id' -o better.eocc"
    """
    named = ["--id", id_column] if id_column else []
    return shlex.join(["eocc", "teach", model, answers, *named, "-o", "better.eocc"])


def _body(n: int, data: str, then: str, goal: str, notes: Sequence[str]) -> Markup:
    """Return the frame that review.js fills; `then` is the command to run after the answers are saved."""
    where, rows = f" of {Path(data).name}" if data else "", "this row" if n == 1 else f"these {n} rows"
    intro = f"Answers to {rows}{where} teach the model most. "
    if goal == FIND:
        intro = f"These are the strangest rows{where}, the strangest first. "
    intro += "Is the row normal? Your answers stay in this browser until you save them; nothing is sent."
    answers = [
        tag("button", answer.capitalize(), " ", tag("kbd", key), type="button", data_answer=answer)
        for key, answer in KEYS.items()
    ]
    keys = [tag("li", tag("kbd", key), f" {answer}") for key, answer in KEYS.items()]
    intro = " ".join([intro, *notes])
    return filled("review.html", intro=intro, answers=joined(answers), then=then, keys=joined(keys))


def in_words(answers: Sequence[str]) -> str:
    """Return how many answers there are of each kind.

    >>> in_words(["normal", "not normal", "normal"])
    '3 answers: 2 normal, 1 not normal'
    """
    n_normal = sum(answer == NORMAL for answer in answers)
    return f"{counted(len(answers), 'answer')}: {n_normal:,} normal, {len(answers) - n_normal:,} not normal"
