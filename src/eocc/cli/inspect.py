"""``eocc inspect``."""

from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from eocc.base.printing import on_one_line
from eocc.base.registry import listed
from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import json_line, open_model, say_file, writing


@command
@options.model_argument
@options.result_option("description")
@options.format_option("text", "json", "markdown", more="; the suffix of --output decides by default")
def inspect(model: Path, output: Path | None, form: str | None) -> None:
    """Show what a model has learned, as a model card.

    Example: eocc inspect model.eocc -o card.md
    """
    from eocc.plots.projection import shows_regions

    form = form or {".md": "markdown", ".json": "json"}.get("" if output is None else output.suffix.lower(), "text")
    classifier = open_model(model, output)
    rules = [str(rule) for rule in classifier.rules()] if shows_regions(classifier) else None
    write_facts(classifier, output, form, rules, model)
    if rules is None:
        say("Note: regions are left out: this model has too many or too long rows. Fit it with --prototypes 1000 or "
            "shorter rows to see them.")  # fmt: skip
    say_file(output)


def write_facts(
    classifier: Any, output: Path | None, form: str, rules: list[str] | None = None, model: Path | None = None
) -> None:
    """Write the facts of a model as lines, JSON or Markdown; given its file, also those of the file and the columns."""
    from eocc.base.printing import printable_lines
    from eocc.formats.model_file import version_of

    facts, columns, left_out = facts_of(classifier), [], {}
    if model is not None:
        calibration, written = classifier.calibration_, datetime.fromtimestamp(model.stat().st_mtime, UTC)
        n = None if calibration is None else len(calibration.margins)
        facts |= {
            "calibration rows, each left out": n, "smallest p-value": None if n is None else 1 / (n + 1),
            "file written": f"{written:%Y-%m-%d %H:%M} UTC", "written by": f"eocc {version_of(model)}",
            "read by": f"eocc {version('eocc')}",
        }  # fmt: skip
        columns, left_out = columns_of(classifier), classifier._not_compared
    with writing(output) as file:
        if form == "json":
            more = {"columns": columns, "not compared": {str(name): why for name, why in left_out.items()}}
            more |= {} if rules is None else {"rules": rules}
            file.write(json_line(facts if model is None else facts | more))
            return
        if left_out:
            facts["not compared"] = ", ".join(f"{name}{f' ({why})' if why else ''}" for name, why in left_out.items())
        shown = {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in facts.items()}
        tables = [
            [(name, value) for name, value in shown.items() if value is not None],
            [(f"column {one['name']} ({one['kind']})", one["normal"]) for one in columns],
        ]
        parts = ["\n".join(f"{name}: {value}" for name, value in table) for table in tables] + (rules or [])
        if form == "markdown":
            parts = [f"# Model card: {Path(model or '').name}", *map(_markdown_table, tables)]
            parts += [f"```\n{rule}\n```" for rule in rules or []]
        file.write(printable_lines("\n\n".join(filter(None, parts))) + "\n")


def _markdown_table(rows: list[tuple[str, Any]]) -> str:
    lines = ["| | |", "|---|---|"] if rows else []
    for row in rows:
        cells = (on_one_line(str(cell)).replace("|", "\\|") for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def columns_of(classifier: Any) -> list[dict[str, Any]]:
    """Return the compared columns of a table: name, kind, and what training rows have."""
    import numpy as np

    from eocc.base.wording import format_value, to_json
    from eocc.tables.table import Column

    reading, found = classifier.reading_, []
    for one in () if reading is None else reading.columns:
        ends = [Column(one.name, one.kind, np.empty(0)).given(end) for end in (one.low, one.high) if end is not None]
        normal = listed(one.labels) if one.labels else " to ".join(map(format_value, ends))
        found.append({"name": str(one.name), "kind": one.kind, "low": None, "high": None, "normal": normal})
        found[-1] |= {"low": to_json(ends[0]), "high": to_json(ends[1])} if ends else {}
        found[-1] |= {"n_categories": len(one.labels)} if one.labels else {}
    return found


def facts_of(classifier: Any) -> dict[str, Any]:
    """Return the facts of a model by name, with the rows and the measure."""
    facts = dict(classifier._facts())
    measure = classifier.resolved_measure_ if classifier.measure == "auto" else classifier.measure
    windows = {} if classifier._windowing_ is None else {"windows": str(classifier._windowing_)}
    n_prototypes = None if classifier._is_whole else len(classifier.prototypes_)
    named = {"method": facts.pop("method"), "measure": measure if isinstance(measure, str) else type(measure).__name__}
    return {**named, **windows, "training rows": classifier._n_training, "prototypes": n_prototypes, **facts}
