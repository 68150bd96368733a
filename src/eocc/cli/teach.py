"""``eocc teach``."""

from itertools import compress
from pathlib import Path
from typing import Any

import click

from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import changed_on


@command
@options.model_argument
@click.argument("answers", type=options.PATH, metavar="ANSWERS")
@click.option("--data", "given", type=options.PATH, metavar="DATA", help="The reviewed file, if it was moved.")
@options.output_option("taught.eocc", "The model file to write; it may be MODEL itself.")
@options.data_options("id_column")
def teach(model: Path, answers: Path, given: Path | None, output: Path, about: options.DataOptions) -> None:
    """Learn the answers of a review, and write a new model.

    ANSWERS is the file that the page of eocc review saved. It names the reviewed file, which is read again. Answered
    rows are found in it by their content, so the file may have grown or been sorted. If an answered row is missing,
    nothing is learned. The command counts the rows whose decision changes.

    Example: eocc teach model.eocc answers.csv -o better.eocc
    """
    import numpy as np

    from eocc import load
    from eocc.classifiers.updating import history_of
    from eocc.cli.answers_file import read_answers
    from eocc.cli.reading import read_for
    from eocc.foundation.atomic import check_output
    from eocc.foundation.printing import printable
    from eocc.report.review import NORMAL, in_words

    check_output(output, answers)
    classifier = load(model)
    lines = read_answers(answers)
    data = _reviewed(lines, answers, given)
    check_output(output, data)
    rows = read_for(classifier, options.DataFiles((data,)), about)
    places = _places(classifier._read(rows.X), lines, data)
    is_normal = np.array([line["answer"] == NORMAL for line in lines])
    taught = classifier.teach(rows.some(places), np.where(is_normal, 1, -1), [line["row"] for line in lines])
    before, after = (known.predict(rows.X) == 1 for known in (classifier, taught))
    taught.batches_ = history_of(classifier, changed_on(model))  # the new file is younger than the rows
    taught.save(output)
    say(f"Written: {output}.")
    print(f"Learned {in_words([line['answer'] for line in lines])}.")
    print(printable(_change(data, rows.names, before, after)))
    for line in compress(lines, after[places] != is_normal):
        decision = "rejected" if line["answer"] == NORMAL else "accepted"
        say(f"Note: row {line['row']} is still {decision}, though the answer is {line['answer']}.")


def _reviewed(lines: list[dict[str, str]], answers: Path, given: Path | None) -> Path:
    """Return the reviewed file: the given one, or that which the answers name."""
    if not lines:
        raise ValueError(f"{answers} holds no answers; answer at least one row")
    named = lines[0]["data"]
    if given is None and not (named and Path(named).exists()):
        raise FileNotFoundError(f"no file {named!r}, which {answers} is about; pass --data")
    return given or Path(named)


def _places(patterns: Any, lines: list[dict[str, str]], data: Path) -> list[int]:
    """Return the places of the answered rows among the patterns."""
    from eocc.foundation.printing import quoted
    from eocc.report.review import digests_of

    place_of = {digest: place for place, digest in enumerate(digests_of(patterns))}
    absent = [line for line in lines if line["digest"] not in place_of]
    if absent:
        first = f"{len(absent)} of {len(lines)} answered rows are not in {data}, first row {quoted(absent[0]['row'])}"
        raise ValueError(f"{first}; pass --data with the file that was reviewed")
    return [place_of[line["digest"]] for line in lines]


def _change(data: Path, names: Any, before: Any, after: Any) -> str:
    """Return how many rows are decided otherwise than before, and the first of them."""
    from eocc.cli.reading import Named
    from eocc.foundation.wording import counted

    more, fewer = Named(), Named()
    more.add(list(compress(names, before & ~after)))
    fewer.add(list(compress(names, after & ~before)))
    which = [f" (row {some})" if some.count else "" for some in (more, fewer)]
    said = f"{counted(more.count, 'more row')} rejected{which[0]}, {fewer.count:,} fewer{which[1]}"
    return f"{data}: {said}; now {int((~after).sum()):,} of {len(after):,} are rejected."
