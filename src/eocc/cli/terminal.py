"""The questions of ``eocc review`` in a terminal."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from eocc.cli.answers_file import Line, read_answers, write_answers
from eocc.cli.app import say
from eocc.foundation.printing import printable, printable_lines
from eocc.report.review import KEYS, SKIP, Question, in_words

UNDO, QUIT = "u", "q"
PROMPT = "Normal (n), not normal (x), skip (s), undo (u), quit (q)? "


def ask(questions: Sequence[Question], output: Path, data: Path, then: str) -> None:
    """Ask about each row that has no answer in the output yet, and write every answer at once.

    `then` is the command to run with the answers.
    """
    answers = {line["digest"]: line for line in _known(output, data)}
    waiting = [k for k, question in enumerate(questions) if question.digest not in answers]
    if len(waiting) < len(questions):
        say(f"{len(questions) - len(waiting)} of {len(questions)} rows are answered in {output} already.")
    place = 0
    try:
        while place < len(waiting):
            question = questions[waiting[place]]
            _show(question, f"{waiting[place] + 1} of {len(questions)}")
            key = _key()
            if key == QUIT:
                break
            if key == UNDO:
                place = max(place - 1, 0)
                answers.pop(questions[waiting[place]].digest, None)
            else:
                place += 1
                if KEYS[key] != SKIP:
                    answers[question.digest] = _line(question, KEYS[key], data)
            write_answers(output, answers.values())
    finally:
        given = [line["answer"] for line in answers.values()]
        next_step = f" Then: {then}" if given else ""
        print(flush=True)
        say(f"{output} has {in_words(given)}.{next_step}" if output.exists() else "No answers.")


def _known(output: Path, data: Path) -> list[Line]:
    """Return the answers that are in the output already."""
    lines = read_answers(output) if output.exists() else []
    for line in lines:
        if os.path.realpath(line["data"]) != os.path.realpath(data):
            raise ValueError(f"{output} holds answers about {line['data']}; name another file by --output")
    return lines


def _line(question: Question, answer: str, data: Path) -> Line:
    return {"row": question.name, "answer": answer, "reason": question.reason, "data": str(data),
            "digest": question.digest}  # fmt: skip


def _show(question: Question, progress: str) -> None:
    print(f"\n{progress}: row {printable(question.name)}. Why this row: {printable(question.reason)}.")
    print(printable_lines(str(question.explanation)))


def _key() -> str:
    """Return one of the keys; at the end of the input, the key to quit."""
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
