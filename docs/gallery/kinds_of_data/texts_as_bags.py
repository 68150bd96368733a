"""
Texts as bags of words
======================

A bag counts the words of a text and forgets their order. Two bags are compared by the angle between their counts. The
model learns from 200 messages to a help desk, each about printers or passwords. Then we look for messages on other
topics.
"""

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from eocc import SurpriseClassifier

rng = np.random.default_rng(0)
WORDS = {
    "printer": "printer paper jam toner queue tray print page floor driver scan blank",
    "password": "password login account reset locked expired user email code access sign",
    "invoice": "invoice payment amount bank transfer overdue account total tax refund",
    "lunch": "lunch menu soup vegetarian canteen friday table salad coffee cake",
}
FILLER = "please help the my is not since today can you again with and"


def message(*topics):
    """Return the word counts of a message of 12 to 25 words."""
    words = " ".join(WORDS[topic] for topic in topics).split()
    chosen = [*rng.choice(words, rng.integers(8, 16)), *rng.choice(FILLER.split(), rng.integers(4, 10))]
    return Counter(map(str, chosen))


clf = SurpriseClassifier(measure="cosine-bags").fit([message(rng.choice(["printer", "password"])) for _ in range(200)])

# %%
# Messages about invoices share a few words with those about accounts. Messages about lunch share only the filler.

kinds = {name: [name] for name in WORDS} | {"printer and password": ["printer", "password"]}
figure, axes = plt.subplots(figsize=(7.6, 3.8), layout="constrained")
for place, topics in enumerate(kinds.values()):
    ratios = clf.how_far_out([message(*topics) for _ in range(100)])
    heights = place + rng.uniform(-0.25, 0.25, 100)
    rejected = ratios > 1
    axes.plot(ratios[~rejected], heights[~rejected], ".", color="#0072b2", markersize=4)
    axes.plot(ratios[rejected], heights[rejected], ".", color="#d55e00", markersize=4)
    axes.text(5.2, place, f"{rejected.mean():.0%} rejected", ha="right", va="center", fontsize=8)
axes.axvline(1, color="0.2", linestyle="--", linewidth=1)
axes.set_yticks(range(len(kinds)), kinds)
axes.set(
    xlim=(0, 5.3), xlabel="how far out (above 1: rejected)", title="Learned from messages about printers and passwords"
)
plt.show()
