"""An explanation as a part of the page: the decision, pictures, and what makes the difference."""

from collections.abc import Sequence

from eocc.explain import Difference, Explanation
from eocc.foundation.wording import GLUE, decimals_for, format_number
from eocc.measures.difference import ranked_contributions
from eocc.report.charts import share_bar
from eocc.report.markup import Markup, bare_table, joined, tag, unless_empty
from eocc.report.pictures import pictures_of
from eocc.report.study import ScoredRows, Study

# Other rows are described if that takes at most this many characters; the table below shows the difference anyway.
LONGEST_ASIDE = 60


def subject_article(study: Study, index: int) -> Markup:
    """Return the explanation of a row that the page is about."""
    return _article(study, study.subject, index, study.explained[index], study.key(index), study.name(index))


def _article(study: Study, rows: ScoredRows, index: int, explanation: Explanation, key: str, name: str) -> Markup:
    """Return the explanation of one row under its name; `key` links it with the map."""
    role, other = explanation.compared_with
    pair = [rows.patterns[index], study.classifier.prototypes_[other.column]]
    pictures = pictures_of(study.classifier, pair, [name, f"{role}: training row {other.name}"])
    exemplars = [
        tag(
            "li", f"training row {one.name}, dissimilarity {format_number(one.dissimilarity)}{aside(study, one.column)}"
        )
        for one in explanation.exemplars
    ]
    return tag(
        "article",
        tag("h3", name[0].upper() + name[1:]),
        _decision(explanation, rows, index),
        unless_empty("p", [study.describe(rows, index)], class_="words"),
        unless_empty("div", pictures, class_="pictures"),
        _difference(study, explanation),
        tag("p", explanation.exemplars_heading),
        unless_empty("ul", exemplars, class_="exemplars"),
        *(tag("p", note.replace(GLUE, " "), class_="note") for note in explanation.notes()),
        class_="explanation",
        id=f"explained-{key}",
    )


def _decision(explanation: Explanation, rows: ScoredRows, index: int) -> Markup:
    kind, text = explanation.headline.split(": ", 1)
    if rows.is_normal is not None:
        label = "normal" if rows.is_normal[index] else "an outlier"
        text += f" Labelled {label}: the decision is {'wrong' if rows.wrong[index] else 'right'}."
    return tag("p", tag("strong", kind, class_=kind.lower()), f" {text[0].upper()}{text[1:]}", class_="decision")


def _difference(study: Study, explanation: Explanation) -> Markup:
    difference, (role, other) = explanation.difference, explanation.compared_with
    total, ranked = difference.dissimilarity, ranked_contributions(difference.contributions)
    words = aside(study, other.column).removeprefix(": ")
    opening = f"Dissimilarity {format_number(total)} from the {role}, training row {other.name}"
    opening += f" ({words})" if words else ""
    if not ranked:
        is_number = total > 0 and not difference.contributions
        return tag("p", f"{opening}{f'; {difference.meaning}' if is_number else ': the weights leave no difference'}.")
    decimals = decimals_for(total)
    rows = []
    for one in ranked:
        share = joined([share_bar(one.amount / total), f" {one.amount / total:.0%}"])
        rows.append([joined([one.text, _inner(one.inner)]), f"{one.amount:.{decimals}f}", share])
    head = ["What makes the difference", "amount", "share"]
    return joined([tag("p", f"{opening}, {difference.meaning}:"), bare_table(head, rows, class_="contributions")])


def main_difference(explanation: Explanation) -> str:
    """Return the largest contribution and its share, or the dissimilarity if the measure gives nothing else."""
    total, ranked = explanation.difference.dissimilarity, ranked_contributions(explanation.difference.contributions)
    return f"{ranked[0].text} ({ranked[0].amount / total:.0%})" if ranked else f"dissimilarity {format_number(total)}"


def aside(study: Study, column: int) -> str:
    """Return a short description of a prototype after a colon, "" instead of a long one."""
    words = study.describe(study.training, column)
    return f": {words}" if 0 < len(words) <= LONGEST_ASIDE else ""


def _inner(inner: Difference | None) -> Markup:
    if inner is None or not inner.contributions:
        return Markup()
    total = inner.dissimilarity or 1.0
    items = [tag("li", f"{one.amount / total:.0%} {one.text}") for one in ranked_contributions(inner.contributions)]
    return joined([tag("div", f"its own dissimilarity {format_number(inner.dissimilarity)}:"), tag("ul", *items)])


def templates(study: Study, shown: Sequence[int]) -> Markup:
    """Return the explanations that the page holds without showing them: all but those of the rows `shown`."""
    parts = [subject_article(study, index) for index in sorted(set(study.explained) - set(shown))]
    known = set(study.explained) if study.new is None else set()
    if study.regions is not None:
        for number, explanation in study.regions.explained.items():
            index = study.regions.prototypes[number]
            if index not in known:
                name = f"training row {study.training.names[index]}, prototype of region {number}"
                parts.append(_article(study, study.training, index, explanation, f"t{index}", name))
    return tag("template", *parts, id="explanations")
