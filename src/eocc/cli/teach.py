"""``eocc teach``."""

from itertools import compress
from pathlib import Path

import click

from eocc.base.atomic import check_output
from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import changed_on, say_file


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
    from eocc.base.printing import printable, quoted
    from eocc.base.wording import counted
    from eocc.classifiers.updating import history_of
    from eocc.cli.reading import Named, read_for
    from eocc.cli.review import read_answers
    from eocc.report.review import NORMAL, digests_of, in_words

    check_output(output, answers)
    classifier = load(model)
    lines = read_answers(answers)
    if not lines:
        raise ValueError(f"{answers} holds no answers; answer at least one row")
    named = lines[0]["data"]
    if given is None and not (named and Path(named).exists()):
        raise FileNotFoundError(f"no file {named!r}, which {answers} is about; pass --data")
    data = given or Path(named)
    check_output(output, data)
    rows = read_for(classifier, options.DataFiles((data,)), about)
    place_of = {digest: place for place, digest in enumerate(digests_of(classifier._read(rows.X)))}
    if absent := [line for line in lines if line["digest"] not in place_of]:
        first = f"{len(absent)} of {len(lines)} answered rows are not in {data}, first row {quoted(absent[0]['row'])}"
        raise ValueError(f"{first}; pass --data with the file that was reviewed")
    places = [place_of[line["digest"]] for line in lines]
    is_normal = np.array([line["answer"] == NORMAL for line in lines])
    taught = classifier.teach(rows.some(places), np.where(is_normal, 1, -1), [line["row"] for line in lines])
    before, after = (known.predict(rows.X) == 1 for known in (classifier, taught))
    more, fewer = Named(list(compress(rows.names, before & ~after))), Named(list(compress(rows.names, after & ~before)))
    taught.batches_ = history_of(classifier, changed_on(model))  # the new file is younger than the rows
    taught.save(output)
    say_file(output)
    print(f"Learned {in_words([line['answer'] for line in lines])}.")
    which = [f" (row {some})" if some.count else "" for some in (more, fewer)]
    said = f"{counted(more.count, 'more row')} rejected{which[0]}, {fewer.count:,} fewer{which[1]}"
    print(printable(f"{data}: {said}; now {int((~after).sum()):,} of {len(after):,} are rejected."))
    for line in compress(lines, after[places] != is_normal):
        decision = "rejected" if line["answer"] == NORMAL else "accepted"
        say(f"Note: row {line['row']} is still {decision}, though the answer is {line['answer']}.")
