"""An explanation as a part of the page: the decision, pictures, and what makes the difference."""

from collections.abc import Sequence
from typing import Any

from eocc.explain import Contribution, Difference, Explanation, Place, TrainingPattern
from eocc.explain.explanation import ratio_in_words
from eocc.foundation.wording import decimals_for, format_number
from eocc.measures.difference import MOST_NAMED, grouped
from eocc.report.charts import share_bar
from eocc.report.judgement import Judgement, described
from eocc.report.markup import Markup, bare_table, joined, tag
from eocc.report.pictures import pictures_of
from eocc.report.study import Study

# Other patterns are told in words where these are no longer; the table below tells the difference anyhow.
LONGEST_ASIDE = 60


def article(study: Study, judgement: Judgement, index: int, explanation: Explanation, key: str, called: str) -> Markup:
    """Return the explanation of one pattern of a judgement under its name; `key` links it with the map."""
    patterns, (role, other) = judgement.patterns, compared_with(explanation)
    pair = [patterns[index], study.classifier.prototypes_[other.column]]
    pictures = pictures_of(study.classifier.measure_, pair, [called, f"{role}: training pattern {other.row}"])
    words = described(study.classifier, patterns, index)
    return tag(
        "article",
        tag("h3", called[0].upper() + called[1:]),
        verdict(explanation, judgement, index),
        tag("p", words, class_="words") if words else "",
        tag("div", *pictures, class_="pictures") if pictures else "",
        _difference(study, explanation),
        _places(study, explanation),
        class_="explanation",
        id=f"explained-{key}",
    )


def verdict(explanation: Explanation, judgement: Judgement, index: int) -> Markup:
    """Return the decision, with the figures it went by, and the label if one is known."""
    kind = "accepted" if explanation.is_target else "rejected"
    said = f"Membership {format_number(explanation.membership)}."
    if judgement.p_values is not None:
        said += f" p-value {format_number(float(judgement.p_values[index]))}."
    if judgement.is_target is not None:
        label = "a target" if judgement.is_target[index] else "not a target"
        said += f" Labelled {label}: the decision is {'wrong' if judgement.wrong[index] else 'right'}."
    decision = explanation.decision
    mark = tag("strong", kind.capitalize(), class_=kind)
    return tag("p", mark, f" {decision[0].upper()}{decision[1:]}. {said}", class_="verdict")


def compared_with(explanation: Explanation) -> tuple[str, TrainingPattern]:
    """Return the training pattern that the difference is from, and what it is to the pattern."""
    near = explanation.nearest
    if explanation.neighbourhoods is None and near.n_prototypes == 0:
        return f"prototype nearest to the centre of region {near.region}", near.prototype
    if explanation.neighbourhoods is None:
        return f"prototype of region {near.region}", near.prototype
    return "nearest neighbour" if near.n_prototypes is None else "nearest prototype", near.exemplars[0]


def _difference(study: Study, explanation: Explanation) -> Markup:
    """Return the contributions to the dissimilarity from what the pattern is compared with, the greatest first."""
    difference, (role, other) = explanation.difference, compared_with(explanation)
    opening = f"Dissimilarity {format_number(difference.dissimilarity)} from the {role}, training pattern {other.row}"
    words = described(study.classifier, study.classifier.prototypes_, other.column)
    opening += f" ({words})" if 0 < len(words) <= LONGEST_ASIDE else ""
    ranked = ranked_contributions(difference)
    if not ranked:
        reason = "; " + difference.meaning if difference.dissimilarity > 0 and not difference.contributions else ""
        return tag("p", f"{opening}{reason or ': no difference that counts'}.")
    decimals, total = decimals_for(difference.dissimilarity), difference.dissimilarity
    rows = [
        [joined([one.text, _inner(one.inner)]), f"{one.amount:.{decimals}f}", _share(one.amount / total)]
        for one in ranked
    ]
    head = ["What makes the difference", "amount", "share"]
    return joined([tag("p", f"{opening}, {difference.meaning}:"), bare_table(head, rows, class_="contributions")])


def ranked_contributions(difference: Difference) -> list[Contribution]:
    """Return the greatest contributions, those of a group together where there are many, and the sum of the others.

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


def chief_difference(explanation: Explanation) -> str:
    """Return the greatest contribution and its share, or the dissimilarity where that is all there is."""
    difference = explanation.difference
    ranked = ranked_contributions(difference)
    if not ranked:
        return f"dissimilarity {format_number(difference.dissimilarity)}"
    return f"{ranked[0].text} ({ranked[0].amount / difference.dissimilarity:.0%})"


def aside(words: str) -> str:
    """Return a few words after a colon; nothing where they are not few.

    >>> aside("6 vertices"), aside(""), aside("long " * 20)
    (': 6 vertices', '', '')
    """
    return f": {words}" if 0 < len(words) <= LONGEST_ASIDE else ""


def _share(share: float) -> Markup:
    return joined([share_bar(share), f" {share:.0%}"])


def _inner(inner: Difference | None) -> Markup:
    """Return what a part of a composite is made of."""
    if inner is None or not inner.contributions:
        return Markup()
    total = inner.dissimilarity or 1.0
    items = [tag("li", f"{one.amount / total:.0%} {one.text}") for one in ranked_contributions(inner)]
    return joined([tag("div", f"its own dissimilarity {format_number(inner.dissimilarity)}:"), tag("ul", *items)])


def _places(study: Study, explanation: Explanation) -> Markup:
    """Return the exemplars, the next region, and what the decision went by."""
    near, other, profile = explanation.nearest, explanation.runner_up, explanation.profile
    known = explanation.neighbourhoods
    parts: list[Any] = [tag("p", _alike(near, is_nearest=known is not None))]
    if near.exemplars:
        items = [tag("li", exemplar_in_words(study, one)) for one in near.exemplars]
        parts.append(tag("ul", *items, class_="exemplars"))
    if known is not None:
        said = [known.rarity(), *(line.strip() for line in known.lines())]
        parts.append(tag("p", " ".join(said), class_="note"))
    if other is not None:
        parts.append(tag("p", f"The next region is {other.region}, {ratio_in_words(other)}."))
    if profile is not None and profile.squared_ratio > 0:
        shares = ", ".join(f"{one.row} ({one.amount / profile.squared_ratio:.0%})" for one in profile.columns)
        parts.append(
            tag(
                "p",
                f"The decision compares the dissimilarities to all {profile.n_columns} {study.known_as}s with those of "
                f"the region; most of the squared distance is due to training patterns {shares}.",
                class_="note",
            )
        )
    return joined(parts)


def _alike(near: Place, *, is_nearest: bool) -> str:
    """Return what is said before the exemplars."""
    if is_nearest:
        return "Nearest neighbours:" if near.n_prototypes is None else "Nearest prototypes:"
    if near.n_prototypes == 0:
        return f"No prototype is of region {near.region}, so none of its patterns can be shown."
    return f"Most alike{'' if near.n_prototypes is None else ' of the prototypes'} in region {near.region}:"


def exemplar_in_words(study: Study, one: TrainingPattern) -> str:
    """Return a training pattern with its dissimilarity, and a few words on it."""
    words = described(study.classifier, study.classifier.prototypes_, one.column)
    return f"training pattern {one.row}, dissimilarity {format_number(one.dissimilarity)}{aside(words)}"


def templates(study: Study, shown: Sequence[int]) -> Markup:
    """Return the explanations that the page holds but does not show: all but those of the patterns `shown`."""
    hidden = set(study.explained) - set(shown)
    kind = "t" if study.new is None else "n"
    parts = [
        article(study, study.told, index, study.explained[index], f"{kind}{index}", study.called(index))
        for index in sorted(hidden)
    ]
    known = set(study.explained) if study.new is None else set()
    for number, explanation in study.explained_prototypes.items():
        index = study.prototypes[number].column
        if index not in known:
            called = f"training pattern {study.training.names[index]}, prototype of region {number}"
            parts.append(article(study, study.training, index, explanation, f"t{index}", called))
    return tag("template", *parts, id="explanations")
