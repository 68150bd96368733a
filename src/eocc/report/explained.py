"""An explanation as a part of the page: the decision, pictures, and what makes the difference."""

from collections.abc import Sequence

from eocc.explain import Contribution, Difference, Explanation, TrainingRow
from eocc.explain.data import schema_of
from eocc.foundation.wording import decimals_for, format_number
from eocc.measures.difference import MOST_NAMED, grouped
from eocc.report.charts import share_bar
from eocc.report.markup import Markup, bare_table, joined, tag
from eocc.report.pictures import pictures_of
from eocc.report.scored import ScoredRows, described
from eocc.report.study import Study

# Other rows are described if that takes at most this many characters; the table below shows the difference anyway.
LONGEST_ASIDE = 60


def article(study: Study, rows: ScoredRows, index: int, explanation: Explanation, key: str, name: str) -> Markup:
    """Return the explanation of one row under its name; `key` links it with the map."""
    role, other = explanation.compared_with
    pair = [rows.patterns[index], study.classifier.prototypes_[other.column]]
    pictures = pictures_of(schema_of(study.classifier).kind, pair, [name, f"{role}: training row {other.row}"])
    words = described(study.classifier, rows.patterns, index)
    exemplars = [tag("li", exemplar_in_words(study, one)) for one in explanation.exemplars]
    return tag(
        "article",
        tag("h3", name[0].upper() + name[1:]),
        _decision(explanation, rows, index),
        tag("p", words, class_="words") if words else "",
        tag("div", *pictures, class_="pictures") if pictures else "",
        _difference(study, explanation),
        tag("p", explanation.exemplars_heading),
        tag("ul", *exemplars, class_="exemplars") if exemplars else "",
        *(tag("p", note, class_="note") for note in explanation.notes()),
        class_="explanation",
        id=f"explained-{key}",
    )


def _decision(explanation: Explanation, rows: ScoredRows, index: int) -> Markup:
    """Return the decision, and the label if one is known."""
    kind, text = explanation.headline.split(": ", 1)
    if rows.is_normal is not None:
        label, right = (
            ("normal" if rows.is_normal[index] else "an outlier"),
            ("wrong" if rows.wrong[index] else "right"),
        )
        text += f" Labelled {label}: the decision is {right}."
    return tag("p", tag("strong", kind, class_=kind.lower()), f" {text[0].upper()}{text[1:]}", class_="decision")


def _difference(study: Study, explanation: Explanation) -> Markup:
    """Return the contributions to the dissimilarity from what the row is compared with, the largest first."""
    difference, (role, other) = explanation.difference, explanation.compared_with
    opening = f"Dissimilarity {format_number(difference.dissimilarity)} from the {role}, training row {other.row}"
    words = described(study.classifier, study.classifier.prototypes_, other.column)
    opening += f" ({words})" if 0 < len(words) <= LONGEST_ASIDE else ""
    ranked = ranked_contributions(difference)
    if not ranked:
        reason = "; " + difference.meaning if difference.dissimilarity > 0 and not difference.contributions else ""
        return tag("p", f"{opening}{reason or ': the weights leave no difference'}.")
    decimals, total = decimals_for(difference.dissimilarity), difference.dissimilarity
    rows = [
        [joined([one.text, _inner(one.inner)]), f"{one.amount:.{decimals}f}", _share(one.amount / total)]
        for one in ranked
    ]
    head = ["What makes the difference", "amount", "share"]
    return joined([tag("p", f"{opening}, {difference.meaning}:"), bare_table(head, rows, class_="contributions")])


def ranked_contributions(difference: Difference) -> list[Contribution]:
    """Return the largest contributions and the sum of the others; many of them are summed up by group first.

    >>> many = tuple(Contribution(float(k), f"edit {k}") for k in range(1, 9))
    >>> [one.text for one in ranked_contributions(Difference(36.0, many, "by edits"))]
    ['edit 8', 'edit 7', 'edit 6', 'edit 5', 'edit 4', '3 more']
    """
    ranked = sorted((one for one in difference.contributions if one.amount > 0), key=lambda one: -one.amount)
    if len(ranked) > MOST_NAMED + 1 and all(one.group for one in ranked):
        ranked = grouped(ranked)
    if len(ranked) <= MOST_NAMED + 1:
        return ranked
    rest = ranked[MOST_NAMED:]
    return [*ranked[:MOST_NAMED], Contribution(sum(one.amount for one in rest), f"{len(rest)} more")]


def main_difference(explanation: Explanation) -> str:
    """Return the largest contribution and its share, or the dissimilarity if the measure gives nothing else."""
    difference = explanation.difference
    ranked = ranked_contributions(difference)
    if not ranked:
        return f"dissimilarity {format_number(difference.dissimilarity)}"
    return f"{ranked[0].text} ({ranked[0].amount / difference.dissimilarity:.0%})"


def aside(words: str) -> str:
    """Return a short description after a colon, "" for a long one.

    >>> aside("6 vertices"), aside(""), aside("long " * 20)
    (': 6 vertices', '', '')
    """
    return f": {words}" if 0 < len(words) <= LONGEST_ASIDE else ""


def _share(share: float) -> Markup:
    return joined([share_bar(share), f" {share:.0%}"])


def _inner(inner: Difference | None) -> Markup:
    """Return the contributions to one part of a composite."""
    if inner is None or not inner.contributions:
        return Markup()
    total = inner.dissimilarity or 1.0
    items = [tag("li", f"{one.amount / total:.0%} {one.text}") for one in ranked_contributions(inner)]
    return joined([tag("div", f"its own dissimilarity {format_number(inner.dissimilarity)}:"), tag("ul", *items)])


def exemplar_in_words(study: Study, one: TrainingRow) -> str:
    """Return a training row with its dissimilarity, and a short description."""
    words = described(study.classifier, study.classifier.prototypes_, one.column)
    return f"training row {one.row}, dissimilarity {format_number(one.dissimilarity)}{aside(words)}"


def templates(study: Study, shown: Sequence[int]) -> Markup:
    """Return the explanations that the page holds without showing them: all but those of the rows `shown`."""
    hidden = sorted(set(study.explained) - set(shown))
    parts = [article(study, study.subject, i, study.explained[i], study.key(i), study.name(i)) for i in hidden]
    known = set(study.explained) if study.new is None else set()
    if study.regions is not None:
        for number, explanation in study.regions.explained.items():
            index = study.regions.prototypes[number].column
            if index not in known:
                name = f"training row {study.training.names[index]}, prototype of region {number}"
                parts.append(article(study, study.training, index, explanation, f"t{index}", name))
    return tag("template", *parts, id="explanations")
