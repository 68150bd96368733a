"""
Log lines
=========

Lines of a log are strings. The edit distance between two lines counts the characters to insert, delete or replace.
The model learns 150 lines of a quiet server. Then we score ten new lines.
"""

import matplotlib.pyplot as plt
import numpy as np

from eocc import SurpriseClassifier

rng = np.random.default_rng(0)


def usual_line():
    """Return a line such as 'GET /items/4711 200 23ms'."""
    page = rng.choice(["items", "users", "cart"])
    return f"GET /{page}/{rng.integers(1000, 10000)} {rng.choice([200, 304])} {rng.integers(10, 100)}ms"


clf = SurpriseClassifier(false_alarm_rate=0.02).fit([usual_line() for _ in range(150)])

# %%
# Four of the new lines are usual, and six are not.

new = [
    *(usual_line() for _ in range(4)),
    "GET /items/4711 500 31ms",
    "GET /items/4711 200 30219ms",
    "POST /cart/9120 200 44ms",
    "GET /items/../../etc/passwd 200 12ms",
    "GET /users/8080' OR '1'='1 200 17ms",
    "kernel: Out of memory: killed process 4711",
]
print(clf.explain(["GET /items/../../etc/passwd 200 12ms"])[0])

# %%

ratios = clf.how_far_out(new)
figure, axes = plt.subplots(figsize=(8, 4.6), layout="constrained")
colours = ["#0072b2" if ratio <= 1 else "#d55e00" for ratio in ratios]
axes.barh(range(len(new)), ratios, color=colours, height=0.35)
for place, line in enumerate(new):
    axes.text(0.02, place - 0.38, line, family="monospace", fontsize=8, va="center")
axes.axvline(1, color="0.2", linestyle="--", linewidth=1, zorder=0)
axes.set(xlabel="how far out (above 1: rejected)", yticks=[], title="Usual lines are blue, rejected lines orange")
axes.invert_yaxis()
axes.spines[["top", "right", "left"]].set_visible(False)
plt.show()
