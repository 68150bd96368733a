"""``eocc score`` and ``eocc explain``: decisions on new rows, and their reasons."""

import pickle
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, compress
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import click

from eocc.base.atomic import check_output, drafted
from eocc.base.printing import printable, printable_lines
from eocc.cli import options
from eocc.cli.app import Shared, command, end_with_alarm, say
from eocc.cli.output import JSON, PARQUET, json_line, open_model, output_format, say_file, writing, writing_columns

if TYPE_CHECKING:
    from eocc.cli.reading import Rows

# What --only and --fail-on take, and the column that --fdr adds.
REJECTED, DISCOVERIES, DISCOVERY, BAD, DRIFT = "rejected", "discoveries", "discovery", "bad", "drift"
# Which rows have no values, beside the columns that are written.
BLANK = "\0blank"
CONDITION = re.compile(r"(drift|discoveries|bad)|(rejected|discoveries|bad)>(\d{1,15})")


def _conditions(value: str) -> list[tuple[str, int]]:
    """Return the conditions in the text of --fail-on: what is counted, and the most that is allowed."""
    found = list[tuple[str, int]]()
    for one in options.names_in(value):
        given = CONDITION.fullmatch(one.replace(" ", ""))
        if given is None:
            takes = "drift, rejected>N, discoveries and bad, separated by commas"
            raise click.UsageError(f"--fail-on takes {takes}, not {one!r}")
        found.append((given[1] or given[2], int(given[3] or 0)))
    return found


def _why(what: str, most: int, outcome: Any) -> str:
    """Return why a condition of --fail-on came true, "" if it did not."""
    from eocc.base.wording import counted

    n_rejected, drift, found = outcome.n_rejected, outcome.drift, outcome.discoveries
    n_bad = len(outcome.bad_cells) + outcome.n_empty
    is_true, words = {
        REJECTED: (n_rejected > most, f"{n_rejected:,} of {outcome.n_rows:,} rows rejected, more than {most:,}"),
        DISCOVERIES: (found is not None and found.count > most, str(found).rstrip(".")),
        BAD: (n_bad > most, f"{n_bad:,} of {counted(outcome.n_rows, 'row')} bad: not readable, or without any value"),
        DRIFT: (drift is not None and drift.is_drift, f"drift: {drift}".rstrip(".")),
    }[what]
    return words if is_true else ""


@command
@options.model_argument
@options.data_argument
@options.result_option("scores")
@options.format_option("table", "csv", JSON, PARQUET, more="; the suffix of --output decides by default")
@click.option("--keep", default="", metavar="COLUMN,...", help="Columns of DATA to write next to the scores, or 'all'.")
@click.option("--only", type=options.choice_of("choice", (REJECTED, DISCOVERIES)), default=None,
              help="Write these rows only; all are counted.")  # fmt: skip
@click.option("--fdr", type=float, default=None, metavar="RATE",
              help="Add the column discovery: on average at most a share RATE of these rows is normal.")  # fmt: skip
@click.option("--summary", type=options.OutputPath(), default=None,
              help="A JSON file for the counts, discoveries, drift and notes.")  # fmt: skip
@click.option("--fail-on", default="", metavar="CONDITION,...",
              help="Exit with code 4 on drift, 'rejected>N', discoveries (0.1 of them false, or --fdr) or bad: "
                   "rows with a cell that cannot be read, or without any value.")  # fmt: skip
@options.data_options("id_column", "strict")
def score(
    model: Path, data: options.DataFiles, output: Path | None, form: str | None, keep: str, only: str | None,
    fdr: float | None, summary: Path | None, fail_on: str, about: options.DataOptions,
) -> None:  # fmt: skip
    """Score the rows of files with a model.

    Every row gets a decision (+1 normal, -1 not), a membership (0 to 1), a score (its logarithm), how far out it is
    (above the limit, mostly 1, means rejected) and, from a calibrated model, a p-value. Notes say what is known about
    the row: values that no training row has, missing values, copies. A row with a cell that cannot be read is
    rejected, and its note says why. The files are read one part at a time, so they may be larger than memory.
    If the rows as a whole differ from the training rows, a note says so.

    Exit codes: 0 done, 4 a condition of --fail-on came true (all files are written), 1 wrong data or file, 2 wrong
    command.

    Example: eocc score model.eocc new.csv -o scores.csv
    """
    if fdr is not None and not 0 < fdr < 1:
        raise click.UsageError(f"--fdr must be a number in (0, 1), not {fdr:g}")
    conditions = _conditions(fail_on) if fail_on else []
    form = output_format(form, output, "table")
    classifier = open_model(model, output, *data.paths)
    check_output(summary, model, *data.paths, output)

    from eocc.base.wording import counted
    from eocc.calibration.conformal import DEFAULT_FALSE_DISCOVERIES
    from eocc.classifiers.reading import NO_VALUES
    from eocc.classifiers.summary import Counting
    from eocc.cli.reading import ALL, Named, kept_columns, places_in, say_bad, stream_for
    from eocc.explain.facts import Facts

    fdr = fdr or (DEFAULT_FALSE_DISCOVERIES if only == DISCOVERIES else None)
    asked = {what for what, _ in conditions} | ({DISCOVERIES} if fdr else set())
    for what in sorted(asked - {REJECTED, BAD}) if classifier.calibration_ is None else ():
        raise ValueError(f"{what} needs a calibrated model: fit it with --false-alarm-rate 0.05")
    warnings.filterwarnings("ignore", message=f".*{NO_VALUES}")  # the note below names the rows
    incomplete, blank = Named(), Named()
    reading, is_typed = classifier._known_data, form in (JSON, PARQUET)
    counting, facts = Counting(classifier), Facts(classifier)
    stream = stream_for(classifier, data, about)
    first = next(stream)  # an error in the first part leaves no output at all
    if first.windows is not None:
        keep = keep if keep == ALL else ",".join([*places_in(first.chunk), keep])
    own = ["row", *counting.names, *([DISCOVERY] if fdr else []), "notes"]
    new_names = _new_names(kept_columns(first.chunk, keep, reading, is_typed), own) if keep else {}

    def scored() -> Iterator[dict[str, Any]]:
        for named in chain([first], stream):
            columns, notes = dict[str, Any](), list[str]()
            if named.good.any():
                patterns = classifier._read(named.X)
                columns = counting.add(patterns, classifier._score_read(patterns))
                notes = facts.of(patterns, named.names)
                columns[BLANK] = counting.are_empty
                if counting.have_gaps.any():
                    incomplete.add(list(compress(named.names, counting.have_gaps)))
                    blank.add(list(compress(named.names, counting.are_empty)))
            counting.bad += [(named.all_names[row], why) for row, why in named.faults.items()]
            kept = kept_columns(named.chunk, keep, reading, is_typed) if keep else {}
            found = {**columns, "notes": notes}
            if named.faults:
                found = named.with_bad(found, [*counting.names, BLANK])
            yield {"row": named.all_names, **{new_names[name]: cells for name, cells in kept.items()}, **found}

    with ExitStack() as stack:
        names = ["row", *new_names.values(), *own[1:]]
        write = stack.enter_context(writing_columns(output, form, names))
        summary_draft = stack.enter_context(drafted(summary)) if summary else None  # the last, so it appears first
        parts = scored()
        if fdr:
            waiting = stack.enter_context(TemporaryFile())
            parts = _with_discoveries(parts, waiting, lambda: counting.summary(fdr).discoveries)
        n_written = 0
        for columns in parts:
            written = {name: columns[name] for name in names}
            chosen = columns[DISCOVERY] if only == DISCOVERIES else [value == -1 for value in columns["decision"]]
            if only and not all(chosen):
                written = {name: list(compress(cells, chosen)) for name, cells in written.items()}
            if len(written["row"]) or not n_written:  # a file of no rows has a header
                write(written)
            n_written += len(written["row"])
        outcome = counting.summary(fdr or DEFAULT_FALSE_DISCOVERIES)
        if counting.bad:
            say_bad(dict(counting.bad))
        incomplete.say("have missing values")
        blank.say(f"have {NO_VALUES}")
        if summary_draft is not None:
            facts_of_job = outcome.to_dict([str(path) for path in data.paths], Shared.notes)
            summary_draft.write_text(json_line(facts_of_job, indent=2), encoding="utf-8")
    counts = f"{counted(outcome.n_rows, 'row')}, {outcome.n_accepted:,} accepted"
    say_file(output, f"{n_written:,} of {outcome.n_rows:,} rows" if only else counts, "" if only else form)
    if outcome.drift is not None and outcome.drift.is_drift:
        say(f"Note: {outcome.drift}")
    if outcome.discoveries is not None and DISCOVERIES in asked:
        say(str(outcome.discoveries))
        if outcome.discoveries.remark:
            say(f"Note: {outcome.discoveries.remark}.")
    if reasons := list(filter(None, (_why(*one, outcome) for one in conditions))):
        end_with_alarm("; ".join(reasons))


def _with_discoveries(parts: Iterable[Any], waiting: Any, among_all: Callable[[], Any]) -> Iterator[dict[str, Any]]:
    """Yield rows with the column of discoveries; they wait in a file until the p-values of all are known."""
    for columns in parts:
        pickle.dump(columns, waiting)
    end, discoveries = waiting.tell(), among_all()
    waiting.seek(0)
    while waiting.tell() < end:
        columns = pickle.load(waiting)
        # A row that cannot be read has no p-value, and is no discovery. Nor is a row without values.
        known = zip(columns["p_value"], columns[BLANK], strict=True)
        yield {**columns, DISCOVERY: [int(not (p is None or blank) and discoveries.among(p)) for p, blank in known]}


def _new_names(kept: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Return what kept columns are called: a name that is taken gets a prefix."""
    found, known = dict[str, str](), {*taken}
    for name in sorted(kept, key=known.__contains__):  # columns that keep their names come first
        new = name
        while new in known:
            new = f"input_{new}"
        known.add(new)
        found[name] = new
    return {name: found[name] for name in kept}


@command
@options.model_argument
@options.data_argument
@click.option("--rows", default="", metavar="ROW,...", help="Rows to explain: numbers from 0 or, with --id, ids.")
@click.option("--strangest", type=click.IntRange(min=1), default=3, show_default=True, metavar="N",
              help="Without --rows, explain the N least normal rows, and those that cannot be read.")  # fmt: skip
@click.option("--detail", is_flag=True, help="Also show neighbours or regions, and the terms of the score.")
@options.result_option("explanations")
@options.format_option("text", "csv", JSON, PARQUET, more="; the suffix of --output decides by default")
@options.data_options("id_column", "strict")
def explain(
    model: Path, data: options.DataFiles, rows: str, strangest: int, detail: bool, output: Path | None,
    form: str | None, about: options.DataOptions,
) -> None:  # fmt: skip
    """Explain why rows are accepted or rejected.

    Example: eocc explain model.eocc new.csv --rows 3,17
    """
    form = output_format(form, output, "text")
    classifier = open_model(model, output, *data.paths)

    from eocc.base.wording import counted
    from eocc.cli.reading import read_for

    read = read_for(classifier, data, about)
    chosen, bad = chosen_rows(options.names_in(rows), read, str(data), about.id_column)
    if not (chosen or bad):
        chosen, bad = classifier.score_samples(read.X).argsort(kind="stable")[:strangest].tolist(), read.bad
    explanations = classifier.explain(read.some(chosen)) if chosen else []
    names = [read.names[row] for row in chosen]
    _write(output, form, names, explanations, detail, bad)
    n_accepted = sum(explanation.is_target for explanation in explanations)
    say_file(output, f"{counted(len(explanations) + len(bad), 'row')}, {n_accepted:,} accepted")


def _write(
    output: Path | None, form: str, names: list[Any], explanations: Any, detail: bool, bad: dict[Any, str]
) -> None:
    """Write the explanations of rows, and the reasons why the `bad` ones cannot be read."""
    unread = [{"row": name, "decision": -1, "sentence": f"Rejected: {why}."} for name, why in bad.items()]
    if form in ("csv", PARQUET):
        records = [{"row": name, **one.to_record()} for name, one in zip(names, explanations, strict=True)]
        records += [{**dict.fromkeys(records[0] if records else one), **one} for one in unread]
        with writing_columns(output, form, list(records[0])) as write:
            cells = {column: [record[column] for record in records] for column in records[0]}
            write({column: [None if cell != cell else cell for cell in found] for column, found in cells.items()})
        return
    with writing(output) as file:
        if form == JSON:
            explained = ({"row": name, **one.to_dict()} for name, one in zip(names, explanations, strict=True))
            file.writelines(map(json_line, chain(unread, explained)))
            return
        texts = [f"Row {printable(str(record['row']))}: {printable(record['sentence'])}" for record in unread]
        for name, one in zip(names, explanations, strict=True):
            texts.append(one.text(f"Row {printable(str(name))}: ") + (f"\n\n{one.detail}" if detail else ""))
        file.writelines(f"{printable_lines(text)}\n\n" for text in texts)


def chosen_rows(wanted: list[str], read: "Rows", where: str, id_column: str) -> tuple[list[int], dict[Any, str]]:
    """Return the rows given by id or, without ids, by the name of their file or by number.

    Those with a cell that cannot be read are apart, each name with the reason.
    """
    names, index_of = list(map(str, read.all_names)), (read.good.cumsum() - 1).tolist()
    numbers = {str(row): [row] for row in range(len(names))} if read.are_named and not id_column else {}
    named: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        named.setdefault(name, []).append(row)
    places = numbers | named
    for name in wanted:
        if name not in places:
            if id_column:
                raise ValueError(f"{where} has no row with {id_column} = {name!r}; different ids: {len(named):,}")
            by_number = f", or '0' to '{len(names) - 1}'" if numbers else ""
            raise ValueError(f"{where} has no row {name!r}; its rows are {names[0]!r} to {names[-1]!r}{by_number}")
    found = [row for name in wanted for row in places[name]]
    bad = [read.all_names[row] for row in found if not read.good[row]]
    return [index_of[row] for row in found if read.good[row]], {name: read.bad[name] for name in bad}
