"""
Why this row?
=============

An alarm that nobody understands is ignored. ``plot_row`` draws the values of a rejected row against the ranges of
normal rows, the most unusual first, and ``explain`` says the same in a sentence.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from eocc import SurpriseClassifier
from eocc.plots import plot_row

data = load_breast_cancer(as_frame=True)
X, benign = data.data.iloc[:, :10], data.target == 1
clf = SurpriseClassifier(measure="standardised").fit(X[benign])

# %%
# The most unusual of the malignant tumours:

malignant = X[~benign]
row = int(clf.score_samples(malignant).argmin())
print(clf.explain(malignant.iloc[[row]])[0].sentence)

# %%

axes = plot_row(clf, malignant, row, names=[f"tumour {number}" for number in malignant.index])
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=3, frameon=False)
plt.show()
