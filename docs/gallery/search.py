"""
Searching the weights of a dissimilarity
========================================

How much should each column count? ``EntropicOneClassClassifier`` can search for the weights that give the clearest
clusters of normal rows. In this example from the paper, only the first column separates two clusters. A genetic
search finds that out from normal rows alone.
"""

import matplotlib.pyplot as plt

from eocc import EntropicOneClassClassifier
from eocc.datasets import make_two_clusters
from eocc.plots import plot_history
from eocc.search import GeneticSearch

problem = make_two_clusters()
search = GeneticSearch(max_generations=40, first_population="random")
clf = EntropicOneClassClassifier(search=search, random_state=0).fit(problem.X_train)
print("weights:", clf.weights_.round(3))

# %%
# Left: the data. Middle: the search, generation by generation. Right: the weights it ends with.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
left.scatter(*problem.X_train.T, c=clf.labels_, cmap="coolwarm", s=8)
left.set(xlabel="first column", ylabel="second column", title=f"{len(clf.regions_)} regions")
plot_history(clf, axes=middle)
middle.set_title("the search")
middle.legend(fontsize=7, frameon=False, loc="upper right")
middle.set_ylim(0.6, 1.1)
right.bar(["first", "second"], clf.weights_, color="#0072b2")
right.set(ylim=(0, 1.05), title="weights of the columns")
plt.show()
