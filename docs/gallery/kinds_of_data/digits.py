"""
Handwritten digits
==================

The model learns from one hundred images of the digit 5, and from nothing else. Then it sorts new digits of all kinds.
The picture shows new digits from the most normal to the least.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from eocc import SurpriseClassifier

X, y = load_digits(return_X_y=True)
fives, others = X[y == 5], X[y != 5]
clf = SurpriseClassifier().fit(fives[:100])
new, truth = np.vstack([fives[100:], others]), np.repeat([5, -1], [len(fives) - 100, len(others)])
scores, decisions = clf.score_samples(new), clf.predict(new)
print(f"{(decisions[truth == 5] == 1).mean():.0%} of new fives accepted, ", end="")
print(f"{(decisions[truth != 5] == -1).mean():.0%} of other digits rejected")

# %%
# From left to right: the most normal fives, the least normal fives, the other digits that look most like a five, and
# the most unusual digits of all.

of_fives, of_others = np.flatnonzero(truth == 5), np.flatnonzero(truth != 5)
by_score = lambda rows: rows[np.argsort(-scores[rows])]
groups = {
    "most normal fives": by_score(of_fives)[:10],
    "least normal fives": by_score(of_fives)[-10:],
    "others, most like a five": by_score(of_others)[:10],
    "others, least like a five": by_score(of_others)[-10:],
}
figure, places = plt.subplots(1, 4, figsize=(9, 3.2), layout="constrained")
for axes, (title, rows) in zip(places, groups.items(), strict=True):
    pictures = new[rows].reshape(5, 2, 8, 8)
    accepted = decisions[rows].reshape(5, 2)
    axes.imshow(np.vstack([np.hstack([np.pad(one, 1) for one in line]) for line in pictures]), cmap="gray_r")
    for i, j in np.argwhere(accepted == -1):
        axes.add_patch(plt.Rectangle((10 * j, 10 * i), 9, 9, fill=False, edgecolor="#d55e00", linewidth=2))
    axes.set_title(title, fontsize=9)
    axes.axis("off")
figure.suptitle("Orange frame: rejected")
plt.show()
