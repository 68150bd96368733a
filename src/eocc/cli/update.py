"""``eocc update``, ``review``, ``teach`` and ``answers``: ask a person about rows, and learn rows and answers."""

from datetime import date
from itertools import compress
from pathlib import Path

import click

from eocc.base.atomic import check_output
from eocc.base.printing import printable, quoted
from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import JSON, changed_on, open_model, say_file, writing_columns
from eocc.formats.files.formats import STDIN


@command
@options.model_argument
@options.data_argument
@options.output_option(None, "The model file to write; it may be MODEL itself.", required=True)
@click.option("--forget", metavar="WHAT",
              help="Forget this number of the oldest rows, rows older than 90d or than a date, or those of a "
                   "source.")  # fmt: skip
@click.option("--date", "came", metavar="DATE", help="When the rows came; by default, when the file was last changed.")
@click.option("--accept-drift", is_flag=True, help="Learn the rows even if they differ from the training rows.")
@click.option("--accept-discoveries", is_flag=True, help="Learn also the rows that the present model finds abnormal.")
@options.data_options("id_column", "strict")
def update(
    model: Path, data: options.DataFiles, output: Path, forget: str | None, came: str | None, accept_drift: bool,
    accept_discoveries: bool, about: options.DataOptions,
) -> None:  # fmt: skip
    """Add new normal rows to a model, and forget old ones.

    The new model is that of a fit to all rows kept, read as the model reads them. Rows that the present model calls
    discoveries (at a false discovery rate of 0.1) are listed and left out; if the training rows are too few for a
    single discovery, so are rows stranger than all of them. Nothing is learned from rows that drift. A model that has
    learned answers learns them again. A RegionClassifier keeps its regions and forgets nothing: its limit and p-values
    learn.

    The file remembers the source, the date and the number of rows of each update, for --forget.

    Example: eocc update model.eocc new.csv -o updated.eocc --accept-drift
    """
    import numpy as np

    from eocc.base.types import ROUNDING
    from eocc.base.wording import counted
    from eocc.calibration.conformal import DiscoveryCounts
    from eocc.classifiers.answers import rows_of_fit
    from eocc.classifiers.updating import Batch
    from eocc.cli.reading import Named, read_for
    from eocc.explain.facts import are_copies

    classifier = open_model(model, output, *data.paths, replaces=True)
    try:
        day = date.fromisoformat(came) if came else max(map(changed_on, data.paths))
    except ValueError:
        raise click.UsageError(f"{came!r} is not a date; write it as 2026-01-31") from None
    what = int(forget) if forget and forget.isdecimal() else forget
    history, kept = classifier._kept_rows(what, day, changed_on(model))
    rows = read_for(classifier, data, about)
    patterns, is_held = classifier._read(rows.X), np.zeros(len(rows.names), bool)
    if not history:
        say("Note: this model keeps no training rows, so nothing shows whether these rows were learned before.")
    known = rows_of_fit(classifier).rows[np.flatnonzero(kept)]
    n_copies = int(are_copies(patterns, known).sum())
    if n_copies:
        copies = f"{n_copies:,} of {counted(len(patterns), 'row')} {'is a copy' if n_copies == 1 else 'are copies'}"
        say(f"Note: {copies} of training rows; was {data} learned before?")
    drift = classifier.drift(rows.X)
    if drift.is_drift and not accept_drift:
        raise ValueError(f"{str(drift).rstrip('.')}; nothing was learned: look at the rows, or pass --accept-drift")
    if not accept_discoveries:
        p_values = classifier.p_values(rows.X)
        found = DiscoveryCounts(classifier.calibration_).add(p_values).result()
        is_held = found.among(p_values)
        if found.remark:
            is_held |= p_values <= (1 + ROUNDING) / (found.n_held_out + 1)
            say(f"Note: {found.remark}. Rows stranger than all of them are held back.")
        Named().add(list(compress(rows.names, is_held))).say(
            "held back, abnormal to the present model (--accept-discoveries)"
        )
    if is_held.all():
        remedy = "nothing was learned: look at them, or pass --accept-discoveries"
        raise ValueError(f"the present model finds all rows of {data} abnormal; {remedy}")
    if n_rejected := int((~is_held & (classifier.predict(rows.X) < 0)).sum()):
        look = f"to see them first, run eocc score or eocc review on {data} and the old model"
        say(f"Note: {counted(n_rejected, 'row')} that the present model rejects {'is' if n_rejected == 1 else 'are'} "
            f"learned too; {look}.")  # fmt: skip
    if is_held.any():
        patterns = patterns[np.flatnonzero(~is_held)]
    names = [str(name) for name in compress(rows.names, ~is_held)] if rows.are_named else None
    newer = classifier._updated(patterns, Batch(data.name, day, 0), history, kept, names)
    newer.save(output)
    say_file(output)
    forgotten = f", {counted(int((~kept).sum()), 'row')} forgotten" if not kept.all() else ""
    print(f"{counted(len(patterns), 'row')} learned{forgotten}: now {counted(newer.n_rows_, 'training row')}.")
    for batch in newer.batches_:
        say(f"  {batch.source}{f', {batch.date}' if batch.date else ''}: {counted(batch.n_rows, 'row')}")


@command
@options.model_argument
@options.data_argument
@options.output_option("review.html", "The page, one HTML file.")
@click.option("--questions", "-n", type=options.AT_LEAST_1, default=10, show_default=True, metavar="N",
              help="Ask about at most N rows.")  # fmt: skip
@click.option("--find", is_flag=True,
              help="Show the strangest rows first, to find outliers, not those whose answers teach most.")  # fmt: skip
@options.data_options("id_column", "strict")
def review(
    model: Path, data: options.DataFiles, output: Path, questions: int, find: bool, about: options.DataOptions
) -> None:
    """Ask a person about the rows whose answers help most.

    Writes an HTML page that shows these rows one by one, with the reasons of the model's decision, and saves the
    answers as a CSV file for eocc teach.

    With --find, DATA may be the training file: training rows are compared with the others, and the strangest come
    first. Answers take rows that are not normal out of the training rows.

    Example: eocc review model.eocc new.csv -o review.html
    """
    if STDIN in data.paths:
        raise click.UsageError("eocc teach reads the rows again, so they must be in a file: pass its path")
    if len(data.paths) > 1:
        raise click.UsageError("the answers name one file: pass one, or join the files first")
    classifier = open_model(model, output, *data.paths)

    from eocc.classifiers.answers import check_teachable
    from eocc.cli.reading import read_for
    from eocc.report.review import write_review

    check_teachable(classifier)
    rows = read_for(classifier, data, about)
    names = rows.names, str(data), str(model), about.id_column
    write_review(classifier, output, rows.X, questions, *names, goal="find" if find else "learn", notes=rows.unread())
    say(f"Written: {output}. Open it in a browser, answer, save answers.csv, and run eocc teach.")


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

    from eocc.base.wording import counted
    from eocc.classifiers.updating import history_of
    from eocc.cli.reading import Named, read_for
    from eocc.report.review import NORMAL, digests_of, in_words

    classifier = open_model(model, output, answers, replaces=True)
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
    more, fewer = (Named().add(list(compress(rows.names, some))) for some in (before & ~after, after & ~before))
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


def read_answers(path: Path) -> list[dict[str, str]]:
    """Return the answers in a file, each once; all are about rows of one data file."""
    from eocc.formats.files.formats import open_files
    from eocc.report.review import HEAD, NORMAL, NOT_NORMAL

    found = dict[str, dict[str, str]]()
    for chunk in open_files([path], "csv"):
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


@command
@options.model_argument
@click.option("--withdraw", default="", metavar="ID,...", help="Forget these answers.")
@options.output_option(None, "The model file to write after --withdraw; it may be MODEL itself.")
@options.format_option("table", "csv", JSON, default="table")
def answers(model: Path, withdraw: str, output: Path | None, form: str) -> None:
    """List the answers that a model has learned, or withdraw some.

    Every answer has an id, its number from 0. --withdraw writes a new model and lists its answers.

    Example: eocc answers model.eocc
    """
    if bool(withdraw) != bool(output):
        raise click.UsageError(f"pass {'--withdraw' if output else '--output, the model file to write'} as well")
    from eocc.classifiers.updating import history_of
    from eocc.explain.explanation import described
    from eocc.report.review import NORMAL, NOT_NORMAL

    classifier = open_model(model, output, replaces=True)
    if output is not None:
        history, known = history_of(classifier, changed_on(model)), classifier.answers_
        ids = options.names_in(withdraw)
        for one in ids:
            if known is None or not (one.isdecimal() and int(one) < len(known)):
                has = f"its ids are 0 to {len(known) - 1}" if known else "it has no answers"
                raise ValueError(f"{model} has no answer {one!r}; {has}")
        classifier = classifier.withdraw([int(one) for one in ids])
        classifier.batches_ = history  # the new file is younger than the rows
        classifier.save(output)
        say_file(output)
    known = classifier.answers_
    if known is None:
        say("This model has learned no answers.")
        return
    with writing_columns(None, form, ["id", "answer", "row", "values"]) as write:
        write({
            "id": list(range(len(known))),
            "answer": [NORMAL if sign == 1 else NOT_NORMAL for sign in known.y],
            "row": list(known.names),
            "values": [described(classifier, known.rows, k) for k in range(len(known))],
        })  # fmt: skip
