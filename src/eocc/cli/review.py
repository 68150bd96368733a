"""``eocc review``."""

import csv
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eocc.base.printing import printable, printable_lines, quoted
from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import open_model, writing
from eocc.formats.files.formats import STDIN

if TYPE_CHECKING:
    from eocc.report.review import Question

UNDO, QUIT = "u", "q"
PROMPT = "Normal (n), not normal (x), skip (s), undo (u), quit (q)? "
# The cells of a line of answers by the names in HEAD.
Line = dict[str, str]


@command
@options.model_argument
@options.data_argument
@options.output_option(None, "The page, review.html by default; with --terminal the answers, answers.csv by default.")
@click.option("--questions", "-n", type=click.IntRange(min=1), default=10, show_default=True, metavar="N",
              help="Ask about at most N rows.")  # fmt: skip
@click.option("--find", is_flag=True,
              help="Show the strangest rows first, to find outliers, not those whose answers teach most.")  # fmt: skip
@click.option("--terminal", is_flag=True, help="Ask here, by one key per row, instead of writing a page.")
@options.data_options("id_column", "strict")
def review(
    model: Path, data: options.DataFiles, output: Path | None, questions: int, find: bool, terminal: bool,
    about: options.DataOptions,
) -> None:  # fmt: skip
    """Ask a person about the rows whose answers help most.

    Writes an HTML page that shows these rows one by one, with the reasons of the model's decision, and saves the
    answers as a CSV file for eocc teach. With --terminal the questions are asked here; every answer is written to the
    file at once, and the same command continues where it was stopped.

    With --find, DATA may be the training file: training rows are compared with the others, and the strangest come
    first. Answers take rows that are not normal out of the training rows.

    Example: eocc review model.eocc new.csv -o review.html
    """
    if STDIN in data.paths:
        raise click.UsageError("eocc teach reads the rows again, so they must be in a file: pass its path")
    if len(data.paths) > 1:
        raise click.UsageError("the answers name one file: pass one, or join the files first")
    output = output or Path("answers.csv" if terminal else "review.html")
    classifier = open_model(model, output, *data.paths)

    from eocc.classifiers.answers import check_teachable
    from eocc.cli.reading import read_for
    from eocc.report.review import questions_of, teaching, write_review

    check_teachable(classifier)
    rows, goal = read_for(classifier, data, about), "find" if find else "learn"
    if terminal:
        then = teaching(str(model), str(output), about.id_column)
        _ask(questions_of(classifier, rows.X, questions, rows.names, goal), output, data.paths[0], then)
    else:
        names = rows.names, str(data), str(model), about.id_column
        write_review(classifier, output, rows.X, questions, *names, goal=goal, notes=rows.unread())
        say(f"Written: {output}. Open it in a browser, answer, save answers.csv, and run eocc teach.")


def read_answers(path: Path) -> list[Line]:
    """Return the answers in a file, each once; all are about rows of one data file."""
    from eocc.formats.files.formats import open_chunks
    from eocc.report.review import HEAD, NORMAL, NOT_NORMAL

    found = dict[str, Line]()
    for chunk in open_chunks(path, "csv"):
        if absent := [name for name in HEAD if name not in chunk.columns]:
            raise ValueError(f"{path} holds no answers of eocc review: it has no column {absent[0]!r}")
        cells = {name: chunk.columns[name].cells() for name in HEAD}
        for k in range(len(chunk)):
            line = {name: str(cells[name][k] or "").strip() for name in HEAD}
            before = found.setdefault(line["digest"], line)
            if line["answer"] not in (NORMAL, NOT_NORMAL):
                remedy = f"write {NORMAL!r} or {NOT_NORMAL!r}, or remove the line"
                raise chunk.fault(k, f"{quoted(line['answer'])} is not an answer; {remedy}")
            if before["answer"] != line["answer"]:
                raise chunk.fault(
                    k, f"row {quoted(line['row'])} is answered twice, differently; remove one of the lines"
                )
            if before["data"] != next(iter(found.values()))["data"]:
                raise chunk.fault(k, f"{quoted(line['data'])} is another data file than in line 2; divide the answers")
    return list(found.values())


def _ask(questions: "Sequence[Question]", output: Path, data: Path, then: str) -> None:
    """Ask about each row that has no answer in the output yet, and write every answer at once.

    `then` is the command to run with the answers.
    """
    from eocc.report.review import HEAD, KEYS, SKIP, in_words

    answers = {line["digest"]: line for line in (read_answers(output) if output.exists() else [])}
    for line in answers.values():
        if os.path.realpath(line["data"]) != os.path.realpath(data):
            raise ValueError(f"{output} holds answers about {line['data']}; name another file by --output")
    waiting = [k for k, question in enumerate(questions) if question.digest not in answers]
    if len(waiting) < len(questions):
        say(f"{len(questions) - len(waiting)} of {len(questions)} rows are answered in {output} already.")
    place = 0
    try:
        while place < len(waiting):
            question = questions[waiting[place]]
            number = f"{waiting[place] + 1} of {len(questions)}"
            print(f"\n{number}: row {printable(question.name)}. Why this row: {printable(question.reason)}.")
            print(printable_lines(str(question.explanation)))
            key = _key()
            if key == QUIT:
                break
            if key == UNDO:
                place = max(place - 1, 0)
                answers.pop(questions[waiting[place]].digest, None)
            else:
                place += 1
                if KEYS[key] != SKIP:
                    cells = question.name, KEYS[key], question.reason, str(data), question.digest
                    answers[question.digest] = dict(zip(HEAD, cells, strict=True))
            with writing(output) as file:  # as the page does
                writer = csv.DictWriter(file, HEAD, lineterminator="\n")
                writer.writeheader()
                writer.writerows(answers.values())
    finally:
        given = [line["answer"] for line in answers.values()]
        next_step = f" Then: {then}" if given else ""
        print(flush=True)
        say(f"{output} has {in_words(given)}.{next_step}" if output.exists() else "No answers.")


def _key() -> str:
    """Return one of the keys; at the end of the input, the key to quit."""
    from eocc.report.review import KEYS

    while True:
        print(PROMPT, end="", flush=True)
        try:  # answers from a file or a pipe are lines
            typed = click.getchar() if sys.stdin.isatty() else sys.stdin.readline() or QUIT
        except EOFError:
            typed = QUIT
        key = typed[:1].lower()
        print(KEYS.get(key, {UNDO: "undo", QUIT: "quit"}.get(key, "?")))
        if key in (*KEYS, UNDO, QUIT):
            return key
