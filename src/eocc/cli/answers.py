"""``eocc answers``."""

from pathlib import Path
from typing import Any

import click

from eocc.base.atomic import check_output
from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import JSON, changed_on, say_file, writing_columns


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
    from eocc import load
    from eocc.classifiers.updating import history_of

    check_output(output)  # it may be the model itself
    classifier: Any = load(model)
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
    _list(classifier, form)


def _list(classifier: Any, form: str) -> None:
    from eocc.explain.fitted import described
    from eocc.report.review import NORMAL, NOT_NORMAL

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
