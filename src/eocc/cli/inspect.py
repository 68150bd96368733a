"""``eocc inspect``."""

from pathlib import Path
from typing import Any

from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import json_line, open_model, writing
from eocc.foundation.printing import printable_lines


@command
@options.model_argument
@options.result_option("description")
@options.format_option("text", "json", default="text")
def inspect(model: Path, output: Path | None, form: str) -> None:
    """Show what a model has learned, with its regions as rules.

    Example: eocc inspect model.eocc
    """
    from eocc.plots.projection import shows_regions

    classifier = open_model(model, output)
    rules = [str(rule) for rule in classifier.rules()] if shows_regions(classifier) else None
    write_facts(classifier, output, form, rules)
    if rules is None:
        say("Note: regions are left out: this model has too many or too long rows. Fit it with --prototypes 1000 or "
            "shorter rows to see them.")  # fmt: skip
    if output is not None:
        say(f"Written: {output}.")


def write_facts(classifier: Any, output: Path | None, form: str, rules: list[str] | None = None) -> None:
    """Write the facts of a model, as lines or as JSON."""
    facts = facts_of(classifier)
    with writing(output) as file:
        if form == "json":
            file.write(json_line(facts if rules is None else {**facts, "rules": rules}))
        else:
            shown = {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in facts.items()}
            lines = "\n".join(f"{name}: {value}" for name, value in shown.items() if value is not None)
            file.write(printable_lines("\n\n".join([lines, *(rules or [])])) + "\n")


def facts_of(classifier: Any) -> dict[str, Any]:
    """Return the facts of a model by name, with the rows and the measure."""
    facts = dict(classifier._facts())
    measure = classifier.resolved_measure_ if classifier.measure == "auto" else classifier.measure
    return {
        "method": facts.pop("method"),
        "measure": measure if isinstance(measure, str) else type(measure).__name__,
        "training rows": classifier._n_training,
        "prototypes": None if classifier._is_whole else len(classifier.prototypes_),
        **facts,
    }
