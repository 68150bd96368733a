"""Results as a table, CSV, JSON lines or Parquet. A file is written completely or not at all."""

import csv
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, date, datetime
from pathlib import Path
from typing import IO, Any

import click

from eocc.base.atomic import check_output, drafted
from eocc.base.printing import printable
from eocc.cli.app import Shared, say

JSON, PARQUET = "json", "parquet"
SUFFIXES = {".csv": "csv", ".json": JSON, ".jsonl": JSON, ".ndjson": JSON, ".parquet": PARQUET, ".pq": PARQUET}
REFUSED = (".xlsx", ".xls", ".ods", ".gz", ".bz2", ".xz", ".zip", ".html", ".pdf")

Columns = Mapping[str, Any]


def open_model(model: Path, output: Path | None, *data: Path, replaces: bool = False) -> Any:
    """Return the classifier of a model file.

    Refuse an output that cannot be written, or that is one of the inputs; it may be the model if it `replaces` that.
    """
    from eocc.classifiers.state import load

    check_output(output, *([] if replaces else [model]), *data)
    return load(model)


def changed_on(path: Path) -> date:
    """Return the day of the last change of a file, today for standard input."""
    moment = datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.is_file() else datetime.now(UTC)
    return moment.date()


def output_format(form: str | None, output: Path | None, default: str) -> str:
    """Return the format that was asked for, or that of the suffix of the output, or the default."""
    suffix = "" if output is None else output.suffix.lower()
    if suffix in REFUSED:
        raise click.UsageError(f"eocc writes no {suffix}; pass --output with .csv, .json or .parquet")
    form = form or SUFFIXES.get(suffix, default)
    if form == PARQUET and output is None:
        raise click.UsageError("--format parquet needs a file: pass --output")
    return form


def json_line(value: Any, indent: int | None = None) -> str:
    """Return a value as one line of JSON, or as indented lines; infinity and NaN become null."""
    return json.dumps(_to_json(value), allow_nan=False, indent=indent) + "\n"


def _to_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(item) for item in value]
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return _to_json(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _table_lines(rows: Iterable[Iterable[Any]], names: Sequence[str], widths: list[int]) -> Iterator[str]:
    """Yield rows below their header, in columns as wide as the first part needs, whose `widths` are empty before."""
    lines = [
        [f"{cell + 0.0:.6g}" if isinstance(cell, float) else printable(str(cell)) for cell in row]  # no "-0"
        for row in rows
    ]
    if not widths:
        lines.insert(0, [printable(name) for name in names])
        widths += [max(12, *map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        if names[-1] == "notes":  # sentences
            cells[-1] = line[-1]
        yield "  ".join(cells).rstrip() + "\n"


@contextmanager
def writing_columns(output: Path | None, form: str, names: Sequence[str]) -> Iterator[Callable[[Columns], None]]:
    """Yield a function that writes many rows, given as columns."""
    if form == PARQUET and output is not None:
        from eocc.streaming import writing_parquet

        with drafted(output) as draft, writing_parquet(draft) as write:
            yield write
        return
    with writing(output) as file:
        writer, widths = csv.writer(file, lineterminator="\n"), list[int]()
        if form == "csv":
            writer.writerow(names)

        def write_rows(columns: Columns) -> None:
            cells = (columns[name] for name in names)  # numpy's numbers print with their type
            rows = zip(*(one.tolist() if hasattr(one, "tolist") else one for one in cells), strict=True)
            if form == "csv":
                writer.writerows(rows)
            elif form == JSON:
                file.writelines(json_line(dict(zip(names, row, strict=True))) for row in rows)
            else:
                file.writelines(_table_lines(rows, names, widths))

        yield write_rows


@contextmanager
def writing(output: Path | None) -> Iterator[IO[str]]:
    """Yield standard output, or a file that appears under its name when all is written."""
    if output is None:  # the rows on a screen show the progress
        with Shared.watch.hidden() if Shared.watch and sys.stdout.isatty() else nullcontext():
            yield sys.stdout
    else:
        with drafted(output) as draft, draft.open("w", encoding="utf-8", newline="") as file:
            yield file


def say_file(output: Path | None, counts: str = "", form: str = "") -> None:
    """Print the name of a file that was written, if there is one, and the counts of its rows."""
    if output is not None:
        say(f"Written: {output}{' as a table' if form == 'table' else ''}{f' ({counts})' if counts else ''}.")


def say_if_trained_on(classifier: Any, rows: Any) -> None:
    """Print a note if many of the rows are those that the model was trained on, and score better for it."""
    if classifier._scores_left_out:
        return
    from eocc.explain.facts import MANY_KNOWN, are_copies

    share = float(are_copies(classifier._read(rows.X), classifier.prototypes_).mean())
    if share > MANY_KNOWN:
        say(f"Note: {share:.0%} of the rows equal a row that the model was trained on, so it looks better than it is; "
            "test on rows that were not used for training.")  # fmt: skip
