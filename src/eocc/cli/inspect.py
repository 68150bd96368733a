"""``eocc inspect``."""

from typing import Any

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.cli.app import app, say
from eocc.cli.output import Output, TextFormat, json_line, writing
from eocc.cli.reading import Model
from eocc.explain import rules
from eocc.explain.regions import is_whole, reach_of
from eocc.foundation.atomic import check_output
from eocc.foundation.printing import printable_lines
from eocc.io.model_file import load
from eocc.plots.projection import decides_by_regions, rate_of


@app.command()
def inspect(
    model: Model,
    output: Output = None,
    form: TextFormat = "text",
) -> None:
    """Show what a model has learned: its figures, and its regions as rules.

    Example: eocc inspect model.eocc
    """
    check_output(output, model)
    classifier = load(model)
    facts = facts_of(classifier)
    told = [str(rule) for rule in rules(classifier)]
    with writing(output) as file:
        if form == "json":
            file.write(json_line({**facts, "rules": told}))
        else:
            lines = [f"{name}: {value}" for name, value in facts.items()]
            file.write(printable_lines("\n\n".join(["\n".join(lines), *told])) + "\n")
    if output is not None:
        say(f"Written: {output}.")


def facts_of(classifier: EntropicOneClassClassifier) -> dict[str, Any]:
    """Return a model's figures by name."""
    measure = classifier.measure if isinstance(classifier.measure, str) else type(classifier.measure).__name__
    facts: dict[str, Any] = {
        "measure": measure,
        "synthesis": classifier.synthesis,
        "resolution": classifier.resolution,
        "training patterns": len(classifier.labels_),
        **({} if is_whole(classifier) else {"prototypes": len(classifier.prototype_indices_)}),
        "regions": len(classifier.regions_),
        "entropy": round(classifier.entropy_, 6),
        "modularity": round(classifier.modularity_, 6),
        "objective": round(classifier.objective_, 6),
    }
    if hasattr(classifier, "neighbour_entropy_"):
        facts["Rényi entropy by nearest neighbours"] = round(classifier.neighbour_entropy_, 6)
    if hasattr(classifier, "performance_"):
        facts["performance"] = round(classifier.performance_, 6)
    facts |= border_of(classifier)
    rate = rate_of(classifier)
    if rate is not None:
        facts["false alarm rate"] = round(rate, 6)
    return facts


def border_of(classifier: EntropicOneClassClassifier) -> dict[str, float]:
    """Return where what is normal ends, under the name of its unit.

    >>> rows = [[0.0, 0.0], [3.0, 1.0], [1.0, 5.0], [2.0, 2.0]]
    >>> border_of(EntropicOneClassClassifier(resolution="single", search=None).fit(rows))
    {'border in extents': 1.0}
    """
    if decides_by_regions(classifier):
        return {"border in extents": round(reach_of(classifier.threshold_), 6)}
    # Of left-out training patterns the mean is 0 and every term's standard deviation 1.
    return {"border in surprise": round(classifier.surprise_model_.border.at, 6)}
