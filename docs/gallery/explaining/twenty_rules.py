"""
Twenty rules on one page
========================

``RegionClassifier`` describes the normal rows by at most twenty regions of one shape. Each is a rule that a person can
read, and all of them fit on a page. Here they describe the benign tumours of a hospital, by five of their measurements.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from eocc import RegionClassifier

data = load_breast_cancer(as_frame=True)
columns = ["mean radius", "mean texture", "mean smoothness", "mean concavity", "mean symmetry"]
X, benign = data.data[columns], data.target == 1
clf = RegionClassifier(measure="standardised", n_regions=8).fit(X[benign][:280])
print(clf.rules()[0])
found = (clf.predict(X[~benign]) == -1).mean()
print(f"{found:.0%} of malignant tumours rejected, {(clf.predict(X[benign][280:]) == -1).mean():.0%} of benign ones")

# %%
# Each line is a rule and each panel a measurement. The dot is the centre of the rule, and the bar shows the range
# of most of its rows. A thicker bar means more rows. The dashed line is a malignant tumour.

order = sorted(clf.rules(), key=lambda rule: -rule.n_members)
odd = X[~benign].iloc[0]
figure, places = plt.subplots(1, 5, figsize=(10, 4.4), layout="constrained", sharey=True)
for axes, name, k in zip(places, columns, range(5), strict=True):
    for line, rule in enumerate(order):
        column = rule.columns[k]
        axes.plot([column.low, column.high], [line, line], color="#9ecae1",
                  linewidth=2 + 12 * rule.n_members / 280, solid_capstyle="butt")  # fmt: skip
        axes.plot(column.centre, line, "o", color="#0072b2")
    axes.axvline(odd[name], color="#d55e00", linestyle="--")
    axes.set_title(name, fontsize=10)
    axes.invert_yaxis()
places[0].set_yticks(range(len(order)), [f"{rule.n_members} rows" for rule in order])
figure.suptitle("What benign tumours look like, in eight rules; dashed: a malignant one")
plt.show()
