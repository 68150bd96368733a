"""``eocc inspect``."""

from pathlib import Path

from eocc.cli import options
from eocc.cli.app import command, say
from eocc.cli.output import open_model

MARKDOWN = "markdown"


@command
@options.model_argument
@options.result_option("description")
@options.format_option("text", "json", MARKDOWN, more="; the suffix of --output decides by default")
def inspect(model: Path, output: Path | None, form: str | None) -> None:
    """Show what a model has learned, as a model card.

    Example: eocc inspect model.eocc -o card.md
    """
    from eocc.cli.card import write_facts
    from eocc.plots.projection import shows_regions

    form = form or {".md": MARKDOWN, ".json": "json"}.get("" if output is None else output.suffix.lower(), "text")
    classifier = open_model(model, output)
    rules = [str(rule) for rule in classifier.rules()] if shows_regions(classifier) else None
    write_facts(classifier, output, form, rules, model)
    if rules is None:
        say("Note: regions are left out: this model has too many or too long rows. Fit it with --prototypes 1000 or "
            "shorter rows to see them.")  # fmt: skip
    if output is not None:
        say(f"Written: {output}.")
